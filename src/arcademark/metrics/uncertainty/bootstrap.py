"""Intervals of summaries from few runs: the stratified bootstrap (Agarwal et al. 2021, §4.1).

Conventions
-----------
* A `Sample` contains normalised scores, in any unit. The same sample and generator give the same draws.
* The tasks are fixed: the uncertainty is that of other runs on the same tasks. Each task's runs are drawn with
  replacement, as many as it has, independently of every other task.
* With ragged runs, each task has the same weight in mean, median, optimality gap, profile and probability of
  improvement, as if its score were the mean over the runs it has; in the interquartile mean each run has the same
  weight, as in `arcademark.metrics.aggregate`. A task with one run is included as if its score were constant.
* `arcademark.metrics.uncertainty.intervals.limits` computes intervals from draws; docs/research/intervals.md has their
  measured coverage.
* An `ArcadeMarkError` is raised for fewer than two resamples.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from arcademark.errors import ArcadeMarkError
from arcademark.metrics.aggregate import AGGREGATES
from arcademark.metrics.uncertainty.intervals import Method
from arcademark.metrics.uncertainty.samples import Sample, placements

METHOD: Method = "symmetric"
RESAMPLES = 10_000

AT_ONCE = 200_000
"""Number of runs drawn at once, over all resamples of a part, which fits into a processor's cache."""

Floats = NDArray[np.float64]
Drawn = NDArray[np.int64]


def resampled_aggregates(
    sample: Sample,
    rng: np.random.Generator,
    resamples: int,
    bounds: tuple[float, float] | None = None,
) -> Floats:
    """Draw bootstrap replicates of the aggregates, shape (aggregates, resamples), in the order of `AGGREGATES`.

    With `bounds`, the same draws with each mean over runs, or run, clipped to these are appended as further rows.
    """
    starts = sample.first[:-1]

    def averaged(by_run: Floats) -> Floats:
        return np.asarray(np.add.reduceat(by_run, starts, axis=1) / sample.sizes)

    def summed_up(count: int) -> Floats:
        runs = sample.runs[_draw(sample, count, rng)]
        means = averaged(runs)
        pairs = [(means, runs), *([(np.clip(means, *bounds), np.clip(runs, *bounds))] if bounds else [])]
        rows = []
        for by_task, by_run in pairs:
            short = {one.target: one.target - np.minimum(by_run, one.target) for one in every if one.target is not None}
            tasks = {target: np.sort(averaged(part), axis=1) for target, part in short.items()}
            for part in (by_task, by_run, *short.values()):
                part.sort(axis=1)  # faster than a partition at two places
            scores: dict[tuple[str, float | None], Floats] = {("tasks", None): by_task, ("runs", None): by_run}
            scores |= {("tasks", target): tasks[target] for target in short}
            scores |= {("runs", target): short[target] for target in short}
            rows += [one.trimmed_mean(scores[one.over, one.target]) for one in every]
        return np.array(rows)

    every = tuple(AGGREGATES.values())
    return _in_parts(summed_up, resamples, sample.runs.size)


def resampled_profile(sample: Sample, ascending: Floats, rng: np.random.Generator, resamples: int) -> Floats:
    """Draw bootstrap replicates of a profile, shape (thresholds, resamples), at ascending thresholds."""
    levels, size = np.searchsorted(ascending, sample.runs, side="left"), ascending.size + 1
    shares = np.repeat(1.0 / (sample.sizes * sample.sizes.size), sample.sizes)

    def shares_above(count: int) -> Floats:
        places = levels[_draw(sample, count, rng)] + size * np.arange(count)[:, np.newaxis]
        reached = np.bincount(places.ravel(), np.tile(shares, count), size * count).reshape(count, size)
        return np.asarray(np.cumsum(reached[:, :0:-1], axis=1)[:, ::-1].T)

    return _in_parts(shares_above, resamples, sample.runs.size)


def resampled_improvement(x: Sample, y: Sample, rng: np.random.Generator, resamples: int) -> Floats:
    """Draw bootstrap replicates of the probability of improvement of X over Y, shape (resamples,)."""
    before = np.repeat(y.first[:-1], x.sizes)
    lower, not_higher = (before + count for count in placements(x, y))
    shares = np.repeat(0.5 / (x.sizes * y.sizes * x.sizes.size), x.sizes)

    def won(count: int) -> Floats:
        places = _draw(y, count, rng) + y.runs.size * np.arange(count)[:, np.newaxis]  # ranks within each task
        drawn = np.bincount(places.ravel(), minlength=places.size).reshape(places.shape)
        up_to = np.pad(np.cumsum(drawn, axis=1), ((0, 0), (1, 0)))
        wins = up_to[:, lower] + up_to[:, not_higher] - 2 * before
        return np.asarray(np.take_along_axis(wins, _draw(x, count, rng), axis=1) @ shares)

    return _in_parts(won, resamples, x.runs.size + y.runs.size)


def _draw(sample: Sample, count: int, rng: np.random.Generator) -> Drawn:
    """Draw the indices of the runs of ``count`` resamples, shape (count, runs)."""
    sizes, starts = (np.repeat(values, sample.sizes) for values in (sample.sizes, sample.first[:-1]))
    return (rng.random((count, sizes.size)) * sizes).astype(np.int64) + starts  # several times as fast as integers


def _in_parts(resample: Callable[[int], Floats], resamples: int, runs: int) -> Floats:
    """Resample part by part, with ``runs`` runs per resample; resamples are the last axis."""
    if resamples < 2:
        raise ArcadeMarkError(f"resamples {resamples}: expected 2 or more, preferably thousands")
    step = max(1, AT_ONCE // runs)
    return np.concatenate([resample(min(step, resamples - done)) for done in range(0, resamples, step)], axis=-1)
