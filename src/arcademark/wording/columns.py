"""Columns of tables, declared beside the fields that they show; `arcademark.pages.presenter` makes tables of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from arcademark import wording

Style: TypeAlias = Literal["", "strong", "best", "weak", "good", "doubtful", "bad"]
"""The number that counts, the best of several, an aside, or how far to trust it; each renderer shows it in its way."""

Kind: TypeAlias = Literal["name", "number", "prose"]
"""What a column holds: names and sentences are to the left, numbers to the right and never wrapped."""

Value: TypeAlias = str | int | Callable[[Any], object]
"""A field's name, a place in a sequence, both ("1.estimate.value", None where a part is), or a function of a row."""


@dataclass(frozen=True)
class Column:
    """One column of a table, and what it shows of each row.

    value: Which field, or what is made of a row; of a mapping, its key.
    show: How the value reads; by default `arcademark.wording.plain`.
    heading: Renderers break it where the column is narrow.
    kind: A number in the first column of a table is taken for a name.
    style: Of the cells: one for all, or by row.
    below: What stands below the value in small print, a text.
    sort: What a page sorts by where that is not the value.
    meaning: One line that defines it.
    optional: Left out where there is no room, unless all details are asked for.
    """

    heading: str
    value: Value = ""
    show: Callable[[Any], str] | None = None
    kind: Kind = "number"
    style: Style | Callable[[Any], str] = ""
    below: Value | None = None
    sort: Value | None = None
    meaning: str = ""
    optional: bool = False

    def get(self, row: Any, value: Value | None = None) -> Any:
        """Return the value of a row."""
        wanted = self.value if value is None else value
        if callable(wanted):
            return wanted(row)
        if isinstance(wanted, int):
            return row[wanted]
        for name in wanted.split("."):
            if name.isdigit():
                row = row[int(name)]
            else:
                row = row.get(name) if isinstance(row, Mapping) else getattr(row, name)
            if row is None:
                break
        return row

    def text(self, row: Any) -> str:
        """Return what is read in the column."""
        value = self.get(row)
        return (self.show or wording.plain)(value) if value is not None else wording.MISSING
