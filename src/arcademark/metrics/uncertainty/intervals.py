"""Intervals of scores from a limited number of episodes and runs.

Conventions
-----------
* `score_intervals` computes intervals of single tasks' scores, without resampling; `interval` those of any statistic of
  tasks' scores; `arcademark.metrics.uncertainty.bootstrap` resamples summaries of many tasks. `limits` computes limits
  from draws.
* One task's data is a sequence of float arrays, one per seed, of its episode scores, shape (episodes,). Seeds may
  differ in their number of episodes. A task's score is the mean over seeds of each seed's mean. Each seed is a separate
  training; if seeds differ only by the randomness of episodes, all episodes belong in one array.
* Seeds, or the episodes of a single seed, are resampled, and intervals are widened for few of them. Tasks are resampled
  independently of each other.
* An `ArcadeMarkError` is raised if there is no seed, a seed without episodes, or a score that is not finite; if the
  method is unknown (`UnknownNameError`); or if ``level`` is not between 0 and 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arcademark.errors import ArcadeMarkError, UnknownNameError
from arcademark.metrics.power import check_share

LEVEL = 0.95
RESAMPLES = 2000
FEWEST = 3
"""Least number of values for a Student's t interval: with two, it would extend 13 standard errors to either side."""

MANY = 100
"""Number of values above which their resampled mean is treated as normal."""

Method: TypeAlias = Literal["symmetric", "expanded", "percentile"]
METHODS: tuple[Method, ...] = get_args(Method)

_NOT_FINITE = "an episode's score is missing or infinite; leave out episodes that were not played"


@dataclass(frozen=True)
class Interval:
    """A statistic and its interval, which should cover the true value with frequency `LEVEL`.

    Limits are None if there are too few scores.
    """

    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True, eq=False)
class Strata:
    """Contributions to a statistic's variance of groups of runs that are resampled separately.

    `variances`, shape (..., strata), are unbiased, from the statistic's linear approximation (its influence function),
    and 0 for a single run; `runs`, shape (strata,), are the numbers of runs.
    """

    variances: NDArray[np.float64]
    runs: NDArray[np.int64]

    def degrees_of_freedom(self) -> NDArray[np.float64]:
        """Return the variance's degrees of freedom (Satterthwaite 1946), shape (...); infinite if nothing varies."""
        many = np.maximum(self.runs - 1, 1)
        largest = np.max(self.variances, axis=-1, keepdims=True)
        shares = np.divide(self.variances, largest, where=largest > 0, out=np.zeros(self.variances.shape))
        total, squares = shares.sum(axis=-1), (shares**2 / many).sum(axis=-1)
        return np.asarray(np.divide(total**2, squares, where=squares > 0, out=np.full(total.shape, np.inf)))

    def shrinkage(self) -> NDArray[np.float64]:
        """Return the ratio of the bootstrap's standard error to the unbiased one, shape (...); 1 if nothing varies.

        Resampling n runs gives a mean the variance Σ(x − x̄)²/n², which is (n − 1)/n of the unbiased one.
        """
        unbiased = self.variances.sum(axis=-1)
        drawn = (self.variances * (self.runs - 1) / self.runs).sum(axis=-1)
        ratio = np.divide(drawn, unbiased, where=unbiased > 0, out=np.ones(unbiased.shape))
        return np.asarray(np.sqrt(ratio))


def limits(
    value: ArrayLike, draws: NDArray[np.float64], strata: Strata, *, method: Method, level: float
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return the limits of a statistic from its resamples.

    Parameters
    ----------
    value : float array, shape (...)
        The statistic of the runs themselves.
    draws : float array, shape (..., resamples)
        The statistic of resampled runs.
    strata : Strata
        Variances of shape (..., strata).
    method : {"symmetric", "expanded", "percentile"}
        "percentile": quantiles of the resamples (Efron and Tibshirani 1993, ch. 13). "expanded": their distances from
        the value, widened for few runs by 1 / `Strata.shrinkage` and by the ratio of Student's to the normal quantile
        at `Strata.degrees_of_freedom` (after Hesterberg 2015, "What teachers should know about the bootstrap", who
        changes the level instead). "symmetric": the quantile of the resamples' absolute distances from the value,
        widened in the same way, on both sides, because resamples of some statistics, such as the median of noisy
        scores, lie to one side of the value.

    Returns
    -------
    low, high, standard_error : float array, shape (...)
    """
    check(method, level)
    result = np.asarray(value, dtype=np.float64)
    deviations = draws - result[..., np.newaxis]
    if method == "percentile":
        widening = student = np.ones(result.shape)
    else:
        widening, student = 1.0 / strata.shrinkage(), student_ratio(strata.degrees_of_freedom(), level)
    if method == "symmetric":
        high = np.quantile(np.abs(deviations), level, axis=-1)
        low = -high
    else:
        low, high = np.quantile(deviations, [(1 - level) / 2, (1 + level) / 2], axis=-1)
    by = widening * student
    return result + low * by, result + high * by, np.std(draws, axis=-1, ddof=1) * widening


def student_ratio(degrees_of_freedom: ArrayLike, level: float) -> NDArray[np.float64]:
    """Return the ratio of Student's two-sided quantile at a level to the normal one."""
    from scipy.special import ndtri, stdtrit

    degrees = np.asarray(degrees_of_freedom, dtype=np.float64)
    upper = (1 + level) / 2
    normal = ndtri(upper)
    student = stdtrit(np.where(np.isfinite(degrees), degrees, 1.0), upper)
    return np.asarray(np.where(np.isfinite(degrees), student, normal) / normal)


def check(method: str, level: float) -> None:
    """Raise if the method is unknown, or the level is not between 0 and 1."""
    if method not in METHODS:
        raise UnknownNameError("interval method", method, METHODS)
    check_share("level", level)


def score(seeds: Sequence[ArrayLike]) -> float:
    """Average one task's episodes: within each seed, then over seeds."""
    return _mean(_means(_admit(seeds)))


def interval(
    tasks: Mapping[str, Sequence[ArrayLike]],
    statistic: Callable[[NDArray[np.float64]], ArrayLike],
    rng: np.random.Generator,
    resamples: int = RESAMPLES,
    method: Method = "symmetric",
) -> Interval:
    """Return the bootstrap interval (see `limits`) of any statistic of the tasks' scores.

    Parameters
    ----------
    tasks : mapping of str to (sequence of float array, shape (episodes,))
        For each task one array per seed.
    statistic : callable
        Function of raw scores, shape (..., tasks) in the order of the mapping, that returns the statistic, shape (...),
        such as a mean of normalised scores, or a model's prediction.
    """
    admitted = [_admit(seeds) for seeds in tasks.values()]
    value = float(np.asarray(statistic(np.array([_mean(_means(seeds)) for seeds in admitted]))))
    if any(sum(scores.size for scores in seeds) < FEWEST for seeds in admitted):
        return Interval(value, None, None)
    units = [_means(seeds) if len(seeds) > 1 else seeds[0] for seeds in admitted]
    draws = np.asarray(statistic(np.stack([resampled_means(unit, resamples, rng) for unit in units], axis=-1)))
    low, high, _ = limits(value, draws, _strata(units, statistic), method=method, level=LEVEL)
    return Interval(value, float(low), float(high))


def score_intervals(
    units: Sequence[NDArray[np.float64]],
    bounds: Sequence[tuple[float | None, float | None]] = (),
    *,
    level: float = LEVEL,
) -> NDArray[np.float64]:
    """Return Student's t intervals of many tasks' scores at once; each task has at least one value.

    ``bounds``, one pair per task, are the lowest and highest possible scores, None where they are not known; limits are
    clipped to these, or to the task's own scores if these lie outside.

    Returns
    -------
    float array, shape (units, 4)
        Mean, low, high and standard error, the last three NaN for fewer than `FEWEST` values, or equal values.

    Raises
    ------
    ArcadeMarkError
        If a value is not finite.
    """
    result = np.full((len(units), 4), np.nan)
    sizes = np.array([unit.size for unit in units])
    for size in np.unique(sizes).tolist():
        places = np.flatnonzero(sizes == size)
        values = np.array([units[place] for place in places.tolist()])
        result[places, 0] = mean = values.mean(axis=1)
        varies = (values != values[:, :1]).any(axis=1)
        if varies.any() and size >= FEWEST:
            deviations = values[varies] - mean[varies, np.newaxis]
            error = np.sqrt(np.sum(deviations**2, axis=1) / (size - 1) / size)
            half_width = student(size - 1, level) * error
            result[places[varies], 1:] = np.stack([mean[varies] - half_width, mean[varies] + half_width, error], axis=1)
    if not np.isfinite(result[:, 0]).all():
        raise ArcadeMarkError(_NOT_FINITE)
    for row, unit, (least, most) in zip(result, units, bounds, strict=False):
        row[1] = row[1] if least is None else np.maximum(row[1], min(least, unit.min()))
        row[2] = row[2] if most is None else np.minimum(row[2], max(most, unit.max()))
    return result


@lru_cache
def student(degrees_of_freedom: int, level: float) -> float:
    """Return Student's two-sided quantile."""
    from scipy.special import stdtrit

    return float(stdtrit(degrees_of_freedom, (1 + level) / 2))


def resampled_means(values: NDArray[np.float64], resamples: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw bootstrap replicates of a mean, from a normal distribution if there are many values."""
    if values.size > MANY:
        return np.asarray(np.mean(values) + np.std(values) / np.sqrt(values.size) * rng.standard_normal(resamples))
    picks = rng.integers(values.size, size=(resamples, values.size))
    return np.asarray(values[np.ascontiguousarray(picks.T)].mean(axis=0))  # faster than along short rows


def _strata(units: Sequence[NDArray[np.float64]], statistic: Callable[[NDArray[np.float64]], ArrayLike]) -> Strata:
    """Return each task's share of a statistic's variance: its squared change by a standard error of the task's mean."""
    means = np.array([unit.mean() for unit in units])
    errors = np.array([unit.std(ddof=1) / np.sqrt(unit.size) for unit in units])
    up, down = (np.asarray(statistic(means + sign * np.diag(errors)), dtype=np.float64) for sign in (1, -1))
    return Strata(((up - down) / 2) ** 2, np.array([unit.size for unit in units]))


def _means(seeds: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Return the seeds' means, shape (seeds,)."""
    if all(scores.size == 1 for scores in seeds):
        return np.concatenate(seeds)
    return np.array([scores.mean() for scores in seeds])


def _mean(values: NDArray[np.float64]) -> float:
    mean = float(values.mean())
    if not math.isfinite(mean):
        raise ArcadeMarkError(_NOT_FINITE)
    return mean


def _admit(seeds: Sequence[ArrayLike]) -> list[NDArray[np.float64]]:
    arrays = [np.atleast_1d(np.asarray(scores, dtype=np.float64)) for scores in seeds]
    if not arrays or any(scores.ndim != 1 or not scores.size for scores in arrays):
        raise ArcadeMarkError("no episodes to average; expected one array of episode scores for each seed")
    return arrays
