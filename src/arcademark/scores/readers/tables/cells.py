"""Reads from the cells of columns what these may be: games, words, numbers, counts of rows, differences."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from arcademark.scores.readers.base import Options, discerns, is_task
from arcademark.scores.readers.sheets.sheet import Sheet
from arcademark.scores.readers.words import numerals
from arcademark.scores.readers.words.column_names import role_of

MAX_SAMPLE = 200
"""Number of a column's first cells that are looked at."""


class Cells:
    """The first cells of a sheet's columns; `tasks` gives a task's canonical name, None if tasks are not known."""

    def __init__(self, sheet: Sheet, options: Options) -> None:
        self.sheet = sheet
        self.tasks = options.canonical_task if discerns(options.canonical_task) else None

    def texts(self, at: int) -> Sequence[str]:
        """Return a column's texts; none of a column of numbers."""
        cells = self.sheet.columns[at]
        return () if isinstance(cells, np.ndarray) else cells[:MAX_SAMPLE]

    def is_task(self, name: str) -> bool:
        """Return whether a name is known to be a task's."""
        return self.tasks is not None and is_task(name, self.tasks)

    def share_of_tasks(self, at: int) -> float:
        """Return the share of tasks among a column's names."""
        names = [text for text in dict.fromkeys(map(self.sheet.text, self.texts(at))) if text]
        return sum(map(self.is_task, names)) / max(len(names), 1)

    def are_words(self, at: int) -> bool:
        """Return whether a column holds words, and none that are names of statistics."""
        return not self.any_number(at) and not any(map(role_of, self.texts(at)))

    def any_number(self, at: int, *, filled: bool = False) -> bool:
        """Return whether any cell of a column is a number, or all are missing and it need not be `filled`."""
        cells = self.sheet.columns[at]
        if isinstance(cells, np.ndarray):
            return not filled or bool(np.isfinite(cells).any())
        there = [cell for cell in self.texts(at) if not numerals.is_missing(cell)]
        return (not there and not filled) or any(
            numerals.is_number(cell) or cell[:1] == "=" or any(map(str.isdigit, cell.lstrip(" ~≈<>≤≥$*")[:1]))
            for cell in there
        )

    def any_fraction(self, at: int) -> bool:
        """Return whether any number of a column is not whole."""
        cells = self.sheet.columns[at]
        if isinstance(cells, np.ndarray):
            return bool(np.any(np.mod(cells[np.isfinite(cells)], 1)))
        return any(re.search(r"\d[.,]\d", cell) and numerals.is_number(cell) for cell in self.texts(at))

    def count_rows(self, at: int) -> bool:
        """Return whether a column counts the rows: 0, 1, 2, … or 1, 2, 3, …."""
        cells = [str(cell).strip().removesuffix(".0") for cell in self.sheet.columns[at]]
        return cells in ([str(row + first) for row in range(len(cells))] for first in (0, 1))

    def are_difference(self, at: int, first: int, second: int) -> bool:
        """Return whether a column's numbers, at least two, are the differences of two others'."""
        ours, one, other = map(self._points, (at, first, second))
        given = np.isfinite(ours) & np.isfinite(one - other)
        alike = np.allclose(ours[given], (one - other)[given], rtol=0.01, atol=0.1)
        return bool(alike and np.count_nonzero(ours[given]) > 1)

    def _points(self, at: int) -> np.ndarray:
        """Return a column's numbers, NaN where a cell holds none with a decimal point."""
        cells = self.sheet.columns[at][:MAX_SAMPLE]
        if isinstance(cells, np.ndarray):
            return cells
        values = np.array([numerals.read(cell, ".") for cell in cells])
        return np.where(np.isfinite(values), values, np.nan)
