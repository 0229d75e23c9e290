"""Which normalised scores a document shows, and their summaries, for games played and for tables of scores alike.

* Everything is in percent: 0 at a measure's lower reference, 100 at its upper one.
* Mean and median are of tasks' means over runs, and of a capped measure those means are capped, as in the papers that
  cap; IQM and optimality gap are of runs, each capped where the measure is (Agarwal et al. 2021, §4.3), or of means too
  where a measure places no single runs (`Measure.of_means`).
* A task without the references that a measure needs is left out of it, and whoever shows the measure says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arcademark.metrics.aggregate import AGGREGATES, aggregates
from arcademark.metrics.normalise import PERCENT, normalise
from arcademark.metrics.uncertainty.samples import means, padded
from arcademark.suite import references, tasks

Bounds = tuple[float, float] | None
Runs = Mapping[str, NDArray[np.float64]]
"""Task → raw scores, one a run, at least one."""


@dataclass(frozen=True, eq=False)
class Measure:
    """A way to normalise scores: percentages of the way from one reference score to another.

    metric: Its stable name: "hns".
    title: How it is called in print.
    meaning: One line that defines it.
    low, high: The scores of 0 % and of 100 %, never equal.
    bounds: Within which it is held, in percent, if it is.
    of_means: Whether it places means over runs, and no single runs: its ends are the lowest and the highest of the
        means themselves, so that means lie between 0 and 100 % and runs need not.
    """

    metric: str
    title: str
    meaning: str
    low: Mapping[str, float]
    high: Mapping[str, float]
    bounds: Bounds = None
    of_means: bool = False

    @cached_property
    def known(self) -> frozenset[str]:
        """The tasks that have the references it needs."""
        return frozenset(self.low.keys() & self.high.keys())

    @property
    def capped(self) -> bool:
        """Whether it is held within bounds."""
        return self.bounds is not None

    def line(self, scores: ArrayLike, tasks: Iterable[str]) -> NDArray[np.float64]:
        """Normalise raw scores, shape (tasks, …), of known tasks, without a cap (Fan 2021, Eq. 3)."""
        values = np.moveaxis(np.asarray(scores, np.float64), 0, -1)
        return np.asarray(PERCENT * np.moveaxis(normalise(values, self.low, self.high, tuple(tasks)), -1, 0))

    def held(self, percent: NDArray[np.float64]) -> NDArray[np.float64]:
        """Cap what `line` gives, if the measure caps."""
        return percent if self.bounds is None else np.clip(percent, *self.bounds)

    def normaliser(self, scores: ArrayLike, tasks: Iterable[str]) -> NDArray[np.float64]:
        """Normalise raw scores, shape (tasks, …), of known tasks."""
        return self.held(self.line(scores, tasks))

    def normalise(self, task: str, value: float | None) -> float | None:
        """Normalise one score; None where it, or a reference that it needs, is missing."""
        if value is None or task not in self.known:
            return None
        return float(self.normaliser([value], [task])[0])

    def of_tasks(self, scores: Mapping[str, float]) -> dict[str, float | None]:
        """Normalise one score a task; None where a reference that it needs is missing."""
        names = [task for task in scores if task in self.known]
        percent = dict(zip(names, self.normaliser([scores[task] for task in names], names).tolist(), strict=True))
        return {task: percent.get(task) for task in scores}

    def of_known(self, runs: Runs) -> Runs:
        """Leave out the tasks that it does not know."""
        return {task: row for task, row in runs.items() if task in self.known}

    def by_run(self, runs: Runs) -> NDArray[np.float64]:
        """Normalise tasks' runs, shape (tasks, runs), or means, (tasks, 1), of those it knows; NaN pads ragged ones."""
        known = self.of_known(runs)
        table = padded(known.values())
        return self.normaliser(means(table)[:, np.newaxis] if self.of_means else table, known)

    def aggregates(self, runs: Runs) -> NDArray[np.float64]:
        """Find all `AGGREGATES` in percent over the tasks it knows, shape (aggregates,)."""
        known = self.of_known(runs)
        return aggregates(self.normaliser(means(padded(known.values())), known), self.by_run(runs))

    def aggregates_of_means(self, scores: NDArray[np.float64], tasks: Iterable[str]) -> NDArray[np.float64]:
        """Find the same of raw means alone, shape (tasks, …) of known tasks: shape (aggregates, …)."""
        placed = np.moveaxis(self.normaliser(scores, tasks), 0, -1)
        return aggregates(placed, placed[..., np.newaxis])

    def within(self, statistic: str) -> tuple[float, float] | None:
        """Return the bounds that a summary cannot leave, in percent; None where there are none."""
        low, high = self.bounds or ((0.0, PERCENT) if self.of_means else (None, None))
        if (target := AGGREGATES[statistic].target) is None:
            return None if low is None or high is None else (low, high)
        return max(0.0, target - (np.inf if high is None else high)), np.inf if low is None else target - low


_ATARI: tuple[tuple[str, str, str, references.Kind, Bounds], ...] = (
    ("hns", "HNS", "0 % is random play, 100 % the human average", "human", None),
    ("capped_hns", "capped HNS", "HNS held within 0 and 100 %", "human", (0.0, 100.0)),
    ("hwrns", "HWRNS", "0 % is random play, 100 % the human world record", "human_world_record", None),
    ("saber", "SABER", "HWRNS held within 0 and 200 %", "human_world_record", (0.0, 200.0)),
)


@cache
def atari(suite: str = "atari-57") -> Mapping[str, Measure]:
    """Return the measures of a suite by name: HNS and capped HNS; HWRNS and SABER too, where it has human records."""
    low, kinds = references.scores("random", suite), tasks.suite(suite).references
    return MappingProxyType(
        {
            metric: Measure(metric, title, meaning, low, references.scores(upper, suite), bounds)
            for metric, title, meaning, upper, bounds in _ATARI
            if upper in kinds
        }
    )
