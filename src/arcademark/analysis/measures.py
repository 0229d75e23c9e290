"""Normalised scores of a document and their summaries, for runs and for tables of scores alike.

* Everything is in percent: 0 at a measure's lower reference, 100 at its upper one.
* Mean and median are of tasks' means over runs, and of a capped measure those means are capped, as in the papers that
  cap; IQM and optimality gap are of runs, each capped where the measure is (Agarwal et al. 2021, §4.3), or of means too
  where a measure places no single runs (`Metric.of_means`).
* A task without the references that a measure needs is left out of it; reports state which tasks are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arcademark.metrics import normalise
from arcademark.metrics.aggregate import AGGREGATES, aggregates, mean_over_runs
from arcademark.metrics.normalise import METRICS, PERCENT, Metric
from arcademark.metrics.uncertainty.samples import padded
from arcademark.suite import references, tasks

Bounds = tuple[float, float] | None
Runs = Mapping[str, NDArray[np.float64]]
"""Task → raw scores, one per run, at least one."""


@dataclass(frozen=True, eq=False)
class Measure:
    """A metric with the reference scores that it normalises by.

    low, high: The scores of 0 % and of 100 % by task, never equal.
    """

    metric: Metric
    low: Mapping[str, float]
    high: Mapping[str, float]

    @cached_property
    def known(self) -> frozenset[str]:
        """The tasks that have the references it needs."""
        return frozenset(self.low.keys() & self.high.keys())

    def line(self, scores: ArrayLike, tasks: Iterable[str]) -> NDArray[np.float64]:
        """Normalise raw scores, shape (tasks, …), of known tasks, without a cap."""
        return np.moveaxis(self.metric.place(_last(scores), self.low, self.high, tuple(tasks)), -1, 0)

    def normaliser(self, scores: ArrayLike, tasks: Iterable[str]) -> NDArray[np.float64]:
        """Normalise raw scores, shape (tasks, …), of known tasks."""
        return self.metric.cap(self.line(scores, tasks))

    def normalise(self, task: str, value: float | None) -> float | None:
        """Normalise one score; None where it, or a reference that it needs, is missing."""
        if value is None or task not in self.known:
            return None
        return float(self.normaliser([value], [task])[0])

    def of_tasks(self, scores: Mapping[str, float]) -> dict[str, float | None]:
        """Normalise one score per task; None where a reference that it needs is missing."""
        names = [task for task in scores if task in self.known]
        percent = dict(zip(names, self.normaliser([scores[task] for task in names], names).tolist(), strict=True))
        return {task: percent.get(task) for task in scores}

    def of_known(self, runs: Runs) -> Runs:
        """Leave out the tasks without the references it needs."""
        return {task: row for task, row in runs.items() if task in self.known}

    def by_run(self, runs: Runs) -> NDArray[np.float64]:
        """Normalise the runs, shape (tasks, runs), or means, (tasks, 1), of known tasks; NaN pads ragged rows."""
        known = self.of_known(runs)
        table = padded(known.values())
        return self.normaliser(mean_over_runs(table)[:, np.newaxis] if self.metric.of_means else table, known)

    def aggregates(self, runs: Runs) -> NDArray[np.float64]:
        """Compute all `AGGREGATES` in percent over the known tasks, shape (aggregates,)."""
        known = self.of_known(runs)
        return aggregates(self.normaliser(mean_over_runs(padded(known.values())), known), self.by_run(runs))

    def aggregates_of_means(self, scores: NDArray[np.float64], tasks: Iterable[str]) -> NDArray[np.float64]:
        """Compute all `AGGREGATES` from raw means of known tasks, shape (tasks, …); return shape (aggregates, …)."""
        placed = np.moveaxis(self.normaliser(scores, tasks), 0, -1)
        return aggregates(placed, placed[..., np.newaxis])

    def within(self, statistic: str) -> tuple[float, float] | None:
        """Return the bounds that a summary cannot leave, in percent; None where there are none."""
        low, high = self.metric.bounds or ((0.0, PERCENT) if self.metric.of_means else (None, None))
        if (target := AGGREGATES[statistic].target) is None:
            return None if low is None or high is None else (low, high)
        return max(0.0, target - (np.inf if high is None else high)), np.inf if low is None else target - low


def _last(scores: ArrayLike) -> NDArray[np.float64]:
    """Move the first axis, of tasks, to the end."""
    return np.moveaxis(np.asarray(scores, np.float64), 0, -1)


def between(metric: Metric, low: Mapping[str, float], high: Mapping[str, float]) -> Measure:
    """Make the measure of two references of each task, without the tasks where these are equal."""
    known = [task for task in low if task in high and low[task] != high[task]]
    return Measure(metric, *({task: ends[task] for task in known} for ends in (low, high)))


def measures(references: Mapping[str, Mapping[str, float]]) -> Mapping[str, Measure]:
    """Return the measures that references allow, scores by kind and task, by name and in order."""
    return {
        name: between(metric, references[metric.low], references[metric.high])
        for name, metric in METRICS.items()
        if references.get(metric.low) and references.get(metric.high)
    }


def hns(scores: ArrayLike, games: Sequence[str]) -> NDArray[np.float64]:
    """Return human-normalised scores of raw ones, shape (..., games), in percent, by the references of atari-57."""
    return normalise.hns(scores, references.scores("random"), references.scores("human"), games)


def atari(suite: str = "atari-57") -> Mapping[str, Measure]:
    """Return the measures of a suite of Atari by name."""
    return _of_suite(suite, tuple(METRICS.values()))


@cache
def _of_suite(suite: str, _: tuple[Metric, ...]) -> Mapping[str, Measure]:
    return measures({kind: references.scores(kind, suite) for kind in tasks.suite(suite).references})
