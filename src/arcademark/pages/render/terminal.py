"""A document in the terminal: it fits 80 columns, uses 120, and needs neither colour nor a terminal.

Tables lose no digit in a narrower terminal.
"""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import rich.table
from rich import box
from rich.cells import cell_len
from rich.console import RenderableType
from rich.padding import Padding
from rich.rule import Rule

from arcademark import wording
from arcademark.errors import escaped
from arcademark.pages.render import blocks
from arcademark.pages.render.blocks import Block, Cell, Document, Prose, Section, Table
from arcademark.pages.render.layout import Console, Text, lines

STYLES = {
    "": "",
    "strong": "bold",
    "best": "bold",
    "weak": "dim",
    "good": "bold green",
    "doubtful": "yellow",
    "bad": "red",
}

WIDE = 110
"""Width from which a table may have many columns of sentences; a narrower terminal shows its rows one by one."""

NARROWEST_NAME = 12
"""Width that a name keeps in the narrowest terminal."""

HEADING = 8
"""Number of characters that a line of a heading may always have."""

GAP, CLOSE = 3, 2
"""Widths between two columns of a table, usually, and if that keeps its intervals on one line."""

MAX_PROSE = 2
"""Maximum number of columns of sentences in a narrow terminal."""

APART, BROKEN = " … ", " …\n"
"""Separators between the ends of an interval, on one line or two."""


def render(document: Document, console: Console, *, everything: bool = False) -> None:
    """Print a document, ``everything`` with details and whole tables; the console's width decides the layout."""
    for part in parts(document, console.width, everything=everything):
        console.print(part, crop=False)


def parts(document: Document, width: int, *, everything: bool = False) -> Iterator[RenderableType]:
    """Yield the parts that `render` prints, from top to bottom."""
    yield Text(document.title, style="bold")
    yield Rule(characters="━", style="dim")
    if document.lead:
        yield Text(document.lead, style="dim")
        yield Text()
    for block in document.blocks:
        if everything or not _detail(block):
            content = list(_block(block, width, everything))
            yield from content
            if content and not isinstance(block, Section):
                yield Text()
    if hidden := dict.fromkeys(() if everything else _hidden(document.blocks)):
        yield Text(f"--all also shows: {wording.listing(hidden)}.", style="dim")


def _detail(block: Block) -> bool:
    return isinstance(block, Section) and block.detail


def _hidden(shown: Sequence[Block]) -> Iterator[str]:
    """Yield the titles of hidden details with content."""
    for block in shown:
        if isinstance(block, Section) and not block.detail:
            yield from _hidden(block.blocks)
        elif isinstance(block, Section) and block.title and _shows(block):
            yield block.title


def _shows(block: Block) -> bool:
    """Return True if a block has content in a terminal, which shows no figures."""
    return any(map(_shows, block.blocks)) if isinstance(block, Section) else not isinstance(block, blocks.Figure)


def _content(shown: Sequence[Block], width: int, everything: bool) -> Iterator[RenderableType]:
    """Yield a section's content, with an empty line around sections, and below a table unless an aside follows."""
    before: Block | None = None
    for block in shown:
        parts = [] if _detail(block) and not everything else list(_block(block, width, everything))
        if not parts:
            continue
        aside = isinstance(block, Prose) and block.style == "weak"
        if (
            isinstance(before, Section)
            or (isinstance(before, Table) and not aside)
            or (before is not None and isinstance(block, Section))
        ):
            yield Text()
        yield from parts[:-1] if isinstance(block, Section) else parts  # without the line that ends a section
        before = block


def _block(block: Block, width: int, everything: bool) -> Iterator[RenderableType]:
    match block:
        case Section():
            content = list(_content(block.blocks, width, everything))
            if content:
                yield from [Text(block.title, style="bold cyan")] if block.title else []
                yield from (*content, Text())
        case Prose():
            yield Text(block.text, style=STYLES[block.style])
        case blocks.Code():
            yield lines(*block.text.split("\n"))
        case blocks.Notices():
            for item in block.notices:
                mark = Text("·", "dim") if item.level == "note" else Text("Warning:", "bold yellow")
                yield _pairs([(mark, f"{item.text} {item.hint}".rstrip())], width)
        case blocks.Facts():
            yield _pairs(((Text(name, "dim"), value) for name, value in block.pairs), width)
        case blocks.References():
            yield from (Text(f"{item.text}: {item.url}", style="dim") for item in block.citations)
        case Table():
            yield from _tables(block, width, everything)


def _pairs(pairs: Iterable[tuple[Text, str]], width: int) -> RenderableType:
    """Show names beside texts; if these would be too narrow, the terminal breaks the lines."""
    rows = list(pairs)
    least = 1 + NARROWEST_NAME + max(name.cell_len for name, _ in rows)
    made = rich.table.Table.grid(padding=(0, 1))
    made.width = least if least > width else None
    made.add_column(no_wrap=True)
    made.add_column(overflow="fold")
    for name, text in rows:
        made.add_row(name, Text(text))
    return made


def _tables(shown: Table, width: int, everything: bool) -> Iterator[RenderableType]:
    """Yield a table; optional columns that do not fit are left out or, with ``everything``, are a separate table."""
    more = 0
    if shown.most is not None and not everything:
        more = len(shown.rows) - shown.most
        shown = replace(shown, rows=shown.rows[: shown.most])
    if width < WIDE and sum(column.kind == "prose" for column in shown.columns) > MAX_PROSE:
        yield from (part for row in shown.rows for part in _record(shown, row, width))
    else:
        names, wide = 2 if shown.grouped else 1, _least(shown, APART) > width
        required = [index for index, column in enumerate(shown.columns) if not (wide and column.optional)]
        yield from _split(blocks.of_columns(shown, required), width)
        if everything and len(required) < len(shown.columns):
            optional = [index for index in range(len(shown.columns)) if index not in required]
            yield Text()
            yield from _split(blocks.of_columns(shown, [*range(names), *optional]), width)
    if more > 0:
        yield Text(f"and {wording.count(more)} more: --all shows them", style="dim")
    if shown.caption:
        yield Text(shown.caption, style="dim")


def _split(shown: Table, width: int) -> Iterator[RenderableType]:
    """Yield a table, in parts below each other if even its narrowest form is too wide."""
    names = 2 if shown.grouped else 1
    if len(shown.columns) <= names + 1 or _least(shown, BROKEN) <= width or _least(shown, APART, CLOSE) <= width:
        yield _table(shown, width)
        return
    part = list(range(names))
    for index in range(names, len(shown.columns)):
        if len(part) > names and _least(blocks.of_columns(shown, [*part, index]), BROKEN) > width:
            yield _table(blocks.of_columns(shown, part), width)
            yield Text()
            part = list(range(names))
        part.append(index)
    yield _table(blocks.of_columns(shown, part), width)


def _record(shown: Table, row: Sequence[Cell], width: int) -> Iterator[RenderableType]:
    """Show the cells of a row of sentences below each other."""
    title = Text(row[0].text, style="bold")
    yield title.append(f"  ({row[0].below})", style="dim not bold") if row[0].below else title
    pairs = zip((column.heading for column in shown.columns[1:]), (cell.text for cell in row[1:]), strict=True)
    yield Padding(_pairs(((Text(name, "dim"), text) for name, text in pairs if text), width - 2), (0, 0, 1, 2))


def _table(shown: Table, width: int) -> RenderableType:
    """Lay a table out; if it is too wide, its columns are closer, or else intervals are on two lines."""
    gaps = [gap for gap in (GAP, CLOSE) if _least(shown, APART, gap) <= width]
    gap, apart = (gaps[0], APART) if gaps else (GAP, BROKEN)
    needed = [_needed(shown, index, apart) for index in range(len(shown.columns))]
    least = sum(needed) + gap * (len(needed) - 1)
    names = sum(column.kind != "number" for column in shown.columns)
    rooms = [
        math.inf if column.kind == "number" or names > 2 else room + max(0, width - least)
        for column, room in zip(shown.columns, needed, strict=True)
    ]
    made = rich.table.Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="dim")
    made.padding = (0, 1, 0, gap - CLOSE)  # CLOSE is the frame plus the right padding
    made.width = least if least > width else None
    made.show_header = any(column.heading for column in shown.columns)
    for index, column in enumerate(shown.columns):
        number = column.kind == "number"
        made.add_column(
            lines(*_heading(shown, index, apart)),
            justify="right" if number else "left",
            no_wrap=number,
            min_width=None if number else needed[index],
            overflow="fold",
        )
    for rows in blocks.groups(shown):
        for place, row in enumerate(rows):
            last = len(rows) > 1 and place == len(rows) - 1
            cells = [_cell(item, apart, room) for item, room in zip(row, rooms, strict=True)]
            made.add_row(*([Text(), *cells[1:]] if place else cells), end_section=last)
    return made


def _cell(cell: Cell, apart: str, room: float) -> Text:
    style, text = STYLES[cell.style], cell.text.replace(APART, apart)
    if " " not in text and cell_len(text) > room:
        text = _broken(text, room)
    above = [Text(part, style=style) for part in text.split("\n")]
    below = [Text(part, style="dim") for part in cell.below.replace(APART, apart).split("\n")] if cell.below else []
    return lines(*above, *below) if len(above) + len(below) > 1 else above[0]


def _broken(name: str, room: float) -> str:
    """Break a name after punctuation into lines that fit, as far as possible."""
    made = [""]
    for part in re.split(r"(?<=[:(,/=])", name):
        if made[-1] and cell_len(made[-1] + part) > room:
            made.append("")
        made[-1] += part
    return "\n".join(made)


def _width(cell: Cell, apart: str) -> int:
    both = f"{cell.text}\n{cell.below}".replace(APART, apart)
    return max(cell_len(escaped(part)) for part in both.split("\n"))


def _heading(shown: Table, index: int, apart: str) -> list[str]:
    """Break a heading into lines that are at most as long as its cells, its longest word or `HEADING`."""
    column = shown.columns[index]
    words = [len(word) for word in column.heading.split(" ")]
    room = max([HEADING, *words, *(_width(row[index], apart) for row in shown.rows)])
    return textwrap.wrap(column.heading, room, break_on_hyphens=False) or [""]


def _needed(shown: Table, index: int, apart: str) -> int:
    """Return the width that a table's column needs; names may be broken."""
    widest = max(map(len, _heading(shown, index, apart)))
    widest = max([widest, *(_width(row[index], apart) for row in shown.rows)])
    return widest if shown.columns[index].kind == "number" else min(widest, NARROWEST_NAME)


def _least(shown: Table, apart: str, gap: int = GAP) -> int:
    """Return the width that a table needs."""
    needed = [_needed(shown, index, apart) for index in range(len(shown.columns))]
    return sum(needed) + gap * (len(needed) - 1)
