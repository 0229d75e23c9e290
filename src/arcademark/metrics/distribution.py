"""Score distributions: the fraction of tasks, or of runs, above each threshold.

Conventions
-----------
* Results have the axes of ``scores`` that are neither tasks nor runs, then one of thresholds, in the given order.
  Thresholds, shape (thresholds,), are in the unit of the scores.
* 2013's score distribution counts scores *at or above* a threshold, the performance profiles of 2021 only those *above*
  it. The two differ if scores equal a threshold, such as 0 in games in which no algorithm scores.
* Missing scores (NaN) raise an `ArcadeMarkError` with ``missing="refuse"``, and are left out with ``missing="omit"``.
  It is also raised if there is no score at all, or a threshold is NaN.

Bellemare et al. 2013, "The Arcade Learning Environment: An Evaluation Platform for General Agents". Agarwal et al.
2021, "Deep Reinforcement Learning at the Edge of the Statistical Precipice".
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arcademark.errors import ArcadeMarkError
from arcademark.metrics.aggregate import Missing, admit, admit_runs


def score_distribution(scores: ArrayLike, thresholds: ArrayLike, *, missing: Missing = "refuse") -> NDArray[np.float64]:
    """Return the fraction of tasks whose score is at or above each threshold (Bellemare et al. 2013, §4.2.3).

    Normalised scores of shape (..., tasks) have a distribution of shape (..., thresholds), which falls from 1 to 0 as
    thresholds rise. "omit" computes the fraction of the tasks that have a score.
    """
    values = admit(scores, missing)
    tasks = np.count_nonzero(~np.isnan(values), axis=-1)
    reached = [np.count_nonzero(values >= threshold, axis=-1) / tasks for threshold in _admit_thresholds(thresholds)]
    return np.stack(reached, axis=-1)


def performance_profile(
    scores: ArrayLike, thresholds: ArrayLike, *, missing: Missing = "refuse"
) -> NDArray[np.float64]:
    """Return the fraction of runs above each threshold, averaged over tasks (Agarwal et al. 2021, §4.2).

    This is their run-score distribution: F(τ) = mean over tasks of the mean over runs of [score > τ], of shape (...,
    thresholds) for normalised scores of shape (..., tasks, runs). Each task has the same weight for any number of runs.
    "omit" leaves out missing runs, and tasks without any.
    """
    values, marks = admit_runs(scores, missing, "performance_profile"), _admit_thresholds(thresholds)
    runs = np.count_nonzero(~np.isnan(values), axis=-1)
    if (runs == values.shape[-1]).all():
        return _above(values.reshape(*values.shape[:-2], -1), marks)
    known = runs > 0
    above = [
        np.mean(np.count_nonzero(values > mark, axis=-1) / np.maximum(runs, 1), axis=-1, where=known) for mark in marks
    ]
    return np.stack(above, axis=-1)


def _above(values: NDArray[np.float64], marks: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the fraction of the last axis above each mark, shape (..., marks), by one search for all."""
    ascending, places = np.unique(marks, return_inverse=True)
    rows, size = values.reshape(-1, values.shape[-1]), ascending.size + 1
    levels = np.searchsorted(ascending, rows, side="left") + size * np.arange(len(rows))[:, np.newaxis]
    counts = np.bincount(levels.ravel(), minlength=size * len(rows)).reshape(len(rows), size)
    reached = np.cumsum(counts[:, :0:-1], axis=1)[:, ::-1] / values.shape[-1]
    return np.asarray(reached[:, places].reshape(*values.shape[:-1], marks.size))


def _admit_thresholds(thresholds: ArrayLike) -> NDArray[np.float64]:
    values = np.asarray(thresholds, dtype=np.float64)
    if values.ndim != 1 or not values.size or np.isnan(values).any():
        raise ArcadeMarkError("thresholds: expected one or more numbers with which to compare scores")
    return values
