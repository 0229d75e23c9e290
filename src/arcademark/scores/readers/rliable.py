"""Reads scores as rliable stores them: for each algorithm an array of shape (runs, tasks).

Conventions
-----------
* ``.npz``: one array per algorithm. ``.npy``: one array, its algorithm given by the caller. JSON: an object from
  algorithm to nested lists.
* Arrays do not name their tasks: the caller gives their order. Arrays named after tasks hold one algorithm's runs.
* NaN is a missing score.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from arcademark.errors import ArcadeMarkError, one_line
from arcademark.scores.readers.arrays import load_npy, load_npz
from arcademark.scores.readers.base import (
    LARGEST,
    MAX_CELLS_READ,
    OPTION,
    Options,
    Reading,
    canonical,
    is_task,
    refuse_improper,
)
from arcademark.scores.readers.content import read_head
from arcademark.scores.table import ScoreTable, blank
from arcademark.wording import plural


def read_file(path: Path, options: Options) -> Reading:
    """Read an ``.npz`` file with one array per algorithm, or an ``.npy`` file with one algorithm's array."""
    if read_head(path).startswith(b"PK"):
        return read_arrays(path, load_npz(path), options)
    array = load_npy(path)
    if options.algorithm is None:
        raise ArcadeMarkError(
            f"{path}: nothing says which algorithm this array is of; say it with {OPTION['algorithm']}"
        )
    return read_arrays(path, {options.algorithm: array}, options)


def read_object(path: Path, content: Mapping[str, Any], options: Options) -> Reading:
    """Read the object of a JSON file."""
    read: dict[str, Any] = {}
    for name, value in content.items():
        try:
            read[name] = np.array(msgspec.convert(value, list[list[float | None]]), dtype=np.float64)
        except ValueError as error:
            raise ArcadeMarkError(
                f"{path}, {name!r}: expected lists of numbers, of shape (runs, tasks), or one per task; use null where "
                f"one is missing ({one_line(str(error))})"
            ) from None
    return read_arrays(path, read, options)


def read_arrays(path: Path, arrays: Mapping[str, NDArray[Any]], options: Options) -> Reading:
    """Make a table of arrays of shape (runs, tasks)."""
    if not arrays:
        raise ArcadeMarkError(f"{path}: the file is empty; expected an array of shape (runs, tasks) for each algorithm")
    refuse_improper(str(path), arrays)
    if all(is_task(name, options.canonical_task) for name in arrays):
        arrays, options = _of_games(path, arrays, options)
    if options.tasks is None:
        raise ArcadeMarkError(
            f"{path}: nothing says which games the columns of its arrays are; give their order with {OPTION['tasks']}"
        )
    tasks = tuple(canonical("tasks", task, options.canonical_task) for task in options.tasks)
    parts = [_checked(path, name, array, len(tasks)) for name, array in arrays.items()]
    runs = max(len(part) for part in parts)
    scores = blank((len(parts), len(tasks), runs))
    for row, part in enumerate(parts):
        scores[row, :, : len(part)] = part.T
    n = len(parts)
    notes: tuple[str, ...] = ("runs are numbered by their rows",)
    if missing := int(np.isnan(scores).sum()):
        notes += (f"{plural(missing, 'score')} of {scores.size:,} missing (NaN, or fewer runs)",)
    table = ScoreTable(tuple(arrays), tasks, scores, ("",) * n, (str(path),) * n)
    return Reading.of_table(table, "rliable", path, notes)


def _of_games(path: Path, arrays: Mapping[str, NDArray[Any]], options: Options) -> tuple[dict[str, Any], Options]:
    """Return arrays of one algorithm's runs on a game each as one array, and their order of games."""
    flat = all(array.ndim == 1 and array.dtype.kind in "fiu" for array in arrays.values())
    if options.algorithm is None or not flat:
        raise ArcadeMarkError(
            f"{path}: the arrays are named after games, such as {next(iter(arrays))!r}; name arrays of shape (runs, "
            f"tasks) after algorithms, or give one list of runs for each game and say whose with {OPTION['algorithm']}"
        )
    shape = (max(map(len, arrays.values())), len(arrays))
    if shape[0] * shape[1] > MAX_CELLS_READ:
        raise ArcadeMarkError(
            f"{path}: {shape[0]:,} runs on {plural(shape[1], 'game')}, expected at most {MAX_CELLS_READ:,} scores; "
            "give fewer runs"
        )
    scores = np.full(shape, np.nan)
    for column, array in enumerate(arrays.values()):
        scores[: len(array), column] = array
    return {options.algorithm: scores}, replace(options, tasks=tuple(arrays))


def _checked(path: Path, name: str, array: NDArray[Any], tasks: int) -> NDArray[np.float64]:
    """Return an array of shape (runs, tasks) whose values can be scores."""
    fits = array.ndim == 2 and array.shape[1] == tasks and array.size
    if array.dtype.kind not in "fiu" or not fits:
        hint = "; it looks transposed" if array.ndim == 2 and array.shape[0] == tasks else ""
        raise ArcadeMarkError(
            f"{path}, {name!r}: an array of shape {array.shape} and type {array.dtype}, expected numbers of shape "
            f"(runs, {tasks}), a column for each of the {tasks} tasks given{hint}"
        )
    values = np.asarray(array, dtype=np.float64)
    for at in np.argwhere(np.abs(values) > LARGEST).tolist():
        raise ArcadeMarkError(
            f"{path}, {name!r}, element {at}: {values[tuple(at)]} is no score; expected a number, or NaN"
        )
    return values
