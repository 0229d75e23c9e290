"""The order of algorithms: ranks, inversions between two rankings, and measures that change the order.

Conventions
-----------
* A ranking is a mapping of algorithm to value; higher is better.
* Equal values are a tie: tied algorithms share the best of their ranks (1, 2, 2, 4), and a tied pair has no order.
* Values are compared exactly; round them first if only the printed digits are to matter.
* An `ArcadeMarkError` is raised if a value is missing (NaN), or an algorithm is in only one of two rankings.

Aitchison et al. 2023, "Atari-5: Distilling the Arcade Learning Environment down to Five Games".
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arcademark.errors import ArcadeMarkError

Values: TypeAlias = Mapping[str, float]
"""Values by algorithm."""
Pair: TypeAlias = tuple[str, str]


@dataclass(frozen=True)
class Flip:
    """Two algorithms whose order depends on the measure, and the measures that rank the first or the second higher."""

    first: str
    second: str
    first_above: tuple[str, ...]
    second_above: tuple[str, ...]


def ranks(values: Values) -> dict[str, int]:
    """Return the rank of each algorithm, 1 for the highest value; ties share the best of their ranks: 1, 2, 2, 4."""
    _admit(values)
    return {name: 1 + sum(other > value for other in values.values()) for name, value in values.items()}


def rank_shares(values: ArrayLike) -> NDArray[np.float64]:
    """Return the share of cases in which each algorithm has each rank, shape (algorithms, ranks).

    The highest value has the first rank. Tied algorithms share their ranks evenly, so that rows and columns sum to 1.

    Parameters
    ----------
    values : float array, shape (algorithms, cases)
        Scores by game, or by resample: at least one case, none NaN.

    Raises
    ------
    ArcadeMarkError
        If a value is missing, or there is none.
    """
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 2 or not table.size or np.isnan(table).any():
        raise ArcadeMarkError(f"values of shape {table.shape}: expected (algorithms, cases), none missing")
    count, cases = table.shape
    shares = np.zeros((count, count + 1))
    for place, row in enumerate(table):
        first, tied = (table > row).sum(axis=0), (table == row).sum(axis=0)
        np.add.at(shares[place], first, 1 / tied)
        np.add.at(shares[place], first + tied, -1 / tied)
    return np.asarray(np.cumsum(shares, axis=1)[:, :-1] / cases)


def inversions(a: Values, b: Values) -> tuple[Pair, ...]:
    """Return the pairs that two rankings order oppositely, the better one of the first ranking first.

    They are the discordant pairs of Kendall 1938 (Aitchison et al. 2023, §7); a pair tied in either ranking is not one.
    """
    _admit_both(a, b)
    pairs = (
        (first, second) if a[first] > a[second] else (second, first) for first, second in itertools.combinations(a, 2)
    )
    return tuple((first, second) for first, second in pairs if a[first] > a[second] and b[first] < b[second])


def kendall_tau(a: Values, b: Values) -> float:
    """Return the rank correlation of two rankings, Kendall's τ-b: 1 is the same order, −1 the opposite one.

    τ-b allows for ties (Kendall 1945). Without ties it is 1 − 2 · inversions / pairs. ArcadeMarkError: all algorithms
    of a ranking are tied, so that it has no order.
    """
    _admit_both(a, b)
    if len(set(a.values())) < 2 or len(set(b.values())) < 2:
        raise ArcadeMarkError("a ranking in which all are tied has no order; at least two different values are needed")
    one, other = (np.sign(np.subtract.outer(row, row)) for row in ([*a.values()], [b[name] for name in a]))
    return float((one * other).sum() / np.sqrt(np.count_nonzero(one) * np.count_nonzero(other)))


def flips(values: Mapping[str, Values]) -> tuple[Flip, ...]:
    """Return the pairs of algorithms whose order depends on the measure.

    ``values`` are rankings of the same algorithms by measure.
    """
    if not values:
        raise ArcadeMarkError("no measure to rank by; at least one is needed")
    algorithms = next(iter(values.values()))
    for others in values.values():
        _admit_both(algorithms, others)
    result = (
        Flip(
            first,
            second,
            tuple(measure for measure, scores in values.items() if scores[first] > scores[second]),
            tuple(measure for measure, scores in values.items() if scores[first] < scores[second]),
        )
        for first, second in itertools.combinations(algorithms, 2)
    )
    return tuple(flip for flip in result if flip.first_above and flip.second_above)


def _admit(values: Values) -> None:
    absent = [name for name, value in values.items() if np.isnan(value)]
    if absent:
        raise ArcadeMarkError(f"no value for {', '.join(absent)}; leave out algorithms that cannot be ranked")


def _admit_both(a: Values, b: Values) -> None:
    alone = sorted(a.keys() ^ b.keys())
    if alone:
        raise ArcadeMarkError(f"only one of two rankings has {', '.join(alone)}; rank the same algorithms in both")
    _admit(a)
    _admit(b)
