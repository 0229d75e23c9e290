"""How far few runs leave a table's numbers uncertain: asks `arcademark.metrics.bootstrap`, and keeps what it warns of.

A capped measure is capped after averaging over runs, which the bootstrap of normalised runs cannot do: its intervals
are found here, from resampled means that are then capped, by the same rule.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from arcademark.metrics import bootstrap, compare, coverage, intervals
from arcademark.metrics.bootstrap import Band
from arcademark.metrics.intervals import LEVEL, Interval, Method, Strata
from arcademark.metrics.samples import padded, together
from arcademark.report.measures import Measure
from arcademark.report.tables.document import Intervals, Statistic

FEWEST_DRAWS = 500
MOST_RUNS_DRAWN = 20_000_000
"""Runs drawn for one interval, all draws together, above which draws become fewer, unless their number is asked for."""

MANY_RUNS = 100
"""Runs of a task above which its resampled mean is as good as normal."""

PERCENT = "\N{NO-BREAK SPACE}%"

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

    said: dict[str, list[str]] = field(default_factory=dict)

    def keep(self, name: str, found: Interval) -> Interval:
        """Take down an interval's notes and return it."""
        for note in found.notes:
            names = self.said.setdefault(note, [])
            if name not in names:
                names.append(name)
        return found


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
        rng, scores = self.rng(name, measure.metric), measure.by_run(known)
        values = bootstrap.aggregates(scores)
        if _single(known):
            return {key: Statistic(float(value)) for key, value in zip(bootstrap.AGGREGATES, values, strict=True)}
        if measure.capped:
            return self._capped(measure, known, values, rng)
        found = bootstrap.aggregate_intervals(
            scores, list(known), rng, method=self.method, resamples=self.draws(known), missing="omit"
        )
        return {key: _statistic(self.notes.keep(name, item)) for key, item in found.items()}

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
        one, other = (measure.by_run(runs) for runs in (first, second))
        values = bootstrap.aggregates(one) - bootstrap.aggregates(other)
        if _single(first, second):
            return {
                key: Interval(float(value), None, None, LEVEL, None, (), self.method)
                for key, value in zip(bootstrap.AGGREGATES, values, strict=True)
            }
        rng, tasks = self.rng(*names, measure.metric), list(first)
        if not measure.capped:
            found = bootstrap.difference_intervals(
                one,
                other,
                tasks,
                rng,
                method=self.method,
                resamples=self.draws(first, second),
                missing="omit",
            )
            return {key: self.notes.keep(" and ".join(names), item) for key, item in found.items()}
        draws = capped_draws(measure, first, self.resamples, rng) - capped_draws(measure, second, self.resamples, rng)
        strata = together(capped_strata(measure, first), capped_strata(measure, second))
        low, high, error = intervals.limits(values, draws, strata, method=self.method, level=LEVEL)
        return {
            key: Interval(float(values[i]), float(low[i]), float(high[i]), LEVEL, float(error[i]), (), self.method)
            for i, key in enumerate(bootstrap.AGGREGATES)
        }

    def improvement(self, names: tuple[str, str], first: Runs, second: Runs) -> Statistic:
        """Find how probable it is that a run of the first beats one of the second on a task that both have."""
        one, other = (padded(runs.values()) for runs in (first, second))
        if _single(first, second):
            return Statistic(compare.probability_of_improvement(one, other))
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
        self, measure: Measure, known: Runs, values: NDArray[np.float64], rng: np.random.Generator
    ) -> dict[str, Statistic]:
        draws, strata = capped_draws(measure, known, self.resamples, rng), capped_strata(measure, known)
        low, high, _ = intervals.limits(values, draws, strata, method=self.method, level=LEVEL)
        low, high = (np.clip(limit, *(measure.bounds or (None, None))) for limit in (low, high))
        return {
            key: Statistic(float(values[i]), float(low[i]), float(high[i]))
            for i, key in enumerate(bootstrap.AGGREGATES)
        }


def _single(*sides: Runs) -> bool:
    return all(row.size == 1 for side in sides for row in side.values())


def _statistic(found: Interval) -> Statistic:
    return Statistic(found.value, found.low, found.high)


def score(runs: NDArray[np.float64]) -> Statistic:
    """Find one task's mean over runs, with Student's t interval."""
    mean = float(np.mean(runs))
    if runs.size < 2:
        return Statistic(mean)
    from scipy.special import stdtrit

    reach = float(stdtrit(runs.size - 1, (1 + LEVEL) / 2) * np.std(runs, ddof=1) / np.sqrt(runs.size))
    return Statistic(mean, mean - reach, mean + reach)


def _resampled_means(runs: NDArray[np.float64], resamples: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw what else a mean might have been; of many runs, from the normal distribution that it then has."""
    if runs.size > MANY_RUNS:
        return np.asarray(np.mean(runs) + np.std(runs) / np.sqrt(runs.size) * rng.standard_normal(resamples))
    picks = rng.integers(runs.size, size=(resamples, runs.size))
    return np.asarray(runs[picks].mean(axis=1))


def capped_draws(measure: Measure, known: Runs, resamples: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Resample a capped measure's summaries, shape (4, resamples)."""
    drawn = np.stack([_resampled_means(row, resamples, rng) for row in known.values()])
    return bootstrap.aggregates(measure.normaliser(drawn, list(known)).T[..., np.newaxis])


def capped_strata(measure: Measure, known: Runs) -> Strata:
    """Return what each task adds to the variance of the capped mean, taken for all four summaries."""
    sizes = np.array([row.size for row in known.values()])
    names = list(known)
    spread = np.array([np.var(row, ddof=1) if row.size > 1 else 0.0 for row in known.values()])
    step = np.sqrt(spread / np.maximum(sizes, 1))
    means = np.array([np.mean(row) for row in known.values()])
    width = measure.normaliser(means + step, names) - measure.normaliser(means - step, names)
    variances = (width / 2) ** 2 / len(names) ** 2
    return Strata(np.tile(variances, (len(bootstrap.AGGREGATES), 1)), sizes)


def few(names_and_runs: Sequence[tuple[str, int]]) -> dict[int, tuple[str, ...]]:
    """Return, by runs a game, the algorithms whose intervals stand on few; given are names and numbers of runs."""
    found: dict[int, list[str]] = {}
    for name, runs in names_and_runs:
        if 1 < runs < coverage.FEW_RUNS:
            found.setdefault(runs, []).append(name)
    return {runs: tuple(names) for runs, names in sorted(found.items())}


def held(method: str, tasks: int, runs: int) -> str:
    """Say how often such intervals were seen to hold the truth, by summary; "" where that was not measured."""
    told = []
    for statistic, title in (("mean", "mean"), ("median", "median"), ("iqm", "IQM")):
        if found := coverage.measured(statistic, method, tasks, runs):
            low, high = (round(100 * share) for share in found)
            told.append(f"{title} {low}{PERCENT}" if low == high else f"{title} {low} to {high}{PERCENT}")
    return ", ".join(told)
