"""What a document is made of: sections of tables, figures, facts, notices and prose.

A presenter makes a `Document` of an analysis; each renderer of `arcademark.reports.render` shows every document. Blocks
hold numbers as texts, and nothing of how a terminal or a page looks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from typing import TypeAlias

from arcademark import __version__
from arcademark.reports.columns import Kind, Style
from arcademark.reports.document import Notice
from arcademark.reports.figures import model, style
from arcademark.reports.record import Citation

GENERATOR = f"ArcadeMark {__version__}"


@dataclass(frozen=True)
class Cell:
    """One field of a table; `below` it, in small print, its interval. A page sorts by `sort`, or by the text."""

    text: str
    style: Style = ""
    below: str = ""
    sort: float | None = None


@dataclass(frozen=True)
class Column:
    """One column of a table.

    heading: Renderers break it where the column is narrow.
    meaning: One line that defines it.
    optional: Left out where there is no room; with all details such columns are a table of their own.
    over: Heading shared with neighbours, which are never parted.
    """

    heading: str
    kind: Kind = "number"
    meaning: str = ""
    optional: bool = False
    over: str = ""


@dataclass(frozen=True)
class Table:
    """Rows of cells, each as long as the columns; without headings there is no line of them.

    grouped: Whether rows whose first cells are equal belong together; these then stand once.
    sortable: Whether a page lets readers sort it.
    most: Rows that are shown where not everything is.
    """

    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    caption: str = ""
    grouped: bool = False
    sortable: bool = False
    most: int | None = None


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
    """Names with what they are, a line each."""

    pairs: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Notices:
    """What the reader must know, warnings apart from notes."""

    notices: tuple[Notice, ...]


@dataclass(frozen=True)
class References:
    """The papers that the document leans on."""

    citations: tuple[Citation, ...]


@dataclass(frozen=True)
class Card:
    """One algorithm's headline number, what it is, and facts beside it, whose names all cards of a block share."""

    title: str
    number: Cell
    caption: str
    facts: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Cards:
    """Headlines side by side, or the rows of a table.

    of, number: Headings of the cards' titles and numbers: "algorithm", "estimate".
    optional: Facts that a table leaves out where there is no room for them.
    """

    of: str
    number: str
    cards: tuple[Card, ...]
    optional: tuple[str, ...] = ()


@dataclass(frozen=True)
class Figure:
    """A drawing, or several side by side.

    name: Unique in the document, in small letters.
    made: Returns what is to be drawn, each with what it shows in words.
    legend: Names with their palette colours.
    """

    name: str
    made: Callable[[], Sequence[tuple[model.Figure, str]]]
    caption: str = ""
    legend: tuple[tuple[str, str], ...] = ()

    def alone(self, others: tuple[tuple[str, str], ...] = ()) -> model.Figure:
        """Return it as one drawing, panels of curves put together, with its legend, or with that of others."""
        drawings = [drawing for drawing, _ in self.made()]
        first = drawings[0]
        if isinstance(first, model.Pictures):
            return first
        legend = first.legend or tuple((name, style.SERIES.index(shade)) for name, shade in self.legend or others)
        if isinstance(first, model.Rows):
            return replace(first, legend=legend)
        panels = tuple(panel for drawing in drawings if isinstance(drawing, model.Curves) for panel in drawing.panels)
        return replace(first, panels=panels, columns=min(first.columns, len(panels)), legend=legend)


@dataclass(frozen=True)
class Section:
    """A title and what stands below it. Make one with `section`.

    title: "" for none.
    content: Without any, nothing is shown. A callable is called only by a renderer that shows the section.
    detail: Whether a terminal shows it only where everything is asked for.
    folded: Whether a page shows its title alone until that is clicked.
    """

    title: str
    content: tuple[Block | Later, ...]
    detail: bool = False
    folded: bool = False

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """All blocks, made where that is still to be done."""
        return tuple(item() if callable(item) else item for item in self.content)


Block: TypeAlias = Table | Prose | Code | Facts | Notices | References | Cards | Figure | Section
Later: TypeAlias = Callable[[], Block]
"""Makes a block that is not empty."""


@dataclass(frozen=True)
class Document:
    """Everything that is shown of an analysis; its kind, "Report", stands above the title, its lead below."""

    title: str
    kind: str
    lead: str
    blocks: tuple[Block, ...]
    generator: str = GENERATOR


def section(title: str, *content: Block | Later | None, detail: bool = False, folded: bool = False) -> Section:
    """Make a section of the blocks that there are; tables without rows, and empty notices, are none."""
    return Section(title, tuple(item for item in content if item is not None and not _empty(item)), detail, folded)


def _empty(block: Block | Later) -> bool:
    if isinstance(block, Table):
        return not block.rows
    if isinstance(block, Notices):
        return not block.notices
    if isinstance(block, Section):
        return not block.content
    return (isinstance(block, Facts) and not block.pairs) or (isinstance(block, References) and not block.citations)


def flat(shown: Iterable[Block], everything: bool = True) -> Iterator[Block]:
    """Yield blocks and, after their sections, those within these, in order; details where everything is asked for."""
    for block in shown:
        if not isinstance(block, Section):
            yield block
        elif everything or not block.detail:
            yield block
            yield from flat(block.blocks, everything)


def as_table(cards: Cards) -> Table:
    """Return the table that says what cards say."""
    names = [name for name, _ in cards.cards[0].facts] if cards.cards else []
    columns = (Column(cards.of, "name"), Column(cards.number))
    return Table(
        (*columns, *(Column(name, optional=name in cards.optional) for name in names)),
        tuple(
            (Cell(card.title, "strong"), card.number, *(Cell(value) for _, value in card.facts)) for card in cards.cards
        ),
    )


def groups(shown: Table) -> list[list[tuple[Cell, ...]]]:
    """Return the rows that belong together; each row by itself where the table is not grouped."""
    if not shown.grouped:
        return [[row] for row in shown.rows]
    return [list(rows) for _, rows in groupby(shown.rows, key=lambda row: row[0].text)]


def headings(shown: Table) -> list[tuple[str, list[Column]]]:
    """Return what stands above columns, with those; each column by itself where nothing does."""
    pairs = groupby(enumerate(shown.columns), key=lambda pair: (pair[1].over, not pair[1].over and pair[0]))
    return [(over, [column for _, column in columns]) for (over, _), columns in pairs]
