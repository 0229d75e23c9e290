"""Which normalised scores a document shows, and their summaries, for games played and for tables of scores alike.

Conventions
-----------
* Everything is in percent: 0 at a measure's lower reference, 100 at its upper one.
* Mean and median are of tasks' means over runs, and of a capped measure those means are capped, as in the papers that
  cap; IQM and optimality gap are always of runs, each capped where the measure is (Agarwal et al. 2021, §4.3).
* A task without the references that a measure needs is left out of it, and whoever shows the measure says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arcademark.metrics import aggregate, normalise
from arcademark.metrics.samples import means, padded
from arcademark.suite import references

Normaliser = Callable[[ArrayLike, Sequence[str]], NDArray[np.float64]]
"""From raw scores, shape (tasks, …), and the tasks' names to percent, same shape."""


@dataclass(frozen=True)
class Measure:
    """A way to normalise scores.

    Parameters
    ----------
    metric : str
        Its stable name: "hns".
    title : str
        How it is called in print.
    meaning : str
        One line that defines it.
    bounds : (float, float) or None
        Within which it is held, in percent, if it is.
    known : frozenset of str
        The tasks that have the references it needs.
    normaliser : callable
        See `Normaliser`; only ever asked about known tasks.
    reach : (float, float) or None
        Within which its summaries lie, in percent, where they do although scores are not held there.
    uncapped : callable or None
        The normaliser before it caps; None where it does not cap.
    """

    metric: str
    title: str
    meaning: str
    bounds: tuple[float, float] | None
    known: frozenset[str]
    normaliser: Normaliser
    reach: tuple[float, float] | None = None
    uncapped: Normaliser | None = None

    @property
    def capped(self) -> bool:
        """Whether it is held within bounds."""
        return self.bounds is not None

    def of(self, task: str, value: float | None) -> float | None:
        """Normalise one score; None where it, or a reference that it needs, is missing."""
        if value is None or task not in self.known:
            return None
        return float(self.normaliser([value], [task])[0])

    def of_tasks(self, scores: Mapping[str, float]) -> dict[str, float | None]:
        """Normalise one score a task; None where a reference that it needs is missing."""
        names = [task for task in scores if task in self.known]
        values: Iterable[float] = self.normaliser([scores[task] for task in names], names) if names else []
        found = dict(zip(names, map(float, values), strict=True))
        return {task: found.get(task) for task in scores}

    def by_run(self, runs_of_tasks: Mapping[str, Sequence[float] | NDArray[np.float64]]) -> NDArray[np.float64]:
        """Normalise the runs of tasks that it knows.

        Parameters
        ----------
        runs_of_tasks : mapping of task to sequence of float
            Raw scores of at least one run each, averaged over its episodes.

        Returns
        -------
        float array, shape (tasks, runs)
            In percent, in the mapping's order, each run capped if the measure is; ragged runs are padded with NaN.
        """
        names = [task for task in runs_of_tasks if task in self.known]
        return self.normaliser(padded([runs_of_tasks[task] for task in names]), names)

    @property
    def line(self) -> Normaliser:
        """The normaliser before it caps, if it does."""
        return self.uncapped or self.normaliser

    def free(self, known: Mapping[str, NDArray[np.float64]]) -> NDArray[np.float64]:
        """Normalise runs as `by_run` does, of known tasks and without a cap."""
        return self.line(padded(known.values()), list(known))

    def aggregates(self, runs_of_tasks: Mapping[str, Sequence[float] | NDArray[np.float64]]) -> NDArray[np.float64]:
        """Find mean, median, IQM and optimality gap over the tasks that it knows, at least one.

        Returns
        -------
        float array, shape (4,)
            In percent. Mean and median are of means over runs, IQM and optimality gap of runs.
        """
        known = {task: row for task, row in runs_of_tasks.items() if task in self.known}
        by_task = self.normaliser(means(padded(known.values())), list(known))
        runs = self.by_run(known)
        return np.array(
            [
                aggregate.mean(by_task),
                aggregate.median(by_task),
                aggregate.iqm(runs, missing="omit"),
                aggregate.optimality_gap(runs, missing="omit"),
            ]
        )

    def within(self, statistic: str) -> tuple[float, float] | None:
        """Return the bounds that a summary cannot leave, in percent; None where there are none."""
        low, high = self.bounds or self.reach or (None, None)
        if statistic != "optimality_gap":
            return None if low is None or high is None else (low, high)
        return max(0.0, normalise.PERCENT - (np.inf if high is None else high)), np.inf if low is None else (
            normalise.PERCENT - low
        )


Bounds = tuple[float, float] | None

_Published = Callable[..., NDArray[np.float64]]
"""One of `arcademark.metrics.normalise`: of scores, the references at 0 and 100 %, and the tasks."""

_ATARI: tuple[tuple[str, str, str, Bounds, references.Kind, _Published, _Published | None], ...] = (
    ("hns", "HNS", "0 % is random play, 100 % the human average", None, "human", normalise.hns, None),
    (
        "capped_hns",
        "capped HNS",
        "HNS held within 0 and 100 %",
        (0.0, 100.0),
        "human",
        normalise.capped_hns,
        normalise.hns,
    ),
    (
        "hwrns",
        "HWRNS",
        "0 % is random play, 100 % the human world record",
        None,
        "human_world_record",
        normalise.hwrns,
        None,
    ),
    (
        "saber",
        "SABER",
        "HWRNS held within 0 and 200 %",
        (0.0, 200.0),
        "human_world_record",
        normalise.saber,
        normalise.hwrns,
    ),
)


@cache
def atari() -> Mapping[str, Measure]:
    """Return the measures of atari-57 by name: HNS, capped HNS, HWRNS and SABER."""
    return {
        metric: between(
            metric, title, meaning, references.scores("random"), references.scores(upper), bounds, how, uncapped=line
        )
        for metric, title, meaning, bounds, upper, how, line in _ATARI
    }


def between(
    metric: str,
    title: str,
    meaning: str,
    low: Mapping[str, float],
    high: Mapping[str, float],
    bounds: Bounds,
    how: _Published,
    *,
    reach: Bounds = None,
    uncapped: _Published | None = None,
) -> Measure:
    """Make the measure that has 0 % at one reference and 100 % at another; parameters are those of `Measure`."""

    def normaliser(scores: ArrayLike, tasks: Sequence[str]) -> NDArray[np.float64]:
        return how(scores, low, high, tasks, task_axis=0)

    def line(scores: ArrayLike, tasks: Sequence[str]) -> NDArray[np.float64]:
        return (uncapped or how)(scores, low, high, tasks, task_axis=0)

    known = frozenset(low.keys() & high.keys())
    return Measure(metric, title, meaning, bounds, known, normaliser, reach, line if uncapped else None)
