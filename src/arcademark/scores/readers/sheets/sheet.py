"""A table as read from CSV or Parquet: named columns of cells, each of which knows its place in the file."""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from arcademark.errors import ArcadeMarkError
from arcademark.scores.formulas import unescaped
from arcademark.scores.readers.base import LARGEST, MAX_COLUMNS, OPTION, listed
from arcademark.scores.readers.words import numerals
from arcademark.scores.table import improper

_PLAIN = re.compile(r"[0-9eE+\-. \t]*")
_BRACKETED = re.compile(r"([+\-\u2212]?\d[\d.,']*(?:[eE][+-]?\d+)?)\s*[(\[].*")

_TIME = re.compile(r"\d{4}-\d\d-\d\d|\d+:\d\d:\d\d")
_LEVEL = re.compile(r"""'([^']*)'|"([^"]*)"|(-?\d+(?:\.\d+)?|True|False|None)""")
_TUPLE = re.compile(rf"\(\s*(?:{_LEVEL.pattern})(?:\s*,\s*(?:{_LEVEL.pattern}))+\s*\)")

_LABEL = re.compile(r"-?(?:\d+|[A-Za-z0-9][A-Za-z0-9_:-]+)")
"""Names of runs that are no whole numbers: ``seed_1``, ``3f2a``."""

_PASTED = (";", "\t", "|")
"""Separators beside which a decimal comma or points between thousands need no quotes."""


@dataclass(frozen=True)
class Sheet:
    """Named columns of `size` data rows; names are as written, stripped.

    Parameters
    ----------
    columns : tuple of sequences
        Each a sequence of str, or a float array where the file holds numbers (NaN where they are missing).
    line : callable of int to int
        From a data row, counted from 0, to where the file has it.
    separator : str
        Separator of cells; "" if that is no character.
    decimal : {".", ","} or None
        Decimal mark; None to derive it from the numbers.
    values : mapping of int to float array
        The columns that `among` has read as numbers: NaN where one is missing, infinity where there is no number.
    notes : tuple of str
        Remarks on how numbers were read that are not plain.
    algorithm, task, run
        Names that the path gives to all scores, where no column does.
    """

    path: Path
    header: tuple[str, ...]
    columns: tuple[Sequence[str] | NDArray[np.float64], ...]
    size: int
    line: Callable[[int], int]
    separator: str = ""
    decimal: str | None = None
    values: Mapping[int, NDArray[np.float64]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    algorithm: str | None = None
    task: str | None = None
    run: int | None = None

    @property
    def lowered(self) -> tuple[str, ...]:
        """The columns' names in lower case, for finding them."""
        return tuple(name.lower() for name in self.header)

    def find(self, names: Sequence[str]) -> int | None:
        """Return the position of the first of these columns that is there."""
        lowered = self.lowered
        return next((lowered.index(name) for name in names if name in lowered), None)

    def check_filled(self) -> None:
        """Refuse a table without rows."""
        if not self.size:
            raise ArcadeMarkError(f"{self.path}: there are no rows below the header; expected scores")

    def place(self, row: int, column: int) -> str:
        """Return the place of a cell: file, row and column."""
        return f"{self.path}, row {self.line(row)}, column {self.header[column]!r}"

    def text(self, cell: object) -> str:
        """Return a cell's text in one line, without the mark that keeps spreadsheets from running it."""
        text = bare(str(cell))
        return unescaped(text) if self.separator else text

    def names(self, column: int) -> tuple[NDArray[np.int64], tuple[str, ...], NDArray[np.int64]]:
        """Return the position of each row's name, the names in their order, and the first row of each."""
        cells: Sequence[str] | NDArray[np.float64] = self.columns[column]
        if isinstance(cells, np.ndarray):
            cells = ["" if math.isnan(value) else f"{value:.17g}" for value in cells]
        codes, written = _numbered(cells)
        first, texts = first_rows(codes, len(written)), list(map(self.text, written))
        for text, row in zip(texts, first.tolist(), strict=True):
            if wrong := improper(text) if text else "the cell is empty, expected a name":
                raise ArcadeMarkError(f"{self.place(row, column)}: {wrong}")
        places, names = _numbered(texts)
        return places[codes], names, first[first_rows(places, len(names))]

    def among(self, scores: Sequence[int], whole: Iterable[int | None] = ()) -> Sheet:
        """Return the sheet with columns of scores and of whole numbers read as numbers, all written in one way."""
        scored = frozenset(scores)
        columns = dict.fromkeys([*scores, *(column for column in whole if column is not None)])
        texts = {column: cells for column in columns if not isinstance(cells := self.columns[column], np.ndarray)}
        values = {column: _plain(cells) for column, cells in texts.items()}
        strange = {column for column, numbers in values.items() if np.isinf(numbers).any()}
        notes: list[str] = []
        if strange or self.decimal == "," or (self.separator in _PASTED and self.decimal is None):
            mark, notes = self._way(texts)
            notes += self._behind({column: texts[column] for column in sorted(strange & scored)}, mark)
            for column, cells in texts.items():
                if column in strange or (mark == "," and any("." in cell for cell in cells)):
                    read = (numerals.read(cell, mark, alone=column not in scored) for cell in cells)
                    values[column] = np.fromiter(read, np.float64, self.size)
        numbers = {column: cells for column in columns if isinstance(cells := self.columns[column], np.ndarray)}
        return replace(self, values={**self.values, **numbers, **values}, notes=(*self.notes, *notes))

    def _behind(self, texts: Mapping[int, Sequence[str]], mark: str) -> list[str]:
        """Return notes on what stands behind scores; refuse numbers in brackets that may be the scores."""
        cells = {cell: (row, column) for column, those in texts.items() for row, cell in enumerate(those)}
        numerals_of = {cell: numeral for cell in cells if (numeral := numerals.apart(cell)).marks}
        unsaid = [cell for cell, numeral in numerals_of.items() if numeral.unsaid]
        above = [cell for cell in unsaid if numerals_of[cell].overshadowed(mark)]
        if 2 * len(above) > len(unsaid):
            raise ArcadeMarkError(
                f"{self._quoted(*cells[above[0]])} may be a score before its spread, or a score in brackets: "
                f"{len(above):,} of {len(unsaid):,} numbers in brackets are the larger ones; write the scores alone"
            )
        notes = []
        if any(numeral.spread for numeral in numerals_of.values()):
            notes.append("what stands behind ± or in brackets is left out of the scores: intervals come from the runs")
        if scaled := next((cell for cell, numeral in numerals_of.items() if numeral.power), None):
            value = numerals_of[scaled].value(mark)
            notes.append(f"k stands for thousands and M for millions: {scaled.strip()!r} is {value:.15g}")
        return notes

    def _way(self, texts: Mapping[int, Sequence[str]]) -> tuple[str, list[str]]:
        """Return the decimal mark, and a note about it."""
        if self.decimal is not None:
            return self.decimal, []
        only: dict[str, dict[str, tuple[int, int]]] = {mark: {} for mark in numerals.MARKS}  # cells that say it
        either: dict[bool, dict[str, tuple[int, int]]] = {True: {}, False: {}}  # that may have either, with commas
        for column, cells in texts.items():
            for row, cell in enumerate(cells):
                if "." in cell or "," in cell:
                    numeral = numerals.apart(cell)
                    if len(numeral.marks) == 1:
                        only[numeral.marks[0]].setdefault(numeral.written, (row, column))
                    elif numeral.marks and numeral.says:
                        either["," in numeral.text].setdefault(numeral.written, (row, column))
        shown = [mark for mark in numerals.MARKS if only[mark]]
        if len(shown) == 2:
            comma, point = (self._quoted(*next(iter(only[mark].values()))) for mark in (",", "."))
            raise ArcadeMarkError(f"{comma} has a decimal comma, and {point} a decimal point; write all numbers alike")
        mark = shown[0] if shown else "."
        other = either[mark == "."]  # as thousands are written beside such decimals
        text, where = next(iter((other or either[True] or either[False]).items()), ("", (0, 0)))
        meant = " or ".join(f"{numerals.read(text, mark):.15g}" for mark in numerals.MARKS)
        unsure = f"say what stands before decimals with {OPTION['decimal']}"
        if not shown:
            if text and (either[True] or self._grouped(texts)):
                said = "no other number says what stands before decimals"
                raise ArcadeMarkError(f"{self._quoted(*where)} may be {meant}, and {said}; {unsure}")
            return mark, []
        deciding, place = next(iter(only[mark].items()))
        if mark == "," and len(other) > 1 and len(only[mark]) == 1 and sum(map(deciding.count, numerals.MARKS)) == 1:
            alone = f"only {self._quoted(*place)} says which, against {len(other):,} numbers written so"
            raise ArcadeMarkError(f"{self._quoted(*where)} may be {meant}, and {alone}; {unsure}")
        noun = "comma" if mark == "," else "point"
        note = f"numbers have a decimal {noun}, as {self._quoted(*place)} shows"
        if other:
            note += f": {text!r} is {numerals.read(text, mark):.15g}"
        return mark, [note] if mark == "," or other else []

    def _grouped(self, texts: Mapping[int, Sequence[str]]) -> bool:
        """Return whether points before three digits may separate thousands: not if all numbers have one, or commas."""
        whole = (cell.strip().lstrip("+-−").isdecimal() for cells in texts.values() for cell in cells)
        return self.separator == ";" or (self.separator in _PASTED and any(whole))

    def only(self, rows: NDArray[np.bool_]) -> Sheet:
        """Return the sheet with some of its rows."""
        if rows.all():
            return self
        kept, line = np.flatnonzero(rows).tolist(), self.line
        columns = tuple(
            cells[rows] if isinstance(cells, np.ndarray) else [cells[row] for row in kept] for cells in self.columns
        )
        return replace(self, columns=columns, size=len(kept), line=lambda row: line(kept[row]))

    def scores(self, column: int) -> NDArray[np.float64]:
        """Return a column of scores, NaN where one is missing, shape (size,)."""
        values = self._numbers(column)
        bad = np.abs(values) > LARGEST
        if bad.any():
            row = int(np.argmax(bad))
            cell = self.columns[column][row]
            text = cell.strip() if isinstance(cell, str) else str(cell)
            raise ArcadeMarkError(f"{self._quoted(row, column)} is no score; {_remedy(text, self.decimal)}")
        return values

    def lacks(self, column: int, rows: NDArray[np.bool_]) -> bool:
        """Return whether a column of numbers is empty in some of these rows, bool of shape (size,)."""
        return bool(np.isnan(self._numbers(column)[rows]).any())

    def integers(self, column: int, rows: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return a column of whole numbers, shape (size,), and 0 in other rows than these, bool of shape (size,)."""
        values = np.where(rows, self._numbers(column), 0.0)
        with np.errstate(invalid="ignore"):
            bad = ~(np.abs(values) <= LARGEST) | (values != np.floor(values))
        if bad.any():
            row = int(np.argmax(bad))
            raise ArcadeMarkError(f"{self._quoted(row, column)} is no whole number; expected 0, 1, 2, …")
        return values.astype(np.int64)

    def numbers_of_runs(self, column: int, rows: NDArray[np.bool_]) -> tuple[NDArray[np.int64], str]:
        """Return the numbers of runs, as `integers` does, and a note where names or large numbers are counted."""
        cells, values = self.columns[column], self._numbers(column)[rows]
        if isinstance(cells, np.ndarray) or (np.abs(values) < LARGEST).all():
            return self.integers(column, rows), ""
        texts = [cell.strip() for cell in cells]
        there = dict.fromkeys(text for text, kept in zip(texts, rows, strict=True) if kept)
        if not all(_LABEL.fullmatch(text) and not numerals.is_missing(text) for text in there):
            return self.integers(column, rows), ""
        ends = [re.fullmatch(r"[A-Za-z]+[_-]?(\d{1,15})", text) for text in there]
        numbers = [int(end[1]) if end else -1 for end in ends]
        if -1 in numbers or len(set(numbers)) < len(numbers):
            numbers = list(range(len(there)))
        known = dict(zip(there, numbers, strict=True))
        said = listed([f"{text} is run {number}" for text, number in known.items()])
        note = f"runs are numbered by {self.header[column]!r}: {said}"
        return np.array([known.get(text, 0) for text in texts], dtype=np.int64), note

    def _numbers(self, column: int) -> NDArray[np.float64]:
        return self.values[column] if column in self.values else self.among([column]).values[column]

    def _quoted(self, row: int, column: int) -> str:
        cell = self.columns[column][row]
        return f"{self.place(row, column)}: {(cell if isinstance(cell, str) else float(cell))!r}"


def _numbered(texts: Sequence[str]) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Return the position of each text among the different ones, and these in their order."""
    seen: dict[str, int] = {}
    codes = np.fromiter((seen.setdefault(text, len(seen)) for text in texts), np.int64, len(texts))
    return codes, tuple(seen)


def first_rows(codes: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """Return the row in which each of so many codes first appears."""
    first = np.zeros(size, dtype=np.int64)
    first[codes[::-1]] = np.arange(len(codes))[::-1]
    return first


def bare(name: str) -> str:
    """Return a name in one line, single blanks between its words."""
    return " ".join(name.split())


def levels_of(name: str) -> list[str]:
    """Return the levels of a name that pandas prints as a tuple, "DQN" and "0" of ``('DQN', 0)``; else the name."""
    if not _TUPLE.fullmatch(name.strip()):
        return [name]
    return [next(filter(None, level), "") for level in _LEVEL.findall(name)]


def named(name: str) -> str:
    """Return a column's name in one line; of several levels, ``('DQN', 0)``, as pandas prints it, joined: "DQN 0".

    An arrow behind it, which says what is better, is no part of it.
    """
    name = bare(" ".join(levels_of(name)))
    arrow = re.fullmatch(r"(.*[^ (\[↑↓⬆⬇]) ?[(\[]? ?[↑↓⬆⬇] ?[)\]]?", name)
    return arrow[1] if arrow else name


def _plain(cells: Sequence[str]) -> NDArray[np.float64]:
    """Parse cells as numbers with a decimal point: NaN where one is missing, infinity where it is none."""
    if _PLAIN.fullmatch("".join(cells)):
        with contextlib.suppress(ValueError):
            return np.fromiter(map(float, cells), np.float64, len(cells))
    return np.fromiter(map(numerals.plain, cells), np.float64, len(cells))


def _remedy(text: str, decimal: str | None) -> str:
    if spread := _BRACKETED.fullmatch(text):
        return (
            f"leave what is in brackets out and write {spread[1]} alone; one number is read as a spread there, and two "
            "that ascend around the score as an interval"
        )
    if command := re.search(r"\\[A-Za-z]+", text):
        return f"nothing says what {command[0]} stands for; add its \\newcommand to the file, or write the number alone"
    if text.startswith("="):
        return "the file lacks the value of this formula; save it again in a spreadsheet program, or as CSV"
    if _TIME.match(text):
        return "a date or a time, which a spreadsheet program may have made of a score; enter it again as a number"
    if text.endswith("%"):
        return "a percent sign marks a normalised score; write the game's points, in this cell and beside it"
    numeral = numerals.apart(text)
    if decimal is not None and numeral.marks and decimal not in numeral.marks:
        return f"expected a number with {decimal!r} before decimals, as was asked for"
    if numeral.marks or _parses(text):
        return f"it is infinite or beyond ±2^53 ({LARGEST:.0f}), where whole numbers are no longer exact: correct it"
    return "expected a number such as 1234.5, or nothing where it is missing"


def _parses(text: str) -> bool:
    try:
        return "_" not in text and bool(text) and not math.isnan(float(text))
    except ValueError:
        return False


def checked(sheet: Sheet, row: int) -> Sheet:
    """Return a sheet whose columns, named in a row, have proper names, or refuse it."""
    if len(sheet.header) > MAX_COLUMNS:
        raise ArcadeMarkError(
            f"{sheet.path}: {len(sheet.header):,} columns, expected at most {MAX_COLUMNS:,}; give a smaller table"
        )
    for column, name in enumerate(sheet.header):
        if wrong := improper(name):
            raise ArcadeMarkError(f"{sheet.path}, row {row}, column {column + 1}: {wrong}")
    return sheet
