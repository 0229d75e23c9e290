"""Reads tables: text with commas, tabs, semicolons, bars or blanks between cells, grids in other text; or Parquet.

Conventions
-----------
* Text is UTF-8, or UTF-16 with its byte order mark; else Windows-1252, if letters beyond ASCII stand by themselves.
* Errors count rows as an editor counts lines: the header of a CSV file is row 1.
* Lines that begin with ``#``, ``//`` or ``%`` above the header, or stand alone below it, are comments. A title above
  the header, empty rows, and empty columns at the end are left out.
"""

from __future__ import annotations

import contextlib
import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice, takewhile
from pathlib import Path
from typing import Any

from arcademark.errors import ArcadeMarkError, one_line
from arcademark.files import MAX_BYTES
from arcademark.scores.formulas import unescaped
from arcademark.scores.readers import numerals
from arcademark.scores.readers.base import SAID, UnrecognisedError, listed, refuse_more_cells
from arcademark.scores.readers.column_names import ROWS, role_of, words_of
from arcademark.scores.readers.content import MAX_TEXT_BYTES, WINDOWS, decode, encoding_of, read_bytes, read_head
from arcademark.scores.readers.grids import Grid, grids_in, sheet_of
from arcademark.scores.readers.parquet import parse_parquet
from arcademark.scores.readers.shapes import check_title, shaped, together
from arcademark.scores.readers.sheet import Sheet, bare, checked, named
from arcademark.scores.readers.workbooks import grids_of_workbook
from arcademark.wording import plural

_CHUNK = 256
"""Rows parsed at a time: so few that they are gone before the garbage collector looks for them."""

_SEPARATOR = re.compile(r"sep=(.)", re.IGNORECASE)
_COMMENTS = ("#", "//", "%")
_SAMPLED, _START = 10, 100_000
"""Lines, and characters at most, from which the separator is told."""

_BEHIND = re.compile(r"\s*(?:±|\+/-)\s*|(?<=\d) [(\[][±\d.,;\s−–-]+[)\]]")
"""Spreads behind numbers, in text whose columns stand apart by blanks."""
_TITLES = 3
"""Lines of titles above a header at most."""

MAX_GRIDS = 50
"""Tables of a text of which is tried whether they hold scores."""

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


def parse_sheet(path: Path, content: bytes, skip: int = 0) -> Sheet:
    """Parse delimited text, below `skip` lines that are not part of the table."""
    text = decode(path, content, windows=True)
    skip, separator = _begin(text, skip, Path(path).suffix.lower() == ".tsv")
    for title in text[:_START].splitlines()[:skip]:
        check_title(str(path), title)
    if separator == " ":
        return _in_columns(path, text, skip)
    prose: list[str] = []
    reader = _kept(_rows(content, skip, separator, strict=True), prose)
    header: tuple[str, ...] = ()
    columns: list[list[str]] = []
    notes: tuple[str, ...] = ()

    def line(row: int) -> int:
        return skip + _line(content, skip, separator, row)

    try:
        while filled := list(islice(reader, _CHUNK)):
            if not header:
                header = tuple(unescaped(named(name)) for name in filled.pop(0))
                if header[0].startswith(_COMMENTS) and len(header) > 1:
                    header = (header[0].lstrip("#/% "), *header[1:])
                columns = [[] for _ in header]
            width = len(header)
            for number, row in enumerate(filled):
                if len(row) == width:
                    continue
                if len(row) > len(header) and not any(cell.strip() for cell in row[len(header) :]):
                    del row[len(header) :]
                if len(row) < len(header) and number == len(filled) - 1 and _cut_short(text, reader):
                    filled.pop()
                    notes = ("the last row is cut short and left out",)
                elif len(row) != len(header):
                    raise ArcadeMarkError(
                        f"{path}, row {line(len(columns[0]) + number)}: {plural(len(row), 'cell')}, expected "
                        f"{len(header)} as in the header{_hint(separator, len(row), len(header))}"
                    )
            for column, cells in zip(columns, zip(*filled, strict=True), strict=False):
                column.extend(cells)
            refuse_more_cells(path, len(columns) * len(columns[0]))
    except csv.Error as error:
        raise ArcadeMarkError(f"{path}, row {skip + _broken(content, skip, separator)}: {_damage(error)}") from error
    if not header:
        raise ArcadeMarkError(f"{path}: the file is empty; expected a header and rows of scores")
    if prose:
        notes = (
            *notes,
            f"{plural(len(prose), 'line')} of text left out: {listed([one_line(text, 60) for text in prose])}",
        )
    while len(header) > 1 and not header[-1] and not any(cell.strip() for cell in columns[-1]):
        header = header[:-1]
        columns.pop()
    sheet = shaped(Sheet(path, header, tuple(columns), len(columns[0]), line, separator, notes=notes))
    return checked(sheet, skip + 1)


def _begin(text: str, skip: int, tabs: bool) -> tuple[int, str]:
    """Return the number of lines above the header, and the separator of cells; a blank if only blanks separate."""
    lines = text[:_START].splitlines()[skip:]
    comments = len(list(takewhile(lambda line: line.startswith(_COMMENTS) or not line.strip(), lines)))
    if comments == len(lines):
        return skip, ","
    if named := _SEPARATOR.fullmatch(lines[comments].strip()):
        return skip + comments + 1, named[1]
    rest = lines[comments : comments + _SAMPLED]
    separator = "\t" if tabs and "\t" in rest[0] else _separator(rest)
    if separator != " ":
        widths = [len(_cells(line, separator)) for line in rest]
        titles = len(list(takewhile(lambda width: width <= 1, widths)))
        if titles and len(set(widths[titles:]) - {0}) == 1:  # of a title, and blank lines
            return skip + comments + titles, separator
        above = lines[comments - 1] if comments else ""
        if above.startswith(_COMMENTS) and len(_cells(above, separator)) == widths[0] > 1:
            comments -= 1  # a header that begins with a mark, as NumPy writes it
    return skip + comments, separator


def _separator(lines: Sequence[str]) -> str:
    """Return the separator that cuts the first lines into equally many cells, else the header into most."""
    if _header_in_columns(lines) is not None:
        return " "
    start = "\n".join(lines)
    widths = {separator: _widths(start, separator) for separator in ",\t;|"}
    even = {separator: cells for separator, cells in widths.items() if len(set(cells)) == 1 and cells[0] > 1}
    if not even and max(cells[0] for cells in widths.values()) == 1:
        titles = min(len(list(takewhile(lambda number: number == 1, cells[:_TITLES]))) for cells in widths.values())
        widths = {separator: cells[titles:] or [1] for separator, cells in widths.items()}
        if max(cells[0] for cells in widths.values()) == 1 and len(lines) > 1 and " " in lines[0].strip():
            return " "
    return max(even or widths, key=lambda separator: widths[separator][0])


def _header_in_columns(lines: Sequence[str]) -> int | None:
    """Return where names of columns stand apart by blanks, "Game DQN PPO" above "Bank Heist 455.0 1,358.0"."""
    for at, line in enumerate(lines[:-1]):
        words, below = line.split(), next(filter(None, map(str.split, lines[at + 1 :])), [])
        named = len(words) > 1 and role_of(words[0]) in ("game", "algorithm") and not set(line) & set(",\t;|")
        if named and len(below) > 1 and numerals.is_number(below[-1]):
            return at
    return None


def _cells(line: str, separator: str) -> list[str]:
    try:
        return next(csv.reader([line], delimiter=separator), [])
    except csv.Error:
        return []


def _in_columns(path: Path, text: str, skip: int) -> Sheet:
    """Parse text in columns, apart by blanks: by two or more, else by any; the name of an index may be missing."""
    lines = [(at, line) for at, line in enumerate(text.splitlines(), 1) if at > skip and line.strip()]
    lines = lines[_header_in_columns([line for _, line in lines[:_SAMPLED]]) or 0 :]  # below a title
    lines = lines[:1] + [(at, line) for at, line in lines[1:] if not line.startswith(_COMMENTS)]
    above = text.splitlines()[skip - 1].lstrip("#/% ") if skip else ""
    for gap in (r"\s{2,}|\t", r"\s+"):
        rows = [
            (at, _split_at(gap, _BEHIND.sub(lambda found: "".join(found[0].split()), line.strip())))
            for at, line in lines
        ]
        if len(rows) > 2 and len(rows[1][1]) == 1 < len(rows[2][1]) and role_of(rows[1][1][0]) in ("game", "algorithm"):
            named = rows.pop(1)[1]  # as pandas prints the name of an index
            rows[0][1][:1] = named if len(rows[0][1]) == len(rows[1][1]) else [*named, rows[0][1][0]]
        if gap == r"\s+" and role_of(rows[0][1][0]) in ("game", "algorithm"):
            rows[1:] = [(at, _joined(cells, len(rows[0][1]))) for at, cells in rows[1:]]
        widths = Counter(len(cells) for _, cells in rows[1:])
        width = max(widths, default=0)
        if above and len(re.split(gap, above)) == width > 1:
            rows.insert(0, (skip, re.split(gap, above)))
        if width > 1 and len(widths) == 1 and len(rows[0][1]) in (width - 1, width):
            rows[0][1][:0] = [""] * (width - len(rows[0][1]))
            return sheet_of(path, Grid("", rows))
    return checked(
        Sheet(path, (bare(lines[0][1]),), ([line for _, line in lines[1:]],), len(lines) - 1, lambda row: row + 2), 1
    )


def _split_at(gap: str, line: str) -> list[str]:
    """Split a line at blanks, but not within quotes, as R writes names."""
    if '"' not in line:
        return re.split(gap, line)
    return [quoted or word for quoted, word in re.findall(r'"([^"]*)"|([^\s"]+)', line)]


def _joined(cells: list[str], width: int) -> list[str]:
    """Join the words of a name before the last numbers of a row: Bank Heist 455.0 1,358.0."""
    name, numbers = cells[: 1 - width], cells[1 - width :]
    whole = name and not numerals.is_number(name[-1])
    whole = whole and all(numerals.is_number(cell) or numerals.is_missing(cell) for cell in numbers)
    return [" ".join(name), *numbers] if whole else cells


def _cut_short(text: str, reader: Iterator[Any]) -> bool:
    """Return whether a text ends within a row, as the file of a running job may."""
    return not text.endswith(("\n", "\r")) and next(reader, None) is None


def _chosen(path: Path, found: Sequence[Grid], table: str | None, fits: Callable[[Sheet], bool] | None) -> Sheet:
    """Return the table that is asked for by number or heading, or the only one, or the only one that fits."""
    names = [f"{number} ({heading})" if heading else str(number) for number, (heading, _, _) in enumerate(found, 1)]
    asked = (table or "").strip().lower()
    meant = [one for number, one in enumerate(found, 1) if asked in (str(number), one.heading.lower())]
    if table is None:
        meant = list(found)
        if len(found) > 1 and fits is not None:
            wrong = [_misfit(path, grid, fits) for grid in found[:MAX_GRIDS]]
            meant = [grid for grid, error in zip(found, wrong, strict=False) if error is None]
            meant = [grid for grid in meant if not grid.hidden] or meant
            faults = [error for error in wrong if error and not isinstance(error, UnrecognisedError)]
            if not meant and len(faults) == 1:
                raise faults[0]
            stated = any(ROWS & {*words_of(grid.heading)} for grid in meant)  # of means, of normalised scores
            if len(meant) > 1 and not stated and (whole := together([sheet_of(path, grid) for grid in meant])):
                return whole
    if len(meant) != 1:
        said = "" if table is None else f", and {table!r} names none or several"
        raise ArcadeMarkError(
            f"{path}: holds {plural(len(found), 'table')}, {listed(names, 8)}{said}; choose one with {SAID['table']}"
        )
    sheet = sheet_of(path, meant[0])
    chosen = names[found.index(meant[0])]
    notes = (f"of {plural(len(found), 'table')} number {chosen} is read",) if len(found) > 1 else ()
    return replace(sheet, notes=(*sheet.notes, *notes))


def _misfit(path: Path, grid: Grid, fits: Callable[[Sheet], bool]) -> ArcadeMarkError | None:
    """Return what is wrong with a table; None if it holds scores."""
    try:
        return None if fits(sheet_of(path, grid)) else UnrecognisedError(f"{path}: no scores")
    except ArcadeMarkError as error:
        return error


def _lines(content: bytes, skip: int) -> Iterator[str]:
    lines = io.TextIOWrapper(io.BytesIO(content), encoding=encoding_of(content), newline="")
    return islice(lines, skip, None)


def _rows(content: bytes, skip: int, separator: str, *, strict: bool = False) -> Any:
    return csv.reader(_lines(content, skip), delimiter=separator, strict=strict)


def _hint(separator: str, cells: int, expected: int) -> str:
    if separator == "," and cells > expected:
        return "; put names that hold a comma in quotes, and write numbers without thousands separators"
    return "; correct or remove the row"


def _widths(text: str, separator: str) -> list[int]:
    try:
        rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=separator) if _filled(row)]
    except csv.Error:
        rows = []
    return [len(row) for row in rows] or [1]


def _line(content: bytes, skip: int, separator: str, row: int) -> int:
    """Return the line in which a data row ends; looked for when an error is to name it."""
    reader = _rows(content, skip, separator)
    lines = (reader.line_num for _ in _kept(reader, []))
    return int(next(islice(lines, row + 1, None)))


def _kept(rows: Iterable[list[str]], prose: list[str]) -> Iterator[list[str]]:
    """Yield the rows of a table: below its header none that hold no cells, but a line of text, which `prose` gets."""
    width = 0
    for row in rows:
        if (len(row) > 1 and row[0] > "$") or _filled(row):  # most rows begin with a letter
            if len(row) == 1 < width and _is_prose(row[0]):
                prose.append(row[0])
            else:
                width = width or len(row)
                yield row


def _is_prose(line: str) -> bool:
    """Return whether a line is a remark: words, one number at most, which is not the last, and no other separator."""
    words = line.split()
    numbers = [numerals.is_number(word) or numerals.is_missing(word) for word in words]
    return len(words) > 1 and sum(numbers) < 2 and not numbers[-1] and not set(line) & set(";\t|")


def _broken(content: bytes, skip: int, separator: str) -> int:
    """Return the line in which the first row begins that is no row of CSV."""
    reader = _rows(content, skip, separator, strict=True)
    begins = 1
    with contextlib.suppress(csv.Error):
        for _ in reader:
            begins = reader.line_num + 1
    return begins


def _damage(error: csv.Error) -> str:
    if "end of data" in str(error) or "expected after" in str(error):
        return "a quotation mark opens here and is not closed as it should be; close it, and write one within as two"
    return f"this is no row of CSV ({error}); save the table as CSV, separated by commas, tabs or semicolons"


def _filled(row: Sequence[str]) -> bool:
    """Return whether a row holds anything but a comment."""
    if not row or row[0].startswith("#"):
        return len(row) > 1 and any(cell.strip() for cell in row[1:])
    return bool(row[0].strip()) or any(cell.strip() for cell in row)
