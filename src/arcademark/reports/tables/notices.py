"""What a reader must be told before believing a number of a table; see `arcademark.reports.notices`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from arcademark.console.games import score_step
from arcademark.metrics.uncertainty.intervals import FEWEST, LEVEL
from arcademark.reports import wording
from arcademark.reports.cells import run_names
from arcademark.reports.document import Estimate, Notice
from arcademark.reports.measures import Measure
from arcademark.reports.notices import notice, sort
from arcademark.reports.runs import notices as runs_notices
from arcademark.reports.subsets import predictors
from arcademark.reports.subsets.models import ANY
from arcademark.reports.tables import coverage, plausible, protocols
from arcademark.reports.tables.comparison import SummaryDifference
from arcademark.reports.tables.dataset import Dataset
from arcademark.reports.tables.document import Algorithm, Summary
from arcademark.reports.tables.uncertainty import Bootstrap
from arcademark.subset.predict.model import explained
from arcademark.suite import anomalies, subsets, tasks
from arcademark.suite.subsets import Subset

AS_RUNS = "(Agarwal et al. 2021; Patterson et al. 2024)"
"""Which papers say that episodes of one trained agent are not runs."""

MANY_RUNS = 10
"""Runs a game from which the scores of a table are asked whether they are single episodes'."""

MOST_GROUPS = 3
"""Groups of algorithms, each lacking its own games, above which they are told all together."""


def collect(dataset: Dataset, algorithms: Sequence[Algorithm], bootstrap: Bootstrap) -> tuple[Notice, ...]:
    """Gather all notices of a table, warnings first."""
    estimates = [(item.name, one) for item in algorithms for one in (item.estimate, item.published) if one is not None]
    runs = dataset.scores.runs
    return sort(
        [
            *partial(dataset, algorithms),
            *how_made(dataset),
            *same_games(dataset),
            *about_estimates(estimates),
            *_complete(algorithms, dataset),
            *_records(algorithms),
            *_efficiency(algorithms, dataset),
            *shared(
                dataset,
                coverage.of_algorithms(dataset, measures(algorithms[0].summaries, dataset), bootstrap.method),
                [(item.name, item.most_runs) for item in algorithms],
                bootstrap,
            ),
            *_over_episodes(algorithms, dataset),
            *(runs_notices.of_runs(runs, dataset.played, algorithms, run_names(runs)) if runs else ()),
        ]
    )


def shared(
    dataset: Dataset, few_runs: Iterable[str], counts: Sequence[tuple[str, int]], bootstrap: Bootstrap
) -> Iterator[Notice]:
    """Say what holds of a table's scores and of comparisons: references, intervals, measures, and how it was read.

    Given are whose intervals hold the truth too rarely (`arcademark.reports.tables.coverage`), and algorithms' runs.
    """
    yield from references(dataset)
    yield from _differing(dataset)
    yield from (notice("few_runs", f"{text}.") for text in few_runs)
    if any(row.size > 1 for name in dataset.algorithms for row in dataset.runs(name).values()):
        yield notice(
            "measures",
            f"Mean and median are over {dataset.benchmark.noun}s, of each one's mean over runs; IQM and optimality "
            "gap are over runs. A capped metric caps those means and those runs.",
        )
    yield from (notice("measures", text) for text in dataset.benchmark.remarks)
    yield from intervals(counts, bootstrap, dataset.benchmark.noun)
    yield from (notice("read", text if text.endswith(".") else f"{text}.") for text in dataset.scores.remarks)
    if dataset.benchmark.atari:
        yield notice(
            "hard_exploration",
            "Small subsets say little about hard exploration (Aitchison et al. 2023, §8.1): its games are listed "
            "separately.",
        )


def about_estimates(estimates: Sequence[tuple[str, Estimate]]) -> Iterator[Notice]:
    """Say which algorithms' estimates are doubtful or refused, and how the others are to be read."""
    for text in dict.fromkeys(text for _, estimate in estimates for text in estimate.warnings):
        doubtful = wording.shortened(name for name, estimate in estimates if text in estimate.warnings)
        yield notice("estimate_doubtful", f"{doubtful}: {text[0].lower()}{text[1:]}")
    refused = sorted(
        ((estimate, name) for name, estimate in estimates if estimate.missing), key=lambda pair: pair[0].missing
    )
    for missing, group in groupby(refused, key=lambda pair: pair[0].missing):
        pairs = list(group)
        yield notice(
            "estimate_refused",
            f"No estimate of the {pairs[0][0].suite} median for {wording.shortened(name for _, name in pairs)}: "
            f"{pairs[0][0].title} also needs {wording.listing(missing)}.",
            "Leave --model out: it is estimated from any games.",
        )
    told = [item for _, item in estimates if item.value is not None]
    for item in {item.subset: item for item in told}.values():
        from_any = [one for one in told if one.subset == ANY]
        yield notice("estimate_reading", _from_any(from_any) if item.subset == ANY else _by_model(item))
        if item.subset != ANY and subsets.subset(item.subset).purpose == "tuning":
            yield notice("estimate_tuning", f"{item.title} is meant for tuning; report results on Atari-5 (§8).")


def _from_any(told: Sequence[Estimate]) -> str:
    trained = predictors.atari(told[0].suite).trained
    held = list(dict.fromkeys(wording.share(item.held) for item in told if item.held is not None))
    intervals = f"{100 * told[0].level:g} % intervals are for algorithms of other papers"
    if held:
        intervals += (
            f": of {len(trained.algorithms)} published ones of {len(set(trained.groups))} papers, each predicted "
            f"without its paper, such intervals held {wording.listing(held, 'or')}"
        )
    return (
        f"The {told[0].suite} median is estimated from the games that there are, by what published algorithms' scores "
        f"on them say of all. {intervals}. They take the scores as exact."
    )


def _by_model(item: Estimate) -> str:
    title, subset = item.title, subsets.subset(item.subset)
    return (
        f"{title} estimates the {item.suite} median from {wording.plural(len(subset.tasks), 'game')}. "
        f"Compare {title} estimates with {title} estimates only, not with medians: their biases differ "
        f"(Aitchison et al. 2023, §8). {_error(title, subset)}"
    )


def _error(title: str, subset: Subset) -> str:
    if subset.nested is None or subset.relative_error is None:
        return "Its error is the typical one of its model over published algorithms, no confidence interval."
    level, reach = subsets.LEVEL, subsets.conformal_half_width(subset.nested.every, subsets.LEVEL)
    return explained(title, subset.relative_error, subset.nested, level, reach)


def partial(dataset: Dataset, algorithms: Sequence[Algorithm]) -> Iterator[Notice]:
    """Say first how much of the benchmark there is, and what that forbids; of a subset its estimate says that."""
    suite = dataset.benchmark.view
    short = [
        item
        for item in algorithms
        if item.coverage.missing and not (item.run and item.estimate and item.estimate.value is not None)
    ]
    groups: dict[tuple[str, ...], list[Algorithm]] = {}
    for item in short:
        groups.setdefault(item.coverage.missing, []).append(item)
    if len(groups) > MOST_GROUPS:
        total = wording.plural(short[0].coverage.of, dataset.benchmark.noun)
        counts = [item.coverage.games for item in short]
        yield notice(
            "partial_suite",
            f"{len(short)} of {len(algorithms)} algorithms have only some of the {total} of {suite.name}, from "
            f"{min(counts)} to {max(counts)}: summaries are over what there is, which is not the same for all, and the "
            f"median over {total} is refused for {wording.shortened(item.name for item in short)}.",
        )
        return
    for missing, those in groups.items():
        first = those[0].coverage
        total = wording.plural(first.of, dataset.benchmark.noun)
        whose = "All algorithms have" if len(those) == len(algorithms) > 1 else _have([item.name for item in those])
        yield notice(
            "partial_suite",
            f"{whose} {first.games} of the {total} of {suite.name}: summaries are over what there is, and the median "
            f"over {total} is not given, as these are missing: {wording.shortened(missing, most=6)}.",
        )


def _have(names: Sequence[str]) -> str:
    return f"{wording.shortened(names)} {'has' if len(names) == 1 else 'have'}"


def how_made(dataset: Dataset) -> Iterator[Notice]:
    """Warn where algorithms set side by side were not scored alike, or not here, or where that is not known."""
    if runs := dataset.scores.runs:
        yield from runs_notices.of_scores(runs, run_names(runs))
    yield from plausible.warnings(dataset)
    yield from _episodes_as_runs(dataset)
    plays = {name: dataset.play(name) for name in dataset.algorithms}
    for text in protocols.differing(plays):
        yield notice("protocols_differ", text)
    yield from _training(dataset)
    for text in protocols.not_ours(plays):
        yield notice("protocol_unknown", text)
    if rest := protocols.in_full(plays):
        yield notice("settings", rest)
    unknown = protocols.unknown(plays, dataset.algorithms)
    if unknown:
        beside = " or setting them beside published scores" if dataset.benchmark.atari else ""
        yield notice(
            "protocol_unknown",
            f"Protocol unknown for {wording.shortened(unknown)}: check before ranking them{beside}.",
            "Name it with --protocol.",
        )


def _episodes_as_runs(dataset: Dataset) -> Iterator[Notice]:
    """Warn where runs of a table are likely episodes: several of one seed, or many with scores of single episodes."""
    noun = dataset.benchmark.noun
    repeated = [name for name in dataset.algorithms if name in dataset.scores.one_seed]
    single = [name for name in dataset.algorithms if name not in repeated and _of_single_episodes(name, dataset)]
    for names, why in (
        (repeated, f"Several runs of {{}} on a {noun} have one seed"),
        (single, f"Scores of {{}} are such as single episodes give, of {MANY_RUNS} runs a {noun} or more"),
    ):
        if names:
            yield notice(
                "episodes_as_runs",
                f"{why.format(wording.shortened(names))}. If these runs are episodes of one trained agent, intervals "
                f"and tests over them tell of this agent, not of its algorithm, whose trainings differ, too {AS_RUNS}.",
                "Number trainings in the column run and their episodes in the column episode, to have these averaged.",
            )


def _of_single_episodes(name: str, dataset: Dataset) -> bool:
    """Whether an algorithm of a table has many runs a game, with no score that only a mean over episodes can be."""
    rows = dataset.runs(name)
    if not dataset.benchmark.atari or name in {*dataset.scores.played, *dataset.scores.qualified}:
        return False
    if min((row.size for row in rows.values()), default=0) < MANY_RUNS:
        return False
    steps = {task: score_step(task) for task in rows}
    varies = any((row != row[0]).any() for row in rows.values())
    return varies and not any((row % steps[task]).any() for task, row in rows.items())


def _training(dataset: Dataset) -> Iterator[Notice]:
    """Warn where algorithms trained for different numbers of frames, where known."""
    trained: dict[int, list[str]] = {}
    for name in dataset.algorithms:
        if frames := dataset.scores.frames.get(name):
            trained.setdefault(frames, []).append(name)
    if len(trained) > 1:
        told = "; ".join(
            f"{wording.count(frames)}: {wording.shortened(names, most=3)}" for frames, names in sorted(trained.items())
        )
        yield notice(
            "training_differs",
            f"Training lengths differ, which may explain a difference in scores. Training frames: {told}.",
        )


def same_games(dataset: Dataset, so: str = "Not every summary is over the same {}s") -> Iterator[Notice]:
    """Warn where algorithms do not have the same games, and what follows."""
    everything = set(dataset.tasks)
    lacking = {name: everything - dataset.means(name).keys() for name in dataset.algorithms}
    if any(lacking.values()) and any(map(dataset.means, dataset.algorithms)):
        titles = {task: dataset.benchmark.title(task) for task in dataset.tasks}
        parts = [
            f"{name} lacks {wording.shortened([title for task, title in titles.items() if task in games])}"
            for name, games in lacking.items()
            if games
        ]
        yield notice(
            "games_differ",
            f"{so.format(dataset.benchmark.noun)}: {_shown(parts)}.",
            "--games common takes those that all have.",
        )


def _shown(parts: Sequence[str], most: int = 4) -> str:
    more = len(parts) - most
    return "; ".join([*parts[:most], *([f"and {wording.plural(more, 'algorithm')} more"] if more > 0 else [])])


def references(dataset: Dataset) -> Iterator[Notice]:
    """Warn of tasks that no reference normalises."""
    benchmark = dataset.benchmark
    outside = [task for task in dataset.tasks if task not in benchmark.tasks]
    if outside:
        others = [suite.name for suite in tasks.suites().values() if benchmark.atari and {*outside} & {*suite.tasks}]
        yield notice(
            "no_reference",
            f"No {benchmark.noun} of {benchmark.view.name}, so without references and in no summary: "
            f"{wording.shortened(map(benchmark.title, outside))}.",
            f"--suite {wording.listing(others, 'or')} has references of such." if others else "",
        )


def measures(shown: Sequence[Summary | SummaryDifference], dataset: Dataset) -> list[Measure]:
    """Return the measures that are shown."""
    return [dataset.benchmark.measures[metric] for metric in dict.fromkeys(item.metric for item in shown)]


def _complete(algorithms: Sequence[Algorithm], dataset: Dataset) -> Iterator[Notice]:
    whole = [item.name for item in algorithms if item.estimate is not None and not item.coverage.missing]
    if whole:
        yield notice(
            "suite_complete",
            f"{_have(whole)} all games of {dataset.benchmark.view.name}: the median is known, see the summaries; an "
            "estimate is needed only beside other estimates.",
        )


def _records(algorithms: Sequence[Algorithm]) -> Iterator[Notice]:
    if any(item.reached for algorithm in algorithms for item in algorithm.breakthroughs[1:]):
        yield notice(
            "records",
            "A record counts as broken from HWRNS 100 %. Broken by no other means no other algorithm in the "
            "catalogue, whatever its protocol. Human records were set under no protocol of agents.",
        )


def _differing(dataset: Dataset) -> Iterator[Notice]:
    """Say whose scores, or which references, are not to be set beside those of today's emulator on some games."""
    if not dataset.benchmark.atari:
        return
    scored = {
        name: anomalies.differing(dataset.play(name).papers).keys() & dataset.runs(name)
        for name in dataset.algorithms
        if name not in dataset.scores.played
    }
    for what, games in (
        (f"Scores of {wording.shortened([name for name in scored if scored[name]])}", set().union(*scored.values())),
        (f"The references of {dataset.benchmark.view.name}", set(anomalies.differing(dataset.benchmark.papers))),
    ):
        if where := [dataset.benchmark.title(game) for game in dataset.tasks if game in games]:
            yield notice(
                "differs",
                f"{what} are not those of today's emulator (ale-py {anomalies.CHECKED}) on {wording.listing(where)}: "
                "set no scores made with it beside them there.",
                "'arcademark info games NAME' has the figures.",
            )


def _efficiency(algorithms: Sequence[Algorithm], dataset: Dataset) -> Iterator[Notice]:
    if any(item.efficiency for item in algorithms):
        told = (
            "Learning efficiency is the summary, as a fraction, or the number of records broken, divided by training "
            "frames (Fan 2021, Eq. 7)."
        )
        if counted := [item.name for item in algorithms if item.efficiency and item.training_frames is None]:
            told += (
                f" Where training is counted in episodes, these are the frames it used, on average a "
                f"{dataset.benchmark.noun} and seed: {wording.shortened(counted)}."
            )
        if said := [item.name for item in algorithms if item.frames_of_files]:
            told += (
                f" Training frames of {wording.shortened(said)} are what the files of the networks say, on average a "
                f"{dataset.benchmark.noun} and seed; steps count with the protocol's frame skip."
            )
        if dataset.benchmark.atari:
            told += (
                " Game time is at 60 frames a second; Fan 2021, Eq. 6, takes half an hour for 100,000 frames instead "
                "of 108,000."
            )
        yield notice("efficiency", told)
    unknown = [item.name for item in algorithms if not item.efficiency]
    if unknown and len(unknown) < len(algorithms):
        yield notice(
            "efficiency",
            f"Training frames are unknown for {wording.shortened(unknown)}.",
            "Give them with --frames.",
        )


def intervals(counts: Sequence[tuple[str, int]], bootstrap: Bootstrap, noun: str) -> Iterator[Notice]:
    """Say what the intervals are, or why there are none; given are algorithms and their runs a game."""
    single = [name for name, runs in counts if runs == 1 and name not in bootstrap.episodes]
    if len(single) < len(counts):
        view = bootstrap.view()
        yield notice(
            "intervals",
            f"Intervals are {100 * view.confidence:g} %, {view.title} ({wording.count(view.resamples)} draws, fewer of "
            f"very many runs; seed {view.seed}); a single {noun}'s is Student's t. They are over runs"
            + (
                f", or over the episodes, whichever seed these are of, of what was never trained: "
                f"{wording.shortened(bootstrap.episodes)}."
                if bootstrap.episodes
                else "."
            ),
        )
    if single:
        yield notice(
            "runs",
            f"One run a {noun}: how much scores vary from run to run is not known, so no interval of summaries for "
            f"{wording.shortened(single)}.",
        )
    for text, names in bootstrap.notes.said.items():
        if text.kind != "one_run":  # which another notice says of all algorithms together
            yield notice("runs", f"{wording.shortened(names)}: {text}.")


def _over_episodes(algorithms: Sequence[Algorithm], dataset: Dataset) -> Iterator[Notice]:
    """Say whose intervals are over the episodes of a single run; warn where that was trained, or may have been."""
    noun, played = dataset.benchmark.noun, dataset.scores.played
    over = [item.name for item in algorithms if any(row.runs == 1 and row.score.low is not None for row in item.scores)]
    trained = [
        name if name in played or name in dataset.scores.frames else f"{name}, if it was trained"
        for name in over
        if not dataset.episodes(name)
    ]
    if trained:
        yield notice(
            "episodes_as_runs",
            f"A {noun}'s interval from a single run is a {100 * LEVEL:g} % Student's t interval over its episodes, so "
            f"it tells of one trained agent, not of its algorithm, whose trainings differ, too {AS_RUNS}: "
            f"{wording.shortened(trained)}.",
            "Train with several seeds: intervals are then over these.",
        )
    few = [
        item.name
        for item in algorithms
        if any(
            row.played and row.score.value is not None and row.score.low is None and not row.played.exact
            for row in item.scores
        )
    ]
    if few:
        yield notice(
            "intervals",
            f"A {noun} with fewer than {FEWEST} runs, or episodes of an only run, or whose scores are "
            f"all alike, has no interval: {wording.shortened(few)}.",
        )
