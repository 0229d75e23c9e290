"""Reads a user's own reference scores: what normalises a benchmark that no suite here has.

Conventions
-----------
* A table (CSV, TSV, semicolons or Parquet, as score tables) with a header and the columns ``task`` (or ``game``, …),
  ``low`` (or ``random``) and ``high`` (or ``human``), in any order and case; other columns are left alone. ``low``
  scores 0 %, ``high`` 100 %; ``high`` is the smaller one where less is better, as with costs.
* Errors count rows as an editor counts lines: the header is row 1.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from arcademark.errors import ArcadeMarkError
from arcademark.scores.readers.base import canonical
from arcademark.scores.readers.delimited import read_sheet
from arcademark.scores.readers.layouts import TASK
from arcademark.scores.readers.piped import place
from arcademark.scores.readers.sheet import Sheet

LOW = ("low", "random")
HIGH = ("high", "human")
"""Names of the columns with what scores 0 % and 100 %."""


@dataclass(frozen=True)
class OwnReferences:
    """What scores 0 % and what scores 100 %, of every task of a file, in the task's own unit."""

    source: str
    low: Mapping[str, float]
    high: Mapping[str, float]


def read_references(
    path: str | os.PathLike[str], canonical_task: Callable[[str], str] = str, decimal: str | None = None
) -> OwnReferences:
    """Read reference scores from a table ("-" is standard input); the other arguments are as in `Options`."""
    sheet = read_sheet(place(path), decimal)
    task, low, high = (_column(sheet, names) for names in (TASK, LOW, HIGH))
    if not sheet.size:
        raise ArcadeMarkError(
            f"{sheet.path}: there are no rows below the header; expected a task, its low and its high score"
        )
    codes, names, first = sheet.names(task)
    tasks = [
        canonical(sheet.place(int(row), task), name, canonical_task) for name, row in zip(names, first, strict=True)
    ]
    rows: dict[str, int] = {}
    for row, code in enumerate(codes.tolist()):
        if (name := tasks[code]) in rows:
            raise ArcadeMarkError(
                f"{sheet.path}, row {sheet.line(row)}: {name!r} stands in row {sheet.line(rows[name])} already; keep "
                "one of them"
            )
        rows[name] = row
    sheet = sheet.among([low, high])
    bounds = [_scores(sheet, column) for column in (low, high)]
    for name, row in rows.items():
        if bounds[0][row] == bounds[1][row]:
            raise ArcadeMarkError(
                f"{sheet.path}, row {sheet.line(row)}: low and high of {name!r} are both {bounds[0][row]:g}, so no "
                "score has a place between them; write two that differ, or leave the task out"
            )
    return OwnReferences(
        str(sheet.path), dict(zip(rows, bounds[0], strict=True)), dict(zip(rows, bounds[1], strict=True))
    )


def _column(sheet: Sheet, names: Sequence[str]) -> int:
    there = [name for name in names if name in sheet.lowered]
    if not there:
        raise ArcadeMarkError(
            f"{sheet.path}, row 1: no column {names[0]!r} among {', '.join(sheet.header)!r}; expected the columns "
            "task, low (or random) and high (or human)"
        )
    if len(there) > 1:
        raise ArcadeMarkError(
            f"{sheet.path}, row 1: the columns {there[0]!r} and {there[1]!r} mean the same; keep one of them"
        )
    return sheet.lowered.index(there[0])


def _scores(sheet: Sheet, column: int) -> list[float]:
    values = sheet.scores(column)
    if np.isnan(values).any():
        row = int(np.argmax(np.isnan(values)))
        raise ArcadeMarkError(
            f"{sheet.place(row, column)}: there is no score; expected a number such as 1234.5, or leave the task out"
        )
    return [float(value) for value in values]
