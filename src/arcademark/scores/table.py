"""The score table: algorithm × task × run, with missing scores.

Conventions
-----------
* Axes are always (algorithm, task, run). A run is one seed; on Atari, its score is the mean over a trial's episodes.
* NaN is the only mark of a missing score. No function here replaces or drops one unless its docstring states so.
* Runs are numbered separately for each algorithm: run 0 of two algorithms need not have the same seed.
"""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar
from unicodedata import category

import numpy as np
from numpy.typing import NDArray

from arcademark.errors import MAX_QUOTED_CHARS, ArcadeMarkError, UnknownNameError, one_line
from arcademark.keywords import Names, knowing, quoted, taken

_Name = TypeVar("_Name", bound=Hashable)

MAX_NAME = 2 * MAX_QUOTED_CHARS
"""Largest number of characters of a name: an algorithm's, with its settings and, if it is not unique, its source."""

MAX_CELLS = 20_000_000
"""Largest number of cells of a table (160 MB)."""

ScoresByName = Mapping[str, Mapping[str, float | Sequence[float] | NDArray[np.float64]]]
"""Scores by algorithm and task: one, or one per run."""


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """Raw scores of algorithms on tasks.

    Parameters
    ----------
    algorithms, tasks : tuple of str
        Unique names along axes 0 and 1, without control characters.
    scores : float array, shape (len(algorithms), len(tasks), runs)
        One finite score per run (on Atari, the mean over a trial's episodes), in the task's own unit; NaN if missing.
        Algorithms with fewer runs are padded with NaN. The table keeps its own read-only copy.
    protocols, sources : tuple of str
        Label of the protocol of each algorithm's scores, and their source; "" if unknown.

    Raises
    ------
    ArcadeMarkError
        If shapes disagree, a name is repeated or improper, or a score is infinite.
    """

    algorithms: tuple[str, ...]
    tasks: tuple[str, ...]
    scores: NDArray[np.float64]
    protocols: tuple[str, ...]
    sources: tuple[str, ...]

    def __post_init__(self) -> None:
        for field in ("algorithms", "tasks", "protocols", "sources"):
            object.__setattr__(self, field, taken(getattr(self, field), Names, field))
        _check_unique("algorithm", self.algorithms)
        _check_unique("task", self.tasks)
        try:
            scores = np.array(self.scores, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            raise ArcadeMarkError(f"scores {quoted(self.scores)}: expected an array of numbers") from None
        expected = (len(self.algorithms), len(self.tasks))
        if scores.ndim != 3 or scores.shape[:2] != expected:
            raise ArcadeMarkError(
                f"score table: scores have shape {scores.shape}, expected (algorithms, tasks, runs) = "
                f"({expected[0]}, {expected[1]}, runs)"
            )
        for label, names in (("algorithm", self.algorithms), ("task", self.tasks), ("protocol", self.protocols)):
            for name in names:
                if wrong := improper(name):
                    raise ArcadeMarkError(f"score table: the {label} {wrong}")
        for label, values in (("protocols", self.protocols), ("sources", self.sources)):
            if len(values) != len(self.algorithms):
                raise ArcadeMarkError(
                    f"score table: {len(values)} {label} for {len(self.algorithms)} algorithms, expected one each"
                )
        if np.isinf(scores).any():
            algorithm, task, run = np.argwhere(np.isinf(scores))[0]
            raise ArcadeMarkError(
                f"score table: the score of {self.algorithms[algorithm]!r} on {self.tasks[task]!r}, run {run}, is "
                "infinite, expected a finite number, or NaN where missing"
            )
        scores.setflags(write=False)
        object.__setattr__(self, "scores", scores)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ScoreTable):
            return NotImplemented
        fields = ("algorithms", "tasks", "protocols", "sources")
        alike = all(getattr(self, name) == getattr(other, name) for name in fields)
        return alike and np.array_equal(self.scores, other.scores, equal_nan=True)

    __hash__ = None  # type: ignore[assignment]

    @classmethod
    def from_rows(
        cls,
        rows: Iterable[tuple[str, str, int, float]],
        *,
        protocols: Mapping[str, str] | None = None,
        sources: Mapping[str, str] | None = None,
    ) -> ScoreTable:
        """Build a table from (algorithm, task, run, score) rows in any order; a repeated one is an ArcadeMarkError.

        Algorithms and tasks are in the order in which they first appear, an algorithm's runs (such as seeds) in
        ascending order, so that a position is the same run on every task. Scores without a row are NaN. An algorithm
        that is not in `protocols` or `sources` has "".
        """
        cells: dict[tuple[str, str, int], float] = {}
        for algorithm, task, run, score in rows:
            if (algorithm, task, run) in cells:
                raise ArcadeMarkError(f"two scores for {algorithm!r} on {task!r}, run {run}; expected one")
            cells[algorithm, task, run] = score
        rows_of = _numbered(algorithm for algorithm, _, _ in cells)
        columns_of = _numbered(task for _, task, _ in cells)
        runs: dict[str, set[int]] = {name: set() for name in rows_of}
        for algorithm, _, run in cells:
            runs[algorithm].add(run)
        places = {name: _numbered(sorted(numbers)) for name, numbers in runs.items()}
        scores = blank((len(rows_of), len(columns_of), max(map(len, places.values()), default=0)))
        for (algorithm, task, run), score in cells.items():
            scores[rows_of[algorithm], columns_of[task], places[algorithm][run]] = score
        labels = [tuple((names or {}).get(name, "") for name in rows_of) for names in (protocols, sources)]
        return cls(tuple(rows_of), tuple(columns_of), scores, *labels)

    @classmethod
    @knowing()
    def from_mapping(cls, scores: ScoresByName) -> ScoreTable:
        """Build a table from scores by algorithm and task, as in ``{"DQN": {"pong": [18.9, 19.3], "freeway": 31.8}}``.

        A task has a score, or one per run; NaN or None is a missing one.
        """
        rows = []
        for algorithm, by_task in scores.items():
            if not isinstance(by_task, Mapping):
                raise ArcadeMarkError(
                    f"scores[{algorithm!r}]: {type(by_task).__name__} given, expected a mapping of task to its scores, "
                    "as in {'pong': [18.9, 19.3]}"
                )
            for task, values in by_task.items():
                runs = _runs(f"scores[{algorithm!r}][{task!r}]", values)
                rows += [(str(algorithm), str(task), run, score) for run, score in enumerate(runs)]
        if not rows:
            raise ArcadeMarkError("a table without scores; expected such as {'DQN': {'pong': [18.9, 19.3]}}")
        return cls.from_rows(rows)

    @classmethod
    def from_any(cls, scores: Any) -> ScoreTable:
        """Return a table from a table, scores by algorithm and task, or a DataFrame."""
        if isinstance(scores, ScoreTable):
            return scores
        return cls.from_mapping(scores) if isinstance(scores, Mapping) else cls.from_dataframe(scores)

    @classmethod
    def from_dataframe(cls, frame: Any) -> ScoreTable:
        """Build a table from a pandas or polars DataFrame or Series, or an object whose ``to_dict()`` returns columns.

        It is read as a CSV file would be: one row per score (algorithm, game, score, run), or wide.
        """
        from arcademark.scores.readers.frames import read_frame

        return read_frame(frame).table

    @knowing()
    def to_dataframe(self, library: Literal["pandas", "polars"] = "pandas") -> Any:
        """Return a DataFrame of "pandas" or "polars", which must be installed; `from_dataframe` reads it.

        It has one row per score, with the columns algorithm, task, run and score; a missing score has no row.
        """
        try:
            frames = importlib.import_module(library)
        except ImportError:
            raise ArcadeMarkError(f"{library} is not installed; install it, as in pip install {library}") from None
        places = np.argwhere(~np.isnan(self.scores))
        columns: dict[str, list[Any]] = {
            "algorithm": [self.algorithms[place] for place in places[:, 0]],
            "task": [self.tasks[place] for place in places[:, 1]],
            "run": places[:, 2].tolist(),
            "score": self.scores[tuple(places.T)].tolist(),
        }
        return frames.DataFrame(columns)

    def __repr__(self) -> str:
        """Describe the table's size."""
        algorithms, tasks, runs = self.scores.shape
        return f"<ScoreTable: {algorithms} algorithms, {tasks} tasks, {runs} runs at most>"

    @knowing()
    def select(self, *, algorithms: Names | None = None, tasks: Names | None = None) -> ScoreTable:
        """Return a table of the named algorithms and tasks, in that order; None keeps all."""
        rows = _positions("algorithm", self.algorithms if algorithms is None else algorithms, self.algorithms)
        columns = _positions("task", self.tasks if tasks is None else tasks, self.tasks)
        return ScoreTable(
            tuple(self.algorithms[i] for i in rows),
            tuple(self.tasks[j] for j in columns),
            self.scores[np.ix_(rows, columns)],
            tuple(self.protocols[i] for i in rows),
            tuple(self.sources[i] for i in rows),
        )

    @knowing()
    def rename(self, names: Mapping[str, str]) -> ScoreTable:
        """Return a table with algorithms renamed; those not in the mapping keep their names."""
        _positions("algorithm", tuple(names), self.algorithms)
        return dataclasses.replace(self, algorithms=tuple(names.get(name, name) for name in self.algorithms))

    def runs_present(self) -> NDArray[np.int64]:
        """Count the runs that have a score, shape (algorithms, tasks)."""
        return np.asarray(np.count_nonzero(~np.isnan(self.scores), axis=2), dtype=np.int64)

    def mean_over_runs(self) -> NDArray[np.float64]:
        """Average the scores over the runs that have one, shape (algorithms, tasks); NaN if none has."""
        present = self.runs_present()
        totals = np.nansum(self.scores, axis=2)
        return np.where(present > 0, totals / np.maximum(present, 1), np.nan)


def concatenate(tables: Sequence[ScoreTable]) -> ScoreTable:
    """Concatenate tables whose algorithms all have different names.

    The tasks are the union of theirs, in the order in which they first appear; missing scores are NaN.
    """
    owners: dict[str, str] = {}
    for table in tables:
        for name, source in zip(table.algorithms, table.sources, strict=True):
            if name in owners:
                raise ArcadeMarkError(
                    f"two tables contain an algorithm named {name!r} (from {owners[name] or 'an unnamed source'} and "
                    f"from {source or 'an unnamed source'}); rename one of them"
                )
            owners[name] = source
    places = _numbered(task for table in tables for task in table.tasks)
    runs = max((table.scores.shape[2] for table in tables), default=0)
    scores = blank((len(owners), len(places), runs))
    first = 0
    for table in tables:
        columns = [places[task] for task in table.tasks]
        rows = range(first, first + len(table.algorithms))
        scores[np.ix_(rows, columns, range(table.scores.shape[2]))] = table.scores
        first = rows.stop
    return ScoreTable(
        tuple(owners),
        tuple(places),
        scores,
        tuple(protocol for table in tables for protocol in table.protocols),
        tuple(owners.values()),
    )


def blank(shape: tuple[int, int, int]) -> NDArray[np.float64]:
    """Return an array of NaN, the scores of a table; ArcadeMarkError if it has more than `MAX_CELLS` cells."""
    if math.prod(shape) > MAX_CELLS:
        algorithms, tasks, runs = shape
        raise ArcadeMarkError(
            f"{algorithms:,} algorithms on {tasks:,} tasks with up to {runs:,} runs make a table of "
            f"{math.prod(shape):,} cells, expected at most {MAX_CELLS:,}; read fewer at once"
        )
    return np.full(shape, np.nan)


def _runs(place: str, values: object) -> list[float]:
    runs = np.empty((0, 0))
    if not isinstance(values, str | bytes | Mapping):
        with contextlib.suppress(TypeError, ValueError, OverflowError):
            runs = np.atleast_1d(np.asarray(values, dtype=np.float64))
    if runs.ndim != 1:
        raise ArcadeMarkError(f"{place}: {values!r} given, expected a score or a list of them, one per run")
    if not runs.size:
        raise ArcadeMarkError(f"{place}: there is no score; leave the task out, or give one per run")
    if np.isinf(runs).any():
        raise ArcadeMarkError(f"{place}[{int(np.argmax(np.isinf(runs)))}]: an infinite score; expected a number")
    return [float(score) for score in runs]


def improper(name: str) -> str:
    """Return the fault of a name and its remedy; "" if it has none.

    Faults are more than `MAX_NAME` characters, control characters, and characters that reverse the direction of
    writing: a terminal would show the text around them otherwise.
    """
    if len(name) > MAX_NAME:
        return f"{one_line(name, 60)!r} is too long for a name; expected at most {MAX_NAME:,} characters"
    hidden = next((char for char in name if category(char) in _HIDDEN or char in _TURNING), None)
    if hidden is None:
        return ""
    return f"{name!r} contains the control character U+{ord(hidden):04X}; take it out of the name"


_HIDDEN = frozenset({"Cc", "Cs", "Zl", "Zp"})
_TURNING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def _check_unique(kind: str, names: Sequence[str]) -> None:
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise ArcadeMarkError(f"score table: {kind} {repeated[0]!r} is named twice; expected unique names")


def _numbered(names: Iterable[_Name]) -> dict[_Name, int]:
    return {name: position for position, name in enumerate(dict.fromkeys(names))}


def _positions(kind: str, names: Sequence[str], known: tuple[str, ...]) -> list[int]:
    places = _numbered(known)
    if unknown := [name for name in names if name not in places]:
        raise UnknownNameError(kind, unknown[0], known)
    return [places[name] for name in names]
