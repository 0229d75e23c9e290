"""Intervals of summaries from few runs: the stratified bootstrap (Agarwal et al. 2021, §4.1), fast and repeatable.

Conventions
-----------
* Scores have shape (tasks, runs), normalised, in any unit; ragged runs are padded with NaN. Every function uses one
  number of ``rng``: same scores, same generator, same bits, whatever the number of threads (by default one a core).
* The tasks are given: what is uncertain is what other runs on the same tasks would have scored. Each task's runs are
  drawn with replacement, as many as it has, independently of every other task.
* With ragged runs each task weighs the same in mean, median, optimality gap, profile and probability of improvement, as
  if its score were the mean over the runs it has; in the interquartile mean each run weighs the same, as in
  `arcademark.metrics.aggregate`, whose values the intervals surround.
* ``missing="refuse"`` raises where a run is missing and names the tasks; "omit" takes the runs that are there, and the
  notes name the tasks that have none. A task with one run takes part, as if it could not have scored anything else, and
  the notes name it. Where every task has one run there are no limits.
* ``method`` is one of `arcademark.metrics.uncertainty.intervals.limits`, ``level`` how often intervals should hold the
  true value; how often they do is measured: docs/intervals.md.
* All raise an `ArcadeMarkError` where scores are missing and refused, none is left, or an argument is out of bounds.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arcademark.errors import ArcadeMarkError
from arcademark.metrics import aggregate, distribution
from arcademark.metrics.aggregate import Missing
from arcademark.metrics.normalise import PERCENT
from arcademark.metrics.uncertainty import coverage
from arcademark.metrics.uncertainty.intervals import LEVEL, Interval, Method, Note, Strata, check, limits
from arcademark.metrics.uncertainty.samples import (
    Sample,
    admit,
    aggregate_strata,
    improvement,
    placements,
    profile_strata,
    sample_of,
)

AGGREGATES = ("mean", "median", "iqm", "optimality_gap")
METHOD: Method = "symmetric"
RESAMPLES = 10_000

STILL = Note("no variation that could move it was seen between runs: how far it may be off is not known", "constant")
"""What is said of an interval without width."""

_WORK_OF_A_THREAD = 1_000_000
"""Draws of a run that are worth a thread."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Band:
    """A performance profile: at each threshold the share of runs above, averaged over tasks, and its interval.

    `thresholds`, `value`, `low` and `high` have shape (thresholds,). Limits are pointwise, not of the whole curve at
    once, and None where every task has one run. `level`, `method` and `notes` are as in
    `arcademark.metrics.uncertainty.intervals.Interval`.
    """

    thresholds: Floats
    value: Floats
    low: Floats | None
    high: Floats | None
    level: float
    method: Method
    notes: tuple[Note, ...]


def aggregate_intervals(
    scores: ArrayLike,
    tasks: Sequence[str],
    rng: np.random.Generator,
    *,
    target: float = PERCENT,
    method: Method = METHOD,
    level: float = LEVEL,
    resamples: int = RESAMPLES,
    missing: Missing = "refuse",
    threads: int | None = None,
) -> dict[str, Interval]:
    """Find the intervals of "mean", "median", "iqm" and "optimality_gap", by these names, in one pass.

    Parameters
    ----------
    scores : float array, shape (tasks, runs)
        One algorithm's normalised scores.
    tasks : sequence of str
        Names along the first axis.
    target : float, optional
        Of the optimality gap, in the unit of the scores: 100 for percent, 1 for fractions.
    """
    check(method, level)
    there, notes = admit(tasks, missing, scores)
    sample = sample_of(there[0])
    draws = resampled_aggregates(sample, _key(rng), target, _at_least(resamples), threads)
    strata = aggregate_strata(sample, target)
    return _intervals(aggregates(there[0], target), draws, strata, method, level, notes, len(there[0]))


def improvement_interval(
    x: ArrayLike,
    y: ArrayLike,
    tasks: Sequence[str],
    rng: np.random.Generator,
    *,
    method: Method = METHOD,
    level: float = LEVEL,
    resamples: int = RESAMPLES,
    missing: Missing = "refuse",
    threads: int | None = None,
) -> Interval:
    """Find the interval of `arcademark.metrics.compare.probability_of_improvement` of X over Y, within 0 and 1."""
    check(method, level)
    there, notes = admit(tasks, missing, x, y)
    one, other = (sample_of(scores, sort=False) for scores in there)
    key, count = _key(rng), _at_least(resamples)
    draws = resampled_improvement(one, other, key, count, threads)
    value, strata = improvement(one, other)
    if not (strata.runs > 1).any():
        return Interval(value, None, None, level, None, notes, method)
    low, high, error = limits(value, draws, strata, method=method, level=level)
    low, high = np.clip([low, high], 0.0, 1.0)
    notes += _warnings("probability_of_improvement", strata, method, level, len(there[0]))
    return Interval(value, float(low), float(high), level, float(error), notes, method)


def profile_band(
    scores: ArrayLike,
    tasks: Sequence[str],
    thresholds: ArrayLike,
    rng: np.random.Generator,
    *,
    method: Method = METHOD,
    level: float = LEVEL,
    resamples: int = RESAMPLES,
    missing: Missing = "refuse",
    threads: int | None = None,
) -> Band:
    """Find the pointwise band, within 0 and 1, of `arcademark.metrics.distribution.performance_profile`.

    `thresholds`, shape (thresholds,), are in the unit of the scores, in any order.
    """
    check(method, level)
    there, notes = admit(tasks, missing, scores)
    value = distribution.performance_profile(there[0], thresholds, missing="omit")
    marks = np.asarray(thresholds, dtype=np.float64)
    sample = sample_of(there[0])
    if not (sample.sizes > 1).any():
        return Band(marks, value, None, None, level, method, notes)
    order = np.argsort(marks, kind="stable")
    draws = np.empty((marks.size, _at_least(resamples)))
    draws[order] = resampled_profile(sample, marks[order], _key(rng), resamples, threads)
    strata = profile_strata(sample, marks)
    low, high, _ = limits(value, draws, strata, method=method, level=level)
    notes += _warnings("profile", strata, method, level, len(there[0]))
    return Band(marks, value, np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0), level, method, notes)


def resampled_aggregates(
    sample: Sample,
    key: np.uint64,
    target: float,
    resamples: int,
    threads: int | None,
    held: tuple[float, float] | None = None,
) -> Floats:
    """Draw what else the four aggregates might have been: shape (4, resamples), in the order of `AGGREGATES`.

    With bounds `held`, shape (8, resamples): then of the same draws, with each mean over runs (in mean and median) or
    run held within them.
    """
    from arcademark.metrics.uncertainty import kernels

    order = np.argsort(sample.runs, kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(order.size)
    lows = np.minimum.reduceat(sample.runs, sample.first[:-1])
    highs = np.maximum.reduceat(sample.runs, sample.first[:-1])
    middle = (lows.size - 1) // 2, lows.size // 2
    below, above = highs < np.sort(lows)[middle[0]], lows > np.sort(highs)[middle[1]]
    arguments = (sample.runs, sample.first, place, sample.runs[order], ~(below | above))
    out = np.empty((len(AGGREGATES) * (1 if held is None else 2), resamples))
    least, most = held or (-np.inf, np.inf)
    bounded = (np.count_nonzero(below), target, least, most, key)
    _fill(kernels.resample_aggregates, (*arguments, *bounded), out, order.size, threads)
    return out


def resampled_profile(sample: Sample, ascending: Floats, key: np.uint64, resamples: int, threads: int | None) -> Floats:
    """Draw what else a profile might have been, shape (thresholds, resamples), at ascending thresholds."""
    from arcademark.metrics.uncertainty import kernels

    levels = np.searchsorted(ascending, sample.runs, side="left")
    out = np.empty((ascending.size, resamples))
    _fill(kernels.resample_profile, (levels, sample.first, key), out, levels.size, threads)
    return out


def resampled_improvement(x: Sample, y: Sample, key: np.uint64, resamples: int, threads: int | None) -> Floats:
    """Draw what else the probability of improvement of X over Y might have been, shape (resamples,)."""
    from arcademark.metrics.uncertainty import kernels

    lower, not_higher = placements(x, y)
    out = np.empty(resamples)
    arguments = (lower, not_higher, x.first, y.first, key)
    _fill(kernels.resample_improvement, arguments, out, x.runs.size + y.runs.size, threads)
    return out


def _fill(
    kernel: Callable[..., None], arguments: tuple[object, ...], out: Floats, draws: int, threads: int | None
) -> None:
    """Have threads fill contiguous parts of ``out``, whose last axis is that of replicates."""
    if threads is not None and threads < 1:
        raise ArcadeMarkError(f"threads {threads}: expected 1 or more")
    parts = out.shape[-1] * draws // _WORK_OF_A_THREAD
    if parts > 1:
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        parts = min(threads or cores, parts)
    if parts <= 1:
        kernel(*arguments, 0, out.shape[-1], out)
        return
    edges = np.linspace(0, out.shape[-1], parts + 1).astype(int).tolist()
    with ThreadPoolExecutor(parts) as pool:
        for done in [pool.submit(kernel, *arguments, *part, out) for part in itertools.pairwise(edges)]:
            done.result()


def _key(rng: np.random.Generator) -> np.uint64:
    return rng.integers(2**64, dtype=np.uint64)


def _at_least(resamples: int) -> int:
    if resamples < 2:
        raise ArcadeMarkError(f"resamples {resamples}: expected 2 or more, better thousands")
    return resamples


def aggregates(scores: ArrayLike, target: float = PERCENT) -> Floats:
    """Return the `AGGREGATES`, shape (4, ...), of normalised scores (..., tasks, runs); each task has a run or more."""
    values = np.asarray(scores, dtype=np.float64)
    by_task = np.nanmean(values, axis=-1)
    of_runs = aggregate.iqm(values, missing="omit"), aggregate.optimality_gap(values, target, missing="omit")
    return np.array([aggregate.mean(by_task), aggregate.median(by_task), *of_runs], dtype=np.float64)


def _intervals(
    values: Floats,
    draws: Floats,
    strata: Strata,
    method: Method,
    level: float,
    notes: tuple[Note, ...],
    tasks: int,
) -> dict[str, Interval]:
    if not (strata.runs > 1).any():
        return {
            name: Interval(float(value), None, None, level, None, notes, method)
            for name, value in zip(AGGREGATES, values, strict=True)
        }
    low, high, errors = limits(values, draws, strata, method=method, level=level)
    low[-1] = max(low[-1], 0.0)
    return {
        name: Interval(
            float(values[i]),
            float(low[i]),
            float(high[i]),
            level,
            float(errors[i]),
            (*notes, *_warnings(name, Strata(strata.variances[i], strata.runs), method, level, tasks)),
            method,
        )
        for i, name in enumerate(AGGREGATES)
    }


def _warnings(name: str, strata: Strata, method: Method, level: float, tasks: int) -> tuple[Note, ...]:
    """What is to be said of few runs, and of runs that do not vary."""
    notes = []
    if not (strata.variances > 0).any():
        notes.append(STILL)
    warning = coverage.warning(name, method, level, tasks, int(strata.runs[strata.runs > 1].min()))
    if warning:
        notes.append(Note(warning, "coverage"))
    return tuple(notes)
