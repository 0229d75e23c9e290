"""Statistical power: seeds and episodes needed to detect a difference between two algorithms on one task.

Conventions
-----------
* Both algorithms have the same number of seeds, ``seeds`` each.
* Spreads and differences are in the unit of the scores.
* The test is Welch's two-sided t-test on one task, and its power that of the noncentral t distribution (Cohen 1988,
  "Statistical power analysis for the behavioral sciences", ch. 2).
"""

from __future__ import annotations

import math
from bisect import bisect_left

import numpy as np

from arcademark.errors import ArcadeMarkError

ALPHA = 0.05
POWER = 0.8
MOST = 10**9


def detection_power(difference: float, seeds: int, first: float, second: float, alpha: float = ALPHA) -> float:
    """Return the power of Welch's test to detect a difference of means with this number of seeds per algorithm.

    ``first`` and ``second`` are the variances of single seeds' scores of the two algorithms. The result is exact if
    runs are normal and both variances equal; else it is Welch's approximation.
    """
    from scipy.special import nctdtr, stdtrit

    degrees = (seeds - 1) * (first + second) ** 2 / (first**2 + second**2)
    shift = abs(difference) / math.sqrt((first + second) / seeds)
    bar = stdtrit(degrees, 1 - alpha / 2)
    missed, wrong_sign = np.nan_to_num(nctdtr(degrees, shift, [bar, -bar]))  # NaN for large shifts, where both are 0
    return float(np.clip(1 - missed + wrong_sign, alpha, 1))


def seeds_needed(
    difference: float,
    between: float | tuple[float, float],
    *,
    within: float | tuple[float, float] = 0.0,
    episodes: int = 1,
    alpha: float = ALPHA,
) -> int:
    """Return the smallest number of seeds per algorithm that detects a difference with 80 % power.

    Parameters
    ----------
    difference : float
        Difference of the two true means; its sign does not matter.
    between, within : float or (float, float)
        Standard deviations between seeds, and between the episodes of a seed: one for both algorithms, or one for each.
    episodes : int, optional
        Episodes per seed, whose mean is the seed's score; they add a deviation of ``within`` / √episodes.
    alpha : float, optional
        Accepted rate of false positives.

    Raises
    ------
    ArcadeMarkError
        If an argument is out of bounds, the difference is 0, or nothing varies.
    """
    check_share("alpha", alpha)
    check_count("episodes", episodes)
    first, second = np.broadcast_to(between, 2) ** 2 + np.broadcast_to(within, 2) ** 2 / episodes
    if not (abs(difference) > 0 and 0 < first + second < math.inf):
        raise ArcadeMarkError(
            f"difference {difference:g}, standard deviations {between} and {within}: expected a difference, "
            "and scores that vary"
        )
    seeds = range(2, MOST + 1)
    place = bisect_left(seeds, POWER, key=lambda number: detection_power(difference, number, first, second, alpha))
    if place == len(seeds):
        raise ArcadeMarkError(f"{MOST:,} seeds are not enough; choose a larger difference")
    return seeds[place]


def check_count(what: str, number: int) -> None:
    """Raise an error that names a number below 1."""
    if number < 1:
        raise ArcadeMarkError(f"{what} {number}: expected 1 or more")


def check_share(what: str, number: float) -> None:
    """Raise an error that names a number not between 0 and 1."""
    if not 0 < number < 1:
        raise ArcadeMarkError(f"{what} {number:g}: expected a share between 0 and 1")
