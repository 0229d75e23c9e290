"""Whether more runs are needed to tell the algorithms of a dataset apart: what is asked of AdaStop, and its answer."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from arcademark.errors import ArcadeMarkError, UnknownNameError
from arcademark.metrics.aggregate import AGGREGATES, aggregates
from arcademark.metrics.sequential import Plan, sequential_test
from arcademark.reports import wording
from arcademark.reports.measures import Measure, Runs
from arcademark.reports.tables.comparison import Sequential, SequentialPair, SequentialRuns
from arcademark.reports.tables.dataset import Dataset
from arcademark.reports.tables.uncertainty import Bootstrap

SUMMARIES = tuple(name for name in AGGREGATES if name != "optimality_gap")


def of(dataset: Dataset, measure: Measure, bootstrap: Bootstrap, plan: Plan, summary: str) -> Sequential:
    """Test each algorithm against each on the games that all have; raise where there is none.

    The r-th score of a run is that of the r-th runs of all games: in points where there is one game, else their
    ``summary`` by the measure. Of an agent that was never trained each episode is a run.
    """
    if summary not in SUMMARIES:
        raise UnknownNameError("summary", summary, SUMMARIES)
    names = dataset.algorithms
    games = [game for game in dataset.tasks if all(game in dataset.runs(name) for name in names)]
    if not games:
        raise ArcadeMarkError(
            f"{wording.listing(names)} have no game in common to test one after the other; name fewer"
        )
    known = [game for game in games if game in measure.known]
    if len(games) > 1 and not known:
        raise ArcadeMarkError(f"no game that all have is known to {measure.title}; name one game with --games")
    summed_up = len(games) > 1
    kept = known if summed_up else games
    by_game = [{game: dataset.samples(name)[game] for game in kept} for name in names]
    scores = [_summed_up(measure, runs, summary) if summed_up else runs[kept[0]] for runs in by_game]
    found = sequential_test(scores, bootstrap.rng(*names, "sequential"), plan)
    used = [max((len(pair.steps) for pair in found.pairs if side in (pair.first, pair.second)), default=0)
            for side in range(len(names))]  # fmt: skip
    return Sequential(
        plan.group,
        plan.groups,
        plan.alpha,
        plan.permutations,
        tuple(kept),
        measure.metric if summed_up else "",
        summary if summed_up else "",
        tuple(
            SequentialRuns(name, row.size, groups * plan.group, max(wanted - row.size, 0))
            for name, row, groups, wanted in zip(names, scores, used, found.wanted, strict=True)
        ),
        tuple(SequentialPair(names[pair.first], names[pair.second], pair.decision, pair.steps) for pair in found.pairs),
    )


def _summed_up(measure: Measure, runs: Runs, summary: str) -> NDArray[np.float64]:
    """Sum up the first runs of all games, the second, …, as many as every game has, shape (runs,)."""
    complete = min(row.size for row in runs.values())
    table = measure.normaliser(np.array([row[:complete] for row in runs.values()]), runs).T
    found: NDArray[np.float64] = aggregates(table, table[..., np.newaxis])[AGGREGATES.index(summary)]
    return found
