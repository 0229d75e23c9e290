"""What every document's terminal view is built of: sections, tables and notices.

Tables fit 80 columns, and lose no digit in a narrower terminal. `Text` and `Console` replace rich's everywhere: they
read no markup in names and escape what would steer a terminal or forge a line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Self

import rich.console
import rich.text
from rich import box
from rich.console import RenderableType
from rich.measure import Measurement
from rich.style import Style
from rich.table import Table

from arcademark.errors import escaped
from arcademark.reports.document import Notice

WIDE = 110
"""Columns from which a table may take in what a narrower terminal shows in a table of its own."""

NARROWEST_NAME = 12
"""Columns that a name keeps in the narrowest terminal."""

UNBOUNDED = 10_000

GAP = "   "
"""What `table` leaves between two columns."""

GAPS = (((0, 1), len(GAP)), ((0, 1, 0, 0), 2), ((0, 0), 1))
"""Padding, and columns between two: `table`'s own, and what to fall back on where it is too wide."""

LEVEL_STYLES = {"warning": "bold yellow", "note": "dim"}


class Text(rich.text.Text):
    """One line of text with a style; what cannot be seen, line breaks among it, is escaped. `lines` makes several."""

    def __init__(self, text: str = "", style: str | Style = "", **how: Any) -> None:
        super().__init__(escaped(text), style, **how)

    def append(self, text: rich.text.Text | str, style: str | Style | None = None) -> Self:
        """Add text, escaped, or a text that is one already."""
        super().append(escaped(text) if isinstance(text, str) else text, style)
        return self

    def __add__(self, other: Any) -> rich.text.Text:
        return super().__add__(Text(other) if isinstance(other, str) else other)


class Console(rich.console.Console):
    """What everything is printed with: a string is one line of text, never markup or a name of an emoji."""

    def __init__(self, **how: Any) -> None:
        super().__init__(markup=False, emoji=False, highlight=False, **how)

    def render_str(self, text: str, *, style: str | Style = "", **how: Any) -> rich.text.Text:
        """Take a string as it is."""
        return Text(text, style, justify=how.get("justify"), overflow=how.get("overflow"))


def lines(*parts: str | rich.text.Text, style: str = "") -> Text:
    """Put texts below each other."""
    made = Text(style=style)
    for index, part in enumerate(parts):
        made.append(rich.text.Text("\n" if index else "")).append(part)
    return made


def show(parts: Iterable[RenderableType], console: Console) -> None:
    """Print the parts of a document from top to bottom."""
    for part in parts:
        if isinstance(part, Table) and part.columns:
            _fit(part, console)
        console.print(part, crop=False)


def section(title: str, *content: RenderableType) -> Iterator[RenderableType]:
    """Yield a title, what stands below it and an empty line; nothing where nothing stands below."""
    if content:
        if title:
            yield Text(title, style="bold cyan")
        yield from content
        yield Text()


def table(*columns: str | tuple[str, ...], left: int = 1) -> Table:
    """Make a table whose first `left` columns are names, its others numbers; a heading is a line or several."""
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="dim", padding=(0, 1))
    for index, column in enumerate(columns):
        name = index < left
        heading = lines(*column) if isinstance(column, tuple) else Text(column)
        made.add_column(heading, justify="left" if name else "right", no_wrap=not name, overflow="fold")
    return made


def notice(told: Notice) -> RenderableType:
    """Show one notice, its mark in front."""
    grid = Table.grid(padding=(0, 1))
    mark = Text("·" if told.level == "note" else "Warning:", style=LEVEL_STYLES[told.level])
    grid.add_row(mark, Text(f"{told.text} {told.hint}".rstrip()))
    return grid


def _fit(made: Table, console: Console) -> None:
    """Give names and numbers the columns they need, and bring columns closer where the terminal is too narrow."""
    free = console.options.update(max_width=UNBOUNDED)
    widths = []
    for column in made.columns:
        widest = max(Measurement.get(console, free, cell).maximum for cell in (column.header, *column.cells))
        widths.append(widest if column.no_wrap else max(column.min_width or 0, min(widest, NARROWEST_NAME)))
        if not column.no_wrap:
            column.min_width = widths[-1]
    for padding, gap in GAPS:
        made.padding = padding
        least = sum(widths) + gap * (len(widths) - 1)
        if least <= console.width:
            return
    made.width = least
