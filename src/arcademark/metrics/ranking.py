"""The order of algorithms: relative scores, inversions between two rankings, and what changes the order.

Conventions
-----------
* A ranking is given by the values that it rests on: a mapping of algorithm to a number, the higher the better.
* Equal values are a tie: tied algorithms share the best of their ranks (1, 2, 2, 4), and a tied pair is in no order.
* Values are compared exactly; round them first if the digits printed are to decide.
* An `ArcadeMarkError` is raised where a value is missing (NaN), or an algorithm is in one of two rankings only.

Aitchison et al. 2023, "Atari-5: Distilling the Arcade Learning Environment down to Five Games".
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

import numpy as np

from arcademark.errors import ArcadeMarkError, UnknownNameError

Values: TypeAlias = Mapping[str, float]
Measure: TypeAlias = str | tuple[str, ...]
"""What a ranking rests on: "median HNS", or ("median HNS", "human scores of Mnih et al. 2015")."""
Pair: TypeAlias = tuple[str, str]


@dataclass(frozen=True)
class Inversions:
    """How two rankings of the same algorithms differ.

    `pairs`, and their `count`, are put in opposite order by the two; the first of each is the better one in the first
    ranking. `tied` are in no order in one ranking or in both, so neither inverted nor confirmed. Both put `compared`
    pairs in an order.
    """

    count: int
    pairs: tuple[Pair, ...]
    tied: tuple[Pair, ...]
    compared: int


@dataclass(frozen=True)
class Flip:
    """Two algorithms, in the order of the table, whose order depends on how they are measured.

    The first is better under the measures `above`, the second under those `below`; under `tied` they are equal.
    """

    first: str
    second: str
    above: tuple[Measure, ...]
    below: tuple[Measure, ...]
    tied: tuple[Measure, ...]


@dataclass(frozen=True)
class RankSensitivity:
    """Ranks of algorithms, 1 the best, under several measures, and the pairs whose order is not the same under all."""

    algorithms: tuple[str, ...]
    ranks: Mapping[Measure, Mapping[str, int]]
    flips: tuple[Flip, ...]


def ranks(values: Values) -> dict[str, int]:
    """Rank algorithms, the highest value first; equal ones share the best of their ranks: 1, 2, 2, 4."""
    _admit(values)
    return {name: 1 + sum(other > value for other in values.values()) for name, value in values.items()}


def relative_scores(values: Values, to: str) -> dict[str, float]:
    """Divide all algorithms' values by that of a named one (Aitchison et al. 2023, §7, Table 5).

    A bias that all estimates share cancels: estimates that are all a fifth too low have the right relative scores.
    ArcadeMarkError: the named algorithm is not among them (`UnknownNameError`), or its value is not above 0.
    """
    _admit(values)
    if to not in values:
        raise UnknownNameError("algorithm", to, values)
    if values[to] <= 0:
        raise ArcadeMarkError(
            f"{to!r} has {values[to]:g}: only a value above 0 can be divided by; name another algorithm"
        )
    return {name: value / values[to] for name, value in values.items()}


def inversions(a: Values, b: Values) -> Inversions:
    """Count the pairs of algorithms that two rankings put in opposite order (Aitchison et al. 2023, §7).

    This is the number of discordant pairs of Kendall 1938. A pair that is tied in either ranking is not inverted.
    """
    _admit_both(a, b)
    pairs: list[Pair] = []
    tied: list[Pair] = []
    for first, second in itertools.combinations(a, 2):
        if a[first] == a[second] or b[first] == b[second]:
            tied.append((first, second))
        elif (a[first] > a[second]) != (b[first] > b[second]):
            pairs.append((first, second) if a[first] > a[second] else (second, first))
    return Inversions(len(pairs), tuple(pairs), tuple(tied), len(a) * (len(a) - 1) // 2 - len(tied))


def kendall_tau(a: Values, b: Values) -> float:
    """Return the rank correlation of two rankings, Kendall's τ-b: 1 is the same order, −1 the opposite one.

    τ-b allows for ties (Kendall 1945). Without ties it is 1 − 2 · inversions / pairs. ArcadeMarkError: one ranking ties
    all its algorithms, so that it has no order to agree with.
    """
    _admit_both(a, b)
    if len(set(a.values())) < 2 or len(set(b.values())) < 2:
        raise ArcadeMarkError("a ranking in which all are tied has no order; at least two different values are needed")
    one, other = (np.sign(np.subtract.outer(row, row)) for row in ([*a.values()], [b[name] for name in a]))
    return float((one * other).sum() / np.sqrt(np.count_nonzero(one) * np.count_nonzero(other)))


def rank_sensitivity(values: Mapping[Measure, Values]) -> RankSensitivity:
    """Find out whether the order of algorithms changes under another metric or another set of references, and whose.

    Every measure has the values of the same algorithms.
    """
    if not values:
        raise ArcadeMarkError("no measure to rank by; at least one is needed")
    algorithms = tuple(next(iter(values.values())))
    for others in values.values():
        _admit_both(next(iter(values.values())), others)
    ranked = {measure: MappingProxyType(ranks(scores)) for measure, scores in values.items()}
    flips = (_flip(first, second, values) for first, second in itertools.combinations(algorithms, 2))
    contradicted = tuple(flip for flip in flips if flip.above and flip.below)
    return RankSensitivity(algorithms, MappingProxyType(ranked), contradicted)


def _flip(first: str, second: str, values: Mapping[Measure, Values]) -> Flip:
    return Flip(
        first,
        second,
        above=tuple(measure for measure, scores in values.items() if scores[first] > scores[second]),
        below=tuple(measure for measure, scores in values.items() if scores[first] < scores[second]),
        tied=tuple(measure for measure, scores in values.items() if scores[first] == scores[second]),
    )


def _admit(values: Values) -> None:
    absent = [name for name, value in values.items() if np.isnan(value)]
    if absent:
        raise ArcadeMarkError(f"no value for {', '.join(absent)}; leave out what cannot be ranked")


def _admit_both(a: Values, b: Values) -> None:
    alone = sorted(a.keys() ^ b.keys())
    if alone:
        raise ArcadeMarkError(f"only one of two rankings has {', '.join(alone)}; rank the same algorithms in both")
    _admit(a)
    _admit(b)
