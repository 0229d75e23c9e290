"""Many normalised scores made one: mean, median, interquartile mean, optimality gap.

Conventions
-----------
* `mean` and `median` take one score a task, shape (..., tasks): average over runs first. `iqm` and `optimality_gap`
  take every run apart, shape (..., tasks, runs). Leading axes (algorithms, resamples) are carried through; results have
  shape (...).
* With ragged runs, each task weighs the same in mean, median and optimality gap; in the IQM each run does.
* No statistic drops a missing score (NaN) unasked: ``missing="refuse"`` raises an `ArcadeMarkError`, ``missing="omit"``
  leaves it out. It is raised too where there is no score at all.

IQM and optimality gap are those of Agarwal et al. 2021, "Deep Reinforcement Learning at the Edge of the Statistical
Precipice".
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arcademark.errors import ArcadeMarkError
from arcademark.metrics.normalise import PERCENT

Missing: TypeAlias = Literal["refuse", "omit"]
Statistic: TypeAlias = np.float64 | NDArray[np.float64]

IQM_TRIM = 0.25

AGGREGATES = ("mean", "median", "iqm", "optimality_gap")


def aggregates(by_task: NDArray[np.float64], by_run: NDArray[np.float64]) -> NDArray[np.float64]:
    """Find the `AGGREGATES`: mean and median of (..., tasks), the others of (..., tasks, runs), shape (4, ...)."""
    of_runs = iqm(by_run, missing="omit"), optimality_gap(by_run, missing="omit")
    return np.array([mean(by_task), median(by_task), *of_runs], dtype=np.float64)


def mean(scores: ArrayLike, *, missing: Missing = "refuse") -> Statistic:
    """Average normalised scores, shape (..., tasks), over tasks; "omit" averages over the tasks that have a score."""
    values = admit(scores, missing)
    return np.asarray(np.nanmean(values, axis=-1))[()]


def median(scores: ArrayLike, *, missing: Missing = "refuse") -> Statistic:
    """Middle score over tasks, shape (..., tasks); of an even number, halfway between the middle two."""
    values = admit(scores, missing)
    if np.isnan(values).any() or not values.shape[-1]:
        return np.asarray(np.nanmedian(values, axis=-1))[()]
    middle = [(values.shape[-1] - 1) // 2, values.shape[-1] // 2]  # sorting is many times as fast as np.median
    return np.asarray(np.sort(values, axis=-1)[..., middle].mean(axis=-1))[()]


def iqm(scores: ArrayLike, *, missing: Missing = "refuse") -> Statistic:
    """Interquartile mean: the mean of the middle half of all runs of all tasks (Agarwal et al. 2021, §4.3).

    Runs of all tasks, shape (..., tasks, runs), are pooled and sorted; of n scores, the lowest and the highest ⌊n/4⌋
    are left out whole and the rest averaged: a 25 % trimmed mean. Of 57 scores it averages the middle 29, where the
    median takes the middle one. A single run, or means over runs, has shape (..., tasks, 1). Under "omit" a task with
    fewer runs weighs less.
    """
    values = by_run(scores, "iqm")
    pooled = np.sort(admit(values.reshape(*values.shape[:-2], -1), missing), axis=-1)  # NaN sorts last
    present = np.count_nonzero(~np.isnan(pooled), axis=-1, keepdims=True)
    cut = np.floor(IQM_TRIM * present)
    rank = np.arange(pooled.shape[-1])
    middle = (rank >= cut) & (rank < present - cut)
    return np.asarray(np.mean(pooled, axis=-1, where=middle))[()]


def optimality_gap(scores: ArrayLike, target: float = PERCENT, *, missing: Missing = "refuse") -> Statistic:
    """By how much runs fall short of a target on average (Agarwal et al. 2021, §4.3).

    The mean over tasks of the mean over runs of max(target − score, 0) of scores (..., tasks, runs): what lies above
    the target counts as on it. Lower is better; 0 is every run on target. `target` is in the unit of the scores: 100
    for percent, 1 for fractions. "omit" averages each task over the runs that it has, and over the tasks that have any.
    """
    values = by_run(scores, "optimality_gap")
    admit(values.reshape(*values.shape[:-2], -1), missing)
    there = ~np.isnan(values)
    runs = np.count_nonzero(there, axis=-1)
    short = np.sum(np.maximum(target - values, 0.0), axis=-1, where=there) / np.maximum(runs, 1)
    return np.asarray(np.mean(short, axis=-1, where=runs > 0))[()]


def by_run(scores: ArrayLike, statistic: str) -> NDArray[np.float64]:
    """Return scores as an array with axes of tasks and of runs, or raise in the name of the statistic."""
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim < 2:
        raise ArcadeMarkError(f"{statistic}: expected scores of shape (..., tasks, runs), not {values.shape}")
    return values


def admit(scores: ArrayLike, missing: Missing) -> NDArray[np.float64]:
    """Return scores as an array with a score in every row (last axis), none missing unless that is asked for."""
    values = np.asarray(scores, dtype=np.float64)
    absent = np.isnan(values)
    if values.ndim == 0 or values.shape[-1] == 0 or absent.all(axis=-1).any():
        raise ArcadeMarkError("no scores to sum up; at least one is needed")
    if missing != "omit" and absent.any():
        raise ArcadeMarkError(
            f"{np.count_nonzero(absent)} of {values.size} scores are missing; complete them, or ask for those that are "
            'there with missing="omit"'
        )
    return values
