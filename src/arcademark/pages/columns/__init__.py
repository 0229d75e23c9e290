"""Columns of tables: typed functions of a row, with a module for each family of documents.

Templates name them by their module, as in ``table(it.runs, columns.runs.listed(it))``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeAlias, TypeVarTuple, Unpack

from arcademark import wording

Style: TypeAlias = Literal["", "strong", "best", "weak", "good", "doubtful", "bad"]
"""Emphasis: the main number, the best of several, an aside, or the trust in it; each renderer has its own form."""

Kind: TypeAlias = Literal["name", "number", "prose"]
"""Kind of a column's values: names and sentences are to the left, numbers to the right and never wrapped."""

Row = TypeVarTuple("Row")
"""Content of a row: one or several objects, each an argument of a column's functions."""


@dataclass(frozen=True)
class Column(Generic[*Row]):
    """One column of a table: its heading and its functions of a row.

    value: Function that returns a row's value; None if it has none.
    show: Format of the value; by default `arcademark.wording.plain`.
    heading: Heading; renderers break it if the column is narrow.
    kind: Kind of the values; a number in the first column of a table counts as a name.
    style: Style of the cells: one for all, or by row.
    below: Text below the value in small print.
    sort: Key that a page sorts by, if not the value.
    meaning: One line that defines it.
    optional: True to leave it out if there is no room, unless all details are requested.
    """

    heading: str
    value: Callable[[Unpack[Row]], object]
    show: Callable[[Any], str] = wording.plain
    kind: Kind = "number"
    style: Style | Callable[[Unpack[Row]], Style] = ""
    below: Callable[[Unpack[Row]], object] | None = None
    sort: Callable[[Unpack[Row]], object] | None = None
    meaning: str = ""
    optional: bool = False

    def text(self, *row: *Row) -> str:
        """Return the cell's text."""
        value = self.value(*row)
        return wording.MISSING if value is None else self.show(value)


Columns: TypeAlias = tuple[Column[*Row] | None, ...]
"""Columns of a table; None for missing ones."""

AnyColumn: TypeAlias = Column[*tuple[Any, ...]]
AnyColumns: TypeAlias = Columns[*tuple[Any, ...]]


def item(place: int) -> Callable[[Unpack[tuple[Any, ...]]], Any]:
    """Return a function that reads a position of rows of any length."""
    return lambda *row: row[place]
