"""Reads tables: text with commas, tabs or semicolons between cells, or in Markdown; or Parquet.

Conventions
-----------
* Text is UTF-8, or UTF-16 with its byte order mark.
* Errors count rows as an editor counts lines: the header of a CSV file is row 1.
"""

from __future__ import annotations

import contextlib
import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice, takewhile
from pathlib import Path
from typing import Any

from arcademark.errors import ArcadeMarkError
from arcademark.files import MAX_BYTES
from arcademark.scores.formulas import unescaped
from arcademark.scores.readers.base import MAX_CELLS_READ, MAX_TEXT_BYTES, SAID, count, listed, read_bytes, read_head
from arcademark.scores.readers.parquet import parse_parquet
from arcademark.scores.readers.sheet import Sheet, bare, checked

_CHUNK = 256
"""Rows parsed at a time: so few that they are gone before the garbage collector looks for them."""

_SEPARATOR = re.compile(r"sep=(.)", re.IGNORECASE)
_COMMENTS = ("# ", "##", "// ", "% ")
_SAMPLED, _START = 10, 100_000
"""Lines, and characters at most, from which the separator is told."""


def read_sheet(path: Path, decimal: str | None = None, table: str | None = None) -> Sheet:
    """Read a CSV or a Parquet file, its numbers with the decimal mark given, or with the one that they show.

    Of several tables in a text, `table` is the number or the heading of the one to read.
    """
    parquet = read_head(path).startswith(b"PAR1")
    content = read_bytes(path, MAX_BYTES if parquet else MAX_TEXT_BYTES)
    return replace(parse_parquet(path, content) if parquet else parse_sheet(path, content, 0, table), decimal=decimal)


def decode(path: Path, content: bytes) -> str:
    """Turn a text file's bytes into text, if they are text."""
    encoding = _encoding(content)
    if encoding != "utf-16" and b"\0" in content:
        raise ArcadeMarkError(f"{path}: not a text file (byte {content.index(0)} is zero); expected a table or a log")
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        row = content[: error.start].count(b"\n") + 1
        raise ArcadeMarkError(
            f"{path}, row {row}: not UTF-8 text (byte {error.start}); save it as CSV in UTF-8"
        ) from error


def _encoding(content: bytes) -> str:
    return "utf-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"


def parse_sheet(path: Path, content: bytes, skip: int = 0, table: str | None = None) -> Sheet:
    """Parse delimited text, below `skip` lines that are not part of the table."""
    text = decode(path, content)
    said = ""
    if found := _tables_in_markdown(text):
        skip, end = _chosen(path, found, table)
        content = "\n".join(text.splitlines()[:end]).encode()
    else:
        head = text[:_START].splitlines()[skip:]
        comments = len(list(takewhile(lambda line: line.startswith(_COMMENTS), head)))
        skip += comments if comments < len(head) else 0
        if head[comments : comments + 1] and (named := _SEPARATOR.fullmatch(head[comments].strip())):
            skip, said = skip + 1, named[1]
    start = "".join(islice(_lines(content, skip), _SAMPLED))[:_START]
    tabbed = Path(path).suffix.lower() == ".tsv" and "\t" in start.partition("\n")[0]
    separator = "\t" if tabbed else said or _separator(start)
    reader = _rows(content, skip, separator, strict=True)
    header: tuple[str, ...] = ()
    columns: list[list[str]] = []

    def line(row: int) -> int:
        return skip + _line(content, skip, separator, row)

    try:
        while rows := list(islice(reader, _CHUNK)):
            filled = [row for row in rows if _filled(row)]
            if filled and not header:
                header = tuple(unescaped(bare(name)) for name in filled.pop(0))
                columns = [[] for _ in header]
            for number, row in enumerate(filled):
                if len(row) > len(header) and not any(cell.strip() for cell in row[len(header) :]):
                    del row[len(header) :]
                if len(row) != len(header):
                    raise ArcadeMarkError(
                        f"{path}, row {line(len(columns[0]) + number)}: {len(row)} cells, expected {len(header)} as in "
                        f"the header{_hint(separator, len(row), len(header))}"
                    )
            for column, cells in zip(columns, zip(*filled, strict=True), strict=False):
                column.extend(cells)
            if columns and len(columns) * len(columns[0]) > MAX_CELLS_READ:
                raise ArcadeMarkError(
                    f"{path}: holds more than {MAX_CELLS_READ:,} cells, the most that are read; give a smaller table"
                )
    except csv.Error as error:
        raise ArcadeMarkError(f"{path}, row {skip + _broken(content, skip, separator)}: {_damage(error)}") from error
    if not header:
        raise ArcadeMarkError(f"{path}: the file is empty; expected a header and rows of scores")
    while len(header) > 1 and not header[-1] and not any(cell.strip() for cell in columns[-1]):
        header = header[:-1]
        columns.pop()
    return checked(Sheet(path, header, tuple(columns), len(columns[0]), line, separator), skip + 1)


def _tables_in_markdown(text: str) -> list[tuple[int, int, str]]:
    """Return where each table begins and ends, in lines, and the heading above it."""
    if "|" not in text or "--" not in text:
        return []
    lines = text.splitlines()
    result = []
    for at in range(1, len(lines)):
        if "|" in lines[at] and _is_rule(lines[at]) and "|" in lines[at - 1]:
            end = next((row for row in range(at, len(lines)) if "|" not in lines[row]), len(lines))
            above = (line.strip(" \t#*_:") for line in reversed(lines[max(0, at - 12) : at - 1]) if "|" not in line)
            result.append((at - 1, end, next(filter(None, above), "")))
    return result


def _chosen(path: Path, found: Sequence[tuple[int, int, str]], table: str | None) -> tuple[int, int]:
    """Return where the table begins and ends that is asked for by number or heading."""
    names = [f"{number} ({heading})" if heading else str(number) for number, (_, _, heading) in enumerate(found, 1)]
    asked = (table or "").strip().lower()
    meant = [one for number, one in enumerate(found, 1) if asked in (str(number), one[2].lower())]
    if table is None and len(found) == 1:
        meant = list(found)
    if len(meant) != 1:
        wrong = "" if table is None else f", and {table!r} names none or several"
        raise ArcadeMarkError(
            f"{path}: holds {count(len(found), 'table')}, {listed(names, 8)}{wrong}; choose one with {SAID['table']}"
        )
    return meant[0][:2]


def _lines(content: bytes, skip: int) -> Iterator[str]:
    lines = io.TextIOWrapper(io.BytesIO(content), encoding=_encoding(content), newline="")
    return islice(lines, skip, None)


def _rows(content: bytes, skip: int, separator: str, *, strict: bool = False) -> Any:
    lines = _lines(content, skip)
    return csv.reader(map(_unruled, lines) if separator == "|" else lines, delimiter=separator, strict=strict)


def _is_rule(line: str) -> bool:
    """Whether it is the line below the header of a table in Markdown."""
    return "-" in line and not line.strip("|:- \t\r\n")


def _unruled(line: str) -> str:
    """Return a line of a table in Markdown without the marks at its ends; nothing of the one below the header."""
    return "" if _is_rule(line) else line.strip().removeprefix("|").removesuffix("|")


def _hint(separator: str, cells: int, expected: int) -> str:
    if separator == "," and cells > expected:
        return "; put names that hold a comma in quotes, and write numbers without thousands separators"
    return "; correct or remove the row"


def _separator(start: str) -> str:
    """Find what separates cells: what cuts the first lines into equally many, or else what the header has most of."""
    lines = [line for line in start.splitlines() if line.strip()]
    if len(lines) > 1 and "|" in lines[0] and "|" in lines[1] and _is_rule(lines[1]):
        return "|"
    widths = {separator: _widths(start, separator) for separator in ",\t;"}
    even = {separator: cells for separator, cells in widths.items() if len(set(cells)) == 1 and cells[0] > 1}
    return max(even or widths, key=lambda separator: widths[separator][0])


def _widths(text: str, separator: str) -> list[int]:
    try:
        rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=separator) if _filled(row)]
    except csv.Error:
        rows = []
    return [len(row) for row in rows] or [1]


def _line(content: bytes, skip: int, separator: str, row: int) -> int:
    """Return the line in which a data row ends; looked for when an error is to name it."""
    reader = _rows(content, skip, separator)
    lines = (reader.line_num for cells in reader if _filled(cells))
    return int(next(islice(lines, row + 1, None)))


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
    return bool(row) and (bool(row[0].strip()) or any(cell.strip() for cell in row))
