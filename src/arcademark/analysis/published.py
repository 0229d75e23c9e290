"""Published scores and human thresholds as reports use them: algorithms, the best score of each game, budgets."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from arcademark import wording
from arcademark.analysis import measures
from arcademark.catalogue import collections
from arcademark.catalogue.model import Entry, Result
from arcademark.grouping import grouped
from arcademark.metrics.normalise import reaching
from arcademark.subset.problem import Floats
from arcademark.suite import references, subsets, tasks
from arcademark.suite.tasks import suite

TRAINING = "any-training"
"""Word, in place of a collection's name, for the training algorithms of predictions from any games."""

FEWEST = 0.7
"""Share of a suite's games that a training algorithm must have: 40 of 57."""

LEAST_MEDIAN = 20.0
"""Lowest median of training algorithms, in percent: near random play relative errors are large and uninformative."""

LEAST_WEAK = 2.0
"""Lowest median, in percent, of the algorithms on which errors of predicting weak algorithms are measured."""

MIN_TRUE_GAMES = 55
"""Least number of games, of 57, whose median counts as the true median of all; see `why_untrue`."""

NO_ALGORITHM = frozenset({"reference", "baseline"})
"""Kinds of entries that are not algorithms."""

RANDOM = "Random"
"""Name of the entries of random players."""

SIMILAR = 2.0
"""Largest ratio of training frames of similar budgets."""

FIRST = "review-2021"
"""The collection that is preferred if several have an algorithm with the same budget."""


@dataclass(frozen=True)
class Breakthrough:
    """Number of games in which a human threshold is reached.

    metric: "human_level" (HNS ≥ 100 %) or "hwrb" (HWRNS ≥ 100 %).
    title, short: Name in print, and in a narrow column.
    reached: Names of the games in which it is reached.
    games: Number of games with the reference scores that it needs.
    unprecedented: Games whose record no other algorithm in the catalogue has broken; empty for "human_level".
    """

    metric: str
    title: str
    short: str
    reached: tuple[str, ...]
    games: int
    unprecedented: tuple[str, ...]


@dataclass(frozen=True)
class HardScore:
    """Score of one algorithm on a hard-exploration game.

    score, hns: The score in points, and in percent; None where it has no score.
    """

    algorithm: str
    score: float | None
    hns: float | None


@dataclass(frozen=True)
class HardGame:
    """A hard-exploration game, with scores and reference scores.

    id, name: "private_eye", "Private Eye".
    random, human: Reference scores in points.
    best, best_hns: The best score in the catalogue by another algorithm, whatever its protocol.
    best_algorithm, best_source: Algorithm of the best score, and the paper that published it; "" if there is none.
    scores: One per algorithm, in the document's order.
    """

    id: str
    name: str
    random: float
    human: float
    best: float | None
    best_algorithm: str
    best_source: str
    best_hns: float | None
    scores: tuple[HardScore, ...]


@dataclass(frozen=True)
class HardExploration:
    """The hard-exploration games (Aitchison et al. 2023, §8.1; Bellemare et al. 2016).

    games: All seven, whether played or not.
    """

    games: tuple[HardGame, ...]

    @property
    def played(self) -> tuple[HardGame, ...]:
        """The games on which at least one algorithm has a score."""
        return tuple(game for game in self.games if any(item.score is not None for item in game.scores))

    @property
    def rows(self) -> tuple[tuple[HardGame, HardScore], ...]:
        """The played games, with each algorithm's score."""
        return tuple((game, score) for game in self.played for score in game.scores)

    @property
    def missing(self) -> str:
        """The names of the games without a score, joined by "or"; "" if there is none."""
        return wording.listing((game.name for game in self.games if game not in self.played), last="or")


def training(name: str = "atari-57") -> Mapping[str, Entry]:
    """Return the training algorithms of a suite's predictions, selected by `FEWEST` and `LEAST_MEDIAN`, each once."""
    entries, scores = _benchmarked(name)
    medians = np.nanmedian(measures.hns(scores, suite(name).tasks), axis=1)
    return {
        name: entry for (name, entry), median in zip(entries.items(), medians, strict=True) if median >= LEAST_MEDIAN
    }


def weak(name: str = "atari-57") -> tuple[tuple[Entry, ...], Floats]:
    """Return algorithms too weak for training, and checkpoints of algorithms, with a median of `LEAST_WEAK` or more.

    Returned are their entries, and their scores in points, shape (entries, games), NaN where missing.
    """
    games, (entries, finished), points = suite(name).tasks, _benchmarked(name), collections.checkpoints()
    scores = np.vstack([finished, [[point.scores.get(game, np.nan) for game in games] for point in points]])
    medians = np.nanmedian(measures.hns(scores, games), axis=1)
    trained_with = (np.arange(len(scores)) < len(entries)) & (medians >= LEAST_MEDIAN)
    kept = np.flatnonzero((medians >= LEAST_WEAK) & ~trained_with)
    everyone = (*entries.values(), *(point.entry for point in points))
    return tuple(everyone[row] for row in kept), scores[kept]


def _benchmarked(name: str) -> tuple[Mapping[str, Entry], Floats]:
    """Return the algorithms with at least `FEWEST` of a suite's games, and their scores, shape (entries, games)."""
    games = suite(name).tasks
    entries = collections.benchmarked(games, math.ceil(FEWEST * len(games)))
    return entries, collections.table(entries).select(tasks=games).mean_over_runs()


def best(task: str, *, but: Collection[str] = ()) -> Result | None:
    """Return the best published score of a game, whatever its protocol; None if there is none.

    ``but`` lists algorithms to leave out by any of their names in the catalogue: "GDI-H3", "GDI-H3 (Fan 2021)".
    """
    left_out = {identities().get(name, name) for name in but}
    ranked = _ranked().get(task, ())
    return next((best for best in ranked if best.entry.identity not in left_out), None)


def of_similar_budget(frames: int, games: Collection[str]) -> tuple[list[Entry], bool, tuple[str, ...]]:
    """Return published algorithms of a similar training budget, with ``frames`` above 0.

    Returns
    -------
    entries : list of Entry
        Algorithms with a score on every game, nearest budgets first: all within the ratio `SIMILAR`, else the nearest.
    within : bool
        True if they are within `SIMILAR`.
    lacking : tuple of str
        Other algorithms with budgets as near, but without a score on some of the games.
    """

    def times(entry: Entry) -> float:
        spent = entry.training_frames or 0
        return max(spent / frames, frames / spent)

    known = [entry for entry in collections.entries() if entry.training_frames and entry.kind not in NO_ALGORITHM]
    known = [entry for entry in known if not entry.unavailable]
    known.sort(key=lambda entry: (times(entry), entry.collection != FIRST))
    whole: dict[str, Entry] = {}
    for entry in known:
        if set(games) <= collections.scores_of(entry).keys():
            whole.setdefault(entry.identity, entry)
    nearest = min(map(times, whole.values()), default=SIMILAR)
    reach = max(SIMILAR, nearest)
    similar = [entry for entry in whole.values() if times(entry) <= reach]
    lacking = dict.fromkeys(entry.identity for entry in known if times(entry) <= reach and entry.identity not in whole)
    return similar, bool(similar) and nearest <= SIMILAR, tuple(lacking)


@cache
def random_players() -> Mapping[str, Sequence[float]]:
    """Return the scores of the catalogue's random players by game, whatever their protocol."""
    known = (item for item in collections.results() if item.entry.identity == RANDOM)
    return grouped((item.task, item.score) for item in known if item.entry.kind in NO_ALGORITHM)


@cache
def identities() -> Mapping[str, str]:
    """Return the identity of the algorithm of each name in the catalogue."""
    named = (({entry.algorithm, entry.qualified}, entry.identity) for entry in collections.entries())
    return {name: identity for names, identity in named for name in names}


@cache
def _ranked() -> Mapping[str, tuple[Result, ...]]:
    """Return each game's published scores, best first."""
    by_task = grouped((item.task, item) for item in collections.results() if item.entry.kind not in NO_ALGORITHM)
    return {task: tuple(sorted(those, key=lambda one: -one.score)) for task, those in by_task.items()}


def bars(means: Mapping[str, float], name: str) -> tuple[Breakthrough, ...]:
    """Return the games in which mean scores reach the human average, and those in which they break the world record.

    ``name`` is the algorithm's, which is left out when other algorithms' records are looked up.
    """
    levels, level = _reached(means, "hns")
    recorded, broken = _reached(means, "hwrns")
    records, others = references.scores("human_world_record"), {task: best(task, but=[name]) for task in broken}
    new = [task for task, other in others.items() if other is None or other.score < records[task]]
    at_level, by_anyone, by_nobody_else = (tuple(map(tasks.game_name, some)) for some in (level, broken, new))
    return (
        Breakthrough("human_level", "games at human level", "at human level", at_level, levels, ()),
        Breakthrough("hwrb", "human world records broken", "records broken", by_anyone, recorded, by_nobody_else),
    )


def _reached(means: Mapping[str, float], metric: str) -> tuple[int, tuple[str, ...]]:
    """Return the number of games that have a metric's references, and the games on which mean scores reach 100 %."""
    measure = measures.atari()[metric]
    names = [task for task in means if task in measure.known]
    return len(names), reaching(measure.normaliser([means[task] for task in names], names), names)


HARD = "hard-exploration-7"
"""The hard-exploration games, which subsets predict badly (Aitchison et al. 2023, §8.1; Bellemare et al. 2016)."""


def hard_games() -> tuple[str, ...]:
    """Return the ids of the hard-exploration games."""
    return subsets.subset(HARD).tasks


def why_untrue(games: Collection[str]) -> str:
    """Return the reason why the median over these games is not the true one of all 57; "" if it is.

    The reason is fewer than `MIN_TRUE_GAMES` games or a missing hard-exploration game, without which medians are biased
    upwards, because most algorithms score nearly 0 on these.
    """
    known = {task for task in suite("atari-57").tasks if task in games}
    if hard := [task for task in hard_games() if task not in known]:
        return f"without {', '.join(hard)}"
    return "" if len(known) >= MIN_TRUE_GAMES else f"{len(known)} of 57 games"


def hard_exploration(algorithms: Mapping[str, Mapping[str, float]]) -> HardExploration:
    """Compare algorithms' mean scores by task with random play, humans and the best published score."""
    return HardExploration(tuple(_hard_game(task, algorithms) for task in hard_games()))


def _hard_game(task: str, algorithms: Mapping[str, Mapping[str, float]]) -> HardGame:
    hns = measures.atari()["hns"]
    top = best(task, but=algorithms.keys())
    return HardGame(
        id=task,
        name=tasks.games()[task].name,
        random=references.scores("random")[task],
        human=references.scores("human")[task],
        best=top.score if top else None,
        best_algorithm=top.entry.identity if top else "",
        best_source=top.entry.origin.short if top else "",
        best_hns=hns.normalise(task, top.score if top else None),
        scores=tuple(
            HardScore(name, scores.get(task), hns.normalise(task, scores.get(task)))
            for name, scores in algorithms.items()
        ),
    )
