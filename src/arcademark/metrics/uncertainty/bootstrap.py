"""Intervals of summaries from few runs: the stratified bootstrap (Agarwal et al. 2021, §4.1), fast and repeatable.

Conventions
-----------
* A `Sample` holds normalised scores, in any unit. Same sample, same key, same bits, whatever the number of threads (by
  default one a core).
* The tasks are given: what is uncertain is what other runs on the same tasks would have scored. Each task's runs are
  drawn with replacement, as many as it has, independently of every other task.
* With ragged runs each task weighs the same in mean, median, optimality gap, profile and probability of improvement, as
  if its score were the mean over the runs it has; in the interquartile mean each run weighs the same, as in
  `arcademark.metrics.aggregate`, whose values the draws surround. A task with one run takes part, as if it could not
  have scored anything else.
* `arcademark.metrics.uncertainty.intervals.limits` makes intervals of draws; how often those hold the true value is
  measured: docs/intervals.md.
* An `ArcadeMarkError` is raised where fewer than two resamples are wanted.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from arcademark.errors import ArcadeMarkError
from arcademark.metrics.aggregate import AGGREGATES
from arcademark.metrics.uncertainty.intervals import Method
from arcademark.metrics.uncertainty.samples import Sample, placements

METHOD: Method = "symmetric"
RESAMPLES = 10_000

_WORK_OF_A_THREAD = 1_000_000
"""Draws of a run that are worth a thread."""

Floats = NDArray[np.float64]


def resampled_aggregates(
    sample: Sample,
    key: np.uint64,
    target: float,
    resamples: int,
    threads: int | None = None,
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


def resampled_profile(
    sample: Sample, ascending: Floats, key: np.uint64, resamples: int, threads: int | None = None
) -> Floats:
    """Draw what else a profile might have been, shape (thresholds, resamples), at ascending thresholds."""
    from arcademark.metrics.uncertainty import kernels

    levels = np.searchsorted(ascending, sample.runs, side="left")
    out = np.empty((ascending.size, resamples))
    _fill(kernels.resample_profile, (levels, sample.first, key), out, levels.size, threads)
    return out


def resampled_improvement(x: Sample, y: Sample, key: np.uint64, resamples: int, threads: int | None = None) -> Floats:
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
    if out.shape[-1] < 2:
        raise ArcadeMarkError(f"resamples {out.shape[-1]}: expected 2 or more, better thousands")
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
