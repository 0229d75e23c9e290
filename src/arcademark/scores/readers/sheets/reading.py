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
from arcademark.scores.readers.sheets.unnamed import lists_in
from arcademark.scores.readers.sheets.workbooks import grids_of_workbook
from arcademark.scores.readers.words.column_names import ROWS, words_of
from arcademark.wording import plural

MAX_GRIDS = 50
"""Number of tables of a text that are searched for scores."""

WORKBOOKS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")
"""First bytes of workbooks."""


def read_sheet(
    path: Path,
    decimal: str | None = None,
    table: str | None = None,
    fits: Callable[[Sheet], bool] | None = None,
    is_game: Callable[[str], bool] = lambda _: False,
) -> Sheet:
    """Read a table, its numbers with the decimal mark given, or with the one that they show.

    Of several in a text or workbook, `table` is the number or the heading of the one to read; else it is the only one
    that `fits`. Lists of what `is_game` with scores are tables, too.
    """
    head = read_head(path)
    if head.startswith(b"PAR1"):
        return replace(parse_parquet(path, read_bytes(path, MAX_BYTES)), decimal=decimal)
    content = read_bytes(path, MAX_TEXT_BYTES)
    notes: tuple[str, ...] = ()
    if head.startswith(WORKBOOKS):
        found = grids_of_workbook(path, content)
    else:
        text = decode(path, content, windows=True)
        found = [*grids_in(text), *lists_in(text, is_game)]
        notes = ("read as Windows-1252, for it is not UTF-8",) if encoding_of(content) == WINDOWS else ()
    sheet = _chosen(path, found, table, fits) if found else parse_sheet(path, content)
    return replace(sheet, decimal=decimal, notes=(*notes, *sheet.notes))


def _chosen(path: Path, found: Sequence[Grid], table: str | None, fits: Callable[[Sheet], bool] | None) -> Sheet:
    """Return the table that is asked for by number or heading, or the only one, or the only one that fits."""
    names = {number: f"{number} ({one.heading})" if one.heading else str(number) for number, one in enumerate(found, 1)}
    meant, faults = list(names), dict[int, ArcadeMarkError]()
    if table is not None:
        asked = table.strip().lower()
        meant = [number for number in names if asked in (str(number), found[number - 1].heading.lower())]
    elif len(found) > 1 and fits is not None:
        wrong = {number: _misfit(path, found[number - 1], fits) for number in names if number <= MAX_GRIDS}
        faults = {at: error for at, error in wrong.items() if error and not isinstance(error, UnrecognisedError)}
        fitting = [number for number, error in wrong.items() if error is None]
        meant = [number for number in fitting if not found[number - 1].hidden] or fitting
        if not meant and len(faults) == 1:
            raise next(iter(faults.values()))
        grids = [found[number - 1] for number in meant]
        stated = any(ROWS & {*words_of(grid.heading)} for grid in grids)  # of means, of normalised scores
        if len(grids) > 1 and not stated and (whole := together([sheet_of(path, grid) for grid in grids])):
            return whole
    if len(meant) != 1:
        if table is not None:
            which = f", {listed([*names.values()], 8)}, and {table!r} names none or several; choose one"
        elif likely := meant or list(faults):
            some = "" if len(likely) == len(found) else f", {len(likely)} of them with scores"
            which = f"{some}, {listed([names[number] for number in likely], 8)}; choose one"
        else:
            which = f", {listed([*names.values()], 8)}, none with scores in a known form; for the reason choose one"
        raise ArcadeMarkError(f"{path}: holds {plural(len(found), 'table')}{which} with {OPTION['table']}")
    sheet = sheet_of(path, found[meant[0] - 1])
    if len(found) == 1:
        return sheet
    note = f"of {plural(len(found), 'table')} number {names[meant[0]]} is read"
    if faults:
        note += f"; left out, with errors that {OPTION['table']} shows: {listed(list(map(str, faults)), MAX_GRIDS)}"
    return replace(sheet, notes=(*sheet.notes, note))


def _misfit(path: Path, grid: Grid, fits: Callable[[Sheet], bool]) -> ArcadeMarkError | None:
    """Return what is wrong with a table; None if it holds scores."""
    try:
        return None if fits(sheet_of(path, grid)) else UnrecognisedError(f"{path}: no scores")
    except ArcadeMarkError as error:
        return error
