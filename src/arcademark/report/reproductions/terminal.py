"""A reproduction in the terminal: counts, the rows below the games side by side, and every difference explained."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from rich import box
from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table

from arcademark.report import layout, wording
from arcademark.report.drawing import forms
from arcademark.report.drawing.forms import Column, Rows
from arcademark.report.layout import Console, Text
from arcademark.report.reproductions import analysis, figures
from arcademark.report.reproductions.analysis import BELOW, Cause, Counts, Grid, Kind, Part, Reproduced
from arcademark.reproduce.comparison import Comparison
from arcademark.reproduce.figures import Panel, PaperFigure

T = TypeVar("T")

DIFFERS = "≠"
NOTED = "≈"
"""Marks a cell that agrees in a way that its note tells."""

FIELD_STYLES = {"differ": "yellow", "unexplained": "bold red"}

MARKS = {"agrees": "=", "differs": DIFFERS, "not available": wording.MISSING}

STYLES = {"agrees": "green", "differs": "bold yellow", "not available": "dim"}

TIGHT_GAP = 2
"""What the whole table leaves between two columns."""

HEADING = 14
"""Columns of a heading of a figure's numbers."""

SHORT = 60
"""Columns of an explanation that is referred to."""


@dataclass
class Said:
    """What tables further up have said, so that it need not be said again.

    Parameters
    ----------
    explained : dict of str to str
        The table that gives an explanation in full.
    shown : dict of tuple to str
        The table that shows a line: the place but for its table, what is printed, what holds, and why.
    """

    explained: dict[str, str] = field(default_factory=dict)
    shown: dict[tuple[str, ...], str] = field(default_factory=dict)

    def before(self, item: Comparison, table: str) -> str:
        """Return the table that has shown a line already, "" if this is the first, which is then kept in mind."""
        key = (analysis.where(item), item.printed, item.recomputed, item.why)
        first = self.shown.setdefault(key, table)
        return first if first != table else ""


def render(shown: Reproduced, console: Console, *, whole: bool = False) -> None:
    """Print the reproduction.

    Parameters
    ----------
    shown : Reproduced
    console : layout.Console
    whole : bool
        Whether to print every cell and not just those below the games and those that differ.
    """
    layout.show(parts(shown, console.width, whole=whole), console)


def parts(shown: Reproduced, width: int, *, whole: bool) -> Iterator[RenderableType]:
    """Yield what `render` prints, from top to bottom."""
    yield Text(f"{shown.source.authors} {shown.source.year}: {shown.source.title}", style="bold")
    yield Text(shown.source.venue, style="dim")
    yield Text()
    if len(shown.parts) > 1:
        yield from layout.section("", _overview(shown))
    said = Said()
    for part in shown.parts:
        yield from _part(part, width, Said() if whole else said, whole=whole)
    for figure in shown.figures:
        yield from layout.section(figure.title, Text(figure.caption), Text(), *_figure(figure, width))
    if len(shown.parts) > 1:
        yield _counts(shown.counts, analysis.noun(shown.parts))


def _overview(shown: Reproduced) -> Table:
    columns = analysis.overview(shown.counts)
    table = layout.table("", *(_in_two_lines(title) for title in columns.values()))
    for part in shown.parts:
        table.add_row(Text(part.title), *_numbers(part.counts, columns))
    table.add_section()
    table.add_row(Text("together", style="bold"), *_numbers(shown.counts, columns))
    return table


def _in_two_lines(heading: str) -> str | tuple[str, str]:
    """Break a heading after its first word, unless that is an article."""
    first, space, rest = heading.partition(" ")
    return heading if len(first) < 3 or not space else (first, rest)


def _numbers(counts: Counts, fields: Iterable[str]) -> Iterator[Text]:
    for kept in fields:
        number = getattr(counts, kept)
        yield Text(wording.count(number), style=FIELD_STYLES.get(kept, "") if number else "dim")


def _counts(counts: Counts, noun: str) -> Text:
    style = "bold red" if counts.unexplained else "yellow" if counts.differ else "green"
    return Text(analysis.in_words(counts, noun), style=style)


def _part(part: Part, width: int, said: Said, *, whole: bool) -> Iterator[RenderableType]:
    table = analysis.grid(part)
    counts = _counts(part.counts, analysis.noun([part]))
    if table is None:
        told = _statements(part.comparisons) if part.number is None else _lines(part)
        yield from layout.section(part.title, counts, Text(), *told)
        return
    content: list[RenderableType] = [counts, Text()]
    content += [*_whole(table, width), Text()] if whole else []
    content += [_below(table)]
    name = f"Table {part.number}"
    for kind in analysis.kinds(part.comparisons):
        content += [Text(), *_kind(kind, name, said)]
    notes = analysis.noted(part.comparisons)
    if notes:
        content += [Text(), *_notes(notes, name, said, whole=whole)]
    yield from layout.section(part.title, *content)


def _below(grid: Grid) -> Table:
    """Set what we compute under what is printed below the games, an algorithm at a time."""
    table = layout.table(
        "below the games",
        "",
        *(tuple(re.split(r" (?=%)|(?<=s) (?=b)", BELOW[row])) for row in grid.below),
        left=2,
    )
    for algorithm in grid.algorithms:
        cells = [grid.cell(row, algorithm) for row in grid.below]
        if not any(cells):
            continue
        table.add_row(Text(algorithm, style="bold"), "paper", *(_printed(cell) for cell in cells))
        table.add_row("", "ours", *(_recomputed(cell) for cell in cells), end_section=True)
    return table


def _printed(cell: Comparison | None) -> Text:
    return Text("" if cell is None else cell.printed)


def _recomputed(cell: Comparison | None) -> Text:
    if cell is None:
        return Text()
    if cell.verdict == "differs":
        return Text(f"{DIFFERS} {cell.recomputed or wording.MISSING}", style=STYLES["differs"])
    if cell.why and cell.verdict == "agrees" and cell.recomputed != cell.printed:
        return Text(f"{NOTED} {cell.recomputed}", style=STYLES["agrees"])
    return Text(cell.recomputed or wording.MISSING, style=STYLES[cell.verdict])


def _kind(kind: Kind, name: str, said: Said) -> Iterator[RenderableType]:
    explained = all(cause.why for cause in kind.causes)
    heading = kind.category or ("other differences" if explained else "not explained")
    style = STYLES["differs"] if explained else "bold red"
    yield Text(f"{DIFFERS} {heading}, {wording.plural(kind.cells, 'cell')}", style=style)
    for cause in kind.causes:
        yield from _cause(cause, name, said)


def _cause(cause: Cause, name: str, said: Said) -> Iterator[RenderableType]:
    """Explain cells; what a table further up has explained or shown is referred to."""
    if cause.why:
        first = said.explained.setdefault(cause.why, name)
        again = first != name and len(cause.why) > SHORT
        short = textwrap.shorten(cause.why, SHORT, placeholder=" …")
        yield Padding(Text(f"as in {first}: {short}" if again else cause.why), (0, 0, 0, 2), expand=False)
    new, repeated = _new(cause.comparisons, name, said)
    table = layout.table("", "paper", "ours")
    table.show_header = False
    for item in new:
        table.add_row(Text(analysis.where(item)), Text(item.printed), Text(item.recomputed or wording.MISSING))
    if new:
        yield Padding(table, (0, 0, 0, 4), expand=False)
    if repeated:
        yield repeated


def _new(items: Sequence[Comparison], name: str, said: Said) -> tuple[list[Comparison], RenderableType | None]:
    """Return the lines that no table further up has, and a line on the others."""
    before = [said.before(item, name) for item in items]
    new = [item for item, first in zip(items, before, strict=True) if not first]
    if len(new) == len(items):
        return new, None
    algorithms: dict[tuple[str, str], list[str]] = {}
    for item, first in zip(items, before, strict=True):
        if first:
            algorithm, _, rest = analysis.where(item).partition(", ")
            algorithms.setdefault((rest, first), []).append(algorithm)
    lines = (f"{wording.listing(who)}, {rest}: as in {first}" for (rest, first), who in algorithms.items())
    return new, Padding(layout.lines(*lines, style="dim"), (0, 0, 0, 4), expand=False)


def _notes(notes: Sequence[Comparison], name: str, said: Said, *, whole: bool) -> Iterator[RenderableType]:
    """List the notes on what agrees; where the table is not shown whole, those on the rows below the games."""
    listed = [item for item in notes if whole or item.place is None or item.place.row in BELOW]
    left = len(notes) - len(listed)
    yield Text(f"{NOTED} agrees, with a note, {wording.plural(len(notes), 'cell')}", style=STYLES["agrees"])
    new, repeated = _new(listed, name, said)
    table = layout.prose(layout.table("", "paper", ""))
    table.show_header = False
    for item in new:
        table.add_row(Text(analysis.where(item)), Text(item.printed), Text(item.why))
    if new:
        yield Padding(table, (0, 0, 0, 4), expand=False)
    if repeated:
        yield repeated
    if left:
        others = f"and {wording.count(left)} more" if listed else wording.count(left)
        yield Text(f"    {others} in the games' rows; --all shows them", style="dim")


def _whole(grid: Grid, width: int) -> Iterator[RenderableType]:
    """Yield the games' rows, as many algorithms beside each other as the terminal has room for."""
    references = [name for name in grid.algorithms if not grid.has_percent(name)]
    others = [name for name in grid.algorithms if name not in references]
    if references:
        yield _block(grid, references)
    left = max(len(title) for _, title in grid.rows)
    widths = [sum(TIGHT_GAP + _width(column) for column in _columns(grid, name)) for name in others]
    for block in _shared_out(others, widths, width - left):
        yield Text()
        yield _block(grid, block)


def _block(grid: Grid, algorithms: Sequence[str]) -> RenderableType:
    """Lay algorithms out beside each other, more tightly than `layout` does."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="dim", padding=(0, 1, 0, 0))
    table.add_column("game", overflow="fold")
    for name in algorithms:
        for heading, *_ in _columns(grid, name):
            table.add_column(heading, justify="right", no_wrap=True)
    columns = [cells for name in algorithms for _, *cells in _columns(grid, name)]
    for (_, title), *cells in zip(grid.rows, *columns, strict=True):
        if any(cells):
            table.add_row(Text(title), *cells)
    return Padding(table, 0, expand=False)


def _columns(grid: Grid, algorithm: str) -> list[tuple[Text, ...]]:
    """Return an algorithm's score and two percentages, or its score alone: headings and cells, one a row."""
    scores = (_score(grid.cell(row, algorithm, "score")) for row, _ in grid.rows)
    columns = [(layout.lines(algorithm, "score"), *scores)]
    if grid.has_percent(algorithm):
        cells = [grid.cell(row, algorithm) for row, _ in grid.rows]
        columns.append((layout.lines(f"{grid.quantity.upper()} %", "paper"), *map(_printed, cells)))
        columns.append((layout.lines("", "ours"), *map(_recomputed, cells)))
    return columns


def _width(column: tuple[Text, ...]) -> int:
    """Return what the widest line of a column takes."""
    return max(len(line) for cell in column for line in cell.plain.split("\n"))


def _shared_out(items: Sequence[T], widths: Sequence[int], room: int) -> Iterator[list[T]]:
    """Share items out between blocks that have room for them, at least one in each."""
    block: list[T] = []
    free = room
    for item, width in zip(items, widths, strict=True):
        if block and width > free:
            yield block
            block, free = [], room
        block.append(item)
        free -= width
    yield block


def _score(cell: Comparison | None) -> Text:
    if cell is None:
        return Text()
    differs = cell.verdict == "differs"
    return Text(f"{DIFFERS} {cell.printed}" if differs else cell.printed, style=STYLES["differs"] if differs else "")


def _statements(comparisons: Sequence[Comparison]) -> Iterator[RenderableType]:
    for place, item in enumerate(comparisons):
        if place:
            yield Text()
        style = STYLES[item.verdict]
        yield Text(f"{MARKS[item.verdict]} ", style=style).append(item.where, style="bold")
        told = Table.grid(padding=(0, 1))
        told.add_row(" ", Text("paper", style="dim"), Text(item.printed))
        told.add_row(" ", Text("ours", style="dim"), Text(item.recomputed or item.verdict, style=style))
        if item.why or item.verdict == "differs":
            why = Text(item.why) if item.why else Text("not explained", style="bold red")
            told.add_row(" ", Text("note" if item.verdict == "agrees" else "why", style="dim"), why)
        yield told


def _lines(part: Part) -> Iterator[RenderableType]:
    """Show a table whose rows are compared whole: a line a row that agrees, and the others as statements."""
    plain = [item for item in part.comparisons if item.verdict == "agrees" and not item.why]
    others = [item for item in part.comparisons if item not in plain]
    if plain:
        table = layout.table("", "paper", "ours")
        for column in table.columns[1:]:
            column.no_wrap = False
        for item in plain:
            name = item.where.removeprefix(f"Table {part.number}, ")
            table.add_row(Text(name), Text(item.printed), Text(item.recomputed, style=STYLES["agrees"]))
        yield table
    if plain and others:
        yield Text()
    yield from _statements(others)


def _figure(figure: PaperFigure, width: int) -> Iterator[RenderableType]:
    """Show a figure's numbers: its rows, or what its curves are worth at round values."""
    model = figures.figure_model(figure)
    if isinstance(model, Rows):
        yield from _rows(model, width)
        return
    for panel in figure.panels:
        yield Text(panel.title, style="bold")
        yield _curves(panel)


def _rows(model: Rows, width: int) -> Iterator[RenderableType]:
    """Yield the rows with as many columns beside each other as there is room for, and the others below."""
    columns = [_numbers_of(panel, column) for panel in model.panels for column in panel.columns]
    left = max(2 * bool(heading) + len(name) for heading, members in model.groups for name in members)
    widths = [len(layout.GAP) + _width(column) for column in columns]
    for place, block in enumerate(_shared_out(columns, widths, width - left)):
        if place:
            yield Text()
        table = layout.table("", *(tuple(heading.plain.split("\n")) for heading, *_ in block))
        cells = zip(*(numbers for _, *numbers in block), strict=True)
        for heading, members in model.groups:
            if heading:
                table.add_row(Text(heading, style="dim"), *[""] * len(block))
            for name in members:
                table.add_row(Padding(Text(name), (0, 0, 0, 2 if heading else 0)), *next(cells))
        yield table


def _numbers_of(panel: forms.Panel, column: Column) -> tuple[Text, ...]:
    """Return a column's heading and numbers."""
    texts = (panel.title, column.title or panel.unit)
    heading = layout.lines(*(line for text in texts for line in textwrap.wrap(text, HEADING)))
    return (heading, *map(Text, column.texts))


def _curves(panel: Panel) -> Table:
    table = layout.table(panel.x_unit, *(series.name for series in panel.series))
    for x, text in figures.thresholds(panel):
        heights = (figures.height(series, x) for series in panel.series)
        table.add_row(f"≥ {text}", *(figures.number(value, panel) for value in heights))
    return table
