"""Reads a user's own reference scores, which normalise a benchmark that is not among the suites.

Conventions
-----------
* The file is a table (CSV, TSV, semicolons or Parquet, as score tables are) with a header and the columns ``task`` (or
  ``game``, …), ``low`` (or ``random``) and ``high`` (or ``human``), in any order and case; other columns are ignored.
  ``low`` scores 0 %, ``high`` 100 %; ``high`` is smaller than ``low`` if less is better, as with costs.
* Errors number rows as an editor numbers lines: the header is row 1.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from arcademark.errors import ArcadeMarkError
from arcademark.scores.readers.base import Options
from arcademark.scores.readers.piped import place
from arcademark.scores.readers.sheets.reading import read_sheet
from arcademark.scores.readers.sheets.sheet import Sheet
from arcademark.scores.readers.tables.interpretation import Interpretation, Value
from arcademark.scores.readers.tables.layouts import build
from arcademark.scores.readers.words.column_names import NAMES, key

LOW = ("low", "random")
HIGH = ("high", "human")
"""Names of the columns with the scores of 0 % and of 100 %."""


@dataclass(frozen=True)
class OwnReferences:
    """Reference scores of 0 % (`low`) and 100 % (`high`) of every task in a file, in the task's own unit."""

    source: str
    low: Mapping[str, float]
    high: Mapping[str, float]


def read_references(path: str | os.PathLike[str], decimal: str | None = None) -> OwnReferences:
    """Read reference scores from a table ("-" is standard input); `decimal` is that of `Options`.

    ArcadeMarkError if a column or a score is missing, or the two scores of a task are equal.
    """
    sheet = read_sheet(place(path), decimal)
    task, *columns = (_column(sheet, names) for names in (NAMES["game"], LOW, HIGH))
    sheet.check_filled()
    values = tuple(Value(column, sheet.header[column]) for column in columns)
    table = build(sheet, Interpretation({"game": task}, values), Options()).table
    bounds = table.scores[..., 0].tolist()
    for name, low, high in zip(table.tasks, *bounds, strict=True):
        if math.isnan(low) or math.isnan(high):
            raise ArcadeMarkError(
                f"{sheet.path}: {name!r} lacks a score; expected numbers such as 1234.5, or leave the task out"
            )
        if low == high:
            raise ArcadeMarkError(
                f"{sheet.path}: low and high of {name!r} are both {low:g}, so scores cannot be normalised; write "
                "two that differ, or leave the task out"
            )
    return OwnReferences(str(sheet.path), *(dict(zip(table.tasks, scores, strict=True)) for scores in bounds))


def _column(sheet: Sheet, names: Sequence[str]) -> int:
    known = list(map(key, sheet.header))
    present = [name for name in names if name in known]
    if not present:
        raise ArcadeMarkError(
            f"{sheet.path}, row 1: no column {names[0]!r} among {', '.join(sheet.header)!r}; expected the columns "
            "task, low (or random) and high (or human)"
        )
    if len(present) > 1:
        raise ArcadeMarkError(
            f"{sheet.path}, row 1: the columns {present[0]!r} and {present[1]!r} mean the same; keep one of them"
        )
    return known.index(present[0])
