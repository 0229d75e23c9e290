"""Roles of a table's columns, as `arcademark.scores.readers.tables.roles` assigns them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from arcademark.scores.readers.sheets.sheet import Sheet
from arcademark.scores.readers.words.role_names import Role


@dataclass(frozen=True)
class Value:
    """A column of a wide table with scores of an algorithm, or on a game.

    Parameters
    ----------
    run, frames : int or None
        The run and the frames of these scores, where columns are runs, or the points of a learning curve.
    """

    column: int
    name: str
    run: int | None = None
    frames: int | None = None


@dataclass(frozen=True)
class Interpretation:
    """Roles of a sheet's columns.

    Parameters
    ----------
    columns : mapping of role to int
        The columns of algorithms, games, runs, seeds, episodes, frames, protocols and, of long tables, scores.
    values : tuple of Value
        Columns of values in a wide table; empty for a long one.
    left_out : mapping of int to role
        The columns that the table does not hold, in their order.
    notes : tuple of str
    why : mapping of int to str
        For columns whose names alone do not say it: what does.
    """

    columns: Mapping[Role, int]
    values: tuple[Value, ...] = ()
    left_out: Mapping[int, Role] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    why: Mapping[int, str] = field(default_factory=dict)

    @property
    def layout(self) -> str:
        """The format that it is of."""
        return "wide" if self.values else "long"

    def explained(self, sheet: Sheet) -> tuple[str, ...]:
        """Describe each column, in their order: its role and the reason."""
        said = {column: f"{role} ({self.why.get(column, 'by its name')})" for role, column in self.columns.items()}
        said |= {
            column: f"{role}, ignored ({self.why.get(column, 'by its name')})" for column, role in self.left_out.items()
        }
        for value in self.values:
            run = "" if value.run is None else f", run {value.run}"
            run += "" if value.frames is None else f", after {value.frames:,} frames"
            what = f" {'of' if 'game' in self.columns else 'on'} {value.name!r}"
            what = "" if {"algorithm", "game"} <= self.columns.keys() else what
            reason = "its name is a length of training" if value.frames is not None else "no other role fits"
            reason = "its name is a run's" if value.run is not None and not what else reason
            said[value.column] = f"value: scores{what}{run} ({self.why.get(value.column, reason)})"
        return tuple(f"{_quoted(sheet, at)}: {text}" for at, text in sorted(said.items()))


def _quoted(sheet: Sheet, at: int) -> str:
    return repr(sheet.header[at]) if sheet.header[at] else f"(column {at + 1}, without a name)"
