"""Options of a score analysis, and the dataset that they prepare: scores read and selected, with their benchmark."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypedDict

import numpy as np
from msgspec import structs
from numpy.typing import NDArray

from arcademark import wording
from arcademark.analysis.cells import PlayedAlgorithm
from arcademark.analysis.tables import loading
from arcademark.analysis.tables.benchmarks import USUAL, Benchmark, load_benchmark, of_tasks
from arcademark.analysis.tables.loading import Scores, Sources
from arcademark.analysis.tables.protocols import PlayConditions
from arcademark.analysis.uncertainty import Over
from arcademark.errors import ArcadeMarkError, UnknownNameError
from arcademark.keywords import Names, knowing
from arcademark.metrics.aggregate import mean_over_runs
from arcademark.metrics.uncertainty.samples import padded
from arcademark.scores.table import ScoreTable
from arcademark.suite import protocols, subsets, tasks
from arcademark.suite.task_suites import Task, TaskSuite, load_suite
from arcademark.suite.tasks import listed

MAX_ALGORITHMS = 1_000
"""Maximum number of algorithms shown or compared at once."""

MAX_RUNS = 100_000
"""Maximum number of runs of an algorithm on a task."""

MAX_SCORES = 1_000_000
"""Maximum number of scores over all algorithms, tasks and runs."""

COMMON = "common"
"""Word, in place of games, for those on which every algorithm has a score."""


@knowing()
@dataclass(frozen=True)
class ScoreOptions:
    """Options of a score analysis.

    suite: Suite that the scores are measured by: one of this project; None for that of the runs, else atari-57.
    references: A user's own reference scores instead (columns task, low, high).
    algorithms: Algorithms to show, in this order; all by default.
    games: A suite, a subset or games, separated by commas or one by one; "common" for those that every algorithm has;
        all by default.
    metrics: Normalised scores to show; the benchmark's usual ones by default.
    protocol: Name of the protocol of algorithms whose protocol the table does not state.
    frames: Training frames, of all algorithms or by algorithm.
    seed: Seed of the resampling behind the intervals.
    resamples: Number of resamples; the usual number if None.
    method: Method of intervals; the recommended one if None.
    model: Source of estimated medians where games are missing: "any", all games that have scores, or a published
        model's name; None for no estimates.
    tolerance: Share of single runs that the tolerance interval is to cover, a fraction.
    every_variant: True to show each of the Const and Perturb agents of runs, and not just the best on each game.
    reading: Options of `arcademark.scores.reading.read_tables`.
    """

    suite: str | None = None
    references: str | os.PathLike[str] | None = None
    algorithms: Names | None = None
    games: Names | None = None
    metrics: Names | None = None
    protocol: str | None = None
    frames: int | Mapping[str, int] | None = None
    seed: int = 0
    resamples: int | None = None
    method: str | None = None
    model: str | None = "any"
    tolerance: float | None = None
    every_variant: bool = False
    reading: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.seed < 0:
            raise ArcadeMarkError(f"seed {self.seed}: expected 0 or more")


class ScoreKeywords(TypedDict, total=False):
    """The fields of `ScoreOptions` as keywords, for type checkers."""

    suite: str | None
    references: str | os.PathLike[str] | None
    algorithms: Names | None
    games: Names | None
    metrics: Names | None
    protocol: str | None
    frames: int | Mapping[str, int] | None
    seed: int
    resamples: int | None
    method: str | None
    model: str | None
    tolerance: float | None
    every_variant: bool
    reading: Mapping[str, Any]


@dataclass(frozen=True)
class Dataset:
    """A table of scores with its benchmark, ready to be analysed.

    unscored: Tasks that the table names but has no score on; empty if only some games were requested.
    """

    scores: Scores
    benchmark: Benchmark
    unscored: tuple[str, ...] = ()

    @property
    def algorithms(self) -> tuple[str, ...]:
        """The algorithms' names."""
        return self.scores.table.algorithms

    @property
    def tasks(self) -> tuple[str, ...]:
        """The tasks' names; those of the benchmark first, in its order."""
        return self.scores.table.tasks

    @cached_property
    def _runs(self) -> dict[str, dict[str, NDArray[np.float64]]]:
        by_name: dict[str, dict[str, NDArray[np.float64]]] = {}
        for name, rows in zip(self.algorithms, self.scores.table.scores, strict=True):
            known = ((task, row[~np.isnan(row)]) for task, row in zip(self.tasks, rows, strict=True))
            by_name[name] = {task: row for task, row in known if row.size}
        return by_name

    @cached_property
    def _means(self) -> dict[str, dict[str, float]]:
        return {
            name: dict(zip(known, mean_over_runs(padded(known.values())).tolist(), strict=True)) if known else {}
            for name, known in self._runs.items()
        }

    def source(self, name: str) -> str:
        """Return where an algorithm's scores come from."""
        return self.scores.table.sources[self.algorithms.index(name)]

    def play(self, name: str) -> PlayConditions:
        """Return the conditions under which an algorithm's scores were made."""
        return self.scores.get(name).play

    def runs(self, name: str) -> dict[str, NDArray[np.float64]]:
        """Return an algorithm's scores by task, one per run; tasks without any are left out."""
        return self._runs[name]

    def varying(self, name: str) -> dict[str, tuple[Over, NDArray[np.float64]]]:
        """Return by task the kind of the values that vary independently, and these values.

        They are runs' scores or, of a single run whose episodes are known, these episodes' scores.
        """
        known = self.scores.get(name)
        over: Over = "all_episodes" if known.played and not known.played.trained else "episodes"
        return {
            task: ("runs", row) if row.size > 1 or task not in known.lone else (over, known.lone[task])
            for task, row in self.runs(name).items()
        }

    def episodes(self, name: str) -> dict[str, NDArray[np.float64]]:
        """Return the episodes' scores by task of an agent that was never trained; {} for other agents."""
        played = self.scores.get(name).played
        if played is None or played.trained:
            return {}
        return {task: values for task, (_, values) in self.varying(name).items()}

    def samples(self, name: str) -> dict[str, NDArray[np.float64]]:
        """Return by task the samples of tests: runs or, for an agent that was never trained, its episodes."""
        return self.episodes(name) or self.runs(name)

    def shared(self, names: Iterable[str]) -> list[str]:
        """Return the tasks on which all of some algorithms have scores."""
        rows = [self.runs(name) for name in names]
        return [task for task in self.tasks if all(task in row for row in rows)]

    def elsewhere(self, name: str) -> bool:
        """Return True if an algorithm's scores come neither from a run nor from the catalogue."""
        return not self.scores.get(name).played and not self.scores.get(name).qualified

    @property
    def played(self) -> tuple[PlayedAlgorithm, ...]:
        """The algorithms of runs, in order."""
        return tuple(item for name in self.algorithms if (item := self.scores.get(name).played))

    @property
    def unit(self) -> str:
        """The unit of the runs' lengths, "frame" or "step"."""
        return next((item.run.record.protocol.unit for item in self.played), "frame")

    def means(self, name: str) -> dict[str, float]:
        """Return an algorithm's scores averaged over runs; tasks without any are left out."""
        return self._means[name]


def explained(places: Sequence[str], options: ScoreOptions) -> list[str]:
    """Describe how each file's columns, or logs, are read, and why."""
    from arcademark.scores.reading import read_tables

    measure = load_benchmark(options.suite or USUAL, options.references, options.reading.get("decimal"))
    unknown = "leave out" if any(options.games or ()) else "refuse"
    lines = []
    for place in places:
        read = read_tables(place, canonical_task=measure.canonical, unknown_tasks=unknown, **options.reading)
        lines += [f"{place}: {read.summary}", read.read_as, *(f"  {text}" for text in (*read.explained, *read.notes))]
    return lines


def prepare(places: Sources | Scores, options: ScoreOptions) -> Dataset:
    """Read scores, unless they are read already, and load their benchmark; raise if no score is left."""
    suite = _task_suite(places, options)
    if suite is None:
        measure = load_benchmark(options.suite or USUAL, options.references, options.reading.get("decimal"))
    else:
        measure = of_tasks(suite)
    frames = {"": options.frames} if isinstance(options.frames, int) else dict(options.frames or {})
    read = loading.load(
        places,
        measure.canonical,
        every_variant=options.every_variant,
        some_tasks=any(options.games or ()),
        **options.reading,
    )
    chosen = [_meant(name, read.table.algorithms) for name in options.algorithms or ()]
    if len(set(chosen)) < len(chosen):
        twice = next(name for name in chosen if chosen.count(name) > 1)
        raise ArcadeMarkError(f"the algorithm {twice!r} is named twice; name each once")
    frames = {name and _meant(name, read.table.algorithms): number for name, number in frames.items()}
    protocol = None if options.protocol is None else protocols.protocol(options.protocol)
    known = loading.declare(read, protocol, frames)
    table = known.table.select(algorithms=chosen or None)
    _check_size(table)
    present = ~np.isnan(table.mean_over_runs())
    for place, name in enumerate(table.algorithms):
        if played := known.get(name).played:  # what is still to be played is shown, too
            present[place] |= [task in played.cells for task in table.tasks]
    games = ",".join(options.games or ())
    kept = _tasks(games, table.algorithms, table.tasks, present, measure)
    unscored = () if games else tuple(task for task in table.tasks if task not in kept)
    table = table.select(tasks=kept)
    if not table.runs_present().any() and not (kept and known.runs):
        raise ArcadeMarkError(
            f"no scores left of {', '.join(known.sources) or 'the table'}; check --algorithms and --games"
        )
    if not measure.atari and not set(table.tasks) & set(measure.tasks):
        raise ArcadeMarkError(
            f"{measure.view.name} has references for {wording.shortened(measure.tasks)}, but for none of the scored "
            f"tasks, {wording.shortened(table.tasks)}; use the same task names in both files"
        )
    measure = measure.beside(table.algorithms, table.tasks, table.mean_over_runs())
    return Dataset(replace(known, table=table), measure, unscored)


def _check_size(table: ScoreTable) -> None:
    number, most = table.runs_present(), len(table.algorithms)
    if most > MAX_ALGORITHMS:
        raise ArcadeMarkError(
            f"{most:,} algorithms, expected at most {MAX_ALGORITHMS:,} at once; name some of them (--algorithms)"
        )
    if number.size and number.max() > MAX_RUNS:
        row, column = np.unravel_index(int(number.argmax()), number.shape)
        raise ArcadeMarkError(
            f"{table.algorithms[row]!r} has {number.max():,} runs on {table.tasks[column]!r}, expected at most "
            f"{MAX_RUNS:,}; if these are episodes, name a column 'episode' and give a row's run in 'run'"
        )
    if number.sum() > MAX_SCORES:
        raise ArcadeMarkError(
            f"{number.sum():,} scores, expected at most {MAX_SCORES:,} at once; name some algorithms (--algorithms)"
        )


def _task_suite(places: Sources | Scores, options: ScoreOptions) -> TaskSuite | None:
    """Return the suite beyond Atari that is requested, or that runs were played on; None on Atari."""
    if options.references is not None:
        return None
    of_atari = options.suite is None or options.suite.lower() in tasks.suites()
    if options.suite is not None and not of_atari:
        return load_suite(options.suite)
    played = loading.suites_of(places)
    if not any(played.values()):
        return None
    if options.suite is not None:
        place, suite = next((place, suite) for place, suite in played.items() if suite is not None)
        raise ArcadeMarkError(
            f"--suite {options.suite} is of Atari games, and {place} was played on tasks of {suite.name}; leave "
            "--suite out to measure by its own"
        )
    if on_atari := [place for place, suite in played.items() if suite is None and loading.is_there(place)]:
        raise ArcadeMarkError(
            f"{on_atari[0]} has scores of Atari games, other runs have scores of other tasks; report them separately"
        )
    first, *others = [suite for suite in played.values() if suite is not None]
    every: dict[str, Task] = {}
    for task in (task for suite in (first, *others) for task in suite.tasks.values()):
        same = every.setdefault(task.id, task)
        if (same.played(), same.low, same.high) != (task.played(), task.low, task.high):
            raise ArcadeMarkError(
                f"task {task.id!r} differs between these runs in its environment, arguments, limit or references; "
                "report them separately"
            )
    order = dict.fromkeys(task for suite in (first, *others) for task in suite.tasks)
    return structs.replace(first, tasks={task: every[task] for task in order})


def _meant(name: str, known: Sequence[str]) -> str:
    """Return the algorithm of this name: an exact match, else the only match that ignores case."""
    if name in known:
        return name
    alike = [candidate for candidate in known if candidate.casefold() == name.casefold()]
    if len(alike) > 1:
        raise ArcadeMarkError(
            f"the algorithm {name!r} may be {wording.listing(map(repr, alike), 'or')}; use the exact name"
        )
    if not alike:
        raise UnknownNameError("algorithm", name, known)
    return alike[0]


def _tasks(
    games: str, algorithms: Sequence[str], known: Sequence[str], present: NDArray[np.bool_], measure: Benchmark
) -> list[str]:
    """Return the tasks to keep, all with scores: the benchmark's in its order, then others."""
    scored = [task for task, column in zip(known, present.T, strict=True) if column.any()]
    wanted = set(scored)
    if games == COMMON:
        wanted = {task for task, column in zip(known, present.T, strict=True) if column.all()}
        if not wanted:
            raise ArcadeMarkError(
                f"--games common: no {measure.noun} has scores of all of {', '.join(algorithms)}; name {measure.noun}s"
            )
    elif games:
        named = subsets.resolve_tasks(games) if measure.atari else _own_tasks(games, known, measure)
        wanted &= set(named)
    order = [*measure.tasks, *(task for task in scored if task not in measure.tasks)]
    return [task for task in order if task in wanted]


def _own_tasks(games: str, known: Sequence[str], measure: Benchmark) -> list[str]:
    chosen: list[str] = []
    for name in listed(games, "--games"):
        task = measure.canonical(name)
        if task not in known and name.lower() not in measure.groups:
            raise UnknownNameError(measure.noun, task, known)
        chosen += (task,) if task in known else measure.groups[name.lower()]
    return chosen
