"""Reads a user's own reference scores: what normalises a benchmark that no suite here has.

Conventions
-----------
* A CSV file in UTF-8 with a header and the columns ``task`` (or ``game``), ``low`` and ``high``, in any order and case;
  other columns are left alone. ``low`` scores 0 %, ``high`` 100 %; ``high`` may be the smaller one (less is better).
* Errors count rows as an editor counts lines: the header is row 1.
"""

from __future__ import annotations

import csv
import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from arcademark.errors import ArcadeMarkError, UnknownNameError

TASK = ("task", "game")
BOUNDS = ("low", "high")


@dataclass(frozen=True)
class OwnReferences:
    """The two scores between which each task is normalised.

    Parameters
    ----------
    source : str
        The file.
    low, high : mapping of task to float
        What scores 0 % and what scores 100 %, in the task's own unit; both of every task, in the file's order.
    """

    source: str
    low: Mapping[str, float]
    high: Mapping[str, float]


def read_references(path: str | os.PathLike[str], canonical_task: Callable[[str], str] = str) -> OwnReferences:
    """Read reference scores from a CSV file.

    Parameters
    ----------
    path : str or path
    canonical_task : callable, optional
        From a task's name as written to the name it goes by. By default names are taken as written.

    Raises
    ------
    ArcadeMarkError
        Where the file cannot be read, a column is missing, a task stands twice, a score is no finite number, or a
        task's two are equal; the message names file, row and column.
    """
    place = os.fspath(path)
    header, lines = _lines(place)
    columns = _columns(place, header)
    found: dict[str, tuple[float, float]] = {}
    rows: dict[str, int] = {}
    for row, cells in lines:
        if len(cells) != len(header):
            raise ArcadeMarkError(f"{place}, row {row}: {len(cells)} cells, expected {len(header)} as in the header")
        task = _task(place, row, header[columns[0]], cells[columns[0]], canonical_task)
        if task in found:
            raise ArcadeMarkError(f"{place}, row {row}: {task!r} stands in row {rows[task]} already; keep one of them")
        low, high = (_number(place, row, header[column], cells[column]) for column in columns[1:])
        if low == high:
            raise ArcadeMarkError(
                f"{place}, row {row}: low and high of {task!r} are both {low:g}, so no score has a place between them"
            )
        found[task], rows[task] = (low, high), row
    if not found:
        raise ArcadeMarkError(
            f"{place}: there are no rows below the header; expected a task, its low and its high score"
        )
    low_scores, high_scores = ({task: pair[end] for task, pair in found.items()} for end in (0, 1))
    return OwnReferences(place, low_scores, high_scores)


def _lines(place: str) -> tuple[list[str], list[tuple[int, list[str]]]]:
    try:
        with open(place, encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, strict=True)
            lines = [(reader.line_num, row) for row in reader if any(cell.strip() for cell in row)]
    except OSError as error:
        raise ArcadeMarkError(f"{place}: cannot read the references ({error.strerror or error})") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise ArcadeMarkError(f"{place}: not a CSV file in UTF-8 ({error}); save it as one") from error
    if not lines:
        raise ArcadeMarkError(f"{place}: the file is empty; expected the columns task, low and high")
    return [name.strip() for name in lines[0][1]], lines[1:]


def _columns(place: str, header: list[str]) -> tuple[int, int, int]:
    lowered = [name.lower() for name in header]
    wanted = [next((name for name in names if name in lowered), None) for names in (TASK, ("low",), ("high",))]
    missing = [name for name, there in zip(("task", *BOUNDS), wanted, strict=True) if there is None]
    if missing:
        raise ArcadeMarkError(
            f"{place}, row 1: no column {' and no column '.join(map(repr, missing))} among {', '.join(header)!r}; "
            "expected task, low, high"
        )
    task, low, high = (lowered.index(name) for name in wanted if name)
    return task, low, high


def _task(place: str, row: int, column: str, cell: str, canonical_task: Callable[[str], str]) -> str:
    if not cell.strip():
        raise ArcadeMarkError(f"{place}, row {row}, column {column!r}: the cell is empty, expected a task")
    try:
        return canonical_task(cell.strip())
    except UnknownNameError as error:
        raise ArcadeMarkError(f"{place}, row {row}, column {column!r}: {error}") from error


def _number(place: str, row: int, column: str, cell: str) -> float:
    try:
        number = math.nan if "_" in cell else float(cell)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise ArcadeMarkError(f"{place}, row {row}, column {column!r}: {cell!r} is no score; expected a number")
    return number
