"""Reads tables as text with commas, tabs, semicolons, bars or blanks between cells.

Conventions
-----------
* Errors count rows as an editor counts lines: the header of a CSV file is row 1.
* Lines that begin with ``#``, ``//`` or ``%`` above the header, or stand alone below it, are comments. A title above
  the header, empty rows, and empty columns at the end are left out.
"""

from __future__ import annotations

import contextlib
import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, takewhile
from pathlib import Path
from typing import Any

from arcademark.errors import ArcadeMarkError, one_line
from arcademark.scores.formulas import unescaped
from arcademark.scores.readers.base import UnrecognisedError, listed, refuse_more_cells
from arcademark.scores.readers.content import decode, encoding_of
from arcademark.scores.readers.sheets.columns_of_text import COMMENTS, SAMPLED, header_in_columns, parse_columns
from arcademark.scores.readers.sheets.shapes import check_title, shaped
from arcademark.scores.readers.sheets.sheet import Sheet, checked, named
from arcademark.scores.readers.words import numerals
from arcademark.scores.readers.words.column_names import role_of
from arcademark.wording import plural

_CHUNK = 256
"""Rows parsed at a time: so few that they are gone before the garbage collector looks for them."""

_SEPARATOR = re.compile(r"sep=(.)", re.IGNORECASE)
_START = 100_000
"""Maximum number of characters from which the separator is derived."""

_TITLES = 3
"""Lines of titles above a header at most."""


def parse_sheet(path: Path, content: bytes, skip: int = 0) -> Sheet:
    """Parse delimited text, below `skip` lines that are not part of the table."""
    text = decode(path, content, windows=True)
    skip, separator = _begin(text, skip, Path(path).suffix.lower() == ".tsv")
    for title in text[:_START].splitlines()[:skip]:
        check_title(str(path), title)
    if separator == " ":
        return parse_columns(path, text, skip)
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
                if header[0].startswith(COMMENTS) and len(header) > 1:
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
                    if not any(map(role_of, header)) and not any(map(numerals.is_number, row)):
                        raise UnrecognisedError(
                            f"{path}: text in which no table is recognised; expected columns with one separator, or "
                            "a table of Markdown, reStructuredText, LaTeX or HTML"
                        )
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
    comments = len(list(takewhile(lambda line: line.startswith(COMMENTS) or not line.strip(), lines)))
    if comments == len(lines):
        return skip, ","
    if named := _SEPARATOR.fullmatch(lines[comments].strip()):
        return skip + comments + 1, named[1]
    rest = lines[comments : comments + SAMPLED]
    separator = "\t" if tabs and "\t" in rest[0] else _separator(rest)
    if separator != " ":
        widths = [len(_cells(line, separator)) for line in rest]
        titles = len(list(takewhile(lambda width: width <= 1, widths)))
        if titles and len(set(widths[titles:]) - {0}) == 1:  # of a title, and blank lines
            return skip + comments + titles, separator
        above = lines[comments - 1] if comments else ""
        if above.startswith(COMMENTS) and len(_cells(above, separator)) == widths[0] > 1:
            comments -= 1  # a header that begins with a mark, as NumPy writes it
    return skip + comments, separator


def _separator(lines: Sequence[str]) -> str:
    """Return the separator that cuts the first lines into equally many cells, else the header into most."""
    if header_in_columns(lines) is not None:
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


def _cells(line: str, separator: str) -> list[str]:
    try:
        return next(csv.reader([line], delimiter=separator), [])
    except csv.Error:
        return []


def _cut_short(text: str, reader: Iterator[Any]) -> bool:
    """Return whether a text ends within a row, as the file of a running job may."""
    return not text.endswith(("\n", "\r")) and next(reader, None) is None


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
