"""Rank of a median human-normalised score among published algorithms, each represented by one of its results.

Protocols and training budgets differ between them: a rank locates a number in the literature, and does not show which
algorithm is better. An algorithm has a median here if it has a score on `NEARLY_ALL` of the 57 games.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache

import numpy as np

from arcademark.analysis.measures import hns
from arcademark.analysis.published import NO_ALGORITHM, identities
from arcademark.analysis.tables import protocols
from arcademark.analysis.tables.document import Rank
from arcademark.analysis.uncertainty import Statistic
from arcademark.catalogue import collections
from arcademark.grouping import grouped
from arcademark.suite.tasks import suite

SUITE = "atari-57"
"""The suite on which algorithms are compared with published ones."""

NEARLY_ALL = 0.9
"""Least share of a suite's games whose median counts as that of all games."""


@cache
def results() -> Mapping[str, Mapping[str, float | None]]:
    """Return the results of published algorithms: median HNS in percent by identity and the result's name.

    The median is None if too many games are missing. The first result represents the algorithm: preferably one with a
    median, without human starts, from the earliest paper, and the best of that paper.
    """
    games, entries = suite(SUITE).tasks, collections.select()
    entries = {name: one for name, one in entries.items() if not one.unavailable and one.kind not in NO_ALGORITHM}
    scores = collections.table(entries).select(tasks=games).mean_over_runs()
    percent = hns(scores, games)
    medians: dict[str, float | None] = {}
    for name, row in zip(entries, percent, strict=True):
        scored = row[np.isfinite(row)]
        medians[name] = float(np.median(scored)) if scored.size >= NEARLY_ALL * len(games) else None

    def worth(name: str) -> float:
        median = medians[name]
        return -math.inf if median is None else median

    of_paper = grouped(((one.identity, one.origin.key), worth(name)) for name, one in entries.items())

    def order(name: str) -> tuple[float, ...]:
        entry = entries[name]
        human = protocols.settings_of(protocols.from_entry(entry)).get("start") == "human"
        best = max(of_paper[entry.identity, entry.origin.key])
        return (medians[name] is None, human, entry.year or math.inf, -best, -worth(name))

    named = grouped((entry.identity, name) for name, entry in entries.items())
    ordered = {identity: sorted(names, key=order) for identity, names in named.items()}
    return {identity: {name: medians[name] for name in names} for identity, names in ordered.items()}


def medians() -> dict[str, float]:
    """Return the median HNS of every published algorithm that has one, in percent by identity, best first."""
    firsts = {identity: next(iter(medians.values())) for identity, medians in results().items()}
    known = {identity: median for identity, median in firsts.items() if median is not None}
    return dict(sorted(known.items(), key=lambda item: -item[1]))


def precedence(name: str, identity: str) -> int:
    """Return the position of a result among those of its algorithm; 0 where there are no others."""
    names = list(results().get(identity, ()))
    return names.index(name) if name in names else 0


def rank(median: Statistic, name: str = "") -> Rank:
    """Rank a median HNS in percent among published algorithms, leaving out the algorithm of this name.

    Raises
    ------
    ValueError
        If the median has no value.
    """
    own = next((one for one, names in results().items() if name in names), identities().get(name, ""))
    others = [value for one, value in medians().items() if one != own]

    def place(value: float | None) -> int | None:
        return None if value is None else 1 + sum(other > value for other in others)

    value = place(median.value)
    if value is None:
        raise ValueError("a median without a value has no rank")
    return Rank(value=value, best=place(median.high), worst=place(median.low), of=1 + len(others), lowest=min(others))
