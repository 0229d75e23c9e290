"""Samples of runs for resampling, and each task's share of a statistic's variance.

Conventions
-----------
* Scores have shape (tasks, runs), NaN where missing. A `Sample` contains the known ones, task after task.
* A statistic's variance is that of its linear approximation: the unbiased variance within each task of the runs'
  influence. It does not determine an interval's width, which comes from the bootstrap, but its degrees of freedom, and
  the correction for the smaller spread of resamples of few runs.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arcademark.metrics.aggregate import Aggregate
from arcademark.metrics.uncertainty.intervals import Strata

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Sample:
    """One algorithm's runs, shape (n,), task after task.

    Task i has ``runs[first[i]:first[i + 1]]``; `first` has shape (tasks + 1,).
    """

    runs: Floats
    first: NDArray[np.int64]

    @property
    def sizes(self) -> NDArray[np.int64]:
        """The number of runs of each task, shape (tasks,)."""
        return np.diff(self.first)

    def by_task(self, values: Floats) -> tuple[Floats, Floats]:
        """Return the mean and the unbiased variance (0 of a single run) of values (n,) within each task, (tasks,)."""
        starts, sizes = self.first[:-1], self.sizes
        deviations = values - np.repeat(values[starts], sizes)  # exactly 0 for equal runs
        mean_deviations = np.add.reduceat(deviations, starts) / sizes
        squares = np.add.reduceat((deviations - np.repeat(mean_deviations, sizes)) ** 2, starts)
        return values[starts] + mean_deviations, squares / np.maximum(sizes - 1, 1)


def padded(runs: Iterable[ArrayLike]) -> Floats:
    """Return each task's runs, at least one, as a row, shape (tasks, runs); ragged ones are padded with NaN."""
    rows = [np.asarray(row, dtype=np.float64) for row in runs]
    widest = max((row.size for row in rows), default=1)
    if all(row.size == widest for row in rows):
        return np.array(rows).reshape(len(rows), widest)
    table = np.full((len(rows), widest), np.nan)
    for padded_row, row in zip(table, rows, strict=True):
        padded_row[: row.size] = row
    return table


def variances(table: Floats) -> Floats:
    """Return the unbiased variance over runs of scores (..., tasks, runs), shape (..., tasks); 0 for one run or none.

    Missing scores (NaN) are last.
    """
    differences = table - table[..., :1]  # exactly 0 for equal runs
    known = ~np.isnan(table)
    sizes = known.sum(axis=-1)
    mean = np.sum(differences, axis=-1, where=known) / np.maximum(sizes, 1)
    squares = np.sum((differences - mean[..., np.newaxis]) ** 2, axis=-1, where=known)
    return np.asarray(squares / np.maximum(sizes - 1, 1))


def independent(scores: Floats, kinds: NDArray[np.int64], possible: int | None = None) -> Floats:
    """Return independent values that represent episodes' scores of which some are of the same episode.

    Their mean is that of all scores, with its standard error over distinct episodes: if m distinct episodes have the
    shares w of all, its variance is S² (Σ w² − 1/N), where S² is the variance of their m scores and N the number of
    possible distinct episodes, all equally likely. Given which episodes are equal, the m are a sample without
    replacement (Basu 1958, On sampling with and without replacement). If all N occur equally often, nothing varies.

    Parameters
    ----------
    scores : float array, shape (episodes,)
    kinds : int array, shape (episodes,)
        Numbers that are equal for the same episode.
    possible : int, optional
        N; None if it is unlimited.

    Returns
    -------
    float array, shape (m,)
    """
    _, first, counts = np.unique(kinds, return_index=True, return_counts=True)
    m, n = counts.size, scores.size
    if possible is None and m == n:
        return scores
    different, mean = scores[first], scores.mean()
    squares = int(np.sum(counts**2))
    spread = squares / n**2 if possible is None or m > possible else (possible * squares - n**2) / (possible * n**2)
    return np.asarray(mean + np.sqrt(m * spread) * (different - different.mean()))


def sample_of(scores: Floats) -> Sample:
    """Return the sample of the runs that are not missing, of scores with shape (tasks, runs)."""
    known = ~np.isnan(scores)
    return Sample(scores[known], np.concatenate([[0], np.cumsum(known.sum(axis=1))]).astype(np.int64))


def task_shares(means: Floats, variances: Floats, aggregate: Aggregate) -> Floats:
    """Return the weight of each task's mean in a statistic over tasks, shape (..., tasks).

    Tasks that are not left out have equal weights; for the median, weights are proportional to tasks' densities at it.
    """
    if aggregate.trim < 0.5:
        number, cut = means.shape[-1], aggregate.cut(means.shape[-1])
        rank = means.argsort(axis=-1, kind="stable").argsort(axis=-1)
        return np.asarray(((rank >= cut) & (rank < number - cut)) / (number - 2 * cut))
    varies = variances > 0
    spread = np.where(varies, variances, 1.0)
    distance = (means - np.median(means, axis=-1, keepdims=True)) ** 2 / spread
    log_density = np.where(varies, -0.5 * (distance + np.log(spread)), -np.inf)
    largest = log_density.max(axis=-1, keepdims=True)
    density = np.exp(log_density - np.where(np.isfinite(largest), largest, 0.0))
    total = density.sum(axis=-1, keepdims=True)
    return np.asarray(np.divide(density, total, out=np.zeros(density.shape), where=total > 0))


def profile_strata(sample: Sample, thresholds: Floats) -> Strata:
    """Return each task's contribution to the variance of a profile at each threshold, shape (thresholds, tasks)."""
    above = np.array([sample.by_task((sample.runs > mark).astype(np.float64))[1] for mark in thresholds])
    return Strata(above / (sample.sizes * float(sample.sizes.size) ** 2), sample.sizes)


def improvement(x: Sample, y: Sample) -> tuple[float, Strata]:
    """Return `arcademark.metrics.compare.probability_of_improvement` of X over Y, and the parts of its variance.

    The strata, shape (2 · tasks,), are each task's runs of X, then of Y (DeLong, DeLong and Clarke-Pearson 1988).
    """
    tasks, pairs = x.sizes.size, x.sizes * y.sizes
    won, lost = (np.sum(placements(*sides), axis=0) for sides in ((x, y), (y, x)))
    value = np.mean(np.add.reduceat(won, x.first[:-1]) / (2 * pairs))
    of_x = x.by_task(won / (2.0 * np.repeat(y.sizes, x.sizes)))[1]
    of_y = y.by_task(lost / (2.0 * np.repeat(x.sizes, y.sizes)))[1]
    variances = np.concatenate([of_x / x.sizes, of_y / y.sizes]) / tasks**2
    return float(value), Strata(variances, np.concatenate([x.sizes, y.sizes]))


def placements(x: Sample, y: Sample) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return for each run of X the numbers of the task's runs of Y that are lower, and not higher, shape (n,) each."""
    ranks = np.unique(np.concatenate([x.runs, y.runs]), return_inverse=True)[1]
    task_x, task_y = (np.repeat(np.arange(side.sizes.size), side.sizes) for side in (x, y))
    keys_x, keys_y = np.split(np.concatenate([task_x, task_y]) * ranks.size + ranks, [x.runs.size])
    ordered, before = np.sort(keys_y), y.first[task_x]  # sorted by task, then by score
    return ordered.searchsorted(keys_x, "left") - before, ordered.searchsorted(keys_x, "right") - before


def together(one: Strata, other: Strata) -> Strata:
    """Concatenate the strata of two independent samples."""
    return Strata(np.concatenate([one.variances, other.variances], axis=-1), np.concatenate([one.runs, other.runs]))
