"""A table as it stands in a text or a workbook, and the sheet that it makes.

Conventions
-----------
* A grid is its heading (or caption, or sheet's name) and its rows: each the line in which it stands, and its cells.
* What spans several columns or rows stands in the first of them.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from arcademark.errors import ArcadeMarkError
from arcademark.scores.readers.sheets.shapes import check_title, shaped
from arcademark.scores.readers.sheets.sheet import Sheet, checked, named

_Row = tuple[int, list[str]]


class Grid(NamedTuple):
    """A table as it stands somewhere."""

    heading: str
    rows: list[_Row]
    hidden: bool = False


def sheet_of(path: Path, grid: Grid) -> Sheet:
    """Make a sheet of a grid: blank columns left out, short rows filled, and its first row the header."""
    rows = [(line, list(map(str.strip, cells))) for line, cells in grid.rows if any(map(str.strip, cells))]
    width = max((max(at for at, cell in enumerate(cells) if cell) + 1 for _, cells in rows), default=0)
    full = [(line, (cells + [""] * width)[:width]) for line, cells in rows]
    kept = [at for at in range(width) if any(cells[at] for _, cells in full)]
    if not full:
        raise ArcadeMarkError(f"{path}: the table is empty; expected a header and rows of scores")
    lines, table = [line for line, _ in full], [[cells[at] for at in kept] for _, cells in full]
    columns = tuple(map(list, zip(*table[1:], strict=True))) or tuple([] for _ in kept)
    check_title(str(path), grid.heading)
    header = tuple(map(named, table[0]))
    sheet = Sheet(path, header, columns, len(table) - 1, lambda row: lines[row + 1], "|")
    return checked(shaped(sheet), lines[0])
