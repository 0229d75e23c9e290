"""Notices of score tables; see `arcademark.analysis.notices`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from arcademark import wording
from arcademark.analysis.document import Notice
from arcademark.analysis.estimates import Estimate
from arcademark.analysis.notices import notice, plain, sort
from arcademark.analysis.runs import notices as runs_notices
from arcademark.analysis.scoring.comparison import Pair
from arcademark.analysis.subsets import predictors
from arcademark.analysis.subsets.models import ANY
from arcademark.analysis.tables import plausible, protocols
from arcademark.analysis.tables.dataset import Dataset
from arcademark.analysis.tables.document import Algorithm, Side, Summary
from arcademark.analysis.tables.protocols import PlayConditions
from arcademark.analysis.uncertainty import INTERVALS_OF, Bootstrap, SummaryDifference
from arcademark.errors import UnknownNameError
from arcademark.grouping import grouped
from arcademark.metrics.aggregate import AGGREGATES
from arcademark.metrics.uncertainty import coverage
from arcademark.metrics.uncertainty.intervals import FEWEST
from arcademark.subset.predict.model import explained
from arcademark.subset.predict.spread import conformal_half_width
from arcademark.suite import anomalies, subsets, tasks
from arcademark.suite.protocols import protocols as named_protocols
from arcademark.suite.subsets import Subset
from arcademark.suite.tasks import games

MANY_RUNS = 10
"""Runs per game from which a table's scores are checked for being those of single episodes."""

MAX_GROUPS = 3
"""Groups of algorithms with different missing games or settings, above which one notice covers all of them."""

SIMULATED_CAP = (0.0, 100.0)
"""Bounds of the capped scores whose intervals were simulated."""


@dataclass(frozen=True)
class _FewRuns:
    """Intervals whose simulated coverage is too low; see docs/intervals.md.

    The simulations are of human-normalised scores, and of those capped at 100 %. They also represent other normalised
    scores, but not other caps, which were not simulated.

    fewest, most: Least and greatest number of runs of games with several runs.
    simulated: Games and runs of the nearest simulation.
    short: Titles of measures, with the statistics whose intervals cover the truth too rarely, each with its coverage.
    unknown: Sources of uncertainty that were not simulated, in words.
    """

    fewest: int
    most: int
    simulated: tuple[int, int]
    short: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]
    unknown: tuple[str, ...]


def of_scores(dataset: Dataset, algorithms: Sequence[Algorithm], bootstrap: Bootstrap) -> tuple[Notice, ...]:
    """Return all notices of a report, warnings first."""
    estimates = [(item.name, one) for item in algorithms for one in (item.estimate, item.published) if one is not None]
    runs, suite = dataset.scores.runs, dataset.benchmark.view.name
    whole = [item.name for item in algorithms if item.estimate is not None and not item.coverage.missing]
    broken = any(item.reached for algorithm in algorithms for item in algorithm.breakthroughs[1:])
    few_runs = _few_runs(dataset, [(name,) for name in dataset.algorithms], algorithms[0].summaries, bootstrap)
    return sort(
        [
            *_partial(dataset, algorithms),
            *_how_made(dataset),
            *_same_games(dataset),
            *_estimates(estimates),
            *_tuning(estimates, dataset),
            *([notice("suite_complete", names=whole, suite=suite)] if whole else []),
            *([notice("records")] if broken else []),
            *_efficiency(algorithms, dataset),
            *_shared(dataset, few_runs, [(item.name, item.most_runs) for item in algorithms], bootstrap),
            *_over_episodes(algorithms, dataset),
            *(runs_notices.of_runs(runs, dataset.played, algorithms, runs.names) if runs else ()),
        ]
    )


def of_comparison(
    dataset: Dataset, sides: Sequence[Side], pairs: Sequence[Pair], bootstrap: Bootstrap, confidence: float
) -> tuple[Notice, ...]:
    """Return all notices of a comparison, warnings first."""
    duels = [(pair.first, pair.second) for pair in pairs]
    few_runs = _few_runs(dataset, duels, pairs[0].summaries, bootstrap)
    return sort(
        [
            *_how_made(dataset),
            *_pairs(dataset, pairs),
            *_tests(pairs, f"{100 * confidence:g} %", dataset.benchmark.noun),
            *_shared(dataset, few_runs, [(side.name, side.most_runs) for side in sides], bootstrap),
        ]
    )


def _shared(
    dataset: Dataset, few_runs: Iterable[Notice], counts: Sequence[tuple[str, int]], bootstrap: Bootstrap
) -> Iterator[Notice]:
    """Yield notices common to reports and comparisons: on references, intervals, measures, and reading.

    ``few_runs`` are the notices on low coverage, ``counts`` algorithms with their runs per game.
    """
    benchmark = dataset.benchmark
    if outside := [task for task in dataset.tasks if task not in benchmark.tasks]:
        others = [suite.name for suite in tasks.suites().values() if benchmark.atari and {*outside} & {*suite.tasks}]
        titles = list(map(benchmark.title, outside))
        yield notice("no_reference", tasks=titles, noun=benchmark.noun, suite=benchmark.view.name, others=others)
    yield from _differing(dataset) if benchmark.atari else ()
    yield from few_runs
    if any(row.size > 1 for name in dataset.algorithms for row in dataset.runs(name).values()):
        yield notice("measures", noun=benchmark.noun)
    yield from (plain("measures", text) for text in benchmark.remarks)
    yield from _intervals(counts, bootstrap, benchmark.noun)
    for text in dataset.scores.remarks:
        kind = "read_as" if text.startswith("Read as: ") else "read"
        yield plain(kind, text if text.endswith(".") else f"{text}.")
    if benchmark.atari:
        yield notice("hard_exploration")


def _estimates(estimates: Sequence[tuple[str, Estimate]]) -> Iterator[Notice]:
    """Yield notices on estimates that are doubtful or refused, and on how to read the others."""
    shown = [(name, estimate) for name, estimate in estimates if estimate.telling]
    for text in dict.fromkeys(text for _, estimate in shown for text in estimate.warnings):
        names = list(dict.fromkeys(name for name, estimate in shown if text in estimate.warnings))
        yield notice("estimate_doubtful", names=names, why=text)
    for group in grouped((one[1].missing, one) for one in estimates if one[1].missing).values():
        yield notice("estimate_refused", names=[name for name, _ in group], estimate=group[0][1])
    for item in {item.subset: item for _, item in shown}.values():
        if item.subset == ANY:
            known = [one.covered for _, one in estimates if one.subset == ANY and one.covered is not None]
            covered = list(dict.fromkeys(map(wording.covered, known)))
            yield notice(
                "estimate_reading", estimate=item, trained=predictors.atari(item.suite).trained, covered=covered
            )
            continue
        subset = subsets.subset(item.subset)
        yield notice("estimate_reading__model", estimate=item, subset=subset, error=_error(item.title, subset))


def _tuning(estimates: Sequence[tuple[str, Estimate]], dataset: Dataset) -> Iterator[Notice]:
    """Yield notices on estimates from games intended for tuning; reported estimates should be from other games."""
    for name in subsets.VALIDATION:
        games = {*subsets.subset(name).tasks}
        if any(it.telling and (it.subset == name or games == dataset.runs(who).keys()) for who, it in estimates):
            yield notice("estimate_tuning", subset=subsets.subset(name), reported=subsets.subset(subsets.REPORTED))


def _error(title: str, subset: Subset) -> str:
    if subset.nested is None or subset.log_error is None:
        return ""
    level, reach = subsets.LEVEL, conformal_half_width(subset.nested.every, subsets.LEVEL)
    return explained(title, subset.log_error, subset.nested, level, reach)


def _partial(dataset: Dataset, algorithms: Sequence[Algorithm]) -> Iterator[Notice]:
    """Yield notices on incomplete coverage of the benchmark, unless a run has an estimate, which implies it."""
    about: dict[str, Any] = {"suite": dataset.benchmark.view.name, "noun": dataset.benchmark.noun}
    short = [
        item
        for item in algorithms
        if item.coverage.missing and not (item.run and item.estimate and not item.estimate.missing)
    ]
    groups = grouped((item.coverage.missing, item) for item in short)
    if len(groups) > MAX_GROUPS:
        counts, names = [item.coverage.games for item in short], [item.name for item in short]
        about |= {"fewest": min(counts), "most": max(counts), "of": short[0].coverage.of}
        yield notice("partial_suite__several", names=names, algorithms=len(algorithms), **about)
        return
    for missing, those in groups.items():
        whose, every = [item.name for item in those], len(those) == len(algorithms) > 1
        estimated = all(item.estimated for item in those)
        coverage = those[0].coverage
        yield notice(
            "partial_suite", whose=whose, coverage=coverage, missing=missing, every=every, estimated=estimated, **about
        )


def _how_made(dataset: Dataset) -> Iterator[Notice]:
    """Yield notices on how scores were obtained: runs, implausible scores, single episodes, protocols, training."""
    if runs := dataset.scores.runs:
        yield from runs_notices.of_scores(runs, runs.names)
    yield from plausible.warnings(dataset)
    repeated = [name for name in dataset.algorithms if dataset.scores.get(name).one_seed]
    single = [name for name in dataset.algorithms if name not in repeated and _of_single_episodes(name, dataset)]
    for names in (repeated, single):
        if names:
            yield notice("episodes_as_runs", names=names, noun=dataset.benchmark.noun, repeated=names is repeated)
    plays = {name: dataset.play(name) for name in dataset.algorithms}
    yield from _protocols(plays)
    trained = grouped((frames, name) for name in dataset.algorithms if (frames := dataset.scores.get(name).frames))
    unknown = [name for name in dataset.algorithms if dataset.scores.get(name).length_unknown]
    if len(trained) > 1 or (trained and unknown):
        yield notice("training_differs", by_frames=sorted(trained.items()), unknown=unknown)
    labels = grouped((play.label, name) for name, play in plays.items() if play.label and play.protocol is None)
    for label, names in labels.items():
        name = label.partition(" (")[0]
        if name.lower() in named_protocols():
            why = f"the changes of the protocol {name} in {label!r} are not known settings"
        else:
            why = str(UnknownNameError("protocol", name, named_protocols())).rstrip("?")
        yield notice("protocol_unknown__named", names=names, why=why)
    if unknown := [name for name, play in plays.items() if not play.known]:
        yield notice("protocol_unknown", names=unknown, atari=dataset.benchmark.atari)


def _protocols(plays: dict[str, PlayConditions]) -> Iterator[Notice]:
    """Yield notices on algorithms that plan on the emulator, and on differences between protocols."""
    planners = [name for name, play in plays.items() if play.plans]
    if planners and len(planners) < len(plays):
        others = [name for name in plays if name not in planners]
        yield notice("protocols_differ__planners", planners=planners, others=others)
    known = {name: play for name, play in plays.items() if play.known}
    first, *others = known or [""]
    groups = grouped((pair, name) for name in others if (pair := protocols.differences(plays[first], plays[name])))
    settings = list(protocols.setting_by_setting(known))
    if len(groups) > MAX_GROUPS:
        yield notice("protocols_differ", names=list(known), differences=settings)
    else:
        for differences, names in groups.items():
            yield notice("protocols_differ__from", first=first, names=names, differences=differences)
    if len(settings) > MAX_GROUPS:
        yield notice("settings", differences=settings)


def _of_single_episodes(name: str, dataset: Dataset) -> bool:
    """Return True if a table's algorithm has many runs per game whose scores may all be those of single episodes."""
    rows = dataset.runs(name)
    if not dataset.benchmark.atari or not dataset.elsewhere(name):
        return False
    if min((row.size for row in rows.values()), default=0) < MANY_RUNS:
        return False
    varies = any((row != row[0]).any() for row in rows.values())
    return varies and not any((row % games()[task].score_step).any() for task, row in rows.items())


def _same_games(dataset: Dataset, *, pairs: bool = False) -> Iterator[Notice]:
    """Warn where algorithms do not have the same games."""
    titles = {task: dataset.benchmark.title(task) for task in dataset.tasks}
    lacking = [
        f"{name} lacks {wording.shortened(games)}"
        for name in dataset.algorithms
        if (games := [title for task, title in titles.items() if task not in dataset.means(name)])
    ]
    if lacking and any(map(dataset.means, dataset.algorithms)):
        yield notice("games_differ", lacking=lacking, noun=dataset.benchmark.noun, pairs=pairs)


def _few_runs(
    dataset: Dataset,
    groups: Sequence[tuple[str, ...]],
    summaries: Sequence[Summary | SummaryDifference],
    bootstrap: Bootstrap,
) -> Iterator[Notice]:
    """Yield warnings of intervals that cover the truth too rarely, and a notice on those that were not simulated.

    There is one warning per group of algorithms with the same coverage, or one for the pair with the fewest runs.
    """
    known = {names: few for names in groups if (few := _covered(dataset, names, summaries, bootstrap.method))}
    unknown = [text for few in known.values() for text in few.unknown] + list(_not_simulated(dataset, bootstrap))
    if unknown:
        yield notice("not_simulated", what=list(dict.fromkeys(unknown)))
    if known and len(groups[0]) > 1:
        pair = min(known, key=lambda names: (known[names].fewest, known[names].simulated))
        known = {pair: known[pair]}
    for few, whose in grouped((few, wording.listing(names)) for names, few in known.items()).items():
        if few.short:
            pairs = 0 if len(groups[0]) == 1 else len(groups)
            yield notice("few_runs", whose=whose, few=few, noun=dataset.benchmark.noun, pairs=pairs)


def _covered(
    dataset: Dataset, names: Sequence[str], summaries: Sequence[Summary | SummaryDifference], method: str
) -> _FewRuns | None:
    """Return the simulated coverage of intervals over the common games of algorithms; None without intervals."""
    played = [dataset.runs(name) for name in names]
    inside = [task for task in dataset.shared(names) if task in dataset.benchmark.tasks]
    several = [[runs[task].size for task in inside if runs[task].size > 1] for runs in played]
    if not all(several):
        return None
    fewest, most, games = min(map(min, several)), max(map(max, several)), len(inside)
    pair = len(names) > 1
    metrics = [dataset.benchmark.measures[metric].metric for metric in dict.fromkeys(item.metric for item in summaries)]
    like = [item for item in metrics if item.bounds in (None, SIMULATED_CAP) and not item.of_means]
    others, titles = (
        [item.title for item in metrics if item not in like],
        grouped((one.bounds is not None, one.title) for one in like),
    )
    simulated = {
        tuple(those): {
            one.title: f"{'difference of ' * pair}{'capped ' * capped}{one.name}" for one in AGGREGATES.values()
        }
        for capped, those in titles.items()
    }
    if pair:
        simulated[()] = {"probability of improvement": "probability_of_improvement"}
    short, unknown = [], []
    for those, statistics in simulated.items():
        shares = {title: coverage.measured(key, method, games, fewest) for title, key in statistics.items()}
        rare = [
            f"{title} {coverage.span(part)}" for title, part in shares.items() if part and part[0] < coverage.ENOUGH
        ]
        if rare:
            short.append((those, tuple(rare)))
        if missing := [title for title, part in shares.items() if part is None]:
            unknown.append(" ".join([wording.listing(missing), *(["of", wording.listing(those)] if those else [])]))
    if others:
        unknown.append(f"summaries of {wording.listing(others)}")
    if games < coverage.TASKS[0]:
        unknown.append(f"summaries over fewer than {coverage.TASKS[0]} {dataset.benchmark.noun}s")
    if not dataset.benchmark.atari:
        unknown.append("scores of other tasks than Atari games")
    return _FewRuns(fewest, most, coverage.nearest(games, fewest), tuple(short), tuple(unknown))


def _not_simulated(dataset: Dataset, bootstrap: Bootstrap) -> Iterator[str]:
    """Yield names of intervals that were not simulated for any runs and measures."""
    bases = {of: method.bases for method in bootstrap.view().methods for of in method.of}
    for of in ("summary", "difference"):
        names = [name for basis in bases.get(of, ()) if basis.over == "all_episodes" for name in basis.algorithms]
        if names:
            yield f"{INTERVALS_OF[of]} over episodes ({wording.shortened(names)})"
    yield from (INTERVALS_OF[of].format(noun=dataset.benchmark.noun) for of in ("profile", "estimate") if of in bases)


def _differing(dataset: Dataset) -> Iterator[Notice]:
    """Yield notices on scores and references that are not comparable with today's emulator on some games."""
    scored = {
        name: games
        for name in dataset.algorithms
        if not dataset.scores.get(name).played
        and (games := anomalies.differing(dataset.play(name).papers).keys() & dataset.runs(name))
    }

    def titles(some: Iterable[str]) -> list[str]:
        return [dataset.benchmark.title(game) for game in dataset.tasks if game in some]

    if where := titles(set().union(*scored.values())):
        yield notice("differs", names=list(scored), games=where, emulator=anomalies.CHECKED)
    if where := titles(anomalies.differing(dataset.benchmark.papers)):
        suite = dataset.benchmark.view.name
        yield notice("differs__references", suite=suite, games=where, emulator=anomalies.CHECKED)


def _efficiency(algorithms: Sequence[Algorithm], dataset: Dataset) -> Iterator[Notice]:
    known = [item for item in algorithms if item.efficiency]
    if known:
        yield notice(
            "efficiency",
            counted=[item.name for item in known if item.training_frames is None],
            of_files=[item.name for item in algorithms if item.frames_of_files],
            noun=dataset.benchmark.noun,
            atari=dataset.benchmark.atari,
        )
    unknown = [item.name for item in algorithms if not item.efficiency and dataset.scores.get(item.name).length_unknown]
    if unknown and known:
        yield notice("efficiency__unknown", names=unknown)


def _intervals(counts: Sequence[tuple[str, int]], bootstrap: Bootstrap, noun: str) -> Iterator[Notice]:
    """Yield notices on the intervals, or their absence; `counts` are algorithms and their runs per game."""
    single = [name for name, runs in counts if runs == 1 and name not in bootstrap.episodes]
    if (view := bootstrap.view()).methods:
        yield notice("intervals", view=view, noun=noun)
    if single:
        yield notice("runs", names=single, noun=noun)
    for text, names in bootstrap.notes.items():
        yield notice("runs__of", names=list(names), what=text)


def _over_episodes(algorithms: Sequence[Algorithm], dataset: Dataset) -> Iterator[Notice]:
    """Yield notices on intervals over the episodes of a single run; warn if it was, or may have been, trained."""
    noun = dataset.benchmark.noun
    trained = [
        item.name if item.run or item.training_frames is not None else f"{item.name}, if it was trained"
        for item in algorithms
        if any(row.runs == 1 and row.score.low is not None for row in item.scores) and not dataset.episodes(item.name)
    ]
    if trained:
        yield notice("episodes_as_runs__single", names=trained, noun=noun)
    few = [
        item.name
        for item in algorithms
        if any(
            row.played and row.score.value is not None and row.score.low is None and not row.played.exact
            for row in item.scores
        )
    ]
    if few:
        yield notice("intervals__none", names=few, noun=noun, fewest=FEWEST)


def _pairs(dataset: Dataset, pairs: Sequence[Pair]) -> Iterator[Notice]:
    noun, every = dataset.benchmark.noun, dataset.benchmark.tasks
    if len(pairs) > 1:
        yield from _same_games(dataset, pairs=True)
    elif pairs[0].left_out:
        yield notice("games_differ__pair", pair=pairs[0], noun=noun)
    inside = min(sum(game.game in every for game in pair.games) for pair in pairs)
    if min(len(pair.games) for pair in pairs) == 1:
        yield notice("comparison", noun=noun)
    elif inside < len(every):
        suite, alone = dataset.benchmark.view.name, len(pairs) == 1
        yield notice("partial_suite__compared", inside=inside, of=len(every), noun=noun, suite=suite, alone=alone)


def _tests(pairs: Sequence[Pair], alpha: str, noun: str) -> Iterator[Notice]:
    games, untested = sum(len(pair.games) for pair in pairs), sum(pair.untested for pair in pairs)
    if untested < games:
        yield notice("tests", noun=noun, alpha=alpha)
    if untested:
        why = list(dict.fromkeys(game.why for pair in pairs for game in pair.games if game.verdict == "untested"))
        yield notice("untested", number=untested, games=games, noun=noun, pairs=len(pairs), why=why)
    if any(pair.power for pair in pairs):
        yield notice("power", noun=noun, alpha=alpha)
