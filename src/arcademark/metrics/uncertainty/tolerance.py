"""Between which scores single runs lie: tolerance intervals from order statistics, whatever runs' distribution is.

Conventions
-----------
* Runs are independent draws of one distribution. An interval of a share p at confidence c is made by a rule of which a
  share c of all samples gives an interval that holds p of all runs or more. An interval of the mean says no such thing.
* Between the r-th lowest and the r-th highest of n runs lies a share that is Beta(n + 1 − 2 r, 2 r) distributed where
  scores do not tie, and a larger one where they do; above the r-th lowest, Beta(n + 1 − r, r).

Wilks 1941, "Determination of sample sizes for setting tolerance limits"; Patterson et al. 2024, "Empirical design in
reinforcement learning".
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from arcademark.errors import ArcadeMarkError
from arcademark.metrics.power import share as checked

CONFIDENCE = 0.95
MOST = 10**9

Ends: TypeAlias = Literal[1, 2]
"""Ends at which runs are left out: the low one, or both."""


@dataclass(frozen=True)
class ToleranceInterval:
    """Tolerance interval of single runs' scores.

    low, high: Scores of runs.
    share: Share of all runs that lies between them, at least; less than requested if there are too few runs,
        and low and high are then the lowest and the highest.
    at_least: The score that the share asked for reaches or exceeds; None where runs are too few.
    """

    low: float
    high: float
    share: float
    at_least: float | None


def tolerance_interval(scores: ArrayLike, share: float) -> ToleranceInterval:
    """Return the interval of a share of all runs from scores of two runs or more, shape (runs,).

    It leaves out as many runs at either end as it can. ArcadeMarkError: fewer runs, a score that is not finite, or a
    share that is not between 0 and 1.
    """
    ordered = np.sort(np.asarray(scores, dtype=np.float64))
    if ordered.ndim != 1 or ordered.size < 2 or not np.isfinite(ordered).all():
        raise ArcadeMarkError(f"expected finite scores of two runs or more, not of shape {np.shape(scores)}")
    rank, bound = (_rank(ordered.size, share, ends) for ends in (2, 1))
    used = max(rank, 1)
    return ToleranceInterval(
        float(ordered[used - 1]),
        float(ordered[-used]),
        held_share(ordered.size, used),
        float(ordered[bound - 1]) if bound else None,
    )


def held_share(runs: int, rank: int = 1) -> float:
    """Return the share of all runs that lies between the rank-th lowest and the rank-th highest of so many."""
    from scipy.special import betaincinv

    return float(betaincinv(runs + 1 - 2 * rank, 2 * rank, 1 - CONFIDENCE))


def runs_needed(share: float, *, ends: Ends = 2) -> int:
    """Return the fewest runs of which an interval of the share can be made, lowest to highest (Wilks 1941).

    With one end, those whose lowest is a bound. ArcadeMarkError: as of `tolerance_interval`, or more than `MOST`.
    """
    runs = range(1, MOST + 1)
    place = bisect_left(runs, True, key=lambda count: _rank(count, share, ends) > 0)
    if place == len(runs):
        raise ArcadeMarkError(f"{MOST:,} runs are not enough; choose a smaller share")
    return runs[place]


def _rank(runs: int, share: float, ends: Ends) -> int:
    """Return the rank of the runs that are the ends; 0 where runs are too few."""
    from scipy.special import bdtr

    checked("share of runs", share)
    ranks = range(1, runs // ends + 1)
    return bisect_left(ranks, True, key=lambda rank: bdtr(runs - ends * rank, runs, share) < CONFIDENCE)
