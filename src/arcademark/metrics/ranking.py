"""The order of algorithms: relative scores, inversions between two rankings, and what changes the order.

Conventions
-----------
* A ranking is given by the values that it rests on: a mapping of algorithm to a number, the higher the better.
* Equal values are a tie: tied algorithms share the best of their ranks (1, 2, 2, 4), and a tied pair is in no order.
* Values are compared exactly; round them first if the digits printed are to decide.

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

    Parameters
    ----------
    count : int
        Pairs that the two put in opposite order.
    pairs : tuple of (str, str)
        Those pairs; the first of each is the better one in the first ranking.
    tied : tuple of (str, str)
        Pairs that are tied in one ranking or in both: they are in no order there, so neither inverted nor confirmed.
    compared : int
        Pairs that both put in an order.
    """

    count: int
    pairs: tuple[Pair, ...]
    tied: tuple[Pair, ...]
    compared: int


@dataclass(frozen=True)
class Flip:
    """Two algorithms whose order depends on how they are measured.

    Parameters
    ----------
    first, second : str
        In the order of the table.
    above : tuple
        The measures under which the first is better.
    below : tuple
        Those under which the second is.
    tied : tuple
        Those under which they are equal.
    """

    first: str
    second: str
    above: tuple[Measure, ...]
    below: tuple[Measure, ...]
    tied: tuple[Measure, ...]


@dataclass(frozen=True)
class RankSensitivity:
    """Ranks of algorithms under several measures, and the pairs whose order is not the same under all.

    Parameters
    ----------
    algorithms : tuple of str
        Who is ranked.
    ranks : mapping of measure to mapping of algorithm to int
        1 is best.
    flips : tuple of Flip
        Pairs that one measure puts one way and another the other way. No flips: no measure contradicts another.
    """

    algorithms: tuple[str, ...]
    ranks: Mapping[Measure, Mapping[str, int]]
    flips: tuple[Flip, ...]


def ranks(values: Values) -> dict[str, int]:
    """Rank algorithms, the highest value first; equal ones share the best of their ranks: 1, 2, 2, 4.

    Raises
    ------
    ArcadeMarkError
        Where a value is missing.
    """
    _admit(values)
    return {name: 1 + sum(other > value for other in values.values()) for name, value in values.items()}


def relative_scores(values: Values, to: str) -> dict[str, float]:
    """Divide all algorithms' values by that of a named one (Aitchison et al. 2023, §7, Table 5).

    A bias that all estimates share cancels: estimates that are all a fifth too low have the right relative scores.

    Parameters
    ----------
    values : mapping of algorithm to float
        Summaries, such as median HNS or Atari-5 scores.
    to : str
        The algorithm that comes to 1.

    Raises
    ------
    UnknownNameError
        Where that algorithm is not among them.
    ArcadeMarkError
        Where a value is missing, or the one to divide by is not above 0.
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

    Parameters
    ----------
    a, b : mapping of algorithm to float
        What the two rankings rest on, of the same algorithms.

    Raises
    ------
    ArcadeMarkError
        Where a value is missing, or an algorithm is in one ranking only.
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

    τ-b allows for ties (Kendall 1945). Without ties it is 1 − 2 · inversions / pairs.

    Parameters
    ----------
    a, b : mapping of algorithm to float
        What the two rankings rest on, of the same algorithms.

    Raises
    ------
    ArcadeMarkError
        As `inversions`, or where one ranking ties all its algorithms, so that it has no order to agree with.
    """
    _admit_both(a, b)
    if len(set(a.values())) < 2 or len(set(b.values())) < 2:
        raise ArcadeMarkError("a ranking in which all are tied has no order; at least two different values are needed")
    one, other = (np.sign(np.subtract.outer(row, row)) for row in ([*a.values()], [b[name] for name in a]))
    return float((one * other).sum() / np.sqrt(np.count_nonzero(one) * np.count_nonzero(other)))


def rank_sensitivity(values: Mapping[Measure, Values]) -> RankSensitivity:
    """Tell whether the order of algorithms changes under another metric or another set of references, and whose.

    Parameters
    ----------
    values : mapping of measure to (mapping of algorithm to float)
        What the same algorithms come to under each measure, such as `evaluate` gives.

    Raises
    ------
    ArcadeMarkError
        Where there is no measure, a value is missing, or an algorithm is missing under one of them.
    """
    if not values:
        raise ArcadeMarkError("no measure to rank by; at least one is needed")
    algorithms = tuple(next(iter(values.values())))
    for others in values.values():
        _admit_both(next(iter(values.values())), others)
    ranked = {measure: MappingProxyType(ranks(found)) for measure, found in values.items()}
    flips = (_flip(first, second, values) for first, second in itertools.combinations(algorithms, 2))
    contradicted = tuple(flip for flip in flips if flip.above and flip.below)
    return RankSensitivity(algorithms, MappingProxyType(ranked), contradicted)


def _flip(first: str, second: str, values: Mapping[Measure, Values]) -> Flip:
    return Flip(
        first,
        second,
        above=tuple(measure for measure, found in values.items() if found[first] > found[second]),
        below=tuple(measure for measure, found in values.items() if found[first] < found[second]),
        tied=tuple(measure for measure, found in values.items() if found[first] == found[second]),
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
