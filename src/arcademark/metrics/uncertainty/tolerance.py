"""Tolerance intervals of single runs, from order statistics, for any distribution of runs.

Conventions
-----------
* Runs are independent draws from one distribution. A tolerance interval of share p at confidence c covers at least a
  share p of all runs, for a share c of all samples. A confidence interval of the mean has no such property.
* The share of all runs between the r-th lowest and the r-th highest of n runs is Beta(n + 1 − 2 r, 2 r) distributed
  without ties, and larger with ties; the share above the r-th lowest is Beta(n + 1 − r, r) distributed.

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
from arcademark.metrics.power import check_share

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
    at_least: The score that the requested share of runs reaches or exceeds; None if there are too few runs.
    """

    low: float
    high: float
    share: float
    at_least: float | None


def tolerance_interval(scores: ArrayLike, share: float) -> ToleranceInterval:
    """Return the tolerance interval of a share of all runs, from scores of at least two runs, shape (runs,).

    It leaves out as many runs as possible at either end. ArcadeMarkError: fewer runs, a score that is not finite, or a
    share that is not between 0 and 1.
    """
    ordered = np.sort(np.asarray(scores, dtype=np.float64))
    if ordered.ndim != 1 or ordered.size < 2 or not np.isfinite(ordered).all():
        raise ArcadeMarkError(f"expected finite scores of at least two runs, not of shape {np.shape(scores)}")
    rank, bound = (_rank(ordered.size, share, ends) for ends in (2, 1))
    used = max(rank, 1)
    return ToleranceInterval(
        float(ordered[used - 1]),
        float(ordered[-used]),
        held_share(ordered.size, used),
        float(ordered[bound - 1]) if bound else None,
    )


def held_share(runs: int, rank: int = 1) -> float:
    """Return the share of all runs between the rank-th lowest and the rank-th highest of ``runs`` runs."""
    from scipy.special import betaincinv

    return float(betaincinv(runs + 1 - 2 * rank, 2 * rank, 1 - CONFIDENCE))


def runs_needed(share: float, *, ends: Ends = 2) -> int:
    """Return the fewest runs whose lowest and highest scores are an interval of the share (Wilks 1941).

    With one end, only the lowest is a bound. ArcadeMarkError: a share not between 0 and 1, or more than `MOST` runs.
    """
    runs = range(1, MOST + 1)
    place = bisect_left(runs, True, key=lambda count: _rank(count, share, ends) > 0)
    if place == len(runs):
        raise ArcadeMarkError(f"{MOST:,} runs are not enough; choose a smaller share")
    return runs[place]


def _rank(runs: int, share: float, ends: Ends) -> int:
    """Return the rank of the runs at the ends; 0 if there are too few runs."""
    from scipy.special import bdtr

    check_share("share of runs", share)
    ranks = range(1, runs // ends + 1)
    return bisect_left(ranks, True, key=lambda rank: bdtr(runs - ends * rank, runs, share) < CONFIDENCE)
