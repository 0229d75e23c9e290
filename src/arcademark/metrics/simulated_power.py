"""How many seeds it takes to detect a difference between two algorithms in a summary of many tasks: simulated.

Conventions
-----------
* Words, spreads and defaults are those of `arcademark.metrics.power`.
* An experiment finds the difference if the interval that `arcademark.metrics.bootstrap` makes of it, at the level
  1 − alpha, lies on the right side of no difference. So power is that of the interval that a report would show.
* Every search uses the same draws for every number of seeds, or difference, that it tries.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from arcademark.errors import ArcadeMarkError, UnknownNameError
from arcademark.metrics.bootstrap import METHOD, difference_intervals, improvement_interval
from arcademark.metrics.intervals import Method
from arcademark.metrics.normalise import PERCENT
from arcademark.metrics.power import ALPHA, POWER, Spreads, count, share, smallest

TRIALS = 500
RESAMPLES = 500

PowerStatistic: TypeAlias = Literal["mean", "median", "iqm", "optimality_gap", "probability_of_improvement"]
STATISTICS: tuple[PowerStatistic, ...] = get_args(PowerStatistic)


@dataclass(frozen=True)
class SimulatedPower:
    """How often simulated experiments found a difference that is there.

    Parameters
    ----------
    power : float
        Share of the experiments whose interval lies on the right side of no difference.
    standard_error : float
        Of that share, because only so many experiments were simulated.
    seeds, episodes : int
        Of each algorithm on each task, and of each seed.
    trials : int
        Experiments simulated.
    """

    power: float
    standard_error: float
    seeds: int
    episodes: int
    trials: int


def simulated_power(
    spreads: Spreads,
    difference: float,
    seeds: int,
    rng: np.random.Generator,
    *,
    relative: bool = False,
    episodes: int = 1,
    statistic: PowerStatistic = "iqm",
    alpha: float = ALPHA,
    target: float = PERCENT,
    trials: int = TRIALS,
    method: Method = METHOD,
    resamples: int = RESAMPLES,
) -> SimulatedPower:
    """Simulate experiments on many tasks and count those that find a difference between two algorithms.

    Parameters
    ----------
    spreads : Spreads
        Of both algorithms; runs are drawn from normal distributions.
    difference : float
        By how much the better algorithm's mean is higher on every task; a share of each task's mean if ``relative``.
    seeds : int
        Of each algorithm on each task, 2 or more.
    rng : numpy.random.Generator
        Where the draws come from.
    relative : bool, optional
        Whether ``difference`` is a share.
    episodes : int, optional
        Of each seed.
    statistic : {"mean", "median", "iqm", "optimality_gap", "probability_of_improvement"}, optional
        What is compared: its difference must lie beyond 0, the probability of improvement above 0.5.
    alpha : float, optional
        One minus the level of the intervals.
    target : float, optional
        Of the optimality gap.
    trials : int, optional
        Experiments to simulate.
    method, resamples
        Of the intervals, as in `arcademark.metrics.bootstrap`.

    Raises
    ------
    UnknownNameError, ArcadeMarkError
        Where there is no such statistic, or an argument is out of bounds.
    """
    if statistic not in STATISTICS:
        raise UnknownNameError("statistic", statistic, STATISTICS)
    if count("seeds", seeds) < 2:
        raise ArcadeMarkError("seeds 1: expected 2 or more; one seed does not show how seeds vary")
    level = 1 - share("alpha", alpha)
    better = spreads.means * (1 + difference) if relative else spreads.means + difference
    spread = spreads.of_a_run(episodes)[:, np.newaxis]
    shape = spreads.means.size, seeds
    found = 0
    for _ in range(count("trials", trials)):
        one = better[:, np.newaxis] + spread * rng.standard_normal(shape)
        other = spreads.means[:, np.newaxis] + spread * rng.standard_normal(shape)
        found += _finds(
            statistic, one, other, rng, target=target, method=method, level=level, resamples=resamples, threads=1
        )
    power = found / trials
    return SimulatedPower(power, float(np.sqrt(power * (1 - power) / trials)), seeds, episodes, trials)


def _finds(
    statistic: PowerStatistic,
    one: NDArray[np.float64],
    other: NDArray[np.float64],
    rng: np.random.Generator,
    *,
    target: float,
    **options: Any,
) -> bool:
    """Say whether the interval of an experiment, scores of shape (tasks, seeds), shows the first to be better."""
    names = [""] * len(one)
    if statistic == "probability_of_improvement":
        found = improvement_interval(one, other, names, rng, **options)
        return found.low is not None and found.low > 0.5
    found = difference_intervals(one, other, names, rng, target=target, **options)[statistic]
    if statistic == "optimality_gap":
        return found.high is not None and found.high < 0
    return found.low is not None and found.low > 0


def simulated_seeds_needed(
    spreads: Spreads,
    difference: float,
    rng: np.random.Generator,
    *,
    power: float = POWER,
    most: int = 100,
    **options: Any,
) -> SimulatedPower:
    """Find the smallest number of seeds with which simulated experiments find a difference often enough.

    Parameters
    ----------
    power : float, optional
        How often they should find it.
    most : int, optional
        Seeds to try at most.
    **options
        Of `simulated_power`, whose parameters and errors are the others.

    Returns
    -------
    SimulatedPower
        With that number of seeds. Power is known only within its standard error, so the number may be a seed off.

    Raises
    ------
    ArcadeMarkError
        Also where ``most`` seeds are not enough.
    """
    share("power", power)
    source = rng.integers(2**63)
    tried: dict[int, SimulatedPower] = {}

    def enough(seeds: int) -> bool:
        tried[seeds] = simulated_power(spreads, difference, seeds, np.random.default_rng(source), **options)
        return tried[seeds].power >= power

    return tried[smallest(enough, 2, most, "seeds")]


def simulated_detectable_difference(
    spreads: Spreads,
    seeds: int,
    rng: np.random.Generator,
    *,
    power: float = POWER,
    tolerance: float = 0.02,
    **options: Any,
) -> float:
    """Find the smallest difference that simulated experiments with so many seeds find often enough.

    Parameters
    ----------
    power : float, optional
        How often they should find it.
    tolerance : float, optional
        How far off the difference may be, as a share of it, apart from the chance of simulation.
    **options
        Of `simulated_power`, whose parameters and errors are the others.

    Raises
    ------
    ArcadeMarkError
        Also where nothing varies, so that any difference is found.
    """
    share("power", power)
    source = rng.integers(2**63)

    def enough(difference: float) -> bool:
        found = simulated_power(spreads, difference, seeds, np.random.default_rng(source), **options)
        return found.power >= power

    spread = spreads.of_a_run(options.get("episodes", 1))
    if not spread.any():
        raise ArcadeMarkError("the scores do not vary; any difference is found")
    scale = np.abs(spreads.means).mean() if options.get("relative") else 1.0
    low, high = 0.0, float(spread.mean() / scale)
    while not enough(high):
        low, high = high, 2 * high
    while high - low > tolerance * high:
        middle = (low + high) / 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
