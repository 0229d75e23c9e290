"""A table as read from CSV or Parquet: named columns of cells, each of which knows its place in the file.

Conventions
-----------
* Text is UTF-8, or UTF-16 with its byte order mark; commas, tabs or semicolons separate cells.
* Errors count rows as an editor counts lines: the header of a CSV file is row 1. A Parquet file's first row is row 1.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from arcademark.errors import ArcadeMarkError
from arcademark.scores.readers.base import LARGEST, read_bytes
from arcademark.scores.table import hidden_character

MISSING = frozenset({"", "nan", "na", "n/a", "null", "none", "-", "–", "—"})
"""Cells that hold no score, in any case."""

_CHUNK = 256
"""Rows parsed at a time: so few that they are gone before the garbage collector looks for them."""

_PLAIN = re.compile(r"[0-9eE+\-. \t]*")
_THOUSANDS = re.compile(r"[+-]?\d{1,3}([,' \u00a0\u202f’]\d{3})+(\.\d+)?|[+-]?\d{1,3}(\.\d{3})+(,\d+)?")
_SPREAD = re.compile(r"([+\-\u2212]?\d[\d.,']*(?:[eE][+-]?\d+)?)\s*(?:±|\+/-|\+-|\\pm|\(|\[).*")
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")


@dataclass(frozen=True)
class Sheet:
    """Named columns of equal length.

    Parameters
    ----------
    path : Path
        The file.
    header : tuple of str
        The columns' names as written, stripped.
    columns : tuple of sequences
        Each a sequence of str, or a float array where the file holds numbers (NaN where they are missing).
    size : int
        Data rows.
    line : callable of int to int
        From a data row, counted from 0, to where the file has it.
    """

    path: Path
    header: tuple[str, ...]
    columns: tuple[Sequence[str] | NDArray[np.float64], ...]
    size: int
    line: Callable[[int], int]

    @property
    def lowered(self) -> tuple[str, ...]:
        """The columns' names in lower case, for finding them."""
        return tuple(name.lower() for name in self.header)

    def find(self, names: Sequence[str]) -> int | None:
        """Return the position of the first of these columns that is there."""
        lowered = self.lowered
        return next((lowered.index(name) for name in names if name in lowered), None)

    def place(self, row: int, column: int) -> str:
        """Say where a cell is: file, row and column."""
        return f"{self.path}, row {self.line(row)}, column {self.header[column]!r}"

    def names(self, column: int) -> tuple[NDArray[np.int64], tuple[str, ...], NDArray[np.int64]]:
        """Read a column of names.

        Returns
        -------
        codes : int array, shape (size,)
            Which name each row has.
        names : tuple of str
            In the order in which they first appear, stripped.
        first : int array, shape (len(names),)
            The row in which each first appears.
        """
        cells = self.columns[column]
        texts: Sequence[str] = [_text(value) for value in cells] if isinstance(cells, np.ndarray) else cells
        seen: dict[str, int] = {}
        codes = np.fromiter((seen.setdefault(cell, len(seen)) for cell in texts), np.int64, self.size)
        first = np.zeros(len(seen), dtype=np.int64)
        first[codes[::-1]] = np.arange(self.size)[::-1]
        merged: dict[str, int] = {}
        rows = []
        for name, row in zip(seen, first, strict=True):
            if not name.strip():
                raise ArcadeMarkError(f"{self.place(int(row), column)}: the cell is empty, expected a name")
            if hidden := hidden_character(_bare(name)):
                raise ArcadeMarkError(f"{self.place(int(row), column)}: {_bare(name)!r} {hidden}")
            if _bare(name) not in merged:
                merged[_bare(name)] = len(merged)
                rows.append(row)
        merged_code = np.array([merged[_bare(name)] for name in seen], dtype=np.int64)
        return merged_code[codes], tuple(merged), np.array(rows, dtype=np.int64)

    def scores(self, column: int) -> NDArray[np.float64]:
        """Read a column of scores, NaN where one is missing, shape (size,)."""
        cells = self.columns[column]
        if isinstance(cells, np.ndarray):
            values = cells
            bad = np.isinf(values)
        else:
            fast = _fast(cells)
            values = fast if fast is not None else np.fromiter(map(_number, cells), np.float64, self.size)
            bad = np.isinf(values)
        bad |= np.abs(values) > LARGEST
        if bad.any():
            self._refuse(int(np.argmax(bad)), column)
        return values

    def integers(self, column: int) -> NDArray[np.int64]:
        """Read a column of whole numbers, shape (size,)."""
        cells = self.columns[column]
        if isinstance(cells, np.ndarray):
            values = cells
        else:
            fast = _fast(cells)
            values = fast if fast is not None else np.fromiter(map(_number, cells), np.float64, self.size)
        with np.errstate(invalid="ignore"):
            bad = ~(np.abs(values) <= LARGEST) | (values != np.floor(values))
        if bad.any():
            row = int(np.argmax(bad))
            raise ArcadeMarkError(
                f"{self.place(row, column)}: {self._cell(row, column)} is no whole number; expected 0, 1, 2, …"
            )
        return values.astype(np.int64)

    def _cell(self, row: int, column: int) -> str:
        cell = self.columns[column][row]
        return repr(cell) if isinstance(cell, str) else repr(float(cell))

    def _refuse(self, row: int, column: int) -> NoReturn:
        cell = self.columns[column][row]
        text = cell.strip() if isinstance(cell, str) else str(cell)
        raise ArcadeMarkError(f"{self.place(row, column)}: {self._cell(row, column)} is no score; {_remedy(text)}")


def _bare(name: str) -> str:
    return " ".join(name.split())


def _fast(cells: Sequence[str]) -> NDArray[np.float64] | None:
    """Parse cells that all are plain numbers; None where one is not."""
    if not _PLAIN.fullmatch("".join(cells)):
        return None
    try:
        return np.fromiter(map(float, cells), np.float64, len(cells))
    except ValueError:
        return None


def _number(cell: str) -> float:
    """Parse a cell: NaN where it is missing, infinity where it is no number."""
    bare = cell.strip()
    if bare.lower() in MISSING:
        return math.nan
    try:
        return math.inf if "_" in bare or "n" in bare.lower() else float(bare)
    except ValueError:
        return math.inf


def _remedy(text: str) -> str:
    if spread := _SPREAD.fullmatch(text):
        return f"leave the spread out and write {spread[1]} alone; intervals come from the runs, one a row"
    if _THOUSANDS.fullmatch(text):
        return "write it without thousands separators and with a decimal point, such as 1234.5"
    if _DECIMAL_COMMA.fullmatch(text):
        return "write a decimal point, such as 1234.5"
    if _parses(text):
        return f"it is infinite or beyond ±2^53 ({LARGEST:.0f}), where whole numbers are no longer exact: mend it"
    return "expected a number such as 1234.5, or nothing where it is missing"


def _parses(text: str) -> bool:
    try:
        return "_" not in text and bool(text) and not math.isnan(float(text))
    except ValueError:
        return False


def _text(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.17g}"


def read_sheet(path: Path) -> Sheet:
    """Read a CSV or a Parquet file.

    Raises
    ------
    ArcadeMarkError
        Where it cannot be read, is damaged, empty, or its rows are not as wide as its header.
    """
    content = read_bytes(path)
    return _parquet(path, content) if content[:4] == b"PAR1" else parse_sheet(path, decode(path, content))


def decode(path: Path, content: bytes) -> str:
    """Turn a text file's bytes into text.

    Raises
    ------
    ArcadeMarkError
        Where they are no text, or text in an encoding that cannot be told.
    """
    encoding = "utf-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    if encoding != "utf-16" and b"\0" in content:
        raise ArcadeMarkError(f"{path}: not a text file (byte {content.index(0)} is zero); expected a table or a log")
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        row = content[: error.start].count(b"\n") + 1
        raise ArcadeMarkError(
            f"{path}, row {row}: not UTF-8 text (byte {error.start}); save it as CSV in UTF-8"
        ) from error


def parse_sheet(path: Path, text: str, skip: int = 0) -> Sheet:
    """Parse delimited text, below `skip` lines that are not part of the table; errors are those of `read_sheet`."""
    body = text if not skip else "".join(text.splitlines(keepends=True)[skip:])
    tabbed = Path(path).suffix.lower() == ".tsv" and "\t" in body.partition("\n")[0]
    separator = "\t" if tabbed else _separator(body)
    reader = csv.reader(io.StringIO(body, newline=""), delimiter=separator, strict=True)
    header: tuple[str, ...] = ()
    columns: list[list[str]] = []
    try:
        while rows := list(islice(reader, _CHUNK)):
            filled = [row for row in rows if _filled(row)]
            if filled and not header:
                header = tuple(" ".join(name.split()) for name in filled.pop(0))
                columns = [[] for _ in header]
            if any(len(row) != len(header) for row in filled):
                _refuse_width(
                    path, header, filled, len(columns[0]), separator, lambda row: skip + _line(body, separator, row)
                )
            for column, cells in zip(columns, zip(*filled, strict=True), strict=False):
                column.extend(cells)
    except csv.Error as error:
        raise ArcadeMarkError(f"{path}, row {skip + _broken(body, separator)}: {_damage(error)}") from error
    if not header:
        raise ArcadeMarkError(f"{path}: the file is empty; expected a header and rows of scores")
    sheet = Sheet(path, header, tuple(columns), len(columns[0]), lambda row: skip + _line(body, separator, row))
    return _checked(sheet, skip + 1)


def _refuse_width(
    path: Path,
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    before: int,
    separator: str,
    line: Callable[[int], int],
) -> NoReturn:
    at = next(row for row, cells in enumerate(rows) if len(cells) != len(header))
    raise ArcadeMarkError(
        f"{path}, row {line(before + at)}: {len(rows[at])} cells, expected {len(header)} as in the header"
        + _hint(separator, len(rows[at]), len(header))
    )


def _hint(separator: str, found: int, expected: int) -> str:
    if separator == "," and found > expected:
        return "; put names that hold a comma in quotes, and write numbers without thousands separators"
    return "; mend or remove the row"


def _separator(text: str) -> str:
    """Find what separates cells: what cuts the first lines into equally many, or else what the header has most of."""
    start = "".join(islice(io.StringIO(text[:100_000], newline=""), 10))
    widths = {separator: _widths(start, separator) for separator in ",\t;"}
    even = {separator: found for separator, found in widths.items() if len(set(found)) == 1 and found[0] > 1}
    return max(even or widths, key=lambda separator: widths[separator][0])


def _widths(text: str, separator: str) -> list[int]:
    try:
        rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=separator) if _filled(row)]
    except csv.Error:
        rows = []
    return [len(row) for row in rows] or [1]


def _line(text: str, separator: str, row: int) -> int:
    """Return the line in which a data row ends; looked for when an error is to name it."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    lines = (reader.line_num for cells in reader if _filled(cells))
    return next(islice(lines, row + 1, None))


def _broken(text: str, separator: str) -> int:
    """Return the line in which the first row begins that is no row of CSV."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    begins = 1
    try:
        for _ in reader:
            begins = reader.line_num + 1
    except csv.Error:
        pass
    return begins


def _damage(error: csv.Error) -> str:
    if "end of data" in str(error) or "expected after" in str(error):
        return "a quotation mark opens here and is not closed as it should be; close it, and write one within as two"
    return f"this is no row of CSV ({error}); save the table as CSV, separated by commas, tabs or semicolons"


def _filled(row: Sequence[str]) -> bool:
    return bool(row) and (bool(row[0].strip()) or any(cell.strip() for cell in row))


def _checked(sheet: Sheet, row: int) -> Sheet:
    lowered = sheet.lowered
    for column, name in enumerate(lowered):
        if hidden := hidden_character(name):
            raise ArcadeMarkError(f"{sheet.path}, row {row}, column {column + 1}: {sheet.header[column]!r} {hidden}")
        if name and lowered.index(name) != column:
            raise ArcadeMarkError(
                f"{sheet.path}, row {row}, column {column + 1}: the column {sheet.header[column]!r} is named twice; "
                "name each once"
            )
    return sheet


def _parquet(path: Path, content: bytes) -> Sheet:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise ArcadeMarkError(
            f"{path}: reading Parquet needs pyarrow; pip install 'arcademark[readers]', or save the table as CSV"
        ) from None
    try:
        table = pyarrow.parquet.read_table(pyarrow.BufferReader(content))
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise ArcadeMarkError(f"{path}: not a whole Parquet file ({reason}); write it again") from error
    if not table.num_columns:
        raise ArcadeMarkError(f"{path}: the file is empty; expected columns of scores")
    header = tuple(_column_name(name) for name in table.column_names)
    columns = tuple(_cells(path, name, table.column(i)) for i, name in enumerate(header))
    return _checked(Sheet(path, header, columns, table.num_rows, lambda row: row + 1), 0)


def _column_name(name: str) -> str:
    return "" if re.fullmatch(r"__index_level_\d+__", name) else _bare(name)


def _cells(path: Path, name: str, column: Any) -> Sequence[str] | NDArray[np.float64]:
    import pyarrow.types as kinds

    kind = column.type.value_type if kinds.is_dictionary(column.type) else column.type
    if kinds.is_integer(kind) or kinds.is_floating(kind) or kinds.is_decimal(kind):
        return np.asarray(column.cast("float64", safe=False).to_numpy(), dtype=np.float64)
    if kinds.is_string(kind) or kinds.is_large_string(kind):
        return ["" if cell is None else cell for cell in column.to_pylist()]
    if kinds.is_null(kind):
        return np.full(len(column), math.nan)
    raise ArcadeMarkError(f"{path}, column {name!r}: holds {column.type}, expected text or numbers; convert it")
