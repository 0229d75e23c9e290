"""The recovered scores of the 2013 paper, normalised as in its §4, for its statements and figures.

Conventions
-----------
* Arrays have the 55 games of the suite "ale-55" last, the five training games first. Scores are raw game points;
  normalised scores are fractions, NaN where a range is zero.
* The baselines are the three published columns (Random, the best Const and the best Perturb of each game). The paper
  normalises by all 37 agents.
"""

from __future__ import annotations

from functools import cache, partial

import numpy as np
from numpy.typing import NDArray

from arcademark.catalogue import collections
from arcademark.metrics.ranges import baseline_limits, inter_algorithm, placed, random_limits
from arcademark.reproduce import comparison
from arcademark.suite import tasks

COLLECTION = "ale-2013"
PAPER = "bellemare-2013"

LEARNERS = ("Basic", "BASS", "DISCO", "LSH", "RAM")
BASELINES = ("Random", "Const", "Perturb")
SEARCH = ("Breadth-first search", "UCT")
AGENTS = 37
"""Random, and Const and Perturb with each of the 18 actions (§4.1.2)."""

stated = partial(comparison.stated, PAPER)

Scores = NDArray[np.float64]


def games() -> tuple[str, ...]:
    """Return the 55 games, training games first."""
    return tasks.suite("ale-55").tasks


def place(game: str) -> int:
    """Return a game's index among the 55."""
    return games().index(game)


def training() -> NDArray[np.bool_]:
    """Return True for training games, shape (55,)."""
    return np.isin(games(), tasks.suite("ale-55").training_tasks)


@cache
def raw(names: tuple[str, ...]) -> Scores:
    """Return recovered scores, shape (names, 55); NaN where a cell is lost."""
    return collections.load(COLLECTION).select(algorithms=names, tasks=games()).mean_over_runs()


def learners(game: str) -> Scores:
    """Return the five learners' scores in a game."""
    return raw(LEARNERS)[:, place(game)]


def best(names: tuple[str, ...]) -> Scores:
    """Return the highest score of several agents on each game, shape (55,); lost cells are ignored."""
    return np.asarray(np.fmax.reduce(raw(names), axis=0))


@cache
def baseline_scores() -> Scores:
    """Return the learners' baseline scores (§4.1.2), shape (5, 55); NaN where the baselines have no range."""
    published = dict(zip(games(), raw(BASELINES).T.tolist(), strict=True))
    known = {game: [score for score in row if score == score] for game, row in published.items()}
    return placed(raw(LEARNERS), baseline_limits(known, games()), games(), zero_range="omit")


@cache
def inter_scores() -> Scores:
    """Return the learners' inter-algorithm scores (§4.1.3), shape (5, 55); NaN where all five score the same."""
    return inter_algorithm(raw(LEARNERS), games(), zero_range="omit")


@cache
def random_scores() -> Scores:
    """Return the learners' random-normalised scores (§4.1.1), shape (5, 55); NaN where Random scores 0."""
    random = dict(zip(games(), raw(("Random",))[0].tolist(), strict=True))
    return placed(raw(LEARNERS), random_limits(random, games()), games(), zero_range="omit")
