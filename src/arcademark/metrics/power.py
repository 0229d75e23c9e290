"""How many seeds, and episodes of each, it takes to detect a difference between two algorithms on one task.

Conventions
-----------
* Both algorithms play the same number of seeds, and of episodes a seed. ``seeds`` counts those of one algorithm.
* A seed's score on a task is the mean over its episodes. It varies from seed to seed by the standard deviation
  ``between``, and because of its episodes by ``within`` / √episodes, where ``within`` is the standard deviation of
  episodes of one seed: more episodes cannot make up for too few seeds.
* Spreads and differences are in the unit of the scores.
* The test is Welch's two-sided t-test on one task, and its power that of the noncentral t distribution (Cohen 1988,
  "Statistical power analysis for the behavioral sciences", ch. 2).
"""

from __future__ import annotations

import itertools
import math

from arcademark.errors import ArcadeMarkError

ALPHA = 0.05
POWER = 0.8
MOST = 10**9


def detection_power(difference: float, seeds: int, first: float, second: float, alpha: float = ALPHA) -> float:
    """Return how probable it is that Welch's test of so many seeds with these variances finds a difference.

    The variances are those of one seed's score, of either algorithm. Exact where runs are normal and both
    variances equal; else Welch's approximation.
    """
    from scipy.special import nctdtr, stdtrit

    degrees = (seeds - 1) * (first + second) ** 2 / (first**2 + second**2)
    shift = abs(difference) / math.sqrt((first + second) / seeds)
    bar = stdtrit(degrees, 1 - alpha / 2)
    missed = nctdtr(degrees, shift, bar) - nctdtr(degrees, shift, -bar)
    return min(max(1 - float(missed), alpha), 1.0) if math.isfinite(missed) else 1.0


def seeds_needed(
    difference: float,
    between: float | tuple[float, float],
    *,
    within: float | tuple[float, float] = 0.0,
    episodes: int = 1,
    alpha: float = ALPHA,
    power: float = POWER,
) -> int:
    """Return the smallest number of seeds, of each algorithm, that finds a difference with probability `power`.

    Parameters
    ----------
    difference : float
        Between the two true means; its sign does not matter.
    between, within : float or (float, float)
        Standard deviations between seeds, and between the episodes of a seed: of both algorithms, or of each.
    episodes : int, optional
        Of each seed.
    alpha : float, optional
        How often the test may find a difference that is not there.

    Raises
    ------
    ArcadeMarkError
        Where an argument is out of bounds, the difference is 0, or nothing varies.
    """
    share("power", power)
    if not abs(difference) > 0:
        raise ArcadeMarkError("difference 0: no number of seeds finds a difference that is not there")
    share("alpha", alpha)
    variances = _variances(between, within, episodes)

    def enough(seeds: int) -> bool:
        return detection_power(difference, seeds, *variances, alpha) >= power

    low = high = 2
    while not enough(high):
        if high >= MOST:
            raise ArcadeMarkError(f"{MOST:,} seeds are not enough; ask for a larger difference or less power")
        low, high = high + 1, min(2 * high, MOST)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle + 1, high)
    return high


def _variances(
    between: float | tuple[float, float], within: float | tuple[float, float], episodes: int
) -> tuple[float, float]:
    """Return the variance of one seed's score, of either algorithm."""
    pairs = [spread if isinstance(spread, tuple) else (spread, spread) for spread in (between, within)]
    if not all(math.isfinite(spread) and spread >= 0 for spread in itertools.chain(*pairs)):
        raise ArcadeMarkError(f"spreads {pairs}: expected standard deviations, finite and 0 or more")
    count("episodes", episodes)
    first, second = (apart**2 + inside**2 / episodes for apart, inside in zip(*pairs, strict=True))
    if not first + second > 0:
        raise ArcadeMarkError("spreads of 0: the scores do not vary, and any difference is found")
    return first, second


def count(what: str, number: int) -> int:
    """Return a number of at least 1, or raise in the name of what it counts."""
    if number < 1:
        raise ArcadeMarkError(f"{what} {number}: expected 1 or more")
    return number


def share(what: str, number: float) -> float:
    """Return a number between 0 and 1, or raise in the name of what it is a share of."""
    if not 0 < number < 1:
        raise ArcadeMarkError(f"{what} {number:g}: expected a share between 0 and 1")
    return number
