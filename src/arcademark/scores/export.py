"""Writes score tables in the formats that other tools read.

Conventions
-----------
* A table that a format cannot represent is refused, and no file is left half written.
* A missing score is an empty cell in CSV and null in Parquet. rliable's arrays cannot represent one.
* Runs are numbered from 0 in the order of the table.
"""

from __future__ import annotations

import csv
import io
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from arcademark.errors import ArcadeMarkError
from arcademark.files import write_output
from arcademark.scores.formulas import escaped
from arcademark.scores.readers.base import Options
from arcademark.scores.readers.sheets.sheet import Sheet, named
from arcademark.scores.readers.tables.roles import interpret
from arcademark.scores.table import ScoreTable

RLIABLE = ".npz"
"""Suffix of a file with rliable's arrays."""

Missing = Literal["refuse", "truncate"]
LONG = ("algorithm", "task", "run", "score", "protocol")
"""Columns of a long file; ``protocol`` only if the table has one."""


def to_rliable(table: ScoreTable, *, missing: Missing = "refuse") -> dict[str, NDArray[np.float64]]:
    """Return each algorithm's scores in rliable's format: shape (runs, tasks), tasks in the table's order.

    An algorithm with fewer runs on some tasks than on others is an ArcadeMarkError if `missing` is "refuse"; with
    "truncate", the first n runs of every task are kept, n being the smallest number. One without any score on a task is
    an ArcadeMarkError in both cases. The number of runs may differ between algorithms.
    """
    if missing not in ("refuse", "truncate"):
        raise ArcadeMarkError(f"missing is {missing!r}, expected 'refuse' or 'truncate'")
    return {name: _array(table, row, missing) for row, name in enumerate(table.algorithms)}


def _array(table: ScoreTable, row: int, missing: Missing) -> NDArray[np.float64]:
    name, scores = table.algorithms[row], table.scores[row]
    present = ~np.isnan(scores)
    number = present.sum(axis=1)
    if not number.size or number.min() == 0:
        empty = [task for task, runs in zip(table.tasks, number, strict=True) if not runs]
        raise ArcadeMarkError(
            f"{name!r} has no score on {', '.join(empty[:5]) or 'any task'}; rliable's arrays cannot lack scores: "
            "select the tasks that all algorithms have (--games common)"
        )
    if number.max() > number.min() and missing == "refuse":
        fewest, most = int(np.argmin(number)), int(np.argmax(number))
        raise ArcadeMarkError(
            f"{name!r} has {number[fewest]} runs on {table.tasks[fewest]} and {number[most]} on {table.tasks[most]}; "
            f"rliable's arrays cannot lack scores: keep {number[fewest]} of every task, as "
            "missing='truncate' does in Python"
        )
    runs = int(number.min())
    return np.stack([line[known][:runs] for line, known in zip(scores, present, strict=True)], axis=1)


def write_rliable(table: ScoreTable, path: str | os.PathLike[str], *, missing: Missing = "refuse") -> None:
    """Write `to_rliable`'s arrays to an ``.npz`` file, one per algorithm; the tasks are in the table's order."""
    target = _named(path, (RLIABLE,))
    arrays = to_rliable(table, missing=missing)

    def save(draft: Path) -> None:
        with draft.open("wb") as file:
            np.savez(file, **arrays)  # type: ignore[arg-type]

    write_output(target, save)


def write_long(table: ScoreTable, path: str | os.PathLike[str]) -> None:
    """Write one row per score to a ``.csv``, ``.tsv`` or ``.parquet`` file that `read_tables` reads.

    A missing score has no row, unless an algorithm has no score at all on a task: that task has one row without score.
    """
    target = _table_file(path, table)
    columns = LONG if any(table.protocols) else LONG[:-1]
    _write_rows(target, columns, [row[: len(columns)] for row in _long_rows(table)])


def _long_rows(table: ScoreTable) -> Iterator[tuple[str, str, int, float | None, str]]:
    for a, algorithm in enumerate(table.algorithms):
        for t, task in enumerate(table.tasks):
            scores = table.scores[a, t].tolist()
            present = [(run, score) for run, score in enumerate(scores) if not math.isnan(score)]
            for run, score in present or [(0, None)]:
                yield algorithm, task, run, score, table.protocols[a]


def write_wide(table: ScoreTable, path: str | os.PathLike[str]) -> None:
    """Write the tasks × algorithms of one run to a ``.csv``, ``.tsv`` or ``.parquet`` file that `read_tables` reads."""
    target = _table_file(path, table)
    if table.scores.shape[2] > 1:
        raise ArcadeMarkError(
            f"{target}: an algorithm has up to {table.scores.shape[2]} runs, but a wide file has one score per cell; "
            "write a long file"
        )
    means = table.mean_over_runs().T
    columns = (list(table.tasks), *means.T)
    sheet = Sheet(target, ("task", *map(named, table.algorithms)), columns, len(table.tasks), lambda row: row + 2)
    try:
        values = interpret(sheet, Options()).values
    except ArcadeMarkError:
        values = ()
    taken = {"task"}
    read = {value.column: value.name for value in values if value.run is None}
    for column, name in enumerate(table.algorithms, start=1):
        if name.lower() in taken or read.get(column) != name:
            raise ArcadeMarkError(
                f"{target}: the name {name!r} is another column's or would be read as one; rename that algorithm"
            )
        taken.add(name.lower())
    cells = [[None if math.isnan(score) else score for score in row] for row in means.tolist()]
    _write_rows(
        target, ("task", *table.algorithms), [(task, *row) for task, row in zip(table.tasks, cells, strict=True)]
    )


def _table_file(path: str | os.PathLike[str], table: ScoreTable) -> Path:
    target = _named(path, (".csv", ".tsv", ".parquet"))
    for name in (*table.algorithms, *table.tasks):
        if not name.strip() or name != name.strip():
            raise ArcadeMarkError(f"{target}: the name {name!r} is blank or has blanks around it; rename it")
    return target


def _named(path: str | os.PathLike[str], suffixes: tuple[str, ...]) -> Path:
    target = Path(path)
    if target.suffix not in suffixes:
        raise ArcadeMarkError(f"{target}: expected a file named {' or '.join(f'*{suffix}' for suffix in suffixes)}")
    if target.is_dir():
        raise ArcadeMarkError(f"{target}: is a folder; name a file")
    return target


def _write_rows(target: Path, columns: tuple[str, ...], rows: Sequence[Sequence[object]]) -> None:
    if target.suffix == ".parquet":
        _write_parquet(target, {name: [row[at] for row in rows] for at, name in enumerate(columns)})
        return
    text = io.StringIO()
    writer = csv.writer(text, delimiter="\t" if target.suffix == ".tsv" else ",", lineterminator="\n")
    writer.writerows([["" if cell is None else escaped(cell) for cell in row] for row in (columns, *rows)])

    def save(draft: Path) -> None:
        draft.write_bytes(text.getvalue().encode())

    write_output(target, save)


def _write_parquet(target: Path, columns: Mapping[str, Sequence[object]]) -> None:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise ArcadeMarkError(
            f"{target}: writing Parquet needs pyarrow; pip install '.[readers]', or write a .csv file"
        ) from None
    content = pyarrow.table(dict(columns))
    write_output(target, lambda draft: pyarrow.parquet.write_table(content, draft))
