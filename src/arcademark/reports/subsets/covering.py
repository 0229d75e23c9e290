"""What ``arcademark subset coverage`` shows: how predictions from some games hold for what they were not learnt from.

The algorithms that a predictor learnt from are left out, and predicted by a distribution, its interval widened by
misses, that knew nothing of them: paper by paper (but for the fits behind other papers' misses); of the catalogue also
kind by kind (`arcademark.catalogue.model.ALGORITHM_KINDS`), and the newest third. Games are given, or the best of a
size (`arcademark.subset.predict.choosing`), chosen anew without what is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from math import inf, log
from typing import ClassVar

import numpy as np

from arcademark.catalogue import collections
from arcademark.errors import ArcadeMarkError
from arcademark.reports import wording
from arcademark.reports.columns import Column
from arcademark.reports.subsets import predictors
from arcademark.reports.subsets.predictors import Predictor
from arcademark.subset.predict import calibration
from arcademark.subset.predict.any_tasks import MEDIAN, Trained
from arcademark.subset.predict.calibration import TASKS, Misses
from arcademark.subset.predict.choosing import choose
from arcademark.subset.problem import Floats, log10_score
from arcademark.suite import protocols
from arcademark.suite.subsets import LEVEL, resolve_tasks


@dataclass(frozen=True)
class Part:
    """What is learnt from; what is left out of that, by the name of its group where the rest still has it; and its way.

    left_out: "each paper", "each kind", "since 2021".
    """

    left_out: str
    known: Trained
    others: Trained
    group: str | None = None


LEVELS = {"weak": (-inf, 50.0), "middle": (50.0, 400.0), "strong": (400.0, inf)}
"""Levels of algorithms: the true medians from which on and below which they are of one, in percent."""


@dataclass(frozen=True)
class AtLevel:
    """How intervals of the median held for algorithms of one level, checkpoints of their training included.

    level: One of `LEVELS`.
    algorithms: How many were predicted.
    held: The share of true medians that they held.
    width: The median of what score plus one is at the upper end, divided by what it is at the lower end; None, as the
        score, where there are too few papers for intervals.
    score: The mean interval score (Winkler 1972): the width as the logarithm of that ratio, and where the truth is not
        held also 2 / (1 - level) times how far, as a logarithm, it is outside; less is better.
    """

    level: str
    algorithms: int
    held: float | None
    width: float | None
    score: float | None


@dataclass(frozen=True)
class Held:
    """How predictions from some games hold for algorithms that were left out.

    subset: The games, as named, or "best 5".
    games: Which these are; of the best ones when nothing is left out.
    left_out: In which way: "each paper", "each kind", "since 2021".
    same: In what share of the choices without something just these were chosen; None of games that are given.
    algorithms: How many were predicted.
    mean_error, median_error: Of the estimated median: the size of ln((estimate + 1) / (truth + 1)), both in percent of
        the average human, or between two references.
    coverage: By what is predicted of all games, the share of truths that intervals held.
    games_coverage: The same of single games.
    levels: How intervals of the median held by level.
    """

    subset: str
    games: tuple[str, ...]
    left_out: str
    same: float | None
    algorithms: int
    mean_error: float
    median_error: float
    coverage: Mapping[str, float]
    games_coverage: float
    levels: tuple[AtLevel, ...]


@dataclass(frozen=True)
class Coverage:
    """How predictions from some games hold for what they were not learnt from.

    level: Of the intervals.
    algorithms, groups: How many algorithms there are to learn from, and of how many papers, or whatever they have in
        common.
    noun, groups_noun: What a task and a group is called, the latter in the plural.
    titles: Tasks' names for people.
    """

    SCHEMA: ClassVar[str] = "arcademark.subset-coverage/3"

    level: float
    algorithms: int
    groups: int
    noun: str
    groups_noun: str
    titles: Mapping[str, str]
    rows: tuple[Held, ...]

    CHOSEN: ClassVar = (Column("", 0), Column("chosen", 1))

    @property
    def percentage(self) -> str:
        """The level in words."""
        return f"{100 * self.level:g} %"

    @property
    def chosen(self) -> tuple[tuple[str, str], ...]:
        """The best games of each size, by name."""
        best = dict.fromkeys((row.subset, row.games) for row in self.rows if row.same is not None)
        return tuple((name, wording.listing(map(self.titles.__getitem__, games))) for name, games in best)

    @property
    def columns(self) -> tuple[Column | None, ...]:
        """What is shown of each row."""
        share = wording.share
        return (
            Column("from", "subset"),
            Column("left out", "left_out"),
            Column("same chosen", "same", share) if self.chosen else None,
            Column("algorithms", "algorithms"),
            Column("mean error", "mean_error", share),
            Column("median error", "median_error", share),
            *(Column(f"{name} held", f"coverage.{name}", share) for name in self.rows[0].coverage),
            Column(f"single {self.noun}s held", "games_coverage", share),
            *(Column(f"{name} held (width)", partial(_at, place=place)) for place, name in enumerate(LEVELS)),
        )


def _at(row: Held, place: int) -> str | None:
    one = row.levels[place]
    return None if one.held is None or one.width is None else f"{wording.share(one.held)} (×{one.width:.2f})"


def covered(
    subsets: Sequence[str],
    level: float = LEVEL,
    *,
    sizes: Sequence[int] = (),
    suite: str = predictors.ATARI,
    training: Predictor | None = None,
) -> Coverage:
    """Measure it from each list of games, "atari-5" or "pong,qbert", and from the best ones of each size.

    Of a suite of the catalogue's algorithms, or of what ``training`` learnt from. Raises where a list names what there
    is not.
    """
    predictor = training or predictors.atari(suite)
    trained = predictor.trained
    parts = list(_each_group(predictor))
    if training is None:
        parts += [*_apart(trained), *_within(trained, suite)]
    measured = _Measured(predictor, level)
    given = {name: _tasks(name, predictor, atari=training is None) for name in subsets}
    ways = tuple(dict.fromkeys(part.left_out for part in parts))
    requested: dict[str, tuple[str, ...] | int] = {**given, **{f"best {size}": size for size in sizes}}
    rows = [
        _held(name, tasks, way, [part for part in parts if part.left_out == way], measured)
        for name, tasks in requested.items()
        for way in ways
    ]
    return Coverage(
        level,
        int(trained.fitted.sum()),
        len(trained.without),
        predictor.noun,
        predictor.groups,
        {task: predictor.title(task) for row in rows for task in row.games},
        tuple(rows),
    )


def _tasks(name: str, predictor: Predictor, *, atari: bool) -> tuple[str, ...]:
    chosen = resolve_tasks(name) if atari else tuple(predictor.canonical(part.strip()) for part in name.split(","))
    if strangers := [predictor.title(task) or "''" for task in chosen if task not in predictor.tasks]:
        raise ArcadeMarkError(f"{name}: {', '.join(strangers)} not among the {predictor.noun}s of the training scores")
    return chosen


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

    def __init__(self, predictor: Predictor, level: float) -> None:
        self._predictor, self.level, self.trained = predictor, level, predictor.trained
        self.misses, self.choose = cache(self._misses), cache(choose)

    def _misses(self, trained: Trained, tasks: tuple[str, ...]) -> Misses:
        every = trained.joint.tasks
        quantities = self._predictor.quantities if every == self._predictor.tasks else predictors.of_games(every)
        return calibration.misses(trained, np.isin(every, tasks), quantities, predictors.noise(len(every)))


def _held(name: str, tasks: tuple[str, ...] | int, way: str, parts: Sequence[Part], measured: _Measured) -> Held:
    held: dict[str, list[bool]] = {}
    medians: list[Floats] = []
    choices = []
    for part in parts:
        chosen = measured.choose(part.known, tasks, without=part.group) if isinstance(tasks, int) else tasks
        choices.append(chosen)
        missed, source = measured.misses(part.others, chosen), measured.misses(part.known, chosen)
        medians.append(_medians(missed, source, measured.level))
        for quantity in (*missed.errors, TASKS):
            every = missed.held(quantity, measured.level, source)
            kept = every if quantity == TASKS else np.array(every, bool)[missed.fitted].tolist()
            held.setdefault(quantity, []).extend(kept)
    truths, values, low, high, fitted = np.hstack(medians) if medians else np.empty((5, 0))
    sizes = log(10) * np.abs(values - truths)[fitted == 1]
    if not len(sizes):
        raise ArcadeMarkError(f"no algorithm that is left out has any of {name} and others beside")
    whole = measured.choose(measured.trained, tasks) if isinstance(tasks, int) else tasks
    same = float(np.mean([chosen == whole for chosen in choices])) if isinstance(tasks, int) else None
    coverage = {quantity: float(np.mean(every)) for quantity, every in held.items()}
    return Held(
        name,
        whole,
        way,
        same,
        len(sizes),
        float(np.mean(sizes)),
        float(np.median(sizes)),
        coverage,
        coverage.pop(TASKS),
        tuple(_levels(truths, low, high, measured.level)),
    )


def _medians(missed: Misses, source: Misses, level: float) -> Floats:
    """Return true medians, predicted ones, both ends, and 1 for algorithms, 0 for checkpoints, shape (5, algorithms).

    By what others than their group are off; transformed.
    """
    own, others = missed.errors[MEDIAN.name], source.errors[MEDIAN.name]
    result = np.empty((5, len(own.truths)))
    result[0], result[4] = own.truths, missed.fitted
    for group in dict.fromkeys(own.groups):
        rows = own.groups == group
        result[1, rows] = others.values(own.estimates[rows], group)
        result[2:4, rows] = others.interval(own.estimates[rows], own.scales[rows], level, group).T
    result[2:4] = np.minimum(result[1], np.maximum(0.0, result[2])), np.maximum(result[1], result[3])
    return result


def _levels(truths: Floats, low: Floats, high: Floats, level: float) -> Iterator[AtLevel]:
    outside = np.maximum(0.0, np.maximum(low - truths, truths - high))
    scores = log(10) * (high - low + 2 / (1 - level) * outside)
    for name, (least, most) in LEVELS.items():
        rows = (truths >= log10_score(least)) & (truths < log10_score(most))
        if not rows.any():
            yield AtLevel(name, 0, None, None, None)
            continue
        held, score = float(np.mean(outside[rows] == 0)), float(np.mean(scores[rows]))
        width = float(np.median(10 ** (high - low)[rows]))
        known = np.isfinite(width) and np.isfinite(score)
        yield AtLevel(name, int(rows.sum()), held, width if known else None, score if known else None)
