"""The catalogue as reports use it: what has been published on a game, and the best of it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache

from arcademark.catalogue import collections

NO_ALGORITHM = frozenset({"reference", "baseline"})
"""Kinds of entries that are nobody's algorithm."""


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
    aside = {_identities().get(name, name) for name in but}
    ranked = _ranked().get(task, ())
    return next((found for found in ranked if found.algorithm not in aside), None)


@cache
def _identities() -> Mapping[str, str]:
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
