"""How far few runs leave a table's numbers uncertain: asks `arcademark.metrics.bootstrap`, and keeps what it warns of.

Mean and median of a capped measure are of capped means over runs: their intervals are found here, by the same rule,
from the draws of the measure before it caps. An algorithm is drawn once for all that it is compared with.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from arcademark.metrics import bootstrap, compare, intervals
from arcademark.metrics.bootstrap import AGGREGATES, Band
from arcademark.metrics.intervals import LEVEL, Interval, Method, Note, Strata
from arcademark.metrics.normalise import PERCENT
from arcademark.metrics.samples import aggregate_strata, means, middle_shares, padded, sample_of, together, variances
from arcademark.reports import wording
from arcademark.reports.measures import Measure
from arcademark.reports.tables.document import Intervals, Statistic
from arcademark.suite import tasks

FEWEST_DRAWS = 500
MOST_RUNS_DRAWN = 20_000_000
"""Runs drawn for one interval, all draws together, above which draws become fewer, unless their number is asked for."""

MOST_RUNS_OF_A_TABLE = 150_000_000
"""Runs drawn for all algorithms of a table, once each, above which draws become fewer, unless a number is asked for."""

MOST_KEPT = 256
"""Algorithms whose draws are kept to be compared with others: 80 MB of 10,000 draws."""

MOST_PROFILES = 2000
"""Draws of a profile's band, which is looked at and not read off."""

METHOD_TITLES: Mapping[str, str] = {
    "symmetric": "stratified bootstrap over runs, symmetric and widened for few runs",
    "expanded": "stratified bootstrap over runs, percentile limits widened for few runs",
    "percentile": "stratified percentile bootstrap over runs",
}

Runs = Mapping[str, NDArray[np.float64]]
"""Task → raw scores, one a run, at least one."""


@dataclass
class Notes:
    """What the intervals' makers say of them, by algorithm."""

    said: dict[Note, dict[str, None]] = field(default_factory=dict)

    def keep(self, name: str, found: Interval) -> Interval:
        """Take down an interval's notes and return it; that of single runs does not say whose they are."""
        for note in found.notes:
            if note.kind != "single":
                self.say(name, note)
        return found

    def say(self, name: str, note: Note) -> None:
        """Take down one note."""
        self.said.setdefault(note, {})[name] = None


@dataclass(frozen=True)
class Bootstrap:
    """How intervals are found for one document.

    Parameters
    ----------
    seed, resamples, method
        See `arcademark.reports.tables.document.Intervals`.
    asked : bool
        Whether the number of draws was asked for.
    notes : Notes
        Filled as intervals are found.
    kept : dict
        Draws of algorithms that are compared with others, by algorithm, metric, tasks and number.
    """

    seed: int
    resamples: int
    method: Method
    asked: bool
    notes: Notes = field(default_factory=Notes)
    kept: dict[tuple[str, str, tuple[str, ...], int], NDArray[np.float64]] = field(default_factory=dict)

    @classmethod
    def of(cls, seed: int, resamples: int | None, method: str | None, runs: int = 1) -> Bootstrap:
        """Take the usual number of draws, fewer for a table of very many runs, and the recommended method by default.

        Raises
        ------
        UnknownNameError
            If there is no such method.
        """
        chosen = method or bootstrap.METHOD
        intervals.check(chosen, LEVEL)
        known: dict[str, Method] = {name: name for name in intervals.METHODS}
        usual = max(FEWEST_DRAWS, min(bootstrap.RESAMPLES, MOST_RUNS_OF_A_TABLE // max(runs, 1)))
        return cls(seed, resamples or usual, known[chosen], resamples is not None)

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

    def summaries(self, name: str, measures: Sequence[Measure], runs: Runs) -> list[dict[str, Statistic]]:
        """Find mean, median, IQM and optimality gap of an algorithm by each measure, over the tasks that it knows."""
        known = [{task: row for task, row in runs.items() if task in measure.known} for measure in measures]
        drawn = self._drawn(name, measures, known, self.draws(runs))
        return [
            self._summaries(name, measure, rows, drawn.get(measure.metric))
            for measure, rows in zip(measures, known, strict=True)
        ]

    def _drawn(
        self, name: str, measures: Sequence[Measure], known: Sequence[Runs], count: int
    ) -> dict[str, NDArray[np.float64]]:
        """Resample by each measure that has several runs; one that caps by the same draws as the one that it caps."""
        alike: dict[bytes, tuple[NDArray[np.float64], list[Measure]]] = {}
        for measure, rows in zip(measures, known, strict=True):
            if rows and not _single(rows):
                free = measure.free(rows)
                alike.setdefault(free.tobytes(), (free, []))[1].append(measure)
        drawn = {}
        for free, group in alike.values():
            for bounds in {measure.bounds for measure in group if measure.capped} or {None}:
                key = _key(self.rng(name))
                found = bootstrap.resampled_aggregates(sample_of(free), key, PERCENT, count, None, bounds)
                own, held = found[: len(AGGREGATES)], found[len(AGGREGATES) :]
                drawn.update({measure.metric: own for measure in group if not measure.capped})
                drawn.update({measure.metric: held for measure in group if measure.capped and measure.bounds == bounds})
        return drawn

    def _summaries(
        self, name: str, measure: Measure, known: Runs, draws: NDArray[np.float64] | None
    ) -> dict[str, Statistic]:
        if not known:
            return dict.fromkeys(AGGREGATES, Statistic(None))
        values = measure.aggregates(known)
        if draws is None:
            return {key: Statistic(float(value)) for key, value in zip(AGGREGATES, values, strict=True)}
        self._tell_single(name, known)
        if measure.capped:
            found = self._capped(values, draws, measure, known)
        else:
            found = bootstrap.aggregate_intervals(
                measure.by_run(known), list(known), self.rng(name), method=self.method, missing="omit", draws=draws
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
                for key, value in zip(AGGREGATES, values, strict=True)
            }
        both, count = " and ".join(names), self.draws(first, second)
        draws = self._own_draws(names[0], measure, first, count) - self._own_draws(names[1], measure, second, count)
        if measure.capped:
            found = self._capped(values, draws, measure, first, second)
        else:
            one, other = (measure.by_run(runs) for runs in (first, second))
            found = bootstrap.difference_intervals(
                one, other, list(first), self.rng(*names), method=self.method, missing="omit", draws=draws
            )
        return {key: _held(self.notes.keep(both, item), _apart(measure.within(key))) for key, item in found.items()}

    def _own_draws(self, name: str, measure: Measure, known: Runs, count: int) -> NDArray[np.float64]:
        """Resample an algorithm's summaries over some tasks, once for all that it is compared with."""
        asked = (name, measure.metric, tuple(known), count)
        if asked not in self.kept:
            if len(self.kept) >= MOST_KEPT:
                self.kept.clear()
            self.kept[asked] = self._drawn(name, [measure], [known], count)[measure.metric]
        return self.kept[asked]

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
            for i, key in enumerate(AGGREGATES)
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
            self.notes.say(name, Note(told, "single"))


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


def capped_strata(measure: Measure, known: Runs) -> Strata:
    """Return what each task adds to the variance of each of a capped measure's summaries, shape (4, tasks)."""
    sizes, names, table = np.array([row.size for row in known.values()]), list(known), padded(known.values())
    step, middle = np.sqrt(variances(table) / np.maximum(sizes, 1)), means(table)
    ends = np.stack([middle - step, middle + step, middle], axis=1)
    line, held = measure.line(ends, names), measure.normaliser(ends, names)
    of_runs = aggregate_strata(sample_of(measure.by_run(known), sort=False), PERCENT).variances
    free = ((line[:, 1] - line[:, 0]) / 2) ** 2
    shares, of_means = middle_shares(line[:, 2], free), ((held[:, 1] - held[:, 0]) / 2) ** 2
    return Strata(np.array([of_means / len(names) ** 2, shares**2 * free, *of_runs[2:]]), sizes)
