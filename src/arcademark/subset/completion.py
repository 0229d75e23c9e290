"""Whatever tasks are known, all others: a normal distribution of transformed scores, conditioned on those known.

Conventions
-----------
* Transformed scores of algorithms are taken to be draws of one normal distribution over all tasks. Its mean and
  covariance are fitted by expectation and maximisation, which uses algorithms with missing scores for what they have;
  the covariance is shrunk towards a diagonal one (`SHRINKAGE`), for there are hardly more algorithms than tasks.
* Unlike a subset's model this is not monotone, and nothing is chosen for it: any number of known tasks will do.
* How far off it is on new algorithms is measured, not believed: each training algorithm in turn is predicted from the
  same known tasks by a distribution fitted without *all* algorithms of its source, and intervals are stretched until
  they would have held the asked-for share of these. An algorithm of another kind may still fall outside more often.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from arcademark.errors import ArcadeMarkError
from arcademark.subset.problem import Floats

SHRINKAGE = 0.05
ITERATIONS = 20
DRAWS = 1000
FREEDOM = 4.0
"""Of the t distribution by which odd scores widen intervals: few, as algorithms of a new kind are to be expected."""
MOST_LACKING = 0.2
"""Share of the known tasks that an algorithm may lack, and still serve to measure how far off predictions are."""
FEWEST = 10
"""Algorithms that it takes to measure that."""

Summary: TypeAlias = Callable[[Floats], Floats]
"""From scores, shape (draws, tasks), to one number a draw."""


@dataclass(frozen=True, eq=False)
class Normal:
    """A normal distribution of transformed scores.

    Parameters
    ----------
    mean : float array, shape (tasks,)
    covariance : float array, shape (tasks, tasks)
    """

    mean: Floats
    covariance: Floats

    def given(self, places: NDArray[np.int64], values: Floats) -> Normal:
        """Condition on some tasks; the others' mean and covariance stand in their order, the known ones' variance is 0.

        Parameters
        ----------
        places : int array, shape (known,)
        values : float array, shape (known,)
        """
        cross = self.covariance[places]
        gain = np.linalg.solve(cross[:, places], cross)
        mean = self.mean + (values - self.mean[places]) @ gain
        covariance = self.covariance - cross.T @ gain
        mean[places] = values
        covariance[places] = 0.0
        covariance[:, places] = 0.0
        return Normal(mean, covariance)

    def oddness(self, places: NDArray[np.int64], values: Floats) -> float:
        """Return how much wider than usual what is not known spreads, given how odd the known scores are together.

        That of a t distribution with `FREEDOM` degrees: √((ν + d²) / (ν + k)) for k scores at Mahalanobis distance d.
        About 1 for an algorithm like those fitted to.
        """
        away = values - self.mean[places]
        distance = float(away @ np.linalg.solve(self.covariance[np.ix_(places, places)], away))
        return math.sqrt((FREEDOM + distance) / (FREEDOM + len(places)))

    def draws(self, number: int, rng: np.random.Generator) -> Floats:
        """Draw scores, shape (number, tasks)."""
        weights, vectors = np.linalg.eigh(self.covariance)
        root = vectors * np.sqrt(np.maximum(weights, 0.0))
        return np.asarray(self.mean + rng.standard_normal((number, len(self.mean))) @ root.T)


def fit_normal(scores: Floats, *, shrinkage: float = SHRINKAGE, iterations: int = ITERATIONS) -> Normal:
    """Fit a normal distribution to scores of which some are missing.

    Parameters
    ----------
    scores : float array, shape (algorithms, tasks)
        Transformed; NaN where missing.
    shrinkage : float, optional
        How much the covariance is drawn to the tasks' own variances: 0.05 adds 5 % of them to the diagonal and divides
        all by 1.05.
    iterations : int, optional

    Raises
    ------
    ArcadeMarkError
        Where there are fewer than two algorithms, a task or an algorithm has no score, or shrinkage is not above 0.
    """
    present = np.isfinite(scores)
    if len(scores) < 2 or not present.any(axis=0).all() or not present.any(axis=1).all():
        raise ArcadeMarkError(
            "a distribution of scores needs two algorithms, and a score of each algorithm and each task"
        )
    if not shrinkage > 0:
        raise ArcadeMarkError(f"shrinkage {shrinkage:g}, expected a number above 0")
    spread = np.nanvar(scores, axis=0)
    target = np.diag(spread + 0.01 * max(float(spread.mean()), 1e-12))
    found = Normal(np.nanmean(scores, axis=0), target.copy())
    for _ in range(iterations):
        found = _step(found, scores, present, target, shrinkage)
    return found


def _step(found: Normal, scores: Floats, present: NDArray[np.bool_], target: Floats, shrinkage: float) -> Normal:
    """Complete the scores by what is expected of them, and fit anew."""
    filled, extra = np.where(present, scores, 0.0), np.zeros_like(target)
    for row, there in enumerate(present):
        if not there.all():
            places = np.flatnonzero(there)
            conditional = found.given(places, scores[row, places])
            filled[row] = conditional.mean
            extra += conditional.covariance
    mean = filled.mean(axis=0)
    centred = filled - mean
    covariance = (centred.T @ centred + extra) / len(scores)
    return Normal(mean, (covariance + shrinkage * target) / (1.0 + shrinkage))


@dataclass(frozen=True)
class Range:
    """A value with its interval.

    Parameters
    ----------
    value : float
    low, high : float
    """

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Forecast:
    """What some tasks say of all.

    Parameters
    ----------
    known : tuple of str
        The tasks that it rests on.
    tasks : mapping of str to Range
        Of each task that is not known, in the scores' own unit.
    summaries : mapping of str to Range
        Over all tasks, the known ones as they are.
    gains : mapping of str to float
        By what share the variance of the first summary would fall, if a task were known, too; the best first.
    measured_on : int
        Algorithms that the intervals were measured on.
    """

    known: tuple[str, ...]
    tasks: Mapping[str, Range]
    summaries: Mapping[str, Range]
    gains: Mapping[str, float]
    measured_on: int


@dataclass(frozen=True, eq=False)
class Completer:
    """Training scores from which any known tasks are completed.

    Parameters
    ----------
    scores : float array, shape (algorithms, tasks)
        Transformed; NaN where missing.
    tasks : tuple of str
    sources : tuple of str
        Where each algorithm's scores were published: those of one source are left out together.
    inverse : callable
        From transformed scores back to the scores' own unit.
    floor : float
        The least transformed score.
    """

    scores: Floats
    tasks: tuple[str, ...]
    sources: tuple[str, ...]
    inverse: Callable[[Floats], Floats]
    floor: float = 0.0

    def __post_init__(self) -> None:
        if self.scores.shape != (len(self.sources), len(self.tasks)):
            raise ArcadeMarkError(
                f"completion: scores have shape {self.scores.shape}, expected {(len(self.sources), len(self.tasks))}"
            )

    @cached_property
    def whole(self) -> Normal:
        """The distribution fitted to all algorithms."""
        return fit_normal(self.scores)

    @cached_property
    def others(self) -> Mapping[str, Normal]:
        """By source, the distribution fitted to the algorithms of all other sources."""
        own = np.array(self.sources)
        return {source: fit_normal(self.scores[own != source]) for source in dict.fromkeys(self.sources)}

    def forecast(
        self,
        known: Mapping[str, float],
        summaries: Mapping[str, Summary],
        rng: np.random.Generator,
        *,
        level: float = 0.9,
        draws: int = DRAWS,
    ) -> Forecast:
        """Complete the tasks that are not known.

        Parameters
        ----------
        known : mapping of str to float
            Transformed scores; of other tasks than those trained on they are left aside.
        summaries : mapping of str to callable
            Of scores in their own unit, over all tasks; the gains are of the first.
        rng : numpy.random.Generator
        level : float, optional
            Share of new algorithms that intervals are to hold.
        draws : int, optional

        Raises
        ------
        ArcadeMarkError
            Where no task is known, the level is no fraction, or too few training algorithms have the known tasks.
        """
        chosen = tuple(task for task in self.tasks if task in known)
        if not chosen:
            raise ArcadeMarkError("nothing is known: give a score on one task at least")
        if not 0 < level < 1:
            raise ArcadeMarkError(f"level {level:g}, expected a fraction between 0 and 1")
        places = np.array([self.tasks.index(task) for task in chosen], dtype=np.int64)
        values = np.array([known[task] for task in chosen])
        if len(chosen) == len(self.tasks):
            whole = self.inverse(values[None])
            exact = {name: float(summary(whole)[0]) for name, summary in summaries.items()}
            return Forecast(chosen, {}, {name: Range(x, x, x) for name, x in exact.items()}, {}, len(self.sources))
        stretch = self._stretch(places, summaries, rng, level, draws)
        given = self.whole.given(places, values)
        drawn = np.maximum(self.floor, given.draws(draws, rng))
        drawn[:, places] = values
        odd = self.whole.oddness(places, values)
        reach = odd * stretch.task * np.sqrt(np.maximum(np.diag(given.covariance), 0.0))
        ranges = {
            task: self._range(given.mean[place], reach[place])
            for place, task in enumerate(self.tasks)
            if task not in chosen
        }
        own = self.inverse(drawn)
        totals = {name: summary(own) for name, summary in summaries.items()}
        found = {name: _around(totals[name], odd * stretch.summaries[name]) for name in summaries}
        first = np.log1p(np.maximum(0.0, next(iter(totals.values()))))
        gains = {task: _shared(drawn[:, self.tasks.index(task)], first) for task in ranges}
        best = dict(sorted(gains.items(), key=lambda item: (-item[1], item[0])))
        return Forecast(chosen, ranges, found, best, stretch.n)

    def _range(self, mean: float, reach: float) -> Range:
        ends = np.maximum(self.floor, np.array([mean, mean - reach, mean + reach]))
        value, low, high = self.inverse(ends).tolist()
        return Range(value, low, high)

    def _stretch(
        self,
        places: NDArray[np.int64],
        summaries: Mapping[str, Summary],
        rng: np.random.Generator,
        level: float,
        draws: int,
    ) -> _Stretch:
        """Measure by how much intervals must be stretched: predict each algorithm without those of its source."""
        tasks: list[float] = []
        totals: dict[str, list[float]] = {name: [] for name in summaries}
        measured = 0
        for row, source in zip(self.scores, self.sources, strict=True):
            there = places[np.isfinite(row[places])]
            missing = np.setdiff1d(np.flatnonzero(np.isfinite(row)), there)
            if len(there) < max(1.0, (1 - MOST_LACKING) * len(places)) or not len(missing):
                continue
            measured += 1
            given, odd = self.others[source].given(there, row[there]), self.others[source].oddness(there, row[there])
            spread = odd * np.sqrt(np.maximum(np.diag(given.covariance)[missing], 1e-12))
            tasks += (np.abs(row[missing] - given.mean[missing]) / spread).tolist()
            whole = np.sort(np.concatenate([there, missing]))
            drawn = np.maximum(self.floor, given.draws(draws // 4, rng)[:, whole])
            drawn[:, np.searchsorted(whole, there)] = row[there]
            for name, summary in summaries.items():
                padded = self._padded(drawn, whole)
                true = float(summary(self._padded(row[whole][None], whole))[0])
                totals[name].append(_off(summary(padded), true) / odd)
        if measured < FEWEST:
            raise ArcadeMarkError(
                f"{measured} training algorithms have these tasks, too few to say how far off a prediction is; "
                f"expected {FEWEST}: give fewer or other tasks"
            )
        return _Stretch(
            _quantile(tasks, level), {name: _quantile(sizes, level) for name, sizes in totals.items()}, measured
        )

    def _padded(self, values: Floats, places: NDArray[np.int64]) -> Floats:
        """Return scores in their own unit, NaN for tasks that an algorithm has no score on."""
        whole = np.full((len(values), len(self.tasks)), np.nan)
        whole[:, places] = self.inverse(values)
        return whole


@dataclass(frozen=True)
class _Stretch:
    """How many spreads the asked-for share of errors reaches to: of tasks, and of each summary."""

    task: float
    summaries: Mapping[str, float]
    n: int


def _centre(values: Floats) -> tuple[float, float]:
    """Return the middle of draws and their spread, in log space: summaries of scores span decades."""
    logs: Floats = np.log1p(np.maximum(0.0, values))
    return float(np.median(logs)), max(float(np.std(logs)), 1e-3)


def _off(values: Floats, true: float) -> float:
    middle, spread = _centre(values)
    return abs(math.log1p(max(0.0, true)) - middle) / spread


def _around(values: Floats, stretch: float) -> Range:
    middle, spread = _centre(values)
    low, high = (_undone(middle + side * stretch * spread) for side in (-1, 1))
    return Range(_undone(middle), low, high)


def _undone(log: float) -> float:
    return max(0.0, math.expm1(log))


def _quantile(sizes: Sequence[float], level: float) -> float:
    """Return the ⌈(n + 1)·level⌉-th smallest; the largest where n is too small for the level."""
    place = min(len(sizes), math.ceil((len(sizes) + 1) * level))
    return sorted(sizes)[place - 1]


def _shared(a: Floats, b: Floats) -> float:
    """Return the squared correlation; 0 where one does not vary."""
    if np.ptp(a) == 0 or np.ptp(b) == 0:
        return 0.0
    return float(np.corrcoef(a, b)[0, 1] ** 2)
