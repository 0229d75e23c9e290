"""Interface of readers: options, one run's log, and the result of reading."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from arcademark.errors import ArcadeMarkError
from arcademark.grouping import grouped
from arcademark.keywords import knowing
from arcademark.scores.table import ScoreTable, improper
from arcademark.wording import plural

Unit = Literal["episode", "average"]
DEFAULT_LAST: Mapping[Unit, int] = {"episode": 100, "average": 1}
"""Number of a log's last values that make the score: 100 episodes, or the last of a series of averages."""

LARGEST = 2.0**53
"""Largest absolute value of a score; whole numbers beyond it are not exact, so it is no count of points."""

MAX_CELLS_READ = 10_000_000
"""Maximum number of cells of a table; each takes up to 150 bytes while it is read."""

MAX_COLUMNS = 200_000
"""Maximum number of columns of a table."""

OPTION: Mapping[str, str] = {
    "algorithm": "algorithm= (--read algorithm=NAME)",
    "task": "task= (--read game=NAME)",
    "tasks": "tasks= (--read format=rliable --games A,B,…)",
    "format": "format= (--read format=NAME)",
    "pattern": "pattern= (--read pattern=…)",
    "tag": "tag= (--read tag=NAME)",
    "roles": "roles= (--read COLUMN=ROLE)",
    "table": "table= (--read table=NUMBER or HEADING)",
    "decimal": "decimal= (--read decimal=. or --read decimal=,)",
}
"""Options as messages name them: in Python and on the command line."""

Episodes = Mapping[tuple[str, str], tuple[NDArray[np.float64], ...]]
"""Episode scores by (algorithm, task), one array per run that has any, in the order of the table's run axis."""


class UnrecognisedError(ArcadeMarkError):
    """A whole file that holds no scores in any known format."""


@dataclass(frozen=True)
class Reading:
    """A score table, and the format (of `arcademark.scores.reading.FORMATS`) and files that it was read from.

    Parameters
    ----------
    notes : tuple of str
        Sentences: how episodes became scores, what is missing or was left out and why, where names were found.
    amounts : mapping of str to int
        Amounts read, by their noun in the singular: "row" of a table; "episode", "average" or "evaluation"
        of a log; "score" of arrays.
    episodes : mapping of (algorithm, task) to tuple of float array, shape (episodes,), or None
        The episode scores behind each cell, one array per run that has any; None where the file has none.
    runs : mapping of str to tuple of int
        For each algorithm the numbers (seeds) of its runs along the run axis.
    one_seed : frozenset of str
        Algorithms of which several runs on a task are of one seed, as the file says.
    ignored : tuple of str
        Names of the columns that have no part in the table.
    explained : tuple of str
        The role given to each column, and the reason.
    """

    table: ScoreTable
    format: str
    notes: tuple[str, ...]
    amounts: Mapping[str, int]
    episodes: Episodes | None
    files: tuple[Path, ...]
    runs: Mapping[str, tuple[int, ...]]
    one_seed: frozenset[str] = frozenset()
    ignored: tuple[str, ...] = ()
    explained: tuple[str, ...] = ()

    @classmethod
    def of_table(cls, table: ScoreTable, format: str, path: Path, notes: tuple[str, ...] = ()) -> Reading:
        """Return the reading of a file that holds a whole table, whose runs are numbered by their places."""
        runs = dict.fromkeys(table.algorithms, tuple(range(table.scores.shape[2])))
        return cls(table, format, notes, {"score": int(table.runs_present().sum())}, None, (path,), runs)

    @property
    def runs_per_task(self) -> str:
        """The number of runs per task: "1 run", "1 to 5 runs"."""
        present = self.table.runs_present()
        result = present[present > 0]
        low, high = (int(result.min()), int(result.max())) if result.size else (0, 0)
        return f"{low} to {high} runs" if low != high else plural(high, "run")

    @property
    def summary(self) -> str:
        """One line: "long table, 1,000 rows: 3 algorithms, 27 tasks, 1 to 5 runs"."""
        algorithms, tasks = len(self.table.algorithms), len(self.table.tasks)
        read = " and ".join(plural(number, noun) for noun, number in self.amounts.items())
        files = "" if len(self.files) == 1 else f"{plural(len(self.files), 'file')}, "
        return (
            f"{self.format}, {files}{read}: {plural(algorithms, 'algorithm')}, {plural(tasks, 'task')}, "
            f"{self.runs_per_task}"
        )

    @property
    def read_as(self) -> str:
        """One line: "Read as: 3 runs of 1 algorithm ('mine') on 4 games; ignored: rank"."""
        names, tasks = self.table.algorithms, len(self.table.tasks)
        ignored = f"; ignored: {listed(self.ignored, 8)}" if self.ignored else ""
        whose = f"{plural(len(names), 'algorithm')} ({listed(list(map(repr, names)))})"
        return f"Read as: {self.runs_per_task} of {whose} on {plural(tasks, 'game')}{ignored}"


@knowing()
@dataclass(frozen=True)
class Options:
    """Options of the caller for a file; None where the file itself decides.

    Parameters
    ----------
    canonical_task : callable
        From a task's name as written to the name it goes by in the table; raises `ArcadeMarkError` for one that it does
        not know. By default names are taken as written, and no path is searched for a game.
    algorithm, task : str, optional
        The algorithm and the task of all scores; they go before what a file says of itself.
    run : int, optional
        The run's number, likewise. A run that nothing numbers is run 0.
    last : int, optional
        Number of last episodes that a run's score averages, or of last rows or evaluations where the file has averages
        or evaluations. By default 100 episodes, or the last average or evaluation.
    tag : str, optional
        Series to read from a log with several.
    tasks : sequence of str, optional
        The order of the tasks in arrays that do not name them.
    pattern : str, optional
        Form of paths (or of runs' names in the file) that contain names, "{algorithm}/{game}/{seed}/monitor.csv"; "*"
        stands for anything within a name and "**" for anything. Files in a folder that do not match are left out.
    roles : mapping of str to str, optional
        Roles of columns (of `arcademark.scores.readers.words.role_names.ROLES`) that differ from what names and cells
        suggest.
    table : str, optional
        The table to read from a text with several, by number or heading.
    unknown_tasks : {"refuse", "leave out"}
        Treatment of tasks that `canonical_task` does not know.
    decimal : {".", ","}, optional
        Decimal mark of tables whose numbers do not show it.
    """

    canonical_task: Callable[[str], str] = str
    algorithm: str | None = None
    task: str | None = None
    run: int | None = None
    last: int | None = None
    tag: str | None = None
    tasks: Sequence[str] | None = None
    pattern: str | None = None
    roles: Mapping[str, str] | None = None
    table: str | None = None
    decimal: str | None = None
    unknown_tasks: Literal["refuse", "leave out"] = "refuse"

    def __post_init__(self) -> None:
        if self.last is not None and self.last < 1:
            raise ArcadeMarkError(f"last is {self.last}, expected at least 1: how many of the last episodes to average")
        for name, value in (("algorithm", self.algorithm), ("task", self.task), ("pattern", self.pattern)):
            if value is not None and not value.strip():
                raise ArcadeMarkError(f"{OPTION[name]} is empty; name one, or leave it out")
        if self.decimal not in (None, ".", ","):
            raise ArcadeMarkError(f"decimal is {self.decimal!r}, expected '.' or ','")

    def is_game(self, name: str) -> bool:
        """Return whether a name is known to be a task's, where tasks are known."""
        return is_task(name, self.canonical_task) and discerns(self.canonical_task)


@dataclass(frozen=True)
class Log:
    """The finite scores of one run on one task, in the order in which they were made; names are as the file has them.

    Parameters
    ----------
    unit : {"episode", "average"}
        Meaning of one value: an episode's score, or an average over several that the tool made.
    label : str
        Name of the run in a file that has several: a column, a run's name.
    times : float array, shape (values,), or None
        Time of each value, on a clock that logs in the same folder share: such logs are parts of one run.
    earlier : int or None
        Number of values before these in the file, if `values` are just those that make the score.
    steps : float array, shape (values,), or None
        The agent's steps in training behind each value.
    lengths : float array, shape (values,), or None
        Steps of the environment that each episode took.
    evaluations : (float array, float array) or None
        For a log of evaluations: the agent's steps before each, and its mean score; both of shape (evaluations,).
    series : str
        Name of the series of the values, of several.
    """

    path: Path
    values: NDArray[np.float64]
    unit: Unit
    algorithm: str | None = None
    task: str | None = None
    run: int | None = None
    label: str = ""
    times: NDArray[np.float64] | None = None
    earlier: int | None = None
    notes: tuple[str, ...] = ()
    steps: NDArray[np.float64] | None = None
    lengths: NDArray[np.float64] | None = None
    evaluations: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None
    series: str = ""

    @property
    def place(self) -> str:
        """The location, for messages."""
        return f"{self.path}, {self.label!r}" if self.label else str(self.path)


def score(place: str, value: object) -> float:
    """Return a value that was read as a score, NaN among them, if it can be one."""
    if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > LARGEST:
        raise ArcadeMarkError(f"{place}: {value!r} is no score; expected a number")
    return float(value)


def numbers_of_runs(keys: Iterable[tuple[str, str, int]]) -> dict[str, tuple[int, ...]]:
    """Return each algorithm's runs in ascending order, from (algorithm, task, run)."""
    return {name: tuple(sorted(set(runs))) for name, runs in grouped((key[0], key[2]) for key in keys).items()}


def listed(names: Sequence[object], most: int = 3) -> str:
    """Write the first few of some names: "a, b, c and 4 more"."""
    shown = ", ".join(str(name) for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def discerns(canonical_task: Callable[[str], str]) -> bool:
    """Return whether names of tasks are distinguished from others."""
    return not is_task("no task is named so", canonical_task) and canonical_task is not str


def refuse_more_cells(place: object, number: int) -> None:
    """Refuse a table of more than `MAX_CELLS_READ` cells."""
    if number > MAX_CELLS_READ:
        raise ArcadeMarkError(
            f"{place}: holds more than {MAX_CELLS_READ:,} cells, the most that are read; give a smaller table"
        )


def refuse_improper(place: str, names: Iterable[str]) -> None:
    """Refuse names that are too long or hold control characters; the error names the place."""
    for name in names:
        if wrong := improper(name):
            raise ArcadeMarkError(f"{place}: the name {wrong}")


def canonical(place: str, name: str, canonical_task: Callable[[str], str]) -> str:
    """Return the name that a task goes by; an error names the place where it is written."""
    try:
        return canonical_task(name)
    except ArcadeMarkError as error:
        raise ArcadeMarkError(f"{place}: {error}") from error


def is_task(name: str, canonical_task: Callable[[str], str]) -> bool:
    """Return whether a name is known to be a task's; without a list of tasks none is."""
    try:
        return canonical_task is not str and bool(canonical_task(name))
    except ArcadeMarkError:
        return False
