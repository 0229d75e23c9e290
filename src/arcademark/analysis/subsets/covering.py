"""Results of ``arcademark subset coverage``: accuracy and coverage of predictions on held-out algorithms.

The predictor's algorithms are held out paper by paper and, for the catalogue, also kind by kind
(`arcademark.catalogue.model.ALGORITHM_KINDS`) and by the newest third. A distribution that was fitted without them, and
whose intervals are widened by errors on others, predicts them; only fits behind other papers' errors include them.
Games are given, or the best of a size (`arcademark.subset.predict.choosing`), chosen again without what is held out.
The best ones are compared with equally many random tasks, and with the summary of the chosen tasks alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from math import comb, inf, log, sqrt
from typing import ClassVar

import numpy as np

from arcademark import wording
from arcademark.analysis.subsets import predictors
from arcademark.analysis.subsets.predictors import Predictor
from arcademark.catalogue import collections
from arcademark.errors import ArcadeMarkError, UnknownNameError
from arcademark.grouping import grouped
from arcademark.metrics.uncertainty.intervals import student
from arcademark.subset.predict import calibration
from arcademark.subset.predict.any_tasks import MEDIAN, Quantity, Trained
from arcademark.subset.predict.calibration import TASKS, Misses
from arcademark.subset.predict.choosing import choose
from arcademark.subset.problem import Floats
from arcademark.suite import protocols
from arcademark.suite.subsets import LEVEL


@dataclass(frozen=True)
class _Part:
    """Training algorithms (`known`) and those held out (`others`), by `group` where the rest still contains them.

    left_out: "each paper", "each kind", "since 2021".
    """

    left_out: str
    known: Trained
    others: Trained
    group: str | None = None


LEVELS = {"weak": (-inf, 50.0), "middle": (50.0, 200.0), "strong": (200.0, inf)}
"""Levels of algorithms: the least true value of each level, and its exclusive upper bound, in percent."""
LOG = "log10"


@dataclass(frozen=True)
class AtLevel:
    """Coverage of the target's intervals for algorithms of one level, checkpoints of their training included.

    level: One of `LEVELS`.
    algorithms: Number of predicted algorithms.
    held: The share of true values that the intervals cover.
    width: Median over intervals of (upper end + 1) / (lower end + 1) or, without a transform, of upper − lower end;
        None, as the score, if there are too few papers for intervals.
    score: The mean interval score (Winkler 1972): the logarithm of that ratio plus, for a true value that is not
        covered, 2 / (1 - level) times its logarithmic distance from the interval; less is better.
    """

    level: str
    algorithms: int
    held: float | None
    width: float | None
    score: float | None


@dataclass(frozen=True)
class Beside:
    """Baseline for the best tasks of a size: equally many random tasks, predicted from in the same way.

    subsets: Number of subsets tried, all or a sample.
    mean_error, least, most: Mean, 5 % and 95 % quantiles of their mean errors.
    worse: The share of them whose mean error is larger than that of the best ones.
    gain, low, high: Mean amount by which the best ones' error is below theirs, with a 90 % interval (Student's) over
        the parts held out; low and high are None if there is only one part.
    alone: The mean error of using the summary of just the chosen tasks as that of all.
    """

    subsets: int
    mean_error: float
    least: float
    most: float
    worse: float
    gain: float
    low: float | None
    high: float | None
    alone: float


@dataclass(frozen=True)
class Held:
    """Accuracy and coverage of predictions from some games for held-out algorithms.

    subset: The games, as named, or "best 5".
    games: The games; for the best ones, those chosen with nothing left out.
    left_out: The parts held out: "each paper", "each kind", "since 2021".
    same: Share of the choices without a part that chose exactly these games; None if the games were given.
    algorithms: Number of predicted algorithms.
    mean_error, median_error: Errors of the target: |estimate / truth − 1| or, without a transform, |estimate − truth|.
    coverage: Share of true values that intervals cover, by quantity predicted of all games.
    by_group, by_group_error: Mean over groups (papers) of the share of covered targets, and its standard error.
    games_coverage: The share of single games' scores that intervals cover.
    levels: Coverage of intervals of the target by level.
    beside: Results of the best ones, if requested.
    """

    subset: str
    games: tuple[str, ...]
    left_out: str
    same: float | None
    algorithms: int
    mean_error: float
    median_error: float
    coverage: Mapping[str, float]
    by_group: float
    by_group_error: float | None
    games_coverage: float
    levels: tuple[AtLevel, ...]
    beside: Beside | None = None


@dataclass(frozen=True)
class CoverageStudy:
    """Accuracy and coverage of predictions from some games on held-out algorithms.

    level: Coverage of the intervals.
    algorithms, groups: Numbers of training algorithms and of their groups, such as papers.
    noun, groups_noun: Nouns for a task and for groups.
    target, transform: Predicted summary, and transform of scores, "log10" or "none".
    titles: Tasks' names for people.
    """

    SCHEMA: ClassVar[str] = "arcademark.subset-coverage/5"

    level: float
    algorithms: int
    groups: int
    noun: str
    groups_noun: str
    target: str
    transform: str
    titles: Mapping[str, str]
    rows: tuple[Held, ...]

    @property
    def log(self) -> bool:
        """True if errors are relative."""
        return self.transform == LOG

    def error(self, value: float) -> str:
        """Write an error: relative to the true value or, without a transform, in percent between two references."""
        return wording.share(value) if self.log else f"{value:.2f}"

    @property
    def percentage(self) -> str:
        """The level as text: "90 %"."""
        return f"{100 * self.level:g} %"

    @property
    def group_noun(self) -> str:
        """The noun for a group."""
        return self.groups_noun.removesuffix("s")

    @property
    def most_random(self) -> int:
        """The largest number of random subsets compared with one."""
        return max(beside.subsets for _, beside in self.compared)

    @property
    def chosen(self) -> tuple[tuple[str, str], ...]:
        """The best games of each size, by name."""
        best = dict.fromkeys((row.subset, row.games) for row in self.rows if row.same is not None)
        return tuple((name, wording.listing(map(self.titles.__getitem__, games))) for name, games in best)

    @property
    def compared(self) -> tuple[tuple[Held, Beside], ...]:
        """The rows that are compared with random subsets, with these comparisons."""
        return tuple((row, row.beside) for row in self.rows if row.beside is not None)


def covered(
    subsets: Sequence[str],
    level: float = LEVEL,
    *,
    sizes: Sequence[int] = (),
    suite: str = predictors.ATARI,
    training: Predictor | None = None,
    target: str = MEDIAN.name,
    at_random: int = 0,
) -> CoverageStudy:
    """Measure accuracy and coverage for lists of games, "atari-5" or "pong,qbert", and the best games of each size.

    The algorithms are those of ``training`` or, without it, the catalogue's on ``suite``. The best games are those that
    predict ``target`` best, a summary that the predictor has; they are compared with ``at_random`` random subsets.
    Raises for an unknown target or game.
    """
    predictor = training or predictors.atari(suite)
    trained = predictor.trained
    known = {quantity.name: quantity for quantity in predictor.quantities if quantity.unit == "score"}
    if target not in known:
        raise UnknownNameError("target", target, known)
    given = {name: predictor.chosen(name) for name in subsets}  # raises before the slow fits
    parts = list(_each_group(predictor))
    if training is None:
        parts += [*_kinds_and_newest(trained), *_within(trained, suite)]
    measured = _Measured(predictor, level, known[target], at_random)
    ways = tuple(dict.fromkeys(part.left_out for part in parts))
    requested: dict[str, tuple[str, ...] | int] = {**given, **{f"best {size}": size for size in sizes}}
    rows = [
        _held(name, tasks, way, [part for part in parts if part.left_out == way], measured)
        for name, tasks in requested.items()
        for way in ways
    ]
    return CoverageStudy(
        level,
        int(trained.fitted.sum()),
        len(trained.without),
        predictor.noun,
        predictor.groups,
        target,
        trained.transform,
        {task: predictor.title(task) for row in rows for task in row.games},
        tuple(rows),
    )


def _each_group(predictor: Predictor) -> Iterator[_Part]:
    trained, groups = predictor.trained, np.array(predictor.trained.groups)
    for group in dict.fromkeys(trained.groups):
        yield _Part(f"each {predictor.groups[:-1]}", trained, trained.only(groups == group), group)


def _kinds_and_newest(trained: Trained) -> Iterator[_Part]:
    entries = collections.select()
    kinds = np.array([entries[name].kind for name in trained.algorithms])
    years = np.array([entries[name].year for name in trained.algorithms])
    since = int(np.sort(years[trained.fitted])[2 * int(trained.fitted.sum()) // 3])
    for kind in dict.fromkeys(kinds):
        yield _Part("each kind", *trained.apart(kinds == kind))
    yield _Part(f"since {since}", *trained.apart(years >= since))


def _within(trained: Trained, suite: str) -> Iterator[_Part]:
    """Hold each paper out again, and predict only its algorithms within the suite's training budget."""
    if suite not in protocols.protocols():
        return
    budget = protocols.protocol(suite).training_frames
    entries, groups = collections.select(), np.array(trained.groups)
    frames = np.array([entries[name].training_frames or np.inf for name in trained.algorithms])
    for group in dict.fromkeys(trained.groups):
        rows = (groups == group) & (frames <= budget)
        if rows.any():
            yield _Part(f"each paper, of {budget:,} frames", trained, trained.only(rows), group)


class _Measured:
    """Cached errors and choices."""

    def __init__(self, predictor: Predictor, level: float, target: Quantity, at_random: int) -> None:
        self._predictor, self.level, self.trained = predictor, level, predictor.trained
        self.target, self.at_random = target, at_random
        self.unit = log(10) if self.trained.transform == LOG else 1.0
        self.misses, self.choose = cache(self._misses), cache(self._choose)

    def _choose(self, trained: Trained, size: int, without: str | None = None) -> tuple[str, ...]:
        return choose(trained, size, self.target, without)

    def _misses(self, trained: Trained, tasks: tuple[str, ...]) -> Misses:
        every = trained.joint.tasks
        quantities = self._predictor.quantities if every == self._predictor.tasks else predictors.of_games(every)
        return calibration.misses(trained, np.isin(every, tasks), quantities, predictors.noise(len(every)))

    def values(self, part: _Part, tasks: tuple[str, ...]) -> Floats:
        """Return truths, predictions, lower and upper ends, and 1 for algorithms, 0 for checkpoints, shape (5, n).

        They are transformed targets of a part's algorithms, predicted from these tasks with the errors of other groups.
        """
        missed, name = self.misses(part.others, tasks), self.target.name
        own, others = missed.errors[name], self.misses(part.known, tasks).errors[name]
        result = np.empty((5, len(own.truths)))
        result[0], result[4] = own.truths, missed.fitted
        for group in dict.fromkeys(own.groups):
            rows = own.groups == group
            result[1, rows] = others.values(own.estimates[rows], group)
            result[2:4, rows] = others.interval(own.estimates[rows], own.scales[rows], self.level, group).T
        result[2:4] = np.minimum(result[1], np.maximum(self.trained.worst, result[2])), np.maximum(result[1], result[3])
        return result

    def sizes(self, part: _Part, tasks: tuple[str, ...]) -> Floats:
        """Return the absolute errors of predictions of a part's algorithms from these tasks."""
        truths, estimates, _, _, fitted = self.values(part, tasks)
        return np.asarray(self.errors(estimates, truths)[fitted == 1])

    def errors(self, estimates: Floats, truths: Floats) -> Floats:
        """Return absolute errors, relative to the truths where these are transformed."""
        if self.trained.transform == LOG:
            return np.asarray(np.abs(self.trained.back(estimates) / self.trained.back(truths) - 1.0))
        return np.asarray(np.abs(estimates - truths))

    def alone(self, part: _Part, tasks: tuple[str, ...]) -> Floats:
        """Return the absolute errors of using the target of these tasks as that of all."""
        change, others = self.trained.transformed, part.others
        chosen, result = np.isin(others.joint.tasks, tasks), []
        for percent in others.percent[others.fitted]:
            known = np.isfinite(percent)
            few, every = (np.flatnonzero(some) for some in (known & chosen, known))
            if 0 < len(few) < len(every):
                values = (change(self.target.of(percent[np.newaxis, some], some)) for some in (few, every))
                result.append(float(self.errors(*values)[0]))
        return np.array(result)


def _held(name: str, tasks: tuple[str, ...] | int, way: str, parts: Sequence[_Part], measured: _Measured) -> Held:
    held: dict[str, list[bool]] = {}
    values: list[Floats] = []
    groups: list[str] = []
    choices: list[tuple[str, ...]] = []
    for part in parts:
        chosen = measured.choose(part.known, tasks, without=part.group) if isinstance(tasks, int) else tasks
        choices.append(chosen)
        missed, source = measured.misses(part.others, chosen), measured.misses(part.known, chosen)
        values.append(measured.values(part, chosen))
        groups += missed.errors[measured.target.name].groups[missed.fitted].tolist()
        for quantity in (*missed.errors, TASKS):
            every = missed.held(quantity, measured.level, source)
            kept = every if quantity == TASKS else np.array(every, bool)[missed.fitted].tolist()
            held.setdefault(quantity, []).extend(kept)
    truths, estimates, low, high, fitted = np.hstack(values) if values else np.empty((5, 0))
    sizes = measured.errors(estimates, truths)[fitted == 1]
    if not len(sizes):
        raise ArcadeMarkError(f"no held-out algorithm has scores on any of {name} and on other tasks")
    whole = measured.choose(measured.trained, tasks) if isinstance(tasks, int) else tasks
    same = float(np.mean([chosen == whole for chosen in choices])) if isinstance(tasks, int) else None
    coverage = {quantity: float(np.mean(every)) for quantity, every in held.items()}
    random = isinstance(tasks, int) and measured.at_random
    shares = [np.mean(some) for some in grouped(zip(groups, held[measured.target.name], strict=True)).values()]
    return Held(
        name,
        whole,
        way,
        same,
        len(sizes),
        float(np.mean(sizes)),
        float(np.median(sizes)),
        coverage,
        float(np.mean(shares)),
        float(np.std(shares, ddof=1) / sqrt(len(shares))) if len(shares) > 1 else None,
        coverage.pop(TASKS),
        tuple(_levels(truths, low, high, measured)),
        _beside(parts, choices, measured) if random else None,
    )


def _beside(parts: Sequence[_Part], choices: Sequence[tuple[str, ...]], measured: _Measured) -> Beside:
    """Compare the subsets chosen without each part with random ones."""
    tasks, size = measured.trained.joint.tasks, len(choices[0])
    every = tuple(combinations(tasks, size)) if comb(len(tasks), size) <= measured.at_random else ()
    if not every:
        rng = np.random.default_rng(predictors.SEED)
        drawn = (np.sort(rng.choice(len(tasks), size, replace=False)) for _ in range(measured.at_random))
        every = tuple(tuple(tasks[place] for place in places) for places in drawn)
    best = [measured.sizes(part, chosen) for part, chosen in zip(parts, choices, strict=True)]
    tried = [[measured.sizes(part, some) for part in parts] for some in every]
    others = [some for some in tried if any(map(len, some))]
    means = np.array([np.mean(np.concatenate(some)) for some in others])
    theirs = ([np.mean(some[place]) for some in others if len(some[place])] for place in range(len(parts)))
    pairs = zip(theirs, best, strict=True)
    gains = np.array([np.mean(some) - np.mean(sizes) for some, sizes in pairs if some and len(sizes)])
    gain, low, high = float(np.mean(gains)), None, None
    if len(gains) > 1:
        reach = student(len(gains) - 1, LEVEL) * float(np.std(gains, ddof=1)) / sqrt(len(gains))
        low, high = gain - reach, gain + reach
    least, most = np.quantile(means, [0.05, 0.95]).tolist()
    return Beside(
        subsets=len(every),
        mean_error=float(np.mean(means)),
        least=least,
        most=most,
        worse=float(np.mean(means > np.mean(np.concatenate(best)))),
        gain=gain,
        low=low,
        high=high,
        alone=float(np.mean(np.concatenate([measured.alone(*pair) for pair in zip(parts, choices, strict=True)]))),
    )


def _levels(truths: Floats, low: Floats, high: Floats, measured: _Measured) -> Iterator[AtLevel]:
    change, ratio = measured.trained.transformed, measured.trained.transform == LOG
    outside = np.maximum(0.0, np.maximum(low - truths, truths - high))
    scores = measured.unit * (high - low + 2 / (1 - measured.level) * outside)
    for name, bounds in LEVELS.items():
        least, most = change(np.array(bounds))
        rows = (truths >= least) & (truths < most)
        if not rows.any():
            yield AtLevel(name, 0, None, None, None)
            continue
        held, score = float(np.mean(outside[rows] == 0)), float(np.mean(scores[rows]))
        width = float(np.median((10 ** (high - low) if ratio else high - low)[rows]))
        known = np.isfinite(width) and np.isfinite(score)
        yield AtLevel(name, int(rows.sum()), held, width if known else None, score if known else None)
