"""What ``arcademark subset coverage`` shows: how predictions from any games hold for what they were not learnt from.

The algorithms of Atari's predictor (`arcademark.reports.subsets.predictors.atari`) are left out in three ways, each
predicted by a distribution, and its interval widened by misses, that knew nothing of it: paper by paper (but for the
fits behind other papers' misses); kind by kind (`arcademark.catalogue.model.ALGORITHM_KINDS`); and the newest third.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import ClassVar

import numpy as np

from arcademark.catalogue import collections
from arcademark.errors import ArcadeMarkError
from arcademark.reports.subsets import predictors
from arcademark.subset import calibration
from arcademark.subset.any_tasks import MEDIAN, Trained
from arcademark.subset.calibration import DRAWS, TASKS
from arcademark.suite.subsets import LEVEL, resolve_tasks

Parts = Sequence[tuple[Trained, Trained]]
"""What is learnt from, and what is left out of that."""


@dataclass(frozen=True)
class Held:
    """How predictions from some games hold for algorithms that were left out.

    subset: The games, as named.
    left_out: In which way: "each paper", "each kind", "since 2021".
    algorithms: How many were predicted.
    mean_error, median_error: Of the estimated median: the size of ln((estimate + 1) / (truth + 1)), both in percent of
        the average human.
    coverage: By what is predicted of all games, the share of truths that intervals held.
    games_coverage: The same of single games.
    """

    subset: str
    left_out: str
    algorithms: int
    mean_error: float
    median_error: float
    coverage: Mapping[str, float]
    games_coverage: float


@dataclass(frozen=True)
class Coverage:
    """How predictions from any games hold for what they were not learnt from.

    level: Of the intervals.
    algorithms, papers: How many algorithms there are to learn from, and of how many papers.
    """

    SCHEMA: ClassVar[str] = "arcademark.subset-coverage/1"

    level: float
    algorithms: int
    papers: int
    rows: tuple[Held, ...]


def covered(subsets: Sequence[str], level: float = LEVEL) -> Coverage:
    """Measure it from each list of games, "atari-5" or "pong,qbert"; raise where one names what there is not."""
    games = {name: resolve_tasks(name) for name in subsets}
    trained = predictors.atari().trained
    ways = dict(_ways(trained))
    rows = [_held(name, tasks, way, ways[way], level) for name, tasks in games.items() for way in ways]
    return Coverage(level, len(trained.algorithms), len(set(trained.groups)), tuple(rows))


def _ways(trained: Trained) -> Iterator[tuple[str, Parts]]:
    entries = collections.select()
    kinds = np.array([entries[name].kind for name in trained.algorithms])
    years = np.array([entries[name].year for name in trained.algorithms])
    since = int(np.sort(years)[2 * len(years) // 3])
    yield "each paper", [(trained, trained)]
    yield "each kind", [trained.apart(kinds == kind) for kind in dict.fromkeys(kinds)]
    yield f"since {since}", [trained.apart(years >= since)]


def _held(name: str, tasks: Sequence[str], way: str, parts: Parts, level: float) -> Held:
    held: dict[str, list[bool]] = {}
    sizes: list[float] = []
    for known, others in parts:
        given = np.isin(known.joint.tasks, tasks)
        noise = np.random.default_rng(predictors.SEED).standard_normal((DRAWS, len(given)))
        quantities = predictors.of_games(known.joint.tasks)
        widened_by = calibration.misses(known, given, quantities, noise, level)
        found = widened_by if others is known else calibration.misses(others, given, quantities, noise, level)
        sizes += (log(10) * np.abs(found.errors[MEDIAN.name])).tolist()
        for quantity in found.by:
            held.setdefault(quantity, []).extend(found.held(quantity, level, widened_by))
    if not sizes:
        raise ArcadeMarkError(f"no published algorithm has any of {name} and other games of atari-57 beside")
    coverage = {quantity: float(np.mean(every)) for quantity, every in held.items()}
    games_coverage = coverage.pop(TASKS)
    return Held(name, way, len(sizes), float(np.mean(sizes)), float(np.median(sizes)), coverage, games_coverage)
