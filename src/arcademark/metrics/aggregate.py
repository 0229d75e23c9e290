"""Many normalised scores made one: mean, median, interquartile mean, optimality gap, and what is registered besides.

Conventions
-----------
* Every statistic is a row of `AGGREGATES`, in the order in which they are shown; all that sums up, resamples, compares,
  prints or draws reads the registry, in the browser, too. `register` adds one.
* Scores have shape (..., tasks, runs). Leading axes (algorithms, resamples) are carried through; results have shape
  (...). `mean` and `median` take one score a task, shape (..., tasks): average over runs first.
* With ragged runs, each task weighs the same in statistics of tasks; in those of runs each run does.
* No statistic drops a missing score (NaN) unasked: ``missing="refuse"`` raises an `ArcadeMarkError`, ``missing="omit"``
  leaves it out. It is raised too where there is no score at all.

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
    meaning: One line that defines it, "{noun}" standing for what a task is called.
    over: Its values: tasks, each the mean over its runs, or the runs of all tasks together.
    trim: The share left out at each end: 0 makes the mean, 1/4 the interquartile mean, 1/2 the median. Of n scores
        ⌊trim · n⌋ are left out, but never the middle one or two.
    target: If given, it is of how far each run falls short of it, in percent; less is better.
    """

    name: str
    title: str
    meaning: str
    over: Literal["tasks", "runs"]
    trim: float
    target: float | None = None

    @property
    def sign(self) -> float:
        """1 where more is better, -1 where less is."""
        return 1.0 if self.target is None else -1.0

    def cut(self, number: int) -> int:
        """Return how many of so many scores are left out at each end."""
        return min(int(self.trim * number), (number - 1) // 2)

    def trimmed_mean(self, ascending: Floats) -> Floats:
        """Average scores in ascending order, shape (..., n), without those that are left out."""
        number = ascending.shape[-1]
        cut = self.cut(number)
        return np.asarray(ascending[..., cut : number - cut].mean(axis=-1))

    def __call__(self, by_task: ArrayLike, by_run: ArrayLike) -> Floats:
        """Summarise means over runs, shape (..., tasks), or runs, shape (..., tasks, runs); NaN is a missing value."""
        values = np.asarray(by_task if self.over == "tasks" else by_run, np.float64)
        if self.target is not None:
            values = self.target - np.minimum(np.asarray(by_run, np.float64), self.target)
            values = over_runs(values) if self.over == "tasks" else values
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
    """Add a statistic to `AGGREGATES`, from where reports, pages, comparisons and intervals take it.

    Raises
    ------
    ArcadeMarkError
        If there is another of its name or title, its name is no identifier, or its trim is not from 0 to 0.5.
    """
    if not 0 <= aggregate.trim <= 0.5:
        raise ArcadeMarkError(f"statistic {aggregate.name!r}: expected a trim from 0 to 0.5")
    return registry.add(AGGREGATES, aggregate, "statistic")


def in_display_order() -> list[str]:
    """Return the names of `AGGREGATES` as documents show them: median, IQM and mean, then the others."""
    usual = ("median", "iqm", "mean")
    return [*usual, *(name for name in AGGREGATES if name not in usual)]


def aggregates(by_task: Floats, by_run: Floats) -> Floats:
    """Compute all `AGGREGATES`, in their order, of (..., tasks) and of (..., tasks, runs): shape (aggregates, ...)."""
    return np.array([one(by_task, by_run) for one in AGGREGATES.values()], dtype=np.float64)


def mean(scores: ArrayLike, *, missing: Missing = "refuse") -> Statistic:
    """Average normalised scores, shape (..., tasks), over tasks; "omit" averages over the tasks that have a score."""
    return _of_tasks("mean", scores, missing)


def median(scores: ArrayLike, *, missing: Missing = "refuse") -> Statistic:
    """Middle score over tasks, shape (..., tasks); of an even number, halfway between the middle two."""
    return _of_tasks("median", scores, missing)


def iqm(scores: ArrayLike, *, missing: Missing = "refuse") -> Statistic:
    """Interquartile mean: the mean of the middle half of all runs of all tasks (Agarwal et al. 2021, §4.3).

    Runs of all tasks, shape (..., tasks, runs), are pooled and sorted; of n scores, the lowest and the highest ⌊n/4⌋
    are left out whole and the rest averaged: a 25 % trimmed mean. Of 57 scores it averages the middle 29, where the
    median takes the middle one. A single run, or means over runs, has shape (..., tasks, 1). Under "omit" a task with
    fewer runs weighs less.
    """
    return _of_runs(AGGREGATES["iqm"], scores, missing)


def optimality_gap(scores: ArrayLike, target: float = PERCENT, *, missing: Missing = "refuse") -> Statistic:
    """Return the mean shortfall of runs from a target (Agarwal et al. 2021, §4.3).

    The mean over tasks of the mean over runs of max(target − score, 0) of scores (..., tasks, runs): what lies above
    the target counts as on it. Lower is better; 0 is every run on target. `target` is in the unit of the scores: 100
    for percent, 1 for fractions. "omit" averages each task over the runs that it has, and over the tasks that have any.
    """
    return _of_runs(replace(AGGREGATES["optimality_gap"], target=target), scores, missing)


def _of_tasks(name: str, scores: ArrayLike, missing: Missing) -> Statistic:
    values = admit(scores, missing)
    return AGGREGATES[name](values, values[..., np.newaxis])[()]


def _of_runs(aggregate: Aggregate, scores: ArrayLike, missing: Missing) -> Statistic:
    values = by_run(scores, aggregate.name)
    admit(values.reshape(*values.shape[:-2], -1), missing)
    return aggregate((), values)[()]


def over_runs(values: Floats) -> Floats:
    """Average over the runs that there are, shape (..., tasks, runs); NaN where there is none."""
    there = ~np.isnan(values)
    runs = np.count_nonzero(there, axis=-1)
    total = np.sum(values, axis=-1, where=there)
    return np.asarray(np.divide(total, runs, out=np.full(runs.shape, np.nan), where=runs > 0))


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
            f"{np.count_nonzero(absent)} of {values.size} scores are missing; complete them, or choose those that are "
            'there with missing="omit"'
        )
    return values
