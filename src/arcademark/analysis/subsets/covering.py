"""Results of ``arcademark subset coverage``: accuracy and coverage of predictions on held-out algorithms.

The algorithms that a predictor learnt from are left out, and predicted by a distribution, its interval widened by
misses, that knew nothing of them: paper by paper (but for the fits behind other papers' misses); of the catalogue also
kind by kind (`arcademark.catalogue.model.ALGORITHM_KINDS`), and the newest third. Games are given, or the best of a
size (`arcademark.subset.predict.choosing`), chosen anew without what is left out; beside these, what as many tasks at
random and the summary of the chosen tasks alone would have said.
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
from arcademark.subset.predict import calibration
from arcademark.subset.predict.any_tasks import MEDIAN, Quantity, Trained
from arcademark.subset.predict.calibration import TASKS, Misses
from arcademark.subset.predict.choosing import choose
from arcademark.subset.problem import TRANSFORMS, Floats
from arcademark.suite import protocols
from arcademark.suite.subsets import LEVEL


@dataclass(frozen=True)
class Part:
    """Training algorithms (`known`) and those held out (`others`), by `group` where the rest still contains them.

    left_out: "each paper", "each kind", "since 2021".
    """

    left_out: str
    known: Trained
    others: Trained
    group: str | None = None


LEVELS = {"weak": (-inf, 50.0), "middle": (50.0, 200.0), "strong": (200.0, inf)}
"""Levels of algorithms: the true values from which on and below which they are of one, in percent."""
LOG = "log10"


@dataclass(frozen=True)
class AtLevel:
    """Coverage of the target's intervals for algorithms of one level, checkpoints of their training included.

    level: One of `LEVELS`.
    algorithms: Number of predicted algorithms.
    held: The share of true values that they held.
    width: The median of what score plus one is at the upper end, divided by what it is at the lower end, or of their
        difference where scores are taken as they are; None, as the score, where there are too few papers for intervals.
    score: The mean interval score (Winkler 1972): the width as the logarithm of that ratio, and where the truth is not
        held also 2 / (1 - level) times how far, as a logarithm, it is outside; less is better.
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
    gain, low, high: Mean amount by which the best ones' error is below theirs, with a 90 % interval (Student's);
        whatever is left out together counts once. None where only one thing is.
    alone: The mean error of taking the summary of just the chosen tasks for that of all.
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
    games: The games; of the best ones without any group left out.
    left_out: In which way: "each paper", "each kind", "since 2021".
    same: In what share of the choices without something just these were chosen; None of games that are given.
    algorithms: Number of predicted algorithms.
    mean_error, median_error: Errors of the target: the size of estimate / truth − 1 or, without a transform, of
        estimate less truth.
    coverage: Share of truths that intervals held, by quantity predicted of all games.
    by_group, by_group_error: The mean over groups (papers) of the share of targets that intervals held, and its
        standard error.
    games_coverage: The share of single games that intervals held.
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
    algorithms, groups: Numbers of algorithms to learn from, and of their papers, or whatever they have in
        common.
    noun, groups_noun: Nouns for a task and for groups.
    target, transform: Summary that errors are of, and transform of scores, "log10" or "none".
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
        """Write an error: a share of the prediction, or in percent between two references."""
        return wording.share(value) if self.log else f"{value:.2f}"

    @property
    def percentage(self) -> str:
        """The level in words."""
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
        """The rows that random ones stand beside, with these."""
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
    """Measure it from each list of games, "atari-5" or "pong,qbert", and from the best ones of each size.

    Of a suite of the catalogue's algorithms, or of what ``training`` learnt from. The best are those that tell most of
    ``target``, a summary that the predictor has, and stand beside so many subsets ``at_random``. Raises where a list
    names what there is not.
    """
    predictor = training or predictors.atari(suite)
    trained = predictor.trained
    known = {quantity.name: quantity for quantity in predictor.quantities if quantity.unit == "score"}
    if target not in known:
        raise UnknownNameError("target", target, known)
    given = {name: predictor.chosen(name) for name in subsets}  # before what is learnt again without some
    parts = list(_each_group(predictor))
    if training is None:
        parts += [*_apart(trained), *_within(trained, suite)]
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


def _each_group(predictor: Predictor) -> Iterator[Part]:
    trained, groups = predictor.trained, np.array(predictor.trained.groups)
    for group in dict.fromkeys(trained.groups):
        yield Part(f"each {predictor.groups[:-1]}", trained, trained.only(groups == group), group)


def _apart(trained: Trained) -> Iterator[Part]:
    entries = collections.select()
    kinds = np.array([entries[name].kind for name in trained.algorithms])
    years = np.array([entries[name].year for name in trained.algorithms])
    since = int(np.sort(years[trained.fitted])[2 * int(trained.fitted.sum()) // 3])
    for kind in dict.fromkeys(kinds):
        yield Part("each kind", *trained.apart(kinds == kind))
    yield Part(f"since {since}", *trained.apart(years >= since))


def _within(trained: Trained, suite: str) -> Iterator[Part]:
    """Leave each paper out again, and predict of it who trained no longer than the suite's protocol allows."""
    if suite not in protocols.protocols():
        return
    budget = protocols.protocol(suite).training_frames
    entries, groups = collections.select(), np.array(trained.groups)
    frames = np.array([entries[name].training_frames or np.inf for name in trained.algorithms])
    for group in dict.fromkeys(trained.groups):
        rows = (groups == group) & (frames <= budget)
        if rows.any():
            yield Part(f"each paper, of {budget:,} frames", trained, trained.only(rows), group)


class _Measured:
    """Misses and choices, each worked out once."""

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

    def values(self, part: Part, tasks: tuple[str, ...]) -> Floats:
        """Return true targets, predicted ones, both ends, and 1 for algorithms, 0 for checkpoints, shape (5, n).

        Of a part's algorithms, from these tasks, by what others than their group are off; transformed.
        """
        missed, name = self.misses(part.others, tasks), self.target.name
        own, others = missed.errors[name], self.misses(part.known, tasks).errors[name]
        result = np.empty((5, len(own.truths)))
        result[0], result[4] = own.truths, missed.fitted
        for group in dict.fromkeys(own.groups):
            rows = own.groups == group
            result[1, rows] = others.values(own.estimates[rows], group)
            result[2:4, rows] = others.interval(own.estimates[rows], own.scales[rows], self.level, group).T
        worst = float(TRANSFORMS[self.trained.transform](np.array(-np.inf)))
        result[2:4] = np.minimum(result[1], np.maximum(worst, result[2])), np.maximum(result[1], result[3])
        return result

    def sizes(self, part: Part, tasks: tuple[str, ...]) -> Floats:
        """Return the sizes of errors of the algorithms of a part, from these tasks."""
        truths, estimates, _, _, fitted = self.values(part, tasks)
        return np.asarray(self.errors(estimates, truths)[fitted == 1])

    def errors(self, estimates: Floats, truths: Floats) -> Floats:
        """Return the sizes of errors, relative to the truths where these are transformed."""
        if self.trained.transform == LOG:
            return np.asarray(np.abs(self.trained.back(estimates) / self.trained.back(truths) - 1.0))
        return np.asarray(np.abs(estimates - truths))

    def alone(self, part: Part, tasks: tuple[str, ...]) -> Floats:
        """Return the sizes of errors of taking the target of these tasks for that of all."""
        change, others = TRANSFORMS[self.trained.transform], part.others
        chosen, result = np.isin(others.joint.tasks, tasks), []
        for percent in others.percent[others.fitted]:
            there = np.isfinite(percent)
            few, every = (np.flatnonzero(some) for some in (there & chosen, there))
            if 0 < len(few) < len(every):
                values = (change(self.target.of(percent[np.newaxis, some], some)) for some in (few, every))
                result.append(float(self.errors(*values)[0]))
        return np.array(result)


def _held(name: str, tasks: tuple[str, ...] | int, way: str, parts: Sequence[Part], measured: _Measured) -> Held:
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
        raise ArcadeMarkError(f"no algorithm that is left out has any of {name} and others beside")
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


def _beside(parts: Sequence[Part], choices: Sequence[tuple[str, ...]], measured: _Measured) -> Beside:
    """Compare random subsets with those that were chosen without each part."""
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
    gain = float(np.mean(gains))
    reach = None
    if len(gains) > 1:
        from scipy.special import stdtrit

        reach = float(stdtrit(len(gains) - 1, 0.95) * np.std(gains, ddof=1) / sqrt(len(gains)))
    least, most = np.quantile(means, [0.05, 0.95]).tolist()
    return Beside(
        subsets=len(every),
        mean_error=float(np.mean(means)),
        least=least,
        most=most,
        worse=float(np.mean(means > np.mean(np.concatenate(best)))),
        gain=gain,
        low=None if reach is None else gain - reach,
        high=None if reach is None else gain + reach,
        alone=float(np.mean(np.concatenate([measured.alone(*pair) for pair in zip(parts, choices, strict=True)]))),
    )


def _levels(truths: Floats, low: Floats, high: Floats, measured: _Measured) -> Iterator[AtLevel]:
    change, ratio = TRANSFORMS[measured.trained.transform], measured.trained.transform == LOG
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
