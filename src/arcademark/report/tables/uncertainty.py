"""How far few runs leave a table's numbers uncertain: asks `arcademark.metrics.bootstrap`, and keeps what it warns of.

Mean and median of a capped measure are of capped means over runs, which the bootstrap of normalised runs does not
resample: their intervals are found here, from resampled means that are then capped, by the same rule.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from arcademark.metrics import bootstrap, compare, intervals
from arcademark.metrics.bootstrap import Band
from arcademark.metrics.intervals import LEVEL, Interval, Method, Note, Strata
from arcademark.metrics.normalise import PERCENT
from arcademark.metrics.samples import aggregate_strata, middle_shares, padded, sample_of, together
from arcademark.report import wording
from arcademark.report.measures import Measure
from arcademark.report.tables.document import Intervals, Statistic
from arcademark.suite import tasks

FEWEST_DRAWS = 500
MOST_RUNS_DRAWN = 20_000_000
"""Runs drawn for one interval, all draws together, above which draws become fewer, unless their number is asked for."""

MOST_PROFILES = 2000
"""Draws of a profile's band, which is looked at and not read off."""

METHOD_TITLES: Mapping[str, str] = {
    "symmetric": "stratified bootstrap over runs, symmetric and widened for few runs",
    "expanded": "stratified bootstrap over runs, percentile limits widened for few runs",
    "percentile": "stratified percentile bootstrap over runs",
}

_SAID_OTHERWISE = "one run on "
"""How the bootstrap's note of single runs begins, which does not say whose they are."""

Runs = Mapping[str, NDArray[np.float64]]
"""Task → raw scores, one a run, at least one."""


@dataclass
class Notes:
    """What the intervals' makers say of them, by algorithm."""

    said: dict[Note, list[str]] = field(default_factory=dict)

    def keep(self, name: str, found: Interval) -> Interval:
        """Take down an interval's notes and return it."""
        for note in found.notes:
            if not note.startswith(_SAID_OTHERWISE):
                self.say(name, note)
        return found

    def say(self, name: str, note: Note) -> None:
        """Take down one note."""
        names = self.said.setdefault(note, [])
        if name not in names:
            names.append(name)


@dataclass(frozen=True)
class Bootstrap:
    """How intervals are found for one document.

    Parameters
    ----------
    seed, resamples, method
        See `arcademark.report.tables.document.Intervals`.
    asked : bool
        Whether the number of draws was asked for.
    notes : Notes
        Filled as intervals are found.
    """

    seed: int
    resamples: int
    method: Method
    asked: bool
    notes: Notes = field(default_factory=Notes)

    @classmethod
    def of(cls, seed: int, resamples: int | None, method: str | None) -> Bootstrap:
        """Take the usual number of draws and the recommended method where none is asked for.

        Raises
        ------
        UnknownNameError
            If there is no such method.
        """
        chosen = method or bootstrap.METHOD
        intervals.check(chosen, LEVEL)
        known: dict[str, Method] = {name: name for name in intervals.METHODS}
        return cls(seed, resamples or bootstrap.RESAMPLES, known[chosen], resamples is not None)

    def view(self) -> Intervals:
        """Say how intervals were found."""
        return Intervals(LEVEL, self.method, METHOD_TITLES[self.method], self.resamples, self.seed)

    def rng(self, *names: str) -> np.random.Generator:
        """Make the generator of what these names mean, whatever else is in the document."""
        return np.random.default_rng([self.seed, zlib.crc32("\n".join(names).encode())])

    def draws(self, *sides: Runs) -> int:
        """Return how many draws to make: fewer where the runs are so many that it would take long."""
        runs = sum(row.size for side in sides for row in side.values())
        return self.resamples if self.asked else max(FEWEST_DRAWS, min(self.resamples, MOST_RUNS_DRAWN // max(runs, 1)))

    def summaries(self, name: str, measure: Measure, runs: Runs) -> dict[str, Statistic]:
        """Find mean, median, IQM and optimality gap of an algorithm, over the tasks that the measure knows."""
        known = {task: row for task, row in runs.items() if task in measure.known}
        if not known:
            return dict.fromkeys(bootstrap.AGGREGATES, Statistic(None))
        rng, values = self.rng(name), measure.aggregates(known)
        if _single(known):
            return {key: Statistic(float(value)) for key, value in zip(bootstrap.AGGREGATES, values, strict=True)}
        self._tell_single(name, known)
        if measure.capped:
            found = self._capped(values, capped_draws(measure, known, self.draws(known), _key(rng)), measure, known)
        else:
            found = bootstrap.aggregate_intervals(
                measure.by_run(known), list(known), rng, method=self.method, resamples=self.draws(known), missing="omit"
            )
        return {key: _statistic(self.notes.keep(name, item), measure.within(key)) for key, item in found.items()}

    def differences(self, names: tuple[str, str], measure: Measure, first: Runs, second: Runs) -> dict[str, Interval]:
        """Find by how much the first's summaries are higher than the second's, over the tasks that both have.

        Parameters
        ----------
        names : (str, str)
        measure : Measure
            Which knows all the tasks.
        first, second : mapping of task to runs
            The same tasks in the same order.
        """
        values = measure.aggregates(first) - measure.aggregates(second)
        if self._tell_lone(names, first, second):
            return {
                key: Interval(float(value), None, None, LEVEL, None, (), self.method)
                for key, value in zip(bootstrap.AGGREGATES, values, strict=True)
            }
        rng, both, count = self.rng(*names), " and ".join(names), self.draws(first, second)
        if measure.capped:
            key = _key(rng)
            draws = capped_draws(measure, first, count, key) - capped_draws(measure, second, count, ~key)
            found = self._capped(values, draws, measure, first, second)
        else:
            one, other = (measure.by_run(runs) for runs in (first, second))
            found = bootstrap.difference_intervals(
                one, other, list(first), rng, method=self.method, resamples=count, missing="omit"
            )
        return {key: _held(self.notes.keep(both, item), _apart(measure.within(key))) for key, item in found.items()}

    def improvement(self, names: tuple[str, str], first: Runs, second: Runs) -> Statistic:
        """Find how probable it is that a run of the first beats one of the second on a task that both have."""
        one, other = (padded(runs.values()) for runs in (first, second))
        if self._tell_lone(names, first, second):
            return Statistic(compare.probability_of_improvement(one, other, missing="omit"))
        found = bootstrap.improvement_interval(
            one,
            other,
            list(first),
            self.rng(*names),
            method=self.method,
            resamples=self.draws(first, second),
            missing="omit",
        )
        return _statistic(self.notes.keep(" and ".join(names), found))

    def profile(self, name: str, measure: Measure, runs: Runs, thresholds: NDArray[np.float64]) -> Band:
        """Find an algorithm's performance profile and its band."""
        known = {task: row for task, row in runs.items() if task in measure.known}
        return bootstrap.profile_band(
            measure.by_run(known),
            list(known),
            thresholds,
            self.rng(name, "profile"),
            method=self.method,
            resamples=min(self.draws(runs), MOST_PROFILES),
            missing="omit",
        )

    def _capped(
        self, values: NDArray[np.float64], draws: NDArray[np.float64], measure: Measure, *sides: Runs
    ) -> dict[str, Interval]:
        strata = reduce(together, (capped_strata(measure, runs) for runs in sides))
        low, high, error = intervals.limits(values, draws, strata, method=self.method, level=LEVEL)
        return {
            key: Interval(
                float(values[i]),
                float(low[i]),
                float(high[i]),
                LEVEL,
                float(error[i]),
                (bootstrap.STILL,) if low[i] == high[i] else (),
                self.method,
            )
            for i, key in enumerate(bootstrap.AGGREGATES)
        }

    def _tell_lone(self, names: tuple[str, str], *sides: Runs) -> bool:
        """Say whether one of two has a single run everywhere, so that no interval of the two can be found."""
        lone = [name for name, runs in zip(names, sides, strict=True) if _single(runs)]
        if not lone:
            for name, runs in zip(names, sides, strict=True):
                self._tell_single(name, runs)
        elif len(lone) < len(names):
            self.notes.say(
                " and ".join(names), Note(f"{lone[0]} has one run a game, so differences from it have no interval")
            )
        return bool(lone)

    def _tell_single(self, name: str, runs: Runs) -> None:
        """Take down where an algorithm has but one run, if it has more elsewhere."""
        single = [tasks.game_name(task) for task, row in runs.items() if row.size == 1]
        if single:
            told = f"one run on {wording.shortened(single)}: the variation from run to run there is not included"
            self.notes.say(name, Note(told))


def _key(rng: np.random.Generator) -> np.uint64:
    return rng.integers(2**64, dtype=np.uint64)


def _single(runs: Runs) -> bool:
    return all(row.size == 1 for row in runs.values())


def _apart(bounds: tuple[float, float] | None) -> tuple[float, float] | None:
    """Return the bounds of a difference of two that have bounds."""
    return None if bounds is None else (bounds[0] - bounds[1], bounds[1] - bounds[0])


def _held(found: Interval, bounds: tuple[float, float] | None) -> Interval:
    """Hold the limits within bounds; where nothing varied, there are none."""
    if found.low is None or found.high is None or found.low == found.high:
        return replace(found, low=None, high=None)
    if bounds is None:
        return found
    low, high = min(bounds[0], found.value), max(bounds[1], found.value)
    return replace(found, low=max(low, found.low), high=min(high, found.high))


def _statistic(found: Interval, bounds: tuple[float, float] | None = None) -> Statistic:
    held = _held(found, bounds)
    return Statistic(held.value, held.low, held.high)


def score(seeds: Sequence[NDArray[np.float64]]) -> Statistic:
    """Find one task's score from its runs, an array each, and the interval that every document gives it."""
    found = intervals.score_interval(seeds)
    return Statistic(found.value, found.low, found.high)


def capped_draws(measure: Measure, known: Runs, resamples: int, key: np.uint64) -> NDArray[np.float64]:
    """Resample a capped measure's summaries, shape (4, resamples): of capped means, and of capped runs.

    Of an odd number of tasks, the median of capped means is the capped median, resampled like the uncapped one.
    """
    names, rng = list(known), np.random.default_rng(int(key))
    of_means = measure.normaliser(
        np.stack([intervals.resampled_means(row, resamples, rng) for row in known.values()]), names
    )
    draws = bootstrap.resampled_aggregates(sample_of(measure.by_run(known)), key, PERCENT, resamples, None)
    draws[0], draws[1] = np.mean(of_means, axis=0), np.median(of_means, axis=0)
    if measure.uncapped is not None and len(names) % 2:
        free = sample_of(measure.uncapped(padded(known.values()), names))
        draws[1] = np.clip(
            bootstrap.resampled_aggregates(free, key, PERCENT, resamples, None)[1], *(measure.bounds or (None, None))
        )
    return draws


def capped_strata(measure: Measure, known: Runs) -> Strata:
    """Return what each task adds to the variance of each of a capped measure's summaries, shape (4, tasks)."""
    sizes = np.array([row.size for row in known.values()])
    names = list(known)
    spread = np.array([np.var(row, ddof=1) if row.size > 1 else 0.0 for row in known.values()])
    step = np.sqrt(spread / np.maximum(sizes, 1))
    means = np.array([np.mean(row) for row in known.values()])
    width = measure.normaliser(means + step, names) - measure.normaliser(means - step, names)
    variances = (width / 2) ** 2
    of_runs = aggregate_strata(sample_of(measure.by_run(known), sort=False), PERCENT).variances
    line = measure.uncapped or measure.normaliser
    free = ((line(means + step, names) - line(means - step, names)) / 2) ** 2
    shares = middle_shares(line(means, names), free)
    return Strata(np.array([variances / len(names) ** 2, shares**2 * free, *of_runs[2:]]), sizes)
