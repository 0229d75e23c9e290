"""Which normalised scores a document shows, and their summaries, for games played and for tables of scores alike.

Conventions
-----------
* Everything is in percent: 0 at a measure's lower reference, 100 at its upper one.
* A capped measure is capped after averaging over runs, so it has one score a task; the others have one a run.
* A task without the references that a measure needs is left out of it, and whoever shows the measure says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arcademark.metrics import normalise
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
    """

    metric: str
    title: str
    meaning: str
    bounds: tuple[float, float] | None
    known: frozenset[str]
    normaliser: Normaliser

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
            In percent, in the mapping's order; ragged runs are padded with NaN. One run a task if capped: the mean.
        """
        names = [task for task in runs_of_tasks if task in self.known]
        most = 1 if self.capped else max((len(runs_of_tasks[task]) for task in names), default=1)
        scores = np.full((len(names), most), np.nan)
        for row, task in zip(scores, names, strict=True):
            runs = runs_of_tasks[task]
            row[: 1 if self.capped else len(runs)] = np.mean(runs) if self.capped else runs
        return self.normaliser(scores, names)


Bounds = tuple[float, float] | None

_Published = Callable[..., NDArray[np.float64]]
"""One of `arcademark.metrics.normalise`: of scores, the references at 0 and 100 %, and the tasks."""

_ATARI: tuple[tuple[str, str, str, Bounds, references.Kind, _Published], ...] = (
    ("hns", "HNS", "0 % is random play, 100 % the human average", None, "human", normalise.hns),
    ("capped_hns", "capped HNS", "HNS held within 0 and 100 %", (0.0, 100.0), "human", normalise.capped_hns),
    (
        "hwrns",
        "HWRNS",
        "0 % is random play, 100 % the human world record",
        None,
        "human_world_record",
        normalise.hwrns,
    ),
    ("saber", "SABER", "HWRNS held within 0 and 200 %", (0.0, 200.0), "human_world_record", normalise.saber),
)


@cache
def atari() -> Mapping[str, Measure]:
    """Return the measures of atari-57 by name: HNS, capped HNS, HWRNS and SABER."""
    return {
        metric: between(metric, title, meaning, references.scores("random"), references.scores(upper), bounds, how)
        for metric, title, meaning, bounds, upper, how in _ATARI
    }


def between(
    metric: str,
    title: str,
    meaning: str,
    low: Mapping[str, float],
    high: Mapping[str, float],
    bounds: Bounds,
    how: _Published,
) -> Measure:
    """Make the measure that has 0 % at one reference and 100 % at another; parameters are those of `Measure`."""

    def normaliser(scores: ArrayLike, tasks: Sequence[str]) -> NDArray[np.float64]:
        return how(scores, low, high, tasks, task_axis=0)

    return Measure(metric, title, meaning, bounds, frozenset(low.keys() & high.keys()), normaliser)
