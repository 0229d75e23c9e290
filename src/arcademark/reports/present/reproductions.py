"""A paper recomputed: how much agrees, every difference with its explanation, the tables whole, the figures."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from arcademark.reports import wording
from arcademark.reports.blocks import (
    Block,
    Cell,
    Column,
    Document,
    Figure,
    Prose,
    Section,
    Table,
    section,
    table,
)
from arcademark.reports.columns import Style
from arcademark.reports.figures.model import Rows
from arcademark.reports.reproductions import analysis, figures
from arcademark.reports.reproductions.analysis import BELOW, Counts, Grid, Part, Reproduced
from arcademark.reproduce.comparison import Comparison
from arcademark.reproduce.figures import PaperFigure

DIFFERS, NOTED = "≠", "≈"
"""Marks of what differs, and of a cell that agrees in a way that its note tells."""
MARKS = {"agrees": "=", "differs": DIFFERS, "not available": wording.MISSING}
SHORT = 60
"""Characters of an explanation that is referred to."""


@dataclass
class Said:
    """Which tables further up have given an explanation, and shown a line: place, print, what holds, and why."""

    explained: dict[str, str] = field(default_factory=dict)
    shown: dict[tuple[str, ...], str] = field(default_factory=dict)

    def before(self, item: Comparison, name: str) -> str:
        """Return the table that has shown a line already, "" if this is the first, which is then kept in mind."""
        key = (analysis.where(item), item.printed, item.recomputed, item.why)
        first = self.shown.setdefault(key, name)
        return first if first != name else ""


def document(shown: Reproduced) -> Document:
    """Show a paper that was recomputed."""
    said = Said()
    return Document(
        f"{shown.source.authors} {shown.source.year}: {shown.source.title}",
        "reproduction",
        f"{shown.source.venue}. What the paper prints, beside what is recomputed from its own scores.",
        (
            *_overview(shown),
            *(_part(part, said) for part in shown.parts),
            *(_figure(figure, alone=len(shown.figures) == 1) for figure in shown.figures),
        ),
    )


def _overview(shown: Reproduced) -> Iterator[Section]:
    if len(shown.parts) < 2:
        return
    columns = analysis.overview(shown.counts)
    counted = [*((Cell(part.title), part.counts) for part in shown.parts), (Cell("together", "strong"), shown.counts)]
    rows = ((name, *(_number(kept, getattr(counts, kept)) for kept in columns)) for name, counts in counted)
    yield section("", _counts(shown.counts, analysis.noun(shown.parts)), table(("part", *columns.values()), rows))
    kinds = Counter(item.category for part in shown.parts for item in part.comparisons if item.verdict == "differs")
    if set(kinds) != {""}:
        named = ((kind or "without a kind", wording.count(number)) for kind, number in kinds.most_common())
        yield section("Kinds of difference", table(("kind", "cells"), named), detail=True)


def _number(kept: str, number: int) -> Cell:
    styles: dict[str, Style] = {"differ": "doubtful", "unexplained": "bad"}
    return Cell(wording.count(number), styles.get(kept, "") if number else "weak")


def _counts(counts: Counts, noun: str) -> Prose:
    style: Style = "bad" if counts.unexplained else "doubtful" if counts.differ else "good"
    return Prose(analysis.in_words(counts, noun), style)


def _part(part: Part, said: Said) -> Section:
    grid = analysis.grid(part)
    counts = _counts(part.counts, analysis.noun([part]))
    if grid is None:
        return section(part.title, counts, *_lines(part))
    name = f"Table {part.number}"
    return section(
        part.title,
        counts,
        _below(grid),
        *(_kind(kind, causes, name, said) for kind, causes in analysis.kinds(part.comparisons).items()),
        *_notes(analysis.noted(part.comparisons), name, said),
        section("The whole table", _whole(grid), detail=True, folded=True),
    )


def _below(grid: Grid) -> Table:
    """Set what we compute under what is printed below the games, an algorithm at a time."""
    rows: list[tuple[Cell | str, ...]] = []
    for algorithm in grid.algorithms:
        cells = [grid.cell(row, algorithm) for row in grid.below]
        if any(cells):
            name = Cell(algorithm, "strong")
            rows.append((name, "paper", *("" if cell is None else cell.printed for cell in cells)))
            rows.append((name, "ours", *map(_recomputed, cells)))
    return table(("algorithm", "", *(BELOW[row] for row in grid.below)), rows, names=2, grouped=True)


def _recomputed(cell: Comparison | None) -> Cell:
    if cell is None:
        return Cell("")
    if cell.verdict == "differs":
        return Cell(f"{DIFFERS} {cell.recomputed or wording.MISSING}", "doubtful")
    noted = cell.why and cell.verdict == "agrees" and cell.recomputed != cell.printed
    return Cell(f"{NOTED} {cell.recomputed}" if noted else cell.recomputed or wording.MISSING)


def _kind(kind: str, causes: Mapping[str, Sequence[Comparison]], name: str, said: Said) -> Section:
    heading = kind or ("other differences" if "" not in causes else "not explained")
    return section(
        f"{DIFFERS} {heading}, {wording.plural(sum(map(len, causes.values())), 'cell')}",
        *(block for why, cells in causes.items() for block in _cause(why, cells, name, said)),
    )


def _cause(why: str, cells: Sequence[Comparison], name: str, said: Said) -> Iterator[Block]:
    """Explain cells; what a table further up has explained or shown is referred to."""
    first = said.explained.setdefault(why, name)
    if not why:
        yield Prose("Not explained.", "bad")
    elif first != name and len(why) > SHORT:
        yield Prose(f"As in {first}: {textwrap.shorten(why, SHORT, placeholder=' …')}")
    else:
        yield Prose(why)
    new, repeated = _new(cells, name, said)
    if new:
        yield _cells((item, Cell(item.recomputed or wording.MISSING, "strong")) for item in new)
    yield from repeated


def _cells(rows: Iterator[tuple[Comparison, Cell]]) -> Table:
    columns = (Column("", "name"), Column(""), Column("", "prose"))
    return table(columns, ((analysis.where(item), item.printed, last) for item, last in rows))


def _new(items: Sequence[Comparison], name: str, said: Said) -> tuple[list[Comparison], list[Prose]]:
    """Return the lines that no table further up has shown, and where the others are."""
    new: list[Comparison] = []
    algorithms: dict[tuple[str, str], list[str]] = {}
    for item in items:
        first = said.before(item, name)
        if not first:
            new.append(item)
            continue
        algorithm, _, rest = analysis.where(item).partition(", ")
        algorithms.setdefault((rest, first), []).append(algorithm)
    told = (f"{wording.listing(who)}, {rest}: as in {first}" for (rest, first), who in algorithms.items())
    return new, [Prose(text, "weak") for text in told]


def _notes(notes: Sequence[Comparison], name: str, said: Said) -> Iterator[Section]:
    """List the notes on what agrees; those of the games' rows are details."""
    below = [item for item in notes if item.place is None or item.place.row in BELOW]
    others = [item for item in notes if item not in below]
    agrees = f"{NOTED} agrees, with a note, {wording.plural(len(below), 'cell')} below the games"
    for items, title in ((below, agrees), (others, "Notes on the games' rows")):
        new, repeated = _new(items, name, said)
        listed = _cells((item, Cell(item.why)) for item in new)
        yield section(title, listed, *repeated, detail=items is others, folded=items is others)


def _whole(grid: Grid) -> Table:
    """Lay the games' rows out: of each algorithm its score, and its percentage as printed and as recomputed."""
    columns = [Column("game", "name")]
    for name in grid.algorithms:
        headings = ("score", f"{grid.quantity.upper()} %", "ours") if grid.has_percent(name) else ("score",)
        columns += [Column(heading, over=name) for heading in headings]
    rows: list[tuple[Cell | str, ...]] = []
    for row, title in grid.rows:
        cells: list[Cell | str] = [title]
        for name in grid.algorithms:
            score, percent = grid.cell(row, name, "score"), grid.cell(row, name)
            differs = score is not None and score.verdict == "differs"
            text = "" if score is None else score.printed
            cells.append(Cell(f"{DIFFERS} {text}", "doubtful") if differs else text)
            if grid.has_percent(name):
                cells += ["" if percent is None else percent.printed, _recomputed(percent)]
        rows.append(tuple(cells))
    return table(columns, rows)


def _lines(part: Part) -> Iterator[Table]:
    """Show statements, or a table whose rows are compared whole: of that, a line a row that agrees, then the others."""
    plain = [item for item in part.comparisons if part.number and item.verdict == "agrees" and not item.why]
    others = [item for item in part.comparisons if item not in plain]
    if plain:
        columns = [Column("row", "name"), Column("paper", "prose"), Column("ours", "prose")]
        names = (item.where.removeprefix(f"Table {part.number}, ") for item in plain)
        yield table(columns, ((name, item.printed, item.recomputed) for name, item in zip(names, plain, strict=True)))
    if others:
        columns = [Column(name, "prose") for name in ("statement", "paper", "ours", "note")]
        yield table(columns, map(_statement, others))


def _statement(item: Comparison) -> tuple[Cell | str, ...]:
    styles: dict[str, Style] = {"agrees": "good", "differs": "doubtful", "not available": "weak"}
    unexplained = item.verdict == "differs" and not item.why
    return (
        Cell(f"{MARKS[item.verdict]} {item.where}", "strong"),
        item.printed,
        Cell(item.recomputed or item.verdict, styles[item.verdict]),
        Cell("not explained", "bad") if unexplained else item.why,
    )


def _figure(shown: PaperFigure, *, alone: bool) -> Section:
    """Draw a figure; its numbers are a detail where there are several."""
    return section(
        shown.title,
        Prose(shown.caption),
        Figure(figures.name(shown), lambda: ((figures.model(shown), figures.in_words(shown)),)),
        section("The figures' numbers", *_numbers(shown), detail=not alone, folded=True),
    )


def _numbers(shown: PaperFigure) -> Iterator[Table]:
    laid_out = figures.model(shown)
    if isinstance(laid_out, Rows):
        columns = [(panel, column) for panel in laid_out.panels for column in panel.numbers]
        headed = any(heading for heading, _ in laid_out.groups)
        names = [(heading, name) if headed else (name,) for heading, members in laid_out.groups for name in members]
        titles = [(column.title or panel.unit, panel.title) for panel, column in columns]
        heads = [Column(title, over=over) if title else Column(over) for title, over in titles]
        rows = [(*name, *(column.texts[row][2] for _, column in columns)) for row, name in enumerate(names)]
        yield table([*(Column("", "name") for _ in names[0]), *heads], rows, grouped=headed)
        return
    for panel in shown.panels:
        steps = (
            (f"≥ {text}", *(figures.number(figures.height(series, x), panel) for series in panel.series))
            for x, text in figures.thresholds(panel)
        )
        yield table((panel.x_unit, *(series.name for series in panel.series)), steps, caption=panel.title)
