"""Summaries of normalised scores: mean, median, interquartile mean, optimality gap, and registered statistics.

Conventions
-----------
* Every statistic is an entry of `AGGREGATES`, in display order; summaries, resampling, comparisons, reports and the
  browser read this registry. `register` adds a statistic.
* Scores have shape (..., tasks, runs). Leading axes (algorithms, resamples) are kept; results have shape (...). `mean`
  and `median` take one score per task, shape (..., tasks): average over runs first.
* With ragged runs, each task has the same weight in statistics over tasks, and each run in statistics over runs.
* Missing scores (NaN) raise an `ArcadeMarkError` with ``missing="refuse"``, and are left out with ``missing="omit"``.
  It is also raised if there is no score at all.

IQM and optimality gap are those of Agarwal et al. 2021, "Deep Reinforcement Learning at the Edge of the Statistical
Precipice".
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arcademark.errors import ArcadeMarkError
from arcademark.metrics import registry
from arcademark.metrics.normalise import PERCENT

Missing: TypeAlias = Literal["refuse", "omit"]
Statistic: TypeAlias = np.float64 | NDArray[np.float64]
Floats: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True)
class Aggregate:
    """A statistic: the mean of scores without a share of them at each end.

    name: Its stable name, as in JSON: "iqm".
    title: Name in print.
    meaning: One line that defines it; "{noun}" stands for the noun for a task.
    over: Its values: means over runs of each task, or the pooled runs of all tasks.
    trim: Share left out at each end: 0 for the mean, 1/4 for the interquartile mean, 1/2 for the median. Of n scores
        ⌊trim · n⌋ are left out at each end, but never the middle one or two.
    target: If given, the statistic is of each run's shortfall from this target in percent; less is better.
    """

    name: str
    title: str
    meaning: str
    over: Literal["tasks", "runs"]
    trim: float
    target: float | None = None

    @property
    def sign(self) -> float:
        """1 if more is better, -1 if less is."""
        return 1.0 if self.target is None else -1.0

    def cut(self, number: int) -> int:
        """Return the number of scores left out at each end, of ``number`` scores."""
        return min(int(self.trim * number), (number - 1) // 2)

    def trimmed_mean(self, ascending: Floats) -> Floats:
        """Average scores in ascending order, shape (..., n), without those left out at each end."""
        number = ascending.shape[-1]
        cut = self.cut(number)
        return np.asarray(ascending[..., cut : number - cut].mean(axis=-1))

    def __call__(self, by_task: ArrayLike, by_run: ArrayLike) -> Floats:
        """Summarise means over runs, shape (..., tasks), or runs, shape (..., tasks, runs); NaN is a missing value."""
        values = np.asarray(by_task if self.over == "tasks" else by_run, np.float64)
        if self.target is not None:
            values = self.target - np.minimum(np.asarray(by_run, np.float64), self.target)
            values = mean_over_runs(values) if self.over == "tasks" else values
        if self.over == "runs":
            values = values.reshape(*values.shape[:-2], -1)
        if not self.trim:
            return np.asarray(np.nanmean(values, axis=-1))
        ordered = np.sort(values, axis=-1)  # NaN sorts last
        present = np.count_nonzero(~np.isnan(ordered), axis=-1, keepdims=True)
        if present.min(initial=ordered.shape[-1]) == ordered.shape[-1]:
            return self.trimmed_mean(ordered)
        cut = np.minimum(np.floor(self.trim * present), (present - 1) // 2)
        rank = np.arange(ordered.shape[-1])
        return np.asarray(np.mean(ordered, axis=-1, where=(rank >= cut) & (rank < present - cut)))


_IQM = (
    "the mean of the middle half of all runs’ scores (of the {noun}s’ scores where they are capped); a {noun} with "
    "fewer runs weighs less in it"
)
_GAP = "how far scores fall short of 100 % on average; less is better"

AGGREGATES: dict[str, Aggregate] = {
    one.name: one
    for one in (
        Aggregate("mean", "mean", "the mean over {noun}s", "tasks", trim=0.0),
        Aggregate("median", "median", "the median over {noun}s", "tasks", trim=0.5),
        Aggregate("iqm", "IQM", _IQM, "runs", trim=0.25),
        Aggregate("optimality_gap", "optimality gap", _GAP, "tasks", trim=0.0, target=PERCENT),
    )
}
"""Every statistic by its name, in the order in which they are shown."""


def register(aggregate: Aggregate) -> Aggregate:
    """Add a statistic to `AGGREGATES`, which reports, pages, comparisons and intervals use; return it.

    Raises
    ------
    ArcadeMarkError
        If another one has its name or title, its name is not an identifier, or its trim is not from 0 to 0.5.
    """
    if not 0 <= aggregate.trim <= 0.5:
        raise ArcadeMarkError(f"statistic {aggregate.name!r}: expected a trim from 0 to 0.5")
    return registry.add(AGGREGATES, aggregate, "statistic")


def in_display_order() -> list[str]:
    """Return the names of `AGGREGATES` as documents show them: median, IQM and mean, then the others."""
    usual = ("median", "iqm", "mean")
    return [*usual, *(name for name in AGGREGATES if name not in usual)]


def aggregates(by_task: Floats, by_run: Floats) -> Floats:
    """Compute all `AGGREGATES` from means (..., tasks) and runs (..., tasks, runs); return shape (aggregates, ...)."""
    return np.array([one(by_task, by_run) for one in AGGREGATES.values()], dtype=np.float64)


def mean(scores: ArrayLike, *, missing: Missing = "refuse") -> Statistic:
    """Return the mean over tasks of normalised scores, shape (..., tasks); "omit" leaves out missing scores."""
    return _of_tasks("mean", scores, missing)


def median(scores: ArrayLike, *, missing: Missing = "refuse") -> Statistic:
    """Return the median over tasks of normalised scores, shape (..., tasks); "omit" leaves out missing scores."""
    return _of_tasks("median", scores, missing)


def iqm(scores: ArrayLike, *, missing: Missing = "refuse") -> Statistic:
    """Return the interquartile mean, over the middle half of all runs of all tasks (Agarwal et al. 2021, §4.3).

    Runs of all tasks, shape (..., tasks, runs), are pooled and sorted; of n scores, the lowest and the highest ⌊n/4⌋
    are left out and the rest averaged: a 25 % trimmed mean. Of 57 scores it averages the middle 29. Single runs, or
    means over runs, have shape (..., tasks, 1). With "omit", a task with fewer runs has less weight.
    """
    return _of_runs(AGGREGATES["iqm"], scores, missing)


def optimality_gap(scores: ArrayLike, target: float = PERCENT, *, missing: Missing = "refuse") -> Statistic:
    """Return the mean shortfall of runs from a target (Agarwal et al. 2021, §4.3).

    It is the mean over tasks of the mean over runs of max(target − score, 0), for scores of shape (..., tasks, runs):
    scores above the target count as equal to it. Lower is better; 0 means that every run reaches the target. `target`
    is in the unit of the scores: 100 for percent, 1 for fractions. "omit" averages each task over the runs that it has,
    and over the tasks that have any.
    """
    return _of_runs(replace(AGGREGATES["optimality_gap"], target=target), scores, missing)


def _of_tasks(name: str, scores: ArrayLike, missing: Missing) -> Statistic:
    values = admit(scores, missing)
    return AGGREGATES[name](values, values[..., np.newaxis])[()]


def _of_runs(aggregate: Aggregate, scores: ArrayLike, missing: Missing) -> Statistic:
    return aggregate((), admit_runs(scores, missing, aggregate.name))[()]


def mean_over_runs(values: Floats) -> Floats:
    """Average over the runs that are not missing, shape (..., tasks, runs); NaN where there is none."""
    known = ~np.isnan(values)
    if values.size and known.all():
        return np.asarray(values.mean(axis=-1))
    runs = np.count_nonzero(known, axis=-1)
    total = np.sum(values, axis=-1, where=known)
    return np.asarray(np.divide(total, runs, out=np.full(runs.shape, np.nan), where=runs > 0))


def admit_runs(scores: ArrayLike, missing: Missing, statistic: str) -> Floats:
    """Return scores of shape (..., tasks, runs) as an array; raise as `admit` does, or with the statistic's name."""
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim < 2:
        raise ArcadeMarkError(f"{statistic}: expected scores of shape (..., tasks, runs), not {values.shape}")
    admit(values.reshape(*values.shape[:-2], -1), missing)
    return values


def admit(scores: ArrayLike, missing: Missing) -> Floats:
    """Return scores as an array; raise if a row (last axis) has no score, or any is missing, unless "omit"."""
    values = np.asarray(scores, dtype=np.float64)
    absent = np.isnan(values)
    if values.ndim == 0 or values.shape[-1] == 0 or absent.all(axis=-1).any():
        raise ArcadeMarkError("no scores to summarise; at least one is needed")
    if missing != "omit" and absent.any():
        raise ArcadeMarkError(
            f"{np.count_nonzero(absent)} of {values.size} scores are missing; complete them, or leave them out with "
            'missing="omit"'
        )
    return values
