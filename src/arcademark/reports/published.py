"""The catalogue as reports use it: what has been published on a game, and the best of it."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np

from arcademark.catalogue import collections
from arcademark.catalogue.model import Entry
from arcademark.metrics import normalise
from arcademark.suite import references
from arcademark.suite.tasks import suite

TRAINING = "any-training"
"""Instead of a collection's name: the algorithms that predictions from any games are learnt from."""

FEWEST = 0.7
"""Share of a suite's games that an algorithm must have to be learnt from: 40 of 57."""

LEAST_MEDIAN = 20.0
"""In percent, that it must have: near random play any error is a large share, and says little of agents that play."""

NO_ALGORITHM = frozenset({"reference", "baseline"})
"""Kinds of entries that are nobody's algorithm."""

SIMILAR = 2.0
"""How many times more or fewer training frames than another's are a similar budget."""

FIRST = "review-2021"
"""The collection whose entry is taken of an algorithm that several have with the same budget."""


def training(name: str = "atari-57") -> Mapping[str, Entry]:
    """Return the algorithms of a suite that predictions are learnt from: by `FEWEST` and `LEAST_MEDIAN`, each once."""
    games = suite(name).tasks
    entries = collections.benchmarked(games, math.ceil(FEWEST * len(games)))
    table = collections.table(entries).select(tasks=games)
    low, high = references.scores("random"), references.scores("human")
    medians = np.nanmedian(normalise.hns(table.mean_over_runs(), low, high, table.tasks), axis=1)
    kept = [name for name, median in zip(table.algorithms, medians, strict=True) if median >= LEAST_MEDIAN]
    return {name: entries[name] for name in kept}


@dataclass(frozen=True)
class Best:
    """The best published score of a game, whose it is (`Entry.identity`), and the paper that published it."""

    score: float
    algorithm: str
    source: str


def best(task: str, *, but: Collection[str] = ()) -> Best | None:
    """Return the best published score of a game, whatever its protocol, None where there is no other.

    Algorithms to leave aside go by any name that they have in the catalogue: "GDI-H3", "GDI-H3 (Fan 2021)".
    """
    aside = {identities().get(name, name) for name in but}
    ranked = _ranked().get(task, ())
    return next((found for found in ranked if found.algorithm not in aside), None)


@dataclass(frozen=True)
class Peers:
    """Published algorithms of a similar budget.

    entries: Those with a score on every game, the nearest budgets first. Where none is within `SIMILAR`, all of the
        nearest.
    within: Whether they are within `SIMILAR`.
    lacking: The others whose budgets are as near, without a score on some of the games.
    """

    entries: tuple[Entry, ...]
    within: bool
    lacking: tuple[str, ...]


def of_similar_budget(frames: int, games: Collection[str]) -> Peers:
    """Find the published algorithms that trained for about so many frames, more than 0, and have all these games."""

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
    found = [entry for entry in whole.values() if times(entry) <= reach]
    lacking = dict.fromkeys(entry.identity for entry in known if times(entry) <= reach and entry.identity not in whole)
    return Peers(tuple(found), bool(found) and nearest <= SIMILAR, tuple(lacking))


@cache
def identities() -> Mapping[str, str]:
    """Return which algorithm each name of the catalogue is."""
    named = (({entry.algorithm, entry.qualified}, entry.identity) for entry in collections.entries())
    return {name: identity for names, identity in named for name in names}


@cache
def _ranked() -> Mapping[str, tuple[Best, ...]]:
    """Return each game's published scores, best first."""
    found: dict[str, list[Best]] = {}
    for item in collections.results():
        if item.entry.kind not in NO_ALGORITHM:
            paper = item.entry.paper or item.entry.source
            found.setdefault(item.task, []).append(Best(item.score, item.entry.identity, paper.short))
    return {task: tuple(sorted(those, key=lambda one: -one.score)) for task, those in found.items()}
