"""The recovered scores of the 2013 paper, normalised as its §4 says, for its statements and its figures.

Conventions
-----------
* Arrays have the 55 games of the suite "ale-55" last, the five training games first. Scores are raw game points;
  normalised scores are fractions, NaN where a range is zero.
* The baseline set is the published three columns (Random, the best Const and the best Perturb of each game). The paper
  normalises by all 37 agents; where the catalogue holds our own runs of them, "baselines-2013", that set is second.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray

from arcademark.catalogue import collections
from arcademark.metrics.ranges import baseline_limits, inter_algorithm, placed, random_limits
from arcademark.reproduce import comparison
from arcademark.suite import tasks

COLLECTION = "ale-2013"
OWN_BASELINES = "baselines-2013"
PAPER = "bellemare-2013"

LEARNERS = ("Basic", "BASS", "DISCO", "LSH", "RAM")
BASELINES = ("Random", "Const", "Perturb")
SEARCH = ("Breadth-first search", "UCT")
AGENTS = 37
"""Random, and Const and Perturb with each of the 18 actions (§4.1.2)."""

stated = partial(comparison.stated, PAPER)

Scores = NDArray[np.float64]


@dataclass(frozen=True)
class BaselineSet:
    """Reference scores to normalise by: of each game those of the agents that can play it.

    Skiing offers 9 of the 18 actions, so that half of the agents do not exist there.
    """

    name: str
    scores: Mapping[str, Sequence[float]]


def games() -> tuple[str, ...]:
    """Return the 55 games, training games first."""
    return tasks.suite("ale-55").tasks


def place(game: str) -> int:
    """Return where a game stands among the 55."""
    return games().index(game)


def training() -> NDArray[np.bool_]:
    """Return which games are training games, shape (55,)."""
    return np.isin(games(), tasks.suite("ale-55").training_tasks)


@cache
def raw(names: tuple[str, ...]) -> Scores:
    """Return recovered scores, shape (names, 55); NaN where a cell is lost."""
    return collections.load(COLLECTION).select(algorithms=names, tasks=games()).mean_over_runs()


def learners(game: str) -> Scores:
    """Return the five learners' scores in a game."""
    return raw(LEARNERS)[:, place(game)]


def best(names: tuple[str, ...]) -> Scores:
    """Return the highest score of several agents on each game, shape (55,); a lost cell takes no part."""
    return np.asarray(np.fmax.reduce(raw(names), axis=0))


@cache
def baseline_sets() -> tuple[BaselineSet, ...]:
    """Return the sets to normalise by: the published one, then our own runs of all 37 agents if there are any."""
    published = raw(BASELINES)
    result = [BaselineSet("the three published baselines", _by_game(games(), published))]
    if OWN_BASELINES in collections.collections():
        table = collections.load(OWN_BASELINES)
        played = [game for game in games() if game in table.tasks]
        scores = table.select(tasks=played).mean_over_runs()
        result.append(BaselineSet(f"our runs of {len(table.algorithms)} baselines", _by_game(played, scores)))
    return tuple(result)


def baseline_scores(reference: BaselineSet) -> Scores:
    """Return the learners' baseline scores (§4.1.2), shape (5, 55); NaN where the set has no range, or no scores."""
    played = [game for game in games() if game in reference.scores]
    there = [place(game) for game in played]
    normalised = np.full((len(LEARNERS), len(games())), np.nan)
    limits = baseline_limits(reference.scores, played)
    normalised[:, there] = placed(raw(LEARNERS)[:, there], limits, played, zero_range="omit")
    return normalised


@cache
def inter_scores() -> Scores:
    """Return the learners' inter-algorithm scores (§4.1.3), shape (5, 55); NaN where all five score the same."""
    return inter_algorithm(raw(LEARNERS), games(), zero_range="omit")


def random_scores(reference: Mapping[str, float] | None = None) -> Scores:
    """Return the learners' random-normalised scores (§4.1.1), shape (5, 55); NaN where Random scores 0.

    What Random scores is the published column unless given.
    """
    published = dict(zip(games(), raw(("Random",))[0].tolist(), strict=True))
    return placed(raw(LEARNERS), random_limits(reference or published, games()), games(), zero_range="omit")


@cache
def own_random() -> Mapping[str, float] | None:
    """Return what our own runs of Random score on the 55 games; None where the catalogue has no such runs of all."""
    if OWN_BASELINES not in collections.collections():
        return None
    table = collections.load(OWN_BASELINES)
    rows = [place for place, name in enumerate(table.algorithms) if name.lower() == "random"]
    if len(rows) != 1 or not set(games()) <= set(table.tasks):
        return None
    scores = table.select(tasks=games()).mean_over_runs()[rows[0]]
    return None if np.isnan(scores).any() else dict(zip(games(), scores.tolist(), strict=True))


def _by_game(names: Sequence[str], scores: Scores) -> dict[str, list[float]]:
    there = {game: column[~np.isnan(column)].tolist() for game, column in zip(names, scores.T, strict=True)}
    return {game: values for game, values in there.items() if values}
