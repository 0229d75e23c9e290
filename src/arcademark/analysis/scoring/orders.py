"""Order of algorithms: by every metric and set of references, over resampled runs, and by sequential tests.

AdaStop decides whether more runs are needed (`arcademark.metrics.sequential`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from arcademark import wording
from arcademark.analysis.measures import Measure, Runs, between
from arcademark.analysis.scoring.comparison import Ranking, Ranks, Sensitivity, Sequential, SequentialRuns
from arcademark.analysis.tables.benchmarks import OTHER_SOURCES
from arcademark.analysis.tables.dataset import Dataset
from arcademark.analysis.uncertainty import Bootstrap
from arcademark.errors import ArcadeMarkError, UnknownNameError
from arcademark.metrics import ranking
from arcademark.metrics.aggregate import AGGREGATES
from arcademark.metrics.ranking import Flip
from arcademark.metrics.sequential import SequentialPlan, sequential_test
from arcademark.suite import references

USUAL = "median"
"""The summary of the first metric with whose order the others are compared."""

RANK_DRAWS = 1000
"""Number of resamples for the distribution of ranks."""


def sensitivity(dataset: Dataset) -> Sensitivity | None:
    """Rank a table's algorithms by every summary of every metric, over their common games; None if there are none.

    HNS is also computed with other sources' references, where sources disagree.
    """
    runs, shared = {name: dataset.runs(name) for name in dataset.algorithms}, dataset.shared(dataset.algorithms)
    if not shared:
        return None
    found: list[tuple[Measure, str, dict[str, float]]] = []
    for measure in _measures(dataset):
        known = [task for task in shared if task in measure.known]
        if not known:
            continue
        summaries = {name: measure.aggregates({task: rows[task] for task in known}) for name, rows in runs.items()}
        found += [
            (measure, statistic, {name: float(values[place]) for name, values in summaries.items()})
            for place, statistic in enumerate(AGGREGATES)
        ]
    if not found:
        return None
    usual = next(values for _, statistic, values in found if statistic == USUAL)
    rankings = [_ranking(measure, statistic, values, usual) for measure, statistic, values in found]
    return Sensitivity(tuple(rankings), _flips(dataset.algorithms, rankings))


def _measures(dataset: Dataset) -> Iterator[Measure]:
    yield from dataset.benchmark.measures.values()
    if "human" in dataset.benchmark.references:
        low, high = _as_others_print("random"), _as_others_print("human")
        yield between(OTHER_SOURCES, low, high)


def _as_others_print(kind: str) -> dict[str, float]:
    return {
        task: reference.alternatives[0].score if reference.alternatives else reference.score
        for task, reference in references.references(kind).items()
    }


def _ranking(measure: Measure, statistic: str, values: Mapping[str, float], usual: Mapping[str, float]) -> Ranking:
    signed = {name: AGGREGATES[statistic].sign * value for name, value in values.items()}
    ordered = min(len(set(order.values())) for order in (signed, usual)) > 1
    return Ranking(
        metric=measure.metric.name,
        title=measure.metric.title,
        statistic=statistic,
        values=tuple(values.values()),
        ranks=tuple(ranking.ranks(signed).values()),
        inversions=len(ranking.inversions(usual, signed)),
        kendall_tau=ranking.kendall_tau(usual, signed) if ordered else None,
    )


def _flips(names: tuple[str, ...], rankings: list[Ranking]) -> tuple[Flip, ...]:
    return ranking.flips(
        {
            f"{AGGREGATES[item.statistic].title} {item.title}": {
                name: -float(rank) for name, rank in zip(names, item.ranks, strict=True)
            }
            for item in rankings
        }
    )


def ranks(dataset: Dataset, bootstrap: Bootstrap) -> tuple[Ranks, ...]:
    """Return the distributions of algorithms' ranks over common games and resampled runs; empty without such games.

    If all algorithms have a single run on each task, nothing is resampled.
    """
    names = dataset.algorithms
    samples, shared = [dataset.samples(name) for name in names], dataset.shared(names)
    if not shared:
        return ()
    several = any(rows[task].size > 1 for rows in samples for task in shared)
    rng, draws = bootstrap.rng(*names, "ranks"), min(bootstrap.resamples, RANK_DRAWS) if several else 1
    total = np.zeros((len(names), len(names)))
    for task in shared:
        runs = [rows[task] for rows in samples]
        total += ranking.rank_shares(np.array([rng.choice(row, (draws, row.size)).mean(axis=1) for row in runs]))
    shares = total / len(shared)
    means = shares @ np.arange(1, len(names) + 1)
    return tuple(
        Ranks(name, tuple(row), mean) for name, row, mean in zip(names, shares.tolist(), means.tolist(), strict=True)
    )


def sequential(
    dataset: Dataset, measure: Measure, bootstrap: Bootstrap, plan: SequentialPlan, summary: str
) -> Sequential:
    """Test all pairs of algorithms on their common games; raise if there is none.

    The r-th score of an algorithm combines the r-th runs of all games: in points for a single game, else their
    ``summary`` by the measure. For an agent that was never trained, each episode is a run.
    """
    more_is_better = [one.name for one in AGGREGATES.values() if one.sign > 0]
    if summary not in more_is_better:
        raise UnknownNameError("summary", summary, more_is_better)
    names = dataset.algorithms
    games = dataset.shared(names)
    if not games:
        raise ArcadeMarkError(f"{wording.listing(names)} have no game in common for a sequential test; name fewer")
    known = [game for game in games if game in measure.known]
    if len(games) > 1 and not known:
        raise ArcadeMarkError(f"no common game has references for {measure.metric.title}; name one game with --games")
    summed_up = len(games) > 1
    kept = known if summed_up else games
    by_game = [{game: dataset.samples(name)[game] for game in kept} for name in names]
    rows = [_summed_up(measure, runs, summary) if summed_up else runs[kept[0]] for runs in by_game]
    scores = dict(zip(names, rows, strict=True))
    pairs, more = sequential_test(scores, bootstrap.rng(*names, "sequential"), plan)
    used = [max((len(pair.steps) for pair in pairs if name in (pair.first, pair.second)), default=0) for name in names]
    return Sequential(
        **vars(plan),
        games=tuple(kept),
        metric=measure.metric.name if summed_up else "",
        statistic=summary if summed_up else "",
        algorithms=tuple(
            SequentialRuns(name, row.size, groups * plan.group, max(wanted - row.size, 0))
            for (name, row), groups, wanted in zip(scores.items(), used, more, strict=True)
        ),
        pairs=pairs,
    )


def _summed_up(measure: Measure, runs: Runs, summary: str) -> NDArray[np.float64]:
    """Summarise the r-th runs of all games for each r, up to the fewest runs of a game, shape (runs,)."""
    complete = min(row.size for row in runs.values())
    table = measure.normaliser(np.array([row[:complete] for row in runs.values()]), runs).T
    return AGGREGATES[summary](table, table[..., np.newaxis])
