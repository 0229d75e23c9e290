"""Makes sheets of JSON: a list of records, or an object of objects with a number at each end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from arcademark.errors import ArcadeMarkError
from arcademark.scores.readers.base import MAX_CELLS_READ
from arcademark.scores.readers.sheet import Sheet, bare, checked


def nested_sheet(path: Path, content: Any) -> Sheet | None:
    """Return the sheet of records (a row each) or of nested objects (a row an outer name); None where it is neither.

    Rows are counted from 1. What a record or an object lacks, or holds as null, is an empty cell.
    """
    if isinstance(content, Mapping):
        corner, labels, rows = [""], [[str(name)] for name in content], list(content.values())
    elif isinstance(content, Sequence) and not isinstance(content, str):
        corner, labels, rows = [], [[] for _ in content], list(content)
    else:
        return None
    if not rows or not all(isinstance(row, Mapping) and row for row in rows):
        return None
    names = list(dict.fromkeys(name for row in rows for name in row))
    if len(names) * len(rows) > MAX_CELLS_READ:
        raise ArcadeMarkError(
            f"{path}: holds more than {MAX_CELLS_READ:,} cells, the most that are read; give a smaller table"
        )
    cells = [[row.get(name) for name in names] for row in rows]
    if any(isinstance(cell, Mapping | list | bool) for row in cells for cell in row):
        return None
    texts = [
        [*label, *("" if cell is None else str(cell) for cell in row)] for label, row in zip(labels, cells, strict=True)
    ]
    header = tuple(bare(str(name)) for name in (*corner, *names))
    return checked(Sheet(path, header, tuple(map(list, zip(*texts, strict=True))), len(texts), lambda row: row + 1), 1)
