"""Normalised scores: what a raw score is worth between two reference scores.

Conventions
-----------
* ``scores`` has one axis of tasks, named by ``tasks`` and found at ``task_axis``; every other axis (algorithms, runs)
  is carried through. The default takes the tasks last: shape (..., tasks), as `ScoreTable.mean_over_runs` gives them.
  For `ScoreTable.scores`, (algorithms, tasks, runs), pass ``task_axis=1``.
* References are given as data, a mapping of task to raw score; those of tasks that are not asked for are ignored.
* What has a name from the literature is in percent: 100 is the human average or the world record.
* NaN in, NaN out, element by element: a missing score stays missing and touches no other.
* Where two references of a task are equal, no score has a place between them. ``zero_range="refuse"`` raises and names
  the tasks; ``zero_range="omit"`` gives NaN there, and `arcademark.metrics.ranges.zero_ranges` names them.
* Capping does not commute with averaging: the papers cap each task's score after it has been averaged over runs.
* An `ArcadeMarkError` is raised where a task has no reference, or two equal ones that are refused, or a shape does not
  fit the names.

Equations are those of the review of Atari benchmarks by human world records: Fan, "A Review for Deep Reinforcement
Learning in Atari: Benchmarks, Challenges, and Solutions", 2021.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import compress, repeat
from types import MappingProxyType
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arcademark.errors import ArcadeMarkError

ZeroRange: TypeAlias = Literal["refuse", "omit"]
Floats: TypeAlias = NDArray[np.float64]
Scores: TypeAlias = Mapping[str, float]
"""Reference scores by task."""

PERCENT = 100.0


@dataclass(frozen=True)
class Reached:
    """On which tasks an algorithm reaches a bar, such as the human world record, and their count.

    `missing` are the tasks without a score, which count as not reached.
    """

    count: int
    tasks: tuple[str, ...]
    missing: tuple[str, ...]


@dataclass(frozen=True)
class BrokenRecords:
    """Which algorithms have broken which records.

    `by_task` has for every task the algorithms that reach its record, in their order; `unbroken` the tasks that have
    been played and whose record none has reached; `unplayed` those on which no algorithm has a score.
    """

    by_task: Mapping[str, tuple[str, ...]]
    unbroken: tuple[str, ...]
    unplayed: tuple[str, ...]


def normalise(
    scores: ArrayLike,
    low: Scores,
    high: Scores,
    tasks: Sequence[str],
    *,
    task_axis: int = -1,
    zero_range: ZeroRange = "refuse",
) -> Floats:
    """Place scores on the line through two references, as fractions (score − low) / (high − low) (review, Eq. 3).

    ``high`` may be the smaller one, where less is better. Shapes, ``zero_range`` and errors: see the conventions.
    """
    values = np.asarray(scores, dtype=np.float64)
    if not -values.ndim <= task_axis < values.ndim or values.shape[task_axis] != len(tasks):
        raise ArcadeMarkError(
            f"scores of shape {values.shape} have no axis {task_axis} of {len(tasks)} tasks; pass task_axis"
        )
    lows, highs = _reference(low, "low", tasks), _reference(high, "high", tasks)
    flat = highs == lows
    if flat.any() and zero_range != "omit":
        equal = ", ".join(f"{task} ({low:g})" for task, low in zip(np.array(tasks)[flat], lows[flat], strict=True))
        raise ArcadeMarkError(
            f"both references are equal on {equal}, so no score has a place between; leave such tasks out, or ask for "
            'NaN there with zero_range="omit"'
        )
    along = [1] * values.ndim
    along[task_axis] = len(tasks)
    return (values - lows.reshape(along)) / np.where(flat, np.nan, highs - lows).reshape(along)


def hns(scores: ArrayLike, random: Scores, human: Scores, tasks: Sequence[str], *, task_axis: int = -1) -> Floats:
    """Human-normalised score in percent: 0 is random play, 100 the average human (review, Eq. 4)."""
    return PERCENT * normalise(scores, random, human, tasks, task_axis=task_axis)


def hwrns(scores: ArrayLike, random: Scores, record: Scores, tasks: Sequence[str], *, task_axis: int = -1) -> Floats:
    """Score normalised by the human world record, in percent: 100 equals the record (review, Eq. 5)."""
    return PERCENT * normalise(scores, random, record, tasks, task_axis=task_axis)


def saber(scores: ArrayLike, random: Scores, record: Scores, tasks: Sequence[str], *, task_axis: int = -1) -> Floats:
    """`hwrns` held within 0 to 200 percent (Toromanoff et al. 2019; review, "Capped HWRNS")."""
    return np.clip(hwrns(scores, random, record, tasks, task_axis=task_axis), 0.0, 2 * PERCENT)


def hwrb(hwrns_percent: ArrayLike, tasks: Sequence[str]) -> Reached:
    """Name the human world records that one algorithm breaks (review, "Human World Record Breakthrough").

    `hwrns_percent`, shape (tasks,), are its `hwrns`; a record counts as broken from 100 percent, as the review's ≥ has
    it.
    """
    return reaching(hwrns_percent, tasks, PERCENT)


def broken_records(hwrns_percent: ArrayLike, algorithms: Sequence[str], tasks: Sequence[str]) -> BrokenRecords:
    """Find for every task who has broken its human world record, and which records none has broken.

    `hwrns_percent`, shape (algorithms, tasks), are `hwrns`, NaN where an algorithm has no score. Leave the row of the
    records themselves out: it breaks them all.
    """
    values = np.asarray(hwrns_percent, dtype=np.float64)
    if values.shape != (len(algorithms), len(tasks)):
        raise ArcadeMarkError(f"expected scores of shape ({len(algorithms)}, {len(tasks)}), not {values.shape}")
    by_task = {
        task: tuple(name for name, value in zip(algorithms, column, strict=True) if value >= PERCENT)
        for task, column in zip(tasks, values.T, strict=True)
    }
    unplayed = tuple(task for task, absent in zip(tasks, np.isnan(values.T), strict=True) if absent.all())
    unbroken = tuple(task for task, names in by_task.items() if not names and task not in unplayed)
    return BrokenRecords(MappingProxyType(by_task), unbroken, unplayed)


def reaching(scores: ArrayLike, tasks: Sequence[str], bar: float) -> Reached:
    """Name the tasks on which one algorithm's score, shape (tasks,), is at or above a bar in the same unit."""
    values = np.asarray(scores, dtype=np.float64)
    if values.shape != (len(tasks),):
        raise ArcadeMarkError(f"expected a score for each of {len(tasks)} tasks, not an array of shape {values.shape}")
    reached = tuple(compress(tasks, values >= bar))
    return Reached(len(reached), reached, tuple(compress(tasks, np.isnan(values))))


def _reference(scores: Scores, which: str, tasks: Sequence[str]) -> Floats:
    values = np.fromiter(map(scores.get, tasks, repeat(np.nan)), np.float64, len(tasks))
    if not np.isfinite(values).all():
        absent = [task for task, score in zip(tasks, values.tolist(), strict=True) if not np.isfinite(score)]
        raise ArcadeMarkError(f"no {which} reference score for {', '.join(absent)}; leave such tasks out, or give one")
    return values
