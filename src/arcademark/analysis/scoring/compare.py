"""Comparison of algorithms: from a dataset to its result."""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from statistics import NormalDist
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from arcademark import wording
from arcademark.analysis.measures import Measure, Runs
from arcademark.analysis.runs import learning
from arcademark.analysis.scoring import analysis, notices, orders
from arcademark.analysis.scoring.comparison import ComparedSide, Comparison, GameDifference, Pair, Power
from arcademark.analysis.tables.dataset import Dataset, ScoreKeywords, ScoreOptions, prepare
from arcademark.analysis.tables.document import Summary
from arcademark.analysis.tables.loading import ScoreSource
from arcademark.analysis.uncertainty import Bootstrap, Profile, SummaryDifference
from arcademark.errors import ArcadeMarkError
from arcademark.metrics import compare as tests
from arcademark.metrics import power as powers
from arcademark.metrics.aggregate import mean_over_runs
from arcademark.metrics.sequential import SequentialPlan
from arcademark.metrics.uncertainty.intervals import LEVEL
from arcademark.metrics.uncertainty.samples import padded

CONFIDENCE = 0.99
"""Confidence of the tests on each game (Bellemare et al. 2013, §4.3)."""

CITED = ("bellemare-2013", "agarwal-2021")
"""Papers of the tests, and of the probability of improvement and profiles, that a comparison shows."""

SEQUENTIAL = "mathieu-2024"
"""Paper of the sequential test."""

POWER_STATISTIC = "iqm"
"""The summary for whose difference the needed number of runs is computed."""

LONG_TAIL = 1.5
"""Ratio of the best run's score to the 95 % quantile from which a profile leaves out the best runs."""

MAX_EXAMPLES = 3
"""Maximum number of algorithms that an error names for a comparison."""

PROFILE_STEPS, MAX_STEPS = (1.0, 2.0, 5.0, 10.0), 200
"""Possible steps of a profile, in percent, and the maximum number of steps, which decides between them."""


def compare_tables(
    places: Sequence[ScoreSource] | ScoreSource,
    options: ScoreOptions | None = None,
    /,
    *,
    follow: Callable[[int, int], None] | None = None,
    plan: SequentialPlan | None = None,
    summary: str = POWER_STATISTIC,
    **keywords: Unpack[ScoreKeywords],
) -> Comparison:
    """Compare algorithms.

    Parameters and errors are those of `arcademark.analysis.scoring.analysis.analyse`; ``algorithms`` names at least two
    algorithms, or none for all. Also raises if no two algorithms share a game. ``follow`` is called after each pair
    with the number of pairs done and the total. With a ``plan``, runs are also tested sequentially, group by group;
    ``summary`` summarises each run over games.
    """
    wanted = options or ScoreOptions(**keywords)
    dataset = _prepared(places, wanted)
    measures = dataset.benchmark.chosen(wanted.metrics or ())
    bootstrap = analysis.bootstrap_of(dataset, wanted)
    main = measures[0]
    tested = orders.sequential(dataset, main, bootstrap, plan, summary) if plan else None
    pairs = _pairs(dataset, measures, bootstrap, follow)
    sides = _sides(dataset, main, bootstrap)
    title = " against ".join(dataset.algorithms) if len(sides) == 2 else wording.shortened(dataset.algorithms, most=4)
    profiles = _profiles(dataset, main, bootstrap)
    noticed = notices.of_comparison(dataset, sides, pairs, bootstrap, CONFIDENCE)
    return Comparison(
        **analysis.shared(title, dataset, measures, bootstrap, noticed, (*CITED, *((SEQUENTIAL,) if tested else ()))),
        metric=main.metric.name,
        metric_title=main.metric.title,
        metric_meaning=main.metric.meaning,
        confidence=CONFIDENCE,
        algorithms=sides,
        pairs=pairs,
        sensitivity=orders.sensitivity(dataset),
        profiles=profiles,
        sequential=tested,
        ranks=orders.ranks(dataset, bootstrap),
        sample_efficiency=analysis.sample_efficiency(learning.curves(dataset.played), main, bootstrap, dataset.unit),
    )


def _sides(dataset: Dataset, measure: Measure, bootstrap: Bootstrap) -> tuple[ComparedSide, ...]:
    """Summarise each algorithm over the common games, so that summaries can be compared."""
    shared = [task for task in dataset.shared(dataset.algorithms) if task in measure.known]
    metric, sides = measure.metric, []
    for name in dataset.algorithms:
        own = {task: dataset.runs(name)[task] for task in shared}
        values = bootstrap.summaries(name, [measure], own)[0]
        summary = Summary(metric.name, metric.title, metric.meaning, values, len(shared), ())
        sides.append(ComparedSide(**analysis.identity(name, dataset), summary=summary if shared else None))
    return tuple(sides)


def _prepared(places: Sequence[ScoreSource] | ScoreSource, options: ScoreOptions) -> Dataset:
    """Prepare a dataset; raise if it has only one algorithm."""
    named = options.algorithms or ()
    if len(named) == 1 and os.path.exists(named[0]):
        raise ArcadeMarkError(
            f"only {named[0]!r} is named; name another to compare it with, or none for all; for another table add "
            f"--with {named[0]}"
        )
    dataset = prepare(places, options)
    if len(dataset.algorithms) > 1:
        return dataset
    only = dataset.algorithms[0]
    if named:
        others = _nearest(only, prepare(places, replace(options, algorithms=())))
        examples = f", such as {wording.listing(map(repr, others), 'or')}," if others else ""
        raise ArcadeMarkError(f"only {only!r} is named; name another to compare it with{examples} or none for all")
    played = dataset.scores.runs
    if parts := [str(part) for run in (played.runs if played else ()) for part in run.record.parts]:
        raise ArcadeMarkError(
            f"{wording.listing(parts)} have the same agent and protocol and share no trial, so they are one run of "
            f"{only!r}, with nothing to compare it with; name another agent's run"
        )
    raise ArcadeMarkError(
        f"only one algorithm, {only!r}, so nothing to compare it with; name two, or add another table"
    )


def _nearest(name: str, dataset: Dataset) -> list[str]:
    """Return at most `MAX_EXAMPLES` other algorithms, those with the most tasks in common with one."""
    table = dataset.scores.table
    present = ~np.isnan(table.mean_over_runs())
    shared = (present & present[table.algorithms.index(name)]).sum(axis=1)
    order = [table.algorithms[place] for place in np.argsort(-shared, kind="stable") if shared[place]]
    return [other for other in order if other != name][:MAX_EXAMPLES]


def _pairs(
    dataset: Dataset, measures: Sequence[Measure], bootstrap: Bootstrap, follow: Callable[[int, int], None] | None
) -> tuple[Pair, ...]:
    """Compare all pairs of algorithms by the main measure, or a single pair by all measures."""
    duels = list(itertools.combinations(dataset.algorithms, 2))
    pairs = []
    for done, names in enumerate(duels, start=1):
        if dataset.runs(names[0]).keys() & dataset.runs(names[1]).keys():
            pairs.append(_pair(names, dataset, measures if len(duels) == 1 else measures[:1], bootstrap))
        if follow is not None:
            follow(done, len(duels))
    if not pairs:
        raise ArcadeMarkError(f"{wording.listing(dataset.algorithms)} have no game in common; nothing to compare")
    return _corrected(pairs)


def _corrected(pairs: Sequence[Pair]) -> tuple[Pair, ...]:
    """Correct the p-values of all pairs' games for their number."""
    corrected = iter(tests.holm([game.p for pair in pairs for game in pair.games if game.p is not None]).tolist())

    def correct(game: GameDifference) -> GameDifference:
        return game if game.p is None else replace(game, corrected_p=next(corrected))

    return tuple(replace(pair, games=tuple(map(correct, pair.games))) for pair in pairs)


def _pair(names: tuple[str, str], dataset: Dataset, measures: Sequence[Measure], bootstrap: Bootstrap) -> Pair:
    everything, shared = [dataset.runs(name) for name in names], dataset.shared(names)
    first, second = ({task: runs[task] for task in shared} for runs in everything)
    left_out = [task for task in dataset.tasks if (task in everything[0]) != (task in everything[1])]
    samples = tuple({task: dataset.samples(name)[task] for task in shared} for name in names)
    games = _games((first, second), samples, measures[0])
    verdicts = [game.verdict for game in games]
    summaries: dict[str, dict[str, SummaryDifference]] = {}
    for measure in measures:
        one, other = measure.of_known(first), measure.of_known(second)
        summaries[measure.metric.name] = bootstrap.differences(names, measure, one, other) if one else {}
    return Pair(
        first=names[0],
        second=names[1],
        games=games,
        left_out=tuple(dataset.benchmark.title(task) for task in left_out),
        better=verdicts.count("better"),
        worse=verdicts.count("worse"),
        undecided=verdicts.count("undecided"),
        untested=verdicts.count("untested"),
        improvement=bootstrap.improvement(names, first, second),
        summaries=tuple(item for by_statistic in summaries.values() for item in by_statistic.values()),
        power=_power(games, measures[0], summaries[measures[0].metric.name], *samples),
    )


def _games(runs: Sequence[Runs], samples: Sequence[Runs], measure: Measure) -> tuple[GameDifference, ...]:
    """Compare runs game by game, and test their samples, which are the runs themselves or their episodes."""
    tables, (first, second) = [padded(side.values()) for side in runs], samples
    tested = tests.paired_tests(padded(first.values()), padded(second.values()), list(first), alpha=1 - CONFIDENCE)
    one, other = (dict(zip(first, mean_over_runs(table).tolist(), strict=True)) for table in tables)
    of_one, of_other = measure.of_tasks(one), measure.of_tasks(other)
    improvement = tests.probabilities_of_improvement(*tables).tolist()
    games = []
    for test, better in zip(tested, improvement, strict=True):
        task, placed = test.task, (of_one[test.task], of_other[test.task])
        difference = one[task] - other[task]
        games.append(
            GameDifference(
                game=task,
                first=one[task],
                second=other[task],
                difference=difference,
                normalised=None if placed[0] is None or placed[1] is None else placed[0] - placed[1],
                p=test.p,
                corrected_p=None,
                verdict=test.verdict,
                why=test.why,
                improvement=better,
                seeds_needed=_seeds_needed(difference, first[task], second[task]),
            )
        )
    return tuple(games)


def _seeds_needed(difference: float, first: NDArray[np.float64], second: NDArray[np.float64]) -> int | None:
    """Return the runs per algorithm needed to detect the observed difference with the observed spreads, or None."""
    if min(first.size, second.size) < 2 or difference == 0:
        return None
    spreads = float(np.std(first, ddof=1)), float(np.std(second, ddof=1))
    if max(spreads) == 0:
        return None
    try:
        return powers.seeds_needed(difference, spreads, alpha=1 - CONFIDENCE)
    except ArcadeMarkError:  # more than could ever be played
        return None


def _power(
    games: Sequence[GameDifference],
    measure: Measure,
    summaries: Mapping[str, SummaryDifference],
    first: Runs,
    second: Runs,
) -> Power | None:
    needs = {item.game: item.seeds_needed for item in games if item.seeds_needed is not None}
    if not needs:
        return None
    have = {task: min(first[task].size, second[task].size) for task in needs}
    interval = summaries.get(POWER_STATISTIC)
    return Power(
        games=len(needs),
        enough=sum(have[task] >= need for task, need in needs.items()),
        median_seeds=float(np.median(list(needs.values()))),
        metric=measure.metric.title,
        statistic=POWER_STATISTIC,
        seeds=None if interval is None else _seeds_of_summary(interval, float(np.median(list(have.values())))),
    )


def _seeds_of_summary(summary: SummaryDifference, runs: float) -> int | None:
    """Return the runs needed to detect a summary's difference; its standard error falls with their square root."""
    difference = summary.difference.value
    if not summary.standard_error or not difference:
        return None
    normal = NormalDist()
    wanted = normal.inv_cdf((1 + LEVEL) / 2) + normal.inv_cdf(powers.POWER)
    return max(2, math.ceil(runs * (wanted * summary.standard_error / difference) ** 2))


def _profiles(dataset: Dataset, measure: Measure, bootstrap: Bootstrap) -> tuple[Profile, ...]:
    known = {name: runs for name in dataset.algorithms if (runs := measure.of_known(dataset.runs(name)))}
    if not known:
        return ()
    ends = [np.nanquantile(measure.by_run(runs), [0.95, 1.0]).tolist() for runs in known.values()]
    most, last = (max(each[end] for each in ends) for end in (0, 1))
    end = min(float(last if last < LONG_TAIL * most else most), PROFILE_STEPS[-1] * MAX_STEPS)
    step = next(step for step in PROFILE_STEPS if end <= step * MAX_STEPS)
    thresholds = np.arange(0.0, max(end, 1.0) + step, step)
    return tuple(bootstrap.profile(name, measure, runs, thresholds) for name, runs in known.items())
