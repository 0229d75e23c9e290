"""Normalised scores: what a raw score is worth between two reference scores.

Conventions
-----------
* ``scores`` has one axis of tasks, named by ``tasks`` and found at ``task_axis``; every other axis (algorithms, runs)
  is carried through. The default takes the tasks last: shape (..., tasks), as `ScoreTable.mean_over_runs` gives them.
  For `ScoreTable.scores`, (algorithms, tasks, runs), pass ``task_axis=1``.
* References are given as data, a mapping of task to raw score; those of tasks that are not asked for are ignored.
* What has a name from the literature is in percent: 100 is the human average or the world record.
* NaN in, NaN out, element by element: a missing score stays missing and touches no other.
* Capping does not commute with averaging: the papers cap each task's score after it has been averaged over runs.

Equations are those of the review of Atari benchmarks by human world records: Fan, "A Review for Deep
Reinforcement Learning in Atari: Benchmarks, Challenges, and Solutions", 2021.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arcademark.errors import ArcadeMarkError

PERCENT = 100.0


@dataclass(frozen=True)
class Breakthroughs:
    """How many human world records an algorithm has broken.

    Parameters
    ----------
    count : int
        Tasks whose score reaches the record.
    tasks : tuple of str
        Those tasks.
    missing : tuple of str
        Tasks without a score, which count as not broken.
    """

    count: int
    tasks: tuple[str, ...]
    missing: tuple[str, ...]


def normalise(
    scores: ArrayLike,
    low: Mapping[str, float],
    high: Mapping[str, float],
    tasks: Sequence[str],
    *,
    task_axis: int = -1,
) -> NDArray[np.float64]:
    """Place scores on the line through two references: 0 at ``low``, 1 at ``high`` (review, Eq. 3).

    Parameters
    ----------
    scores : float array, one axis of tasks
        Raw scores in each task's own unit.
    low, high : mapping of task to float
        The two references. ``high`` may be the smaller one, where less is better.
    tasks : sequence of str
        The names along ``task_axis``.
    task_axis : int, optional
        Which axis of ``scores`` is that of tasks; the last by default.

    Returns
    -------
    float array, shape of ``scores``
        Fractions: (scores − low) / (high − low).

    Raises
    ------
    ArcadeMarkError
        Where a task has no reference, or two equal ones, or ``tasks`` does not fit the axis.
    """
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim == 0 or values.shape[task_axis] != len(tasks):
        raise ArcadeMarkError(
            f"scores of shape {values.shape} have no axis {task_axis} of {len(tasks)} tasks; pass task_axis"
        )
    lows, highs = _reference(low, "low", tasks), _reference(high, "high", tasks)
    flat = np.flatnonzero(highs == lows)
    if flat.size:
        task = tasks[flat[0]]
        raise ArcadeMarkError(f"{task!r}: both references are {lows[flat[0]]:g}, so no score has a place between")
    by_task = np.moveaxis(values, task_axis, -1)
    return np.moveaxis((by_task - lows) / (highs - lows), -1, task_axis)


def hns(
    scores: ArrayLike,
    random: Mapping[str, float],
    human: Mapping[str, float],
    tasks: Sequence[str],
    *,
    task_axis: int = -1,
) -> NDArray[np.float64]:
    """Human-normalised score in percent: 0 is random play, 100 the average human (review, Eq. 4).

    Parameters and errors are those of `normalise`.
    """
    return PERCENT * normalise(scores, random, human, tasks, task_axis=task_axis)


def capped_hns(
    scores: ArrayLike,
    random: Mapping[str, float],
    human: Mapping[str, float],
    tasks: Sequence[str],
    *,
    task_axis: int = -1,
) -> NDArray[np.float64]:
    """Human-normalised score held within 0 to 100 percent (review, "Capped Normalized Score"; Badia et al. 2020).

    Parameters and errors are those of `normalise`.
    """
    return np.clip(hns(scores, random, human, tasks, task_axis=task_axis), 0.0, PERCENT)


def hwrns(
    scores: ArrayLike,
    random: Mapping[str, float],
    record: Mapping[str, float],
    tasks: Sequence[str],
    *,
    task_axis: int = -1,
) -> NDArray[np.float64]:
    """Score normalised by the human world record, in percent: 100 equals the record (review, Eq. 5).

    Parameters and errors are those of `normalise`.
    """
    return PERCENT * normalise(scores, random, record, tasks, task_axis=task_axis)


def saber(
    scores: ArrayLike,
    random: Mapping[str, float],
    record: Mapping[str, float],
    tasks: Sequence[str],
    *,
    task_axis: int = -1,
) -> NDArray[np.float64]:
    """`hwrns` held within 0 to 200 percent (Toromanoff et al. 2019; review, "Capped HWRNS").

    Parameters and errors are those of `normalise`.
    """
    return np.clip(hwrns(scores, random, record, tasks, task_axis=task_axis), 0.0, 2 * PERCENT)


def hwrb(hwrns_percent: ArrayLike, tasks: Sequence[str]) -> Breakthroughs:
    """Count the human world records that one algorithm breaks (review, "Human World Record Breakthrough").

    Parameters
    ----------
    hwrns_percent : float array, shape (tasks,)
        One algorithm's `hwrns`; a record counts as broken from 100 percent.
    tasks : sequence of str
        Names along the axis.

    Raises
    ------
    ArcadeMarkError
        Where the shape is another.
    """
    values = np.asarray(hwrns_percent, dtype=np.float64)
    if values.shape != (len(tasks),):
        raise ArcadeMarkError(f"expected a score for each of {len(tasks)} tasks, not an array of shape {values.shape}")
    broken = tuple(task for task, value in zip(tasks, values, strict=True) if value >= PERCENT)
    missing = tuple(task for task, value in zip(tasks, values, strict=True) if np.isnan(value))
    return Breakthroughs(len(broken), broken, missing)


def _reference(scores: Mapping[str, float], which: str, tasks: Sequence[str]) -> NDArray[np.float64]:
    absent = [task for task in tasks if not np.isfinite(scores.get(task, np.nan))]
    if absent:
        raise ArcadeMarkError(f"no {which} reference score for {', '.join(absent)}; leave such tasks out, or give one")
    return np.array([scores[task] for task in tasks], dtype=np.float64)
