"""Uncertainty of a table's numbers: resampling by `metrics.uncertainty.bootstrap`, intervals, and remarks.

Mean and median of a capped measure are over capped means over runs: their intervals use the same rule and the draws of
the uncapped measure. An algorithm is resampled once for all comparisons.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from arcademark import wording
from arcademark.analysis.measures import Bounds, Measure, Runs
from arcademark.errors import ArcadeMarkError
from arcademark.grouping import grouped
from arcademark.metrics import compare
from arcademark.metrics.aggregate import AGGREGATES, Aggregate, aggregates, mean_over_runs
from arcademark.metrics.distribution import performance_profile
from arcademark.metrics.uncertainty import bootstrap, intervals
from arcademark.metrics.uncertainty.intervals import LEVEL, Method, Strata
from arcademark.metrics.uncertainty.samples import (
    improvement,
    padded,
    profile_strata,
    sample_of,
    task_shares,
    together,
    variances,
)
from arcademark.suite import tasks

FEWEST_DRAWS, MAX_RESAMPLES = 500, 1_000_000
MAX_RUNS_DRAWN = 20_000_000
"""Runs resampled for one interval, over all draws, above which there are fewer draws, unless their number is given."""

MAX_RUNS_OF_A_TABLE = 150_000_000
"""Runs resampled for a whole table, over all draws, above which there are fewer draws, unless a number is given."""

MAX_KEPT = 256
"""Algorithms whose draws are kept for comparisons with others: 80 MB for 10,000 draws."""

MAX_PROFILES = 2000
"""Maximum number of draws of a profile's band, which needs less precision because it is only drawn."""

STILL = "a summary or probability is equal in all runs, so it has no interval, and its error is unknown"
"""Remark on an interval of width 0."""

METHOD_TITLES: Mapping[str, str] = {
    "student": "Student's t",
    "symmetric": "stratified bootstrap, symmetric and widened for few runs",
    "expanded": "stratified bootstrap, percentile limits widened for few runs",
    "percentile": "stratified percentile bootstrap",
}


Over = Literal["runs", "episodes", "all_episodes"]


INTERVALS_OF = {
    "score": "a {noun}'s score",
    "summary": "summaries",
    "difference": "differences of summaries",
    "improvement": "the probability of improvement",
    "profile": "performance profiles",
    "estimate": "an estimate if the same {noun}s are played again",
}
"""Numbers that have intervals, in words."""


@dataclass(frozen=True)
class SummaryDifference:
    """Difference of two algorithms in one summary of one metric.

    metric, title: Id and title of the metric.
    statistic: Name of the summary in `arcademark.metrics.aggregate.AGGREGATES`.
    first, second: Their summaries in percent, over the games that both have.
    relative: The first's divided by the second's; None where the second's is not above 0.
    standard_error: Standard error of the difference; None if there are too few runs.
    """

    metric: str
    title: str
    statistic: str
    first: float
    second: float
    difference: Statistic
    relative: float | None
    standard_error: float | None


@dataclass(frozen=True)
class Profile:
    """An algorithm's performance profile (Agarwal et al. 2021, §4.2).

    thresholds: In percent.
    shares: Shares of runs above each threshold, averaged over games, as fractions.
    low, high: Ends of the pointwise intervals at each threshold; None without intervals.
    """

    algorithm: str
    thresholds: tuple[float, ...]
    shares: tuple[float, ...]
    low: tuple[float, ...] | None
    high: tuple[float, ...] | None


@dataclass(frozen=True)
class Statistic:
    """A number with its interval.

    value: None if there are no scores to compute it from.
    low, high: Ends of its interval; None if there are too few runs, or nothing varies.
    """

    value: float | None
    low: float | None = None
    high: float | None = None

    @property
    def span(self) -> str:
        """The interval of a percentage without percent signs, e.g. "812 … 930"; "" where there is none."""
        known = self.low is not None and self.high is not None
        return f"{wording.number(self.low)} … {wording.number(self.high)}" if known else ""


@dataclass(frozen=True)
class Basis:
    """The values that some algorithms' intervals are over.

    over: "runs"; "episodes" of a single run; or "all_episodes", of all seeds of an algorithm that was never trained.
    games: Names of the games if the same algorithms have intervals over other values on other games; else empty.
    """

    over: Over
    algorithms: tuple[str, ...]
    games: tuple[str, ...] = ()


@dataclass(frozen=True)
class IntervalMethod:
    """The method of some of the intervals, recorded when they were computed.

    of: Numbers that have such intervals, keys of `INTERVALS_OF`, each with its number of draws, or the lowest and the
        highest of several; empty for Student's t.
    method: "student", or a method of `arcademark.metrics.uncertainty.intervals`.
    """

    of: Mapping[str, tuple[int, ...]]
    method: str
    title: str
    bases: tuple[Basis, ...]

    def numbers(self, noun: str) -> str:
        """Name the numbers that have such intervals; ``noun`` is that for a task."""
        return wording.listing(
            INTERVALS_OF[one].format(noun=noun)
            + (f" ({' to '.join(map(wording.count, draws))} draws)" if draws else "")
            for one, draws in self.of.items()
        )


@dataclass(frozen=True)
class Intervals:
    """Methods by which the intervals were computed.

    confidence: A fraction, 0.95.
    method, title: Name of the method of summaries' intervals, and its title.
    resamples: Number of draws.
    seed: Seed of the draws.
    methods: Methods of the intervals; empty if there are none.
    """

    confidence: float
    method: str
    title: str
    resamples: int
    seed: int
    methods: tuple[IntervalMethod, ...] = ()


@dataclass(frozen=True, eq=False)
class _DrawnSummaries:
    """An algorithm's summaries by some measures, with their bootstrap draws.

    values: Summaries in percent, shape (measures, aggregates).
    strata: Variances of shape (measures, aggregates, tasks).
    draws: Shape (measures, aggregates, resamples); None where every task has a single run.
    """

    values: NDArray[np.float64]
    strata: Strata
    draws: NDArray[np.float64] | None


@dataclass(frozen=True)
class Bootstrap:
    """Computation of intervals for one document.

    seed, resamples, method: See `arcademark.analysis.uncertainty.Intervals`.
    fixed: True if the number of draws was given.
    title: Function that returns a task's title.
    episodes: Episodes' scores by algorithm and task of algorithms that were never trained; they have one run, so their
        episodes are resampled instead of runs, and means over episodes are summarised.
    exact: Algorithms among these with every possible episode played, so that nothing is uncertain.
    notes: Remarks on the intervals, with the algorithms concerned.
    kept: Cached draws of compared algorithms, by name, metric, tasks and number of draws.
    recorded: Kinds of values and algorithms by kind of number and method, with the tasks that have separate intervals.
    drawn_of: Numbers of draws by kind of number.

    The last four are filled while intervals are computed; a copy by `replace` begins without them.
    """

    seed: int
    resamples: int
    method: Method
    fixed: bool
    title: Callable[[str], str] = tasks.game_name
    episodes: Mapping[str, Runs] = field(default_factory=dict)
    exact: frozenset[str] = frozenset()
    notes: dict[str, dict[str, None]] = field(default_factory=dict, init=False)
    kept: dict[tuple[str, str, tuple[str, ...], int], _DrawnSummaries] = field(default_factory=dict, init=False)
    recorded: dict[tuple[str, str], dict[tuple[Over, str], dict[str, None]]] = field(default_factory=dict, init=False)
    drawn_of: dict[str, set[int]] = field(default_factory=dict, init=False)

    @classmethod
    def choose(cls, seed: int, resamples: int | None, method: str | None, runs: int = 1) -> Bootstrap:
        """Return one with the given or default method and number of draws; the default is less for very many runs."""
        if resamples is not None and not 1 <= resamples <= MAX_RESAMPLES:
            raise ArcadeMarkError(f"resamples {resamples:,}: expected 1 to {MAX_RESAMPLES:,}")
        chosen = method or bootstrap.METHOD
        intervals.check(chosen, LEVEL)
        known: dict[str, Method] = {name: name for name in intervals.METHODS}
        usual = max(FEWEST_DRAWS, min(bootstrap.RESAMPLES, MAX_RUNS_OF_A_TABLE // max(runs, 1)))
        return cls(seed, resamples or usual, known[chosen], resamples is not None)

    def record(self, of: str, method: str, over: Over, name: str, task: str = "", draws: int = 0) -> None:
        """Record an algorithm's interval: the kind of its number, its method, and the kind of values it is over."""
        self.recorded.setdefault((of, method), {}).setdefault((over, name), {})[task] = None
        self.drawn_of.setdefault(of, set()).update({draws} - {0})

    def _record(self, of: str, names: Iterable[str], draws: int) -> None:
        """Record the bootstrap's intervals: over runs or, for algorithms never trained, over episodes."""
        for name in names:
            self.record(of, self.method, "all_episodes" if name in self.episodes else "runs", name, draws=draws)

    def view(self) -> Intervals:
        """Return the methods of the intervals computed so far."""
        known = sorted(self.recorded, key=lambda key: [*INTERVALS_OF].index(key[0]))
        groups = grouped(((method, _bases(self.recorded[of, method], self.title)), of) for of, method in known)
        draws = {of: (*sorted({min(each), max(each)}),) if each else () for of, each in self.drawn_of.items()}
        return Intervals(
            *(LEVEL, self.method, METHOD_TITLES[self.method], self.resamples, self.seed),
            tuple(
                IntervalMethod({of: draws[of] for of in those}, method, METHOD_TITLES[method], bases)
                for (method, bases), those in groups.items()
            ),
        )

    def rng(self, *names: str) -> np.random.Generator:
        """Return a random generator that depends only on the seed and these names, not on the rest of the document."""
        return np.random.default_rng([self.seed, zlib.crc32("\n".join(names).encode())])

    def draws(self, *sides: Runs) -> int:
        """Return the number of draws: fewer if there are very many runs."""
        runs = sum(row.size for side in sides for row in side.values())
        return self.resamples if self.fixed else max(FEWEST_DRAWS, min(self.resamples, MAX_RUNS_DRAWN // max(runs, 1)))

    def summaries(self, name: str, measures: Sequence[Measure], runs: Runs) -> list[dict[str, Statistic]]:
        """Summarise an algorithm by each measure, over the measure's known tasks."""
        groups = grouped(((tuple(item.of_known(runs)), item.metric.of_means), item) for item in measures)
        by_metric = {}
        for (known, _), group in groups.items():
            rows = self._summaries(name, group, {task: runs[task] for task in known}, self.draws(runs))
            by_metric.update({measure.metric.name: row for measure, row in zip(group, rows, strict=True)})
        return [by_metric[measure.metric.name] for measure in measures]

    def _summaries(self, name: str, measures: Sequence[Measure], known: Runs, count: int) -> list[dict[str, Statistic]]:
        if not known:
            return [dict.fromkeys(AGGREGATES, Statistic(None)) for _ in measures]
        drawn = self._drawn(name, measures, known, count)
        if self._lone((name,), known) or drawn.draws is None:
            return [dict(zip(AGGREGATES, map(Statistic, values), strict=True)) for values in drawn.values.tolist()]
        low, high, _ = intervals.limits(drawn.values, drawn.draws, drawn.strata, method=self.method, level=LEVEL)
        self._note_still((name,), bool((low == high).any()))
        if (low < high).any():
            self._record("summary", [name], count)
        ends: list[list[tuple[float, float, float]]] = np.stack([drawn.values, low, high], axis=-1).tolist()
        return [
            {key: statistic(*row, measure.within(key)) for key, row in zip(AGGREGATES, rows, strict=True)}
            for measure, rows in zip(measures, ends, strict=True)
        ]

    def _drawn(self, name: str, measures: Sequence[Measure], known: Runs, count: int) -> _DrawnSummaries:
        """Summarise an algorithm by measures of the same tasks, and resample if there are several runs.

        A capped measure uses the same draws as its uncapped one. Either all or none of the measures are of means.
        """
        if name in self.episodes or measures[0].metric.of_means:
            rng = None if self._alone(name, known) else self.rng(name)
            return _drawn_of_means(measures, self._sample(name, known), rng, count)
        line, values, strata = sum_up(measures, known)
        if _single(known):
            return _DrawnSummaries(values, strata, None)
        draws = np.empty((*values.shape, count))
        for places in grouped((free.tobytes(), place) for place, free in enumerate(line)).values():
            sample = sample_of(line[places[0]])
            for bounds in {measures[place].metric.bounds for place in places} - {None} or {None}:
                resampled = bootstrap.resampled_aggregates(sample, self.rng(name), count, bounds)
                for place in places:
                    if measures[place].metric.bounds is None:
                        draws[place] = resampled[: len(AGGREGATES)]
                    elif measures[place].metric.bounds == bounds:
                        draws[place] = resampled[len(AGGREGATES) :]
        return _DrawnSummaries(values, strata, draws)

    def _sample(self, name: str, runs: Runs) -> Runs:
        """Return the values to resample on the tasks of ``runs``: these or, if never trained, the episodes."""
        episodes = self.episodes.get(name)
        return runs if episodes is None else {task: episodes[task] for task in runs}

    def _alone(self, name: str, runs: Runs) -> bool:
        """Return True if all tasks have a single run or, if never trained, any task has too few episodes."""
        if name in self.episodes:
            return any(row.size < intervals.FEWEST for row in self._sample(name, runs).values())
        return _single(runs)

    def drawn(self, name: str, measure: Measure, known: Runs, count: int) -> _DrawnSummaries:
        """Summarise and resample an algorithm over some tasks, once for all comparisons."""
        key = (name, measure.metric.name, tuple(known), count)
        if key not in self.kept:
            if len(self.kept) >= MAX_KEPT:
                self.kept.clear()
            self.kept[key] = self._drawn(name, [measure], known, count)
        return self.kept[key]

    def differences(
        self, names: tuple[str, str], measure: Measure, first: Runs, second: Runs
    ) -> dict[str, SummaryDifference]:
        """Compute the differences of two algorithms' summaries.

        Both must have the same tasks in the same order, all known to the measure.
        """
        count = self.draws(first, second)
        one, other = (self.drawn(name, measure, runs, count) for name, runs in zip(names, (first, second), strict=True))
        values, limits = (one.values - other.values)[0], np.full((3, len(AGGREGATES)), np.nan)
        if not self._lone(names, first, second) and one.draws is not None and other.draws is not None:
            strata = together(one.strata, other.strata)
            strata, draws = Strata(strata.variances[0], strata.runs), (one.draws - other.draws)[0]
            limits = np.array(intervals.limits(values, draws, strata, method=self.method, level=LEVEL))
            self._note_still(names, bool((limits[0] == limits[1]).any()))
            if (limits[0] < limits[1]).any():
                self._record("difference", names, count)
        rows = np.stack([one.values[0], other.values[0], limits[2], values, *limits[:2]], axis=-1).tolist()
        return {
            key: SummaryDifference(
                *(measure.metric.name, measure.metric.title, key, mine, theirs),
                difference=statistic(value, low, high, _difference_bounds(measure.within(key))),
                relative=mine / theirs if theirs > 0 else None,
                standard_error=None if np.isnan(error) else error,
            )
            for key, (mine, theirs, error, value, low, high) in zip(AGGREGATES, rows, strict=True)
        }

    def improvement(self, names: tuple[str, str], first: Runs, second: Runs) -> Statistic:
        """Compute the probability that a run of the first beats a run of the second, averaged over their tasks.

        An algorithm that was never trained has one run, the mean of its episodes.
        """
        if self._lone(names, first, second) or _single(first) or _single(second):
            return Statistic(
                float(compare.probability_of_improvement(*(padded(runs.values()) for runs in (first, second))))
            )
        one, other = (sample_of(padded(runs.values())) for runs in (first, second))
        count = self.draws(first, second)
        draws = bootstrap.resampled_improvement(one, other, self.rng(*names), count)
        value, strata = improvement(one, other)
        low, high, _ = intervals.limits(value, draws, strata, method=self.method, level=LEVEL)
        self._note_still(names, not strata.variances.any())
        if low < high:
            self._record("improvement", names, count)
        return statistic(value, max(float(low), 0.0), min(float(high), 1.0))

    def profile(self, name: str, measure: Measure, known: Runs, thresholds: NDArray[np.float64]) -> Profile:
        """Compute an algorithm's performance profile and its pointwise band, at ascending thresholds in percent."""
        runs = measure.by_run(known)
        sample, values = sample_of(runs), performance_profile(runs, thresholds, missing="omit")
        low = high = None
        if (sample.sizes > 1).any():
            count = min(self.draws(known), MAX_PROFILES)
            draws = bootstrap.resampled_profile(sample, thresholds, self.rng(name, "profile"), count)
            strata = profile_strata(sample, thresholds)
            ends = intervals.limits(values, draws, strata, method=self.method, level=LEVEL)[:2]
            low, high = (tuple(np.clip(end, 0.0, 1.0).tolist()) for end in ends)
            self.record("profile", self.method, "runs", name, draws=count)
        return Profile(name, tuple(thresholds.tolist()), tuple(values.tolist()), low, high)

    def _note_still(self, names: Sequence[str], still: bool) -> None:
        """Record algorithms whose interval has width 0 although their scores might vary."""
        if still and not self.exact.issuperset(names):
            self.notes.setdefault(STILL, {})[" and ".join(names)] = None

    def _lone(self, names: Sequence[str], *sides: Runs) -> bool:
        """Return True if any of the algorithms cannot be resampled; else record the tasks with too few runs.

        Tasks with too few episodes of algorithms that were never trained are recorded in either case.
        """
        lone = any(map(self._alone, names, sides))
        for name, runs in zip(names, sides, strict=True):
            fewest = intervals.FEWEST if name in self.episodes else 2
            short = [self.title(task) for task, row in self._sample(name, runs).items() if row.size < fewest]
            if short and name in self.episodes:
                text = f"fewer than {fewest} episodes on {wording.shortened(short)}: too few for intervals of summaries"
                self.notes.setdefault(text, {})[name] = None
            elif short and not lone:
                text = f"one run on {wording.shortened(short)}: the variation from run to run there is not included"
                self.notes.setdefault(text, {})[name] = None
        return lone


def statistic(value: float, low: float, high: float, bounds: Bounds = None) -> Statistic:
    """Return a value with its limits clipped to bounds, and without limits if nothing varied or they are NaN."""
    if not low < high:
        return Statistic(value)
    least, most = bounds or (low, high)
    return Statistic(value, max(min(least, value), low), min(max(most, value), high))


def _bases(recorded: Mapping[tuple[Over, str], Iterable[str]], title: Callable[[str], str]) -> tuple[Basis, ...]:
    """Group algorithms by the basis of their intervals; tasks are named where an algorithm has several kinds."""
    counts = Counter(name for _, name in recorded)
    groups = grouped(((over, (*tasks,) if counts[name] > 1 else ()), name) for (over, name), tasks in recorded.items())
    return tuple(Basis(over, (*names,), (*map(title, tasks),)) for (over, tasks), names in groups.items())


def _single(runs: Runs) -> bool:
    return all(row.size == 1 for row in runs.values())


def _difference_bounds(bounds: Bounds) -> Bounds:
    """Return the bounds of a difference of two numbers with these bounds."""
    return None if bounds is None else (bounds[0] - bounds[1], bounds[1] - bounds[0])


def _drawn_of_means(
    measures: Sequence[Measure], sample: Runs, rng: np.random.Generator | None, count: int
) -> _DrawnSummaries:
    """Summarise each task's mean over runs or episodes by measures that know all tasks; resample if ``rng`` is given.

    A task's share of a summary's variance is the squared change that a standard error of the task's mean causes.
    """
    table, sizes = padded(sample.values()), np.array([row.size for row in sample.values()])
    middle, errors = mean_over_runs(table), np.diag(np.sqrt(variances(table) / sizes))

    def summaries(scores: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.array([measure.aggregates_of_means(scores, sample) for measure in measures])

    up, down = (summaries(middle[:, np.newaxis] + sign * errors) for sign in (1, -1))
    strata = Strata(((up - down) / 2) ** 2, sizes)
    if rng is None:
        return _DrawnSummaries(summaries(middle), strata, None)
    draws = summaries(np.array([intervals.resampled_means(row, count, rng) for row in sample.values()]))
    return _DrawnSummaries(summaries(middle), strata, draws)


def sum_up(measures: Sequence[Measure], known: Runs) -> tuple[NDArray[np.float64], NDArray[np.float64], Strata]:
    """Summarise runs by measures that know the same tasks.

    Returned are uncapped runs in percent, shape (measures, tasks, runs), the summaries, shape (measures, aggregates),
    and each task's share of their variance, shape (measures, aggregates, tasks); for a capped mean over runs, that is
    the squared change that a standard error of the mean causes.
    """
    sizes, table = np.array([row.size for row in known.values()]), padded(known.values())
    middle, step = mean_over_runs(table), np.sqrt(variances(table) / sizes)
    ends = np.stack([middle - step, middle + step, middle], axis=-1)
    line, line_ends = (np.array([measure.line(scores, known) for measure in measures]) for scores in (table, ends))
    capped, capped_ends = (
        np.array([measure.metric.cap(scores) for measure, scores in zip(measures, lines, strict=True)])
        for lines in (line, line_ends)
    )
    free, of_means = (((scores[..., 1] - scores[..., 0]) / 2) ** 2 for scores in (line_ends, capped_ends))

    def added(one: Aggregate) -> NDArray[np.float64]:
        scores = capped if one.target is None else np.minimum(capped, one.target)
        if one.over == "runs":
            ordered, cut = np.sort(scores.reshape(len(measures), -1)), one.cut(sizes.sum())  # NaN sorts last
            low, high = (ordered[:, place, np.newaxis, np.newaxis] for place in (cut, sizes.sum() - 1 - cut))
            return np.asarray(variances(np.clip(scores, low, high)) * sizes / (sizes.sum() - 2 * cut) ** 2)
        if one.target is not None:
            return np.asarray(task_shares(np.nanmean(scores, axis=-1), free, one) ** 2 * variances(scores) / sizes)
        placed = task_shares(line_ends[..., 2], free, one)
        return np.asarray(placed**2 * (free if one.trim == 0.5 else of_means))

    values = aggregates(capped_ends[..., 2], capped).T
    return line, values, Strata(np.stack([added(one) for one in AGGREGATES.values()], axis=1), sizes)
