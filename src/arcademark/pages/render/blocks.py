"""Data model of documents: sections of tables, figures, facts, notices and prose.

A presenter makes a `Document` from an analysis; each renderer of `arcademark.pages.render` shows every document. Blocks
contain numbers as texts, and do not depend on the look of a terminal or page.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TypeAlias

from arcademark.analysis.citations import Citation
from arcademark.analysis.document import Notice
from arcademark.pages.columns import AnyColumn, Style
from arcademark.pages.figures import model, style


@dataclass(frozen=True)
class Cell:
    """One cell of a table; `below` is shown in small print below it. A page sorts by `sort`, or by the text."""

    text: str
    style: Style = ""
    below: str = ""
    sort: float | None = None


@dataclass(frozen=True)
class Table:
    """Rows of cells, one per column; without any heading there is no heading row.

    grouped: True if rows with equal first cells belong together; these cells are shown once.
    sortable: True if a page lets readers sort it.
    most: Number of rows shown without "everything"; None for all.
    cards: True if a page shows each row as a card: its title, a large number, the number's basis, and facts.
    """

    columns: tuple[AnyColumn, ...]
    rows: tuple[tuple[Cell, ...], ...]
    caption: str = ""
    grouped: bool = False
    sortable: bool = False
    most: int | None = None
    cards: bool = False


@dataclass(frozen=True)
class Prose:
    """One paragraph."""

    text: str
    style: Style = ""


@dataclass(frozen=True)
class Code:
    """Lines to copy."""

    text: str


@dataclass(frozen=True)
class Facts:
    """Name–value pairs, one per line."""

    pairs: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Notices:
    """Warnings and notes for the reader."""

    notices: tuple[Notice, ...]


@dataclass(frozen=True)
class References:
    """The papers that the document cites."""

    citations: tuple[Citation, ...]


@dataclass(frozen=True)
class Figure:
    """A drawing, or several side by side.

    name: Name, unique in the document, in lower case.
    made: Function that returns the drawings, each with its alternative text.
    legend: Names with their palette colours.
    """

    name: str
    made: Callable[[], Sequence[tuple[model.Figure, str]]]
    caption: str = ""
    legend: tuple[tuple[str, str], ...] = ()

    def alone(self, others: tuple[tuple[str, str], ...] = ()) -> model.Figure:
        """Return it as one drawing, with panels of curves joined, and with its legend, or that of others."""
        drawings = [drawing for drawing, _ in self.made()]
        first = drawings[0]
        if isinstance(first, model.PictureRow | model.HeatMap):
            return first
        legend = first.legend or tuple((name, style.SERIES.index(shade)) for name, shade in self.legend or others)
        if isinstance(first, model.RowsFigure):
            return replace(first, legend=legend) if first.lines or self.legend else first  # rows of one line have names
        panels = tuple(panel for drawing in drawings if isinstance(drawing, model.Curves) for panel in drawing.panels)
        return replace(first, panels=panels, columns=min(first.columns, len(panels)), legend=legend)


@dataclass(frozen=True)
class Section:
    """A title with blocks below it; `section` makes one.

    title: Title, "" for none.
    blocks: Content; without any, the section is not shown.
    detail: True if a terminal shows it only with "everything".
    folded: True if a page shows only its title until that is clicked.
    """

    title: str
    blocks: tuple[Block, ...]
    detail: bool = False
    folded: bool = False


Block: TypeAlias = Table | Prose | Code | Facts | Notices | References | Figure | Section


@dataclass(frozen=True)
class Document:
    """Document of an analysis; its kind, "Report", is above the title, its lead below."""

    title: str
    kind: str
    lead: str
    blocks: tuple[Block, ...]


def section(title: str, *content: Block | None, detail: bool = False, folded: bool = False) -> Section:
    """Make a section, without missing blocks and empty sections."""
    kept = tuple(item for item in content if item is not None and (not isinstance(item, Section) or item.blocks))
    return Section(title, kept, detail, folded)


def flat(shown: Iterable[Block], everything: bool = True) -> Iterator[Block]:
    """Yield blocks in order, each section followed by its blocks; details only with ``everything``."""
    for block in shown:
        if not isinstance(block, Section):
            yield block
        elif everything or not block.detail:
            yield block
            yield from flat(block.blocks, everything)


def of_columns(shown: Table, chosen: Sequence[int]) -> Table:
    """Return a table with only these columns."""
    columns = tuple(shown.columns[index] for index in chosen)
    return replace(shown, columns=columns, rows=tuple(tuple(row[index] for index in chosen) for row in shown.rows))


def groups(shown: Table) -> list[list[tuple[Cell, ...]]]:
    """Return the groups of rows that belong together; single rows if the table is not grouped."""
    if not shown.grouped:
        return [[row] for row in shown.rows]
    return [list(rows) for _, rows in groupby(shown.rows, key=lambda row: row[0].text)]
