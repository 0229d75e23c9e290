"""Reads the table of a file: text with separators, columns or grids, a workbook or Parquet; of several, one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from arcademark.errors import ArcadeMarkError
from arcademark.files import MAX_BYTES
from arcademark.scores.readers.base import OPTION, UnrecognisedError, listed
from arcademark.scores.readers.content import MAX_TEXT_BYTES, WINDOWS, decode, encoding_of, read_bytes, read_head
from arcademark.scores.readers.sheets.delimited import parse_sheet
from arcademark.scores.readers.sheets.grid import Grid, sheet_of
from arcademark.scores.readers.sheets.grids import grids_in
from arcademark.scores.readers.sheets.parquet import parse_parquet
from arcademark.scores.readers.sheets.shapes import together
from arcademark.scores.readers.sheets.sheet import Sheet
from arcademark.scores.readers.sheets.workbooks import grids_of_workbook
from arcademark.scores.readers.words.column_names import ROWS, words_of
from arcademark.wording import plural

MAX_GRIDS = 50
"""Number of tables of a text that are searched for scores."""

WORKBOOKS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")
"""First bytes of workbooks."""


def read_sheet(
    path: Path, decimal: str | None = None, table: str | None = None, fits: Callable[[Sheet], bool] | None = None
) -> Sheet:
    """Read a table, its numbers with the decimal mark given, or with the one that they show.

    Of several in a text or workbook, `table` is the number or the heading of the one to read; else it is the only one
    that `fits`.
    """
    head = read_head(path)
    if head.startswith(b"PAR1"):
        return replace(parse_parquet(path, read_bytes(path, MAX_BYTES)), decimal=decimal)
    content = read_bytes(path, MAX_TEXT_BYTES)
    notes: tuple[str, ...] = ()
    if head.startswith(WORKBOOKS):
        found = grids_of_workbook(path, content)
    else:
        found = grids_in(decode(path, content, windows=True))
        notes = ("read as Windows-1252, for it is not UTF-8",) if encoding_of(content) == WINDOWS else ()
    sheet = _chosen(path, found, table, fits) if found else parse_sheet(path, content)
    return replace(sheet, decimal=decimal, notes=(*notes, *sheet.notes))


def _chosen(path: Path, found: Sequence[Grid], table: str | None, fits: Callable[[Sheet], bool] | None) -> Sheet:
    """Return the table that is asked for by number or heading, or the only one, or the only one that fits."""
    names = [f"{number} ({heading})" if heading else str(number) for number, (heading, _, _) in enumerate(found, 1)]
    asked = (table or "").strip().lower()
    meant = [one for number, one in enumerate(found, 1) if asked in (str(number), one.heading.lower())]
    others, lacking = "", list[Grid]()
    if table is None:
        meant = list(found)
        if len(found) > 1 and fits is not None:
            wrong = [_misfit(path, grid, fits) for grid in found[:MAX_GRIDS]]
            meant = [grid for grid, error in zip(found, wrong, strict=False) if error is None]
            meant = [grid for grid in meant if not grid.hidden] or meant
            errors = enumerate(wrong, 1)
            faults = {number: error for number, error in errors if error and not isinstance(error, UnrecognisedError)}
            if not meant and len(faults) == 1:
                raise next(iter(faults.values()))
            lacking = [found[number - 1] for number in faults]
            left = listed(list(map(str, faults)), MAX_GRIDS)
            others = f"; left out, with errors that {OPTION['table']} shows: {left}" if faults else ""
            stated = any(ROWS & {*words_of(grid.heading)} for grid in meant)  # of means, of normalised scores
            if len(meant) > 1 and not stated and (whole := together([sheet_of(path, grid) for grid in meant])):
                return whole
    if len(meant) != 1:
        if table is not None:
            said = f", {listed(names, 8)}, and {table!r} names none or several; choose one"
        elif likely := meant or lacking:
            fitting = [name for name, grid in zip(names, found, strict=True) if any(grid is one for one in likely)]
            some = "" if len(fitting) == len(found) else f", {len(fitting)} of them with scores"
            said = f"{some}, {listed(fitting, 8)}; choose one"
        else:
            said = f", {listed(names, 8)}, none with scores in a known form; for the reason choose one"
        raise ArcadeMarkError(f"{path}: holds {plural(len(found), 'table')}{said} with {OPTION['table']}")
    sheet = sheet_of(path, meant[0])
    chosen = names[found.index(meant[0])]
    notes = (f"of {plural(len(found), 'table')} number {chosen} is read{others}",) if len(found) > 1 else ()
    return replace(sheet, notes=(*sheet.notes, *notes))


def _misfit(path: Path, grid: Grid, fits: Callable[[Sheet], bool]) -> ArcadeMarkError | None:
    """Return what is wrong with a table; None if it holds scores."""
    try:
        return None if fits(sheet_of(path, grid)) else UnrecognisedError(f"{path}: no scores")
    except ArcadeMarkError as error:
        return error
