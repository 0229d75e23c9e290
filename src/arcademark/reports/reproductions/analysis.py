"""What ``arcademark reproduce`` shows: a paper's tables or statements, and its figures, beside what we compute."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from arcademark._version import __version__
from arcademark.catalogue.collections import sources
from arcademark.catalogue.model import Source
from arcademark.errors import ArcadeMarkError, UnknownNameError
from arcademark.reports import wording
from arcademark.reports.reproductions.papers import PAPERS
from arcademark.reproduce.comparison import Comparison, Reproduction
from arcademark.reproduce.figures import PaperFigure
from arcademark.suite.tasks import game_name

BELOW: Mapping[str, str] = {
    "mean": "mean %",
    "mean efficiency": "a frame",
    "median": "median %",
    "median efficiency": "a frame",
    "hwrb": "records broken",
}
"""The rows below the games, in the paper's order, and their headings; an efficiency is a fraction a training frame."""

UNSOLVED = "cause not found"
"""The errata's category of slips of which nobody knows how they came about."""

OVERVIEW: Mapping[str, str] = {
    "agree": "agree",
    "noted": "with a note",
    "differ": "differ",
    "unsolved": "cause not found",
    "unexplained": "not explained",
    "unavailable": "cannot be checked",
}
"""Headings of `Counts`."""

FRAMES = "training frames"
"""The row above the games."""


@dataclass(frozen=True)
class Counts:
    """How many printed cells or statements agree.

    agree, differ, unavailable: By verdict.
    noted: Of those that agree, the ones with something to say about it.
    unsolved: Of those that differ, the ones of which it is known what holds, but not how the paper came to print
        something else.
    unexplained: Of those that differ, the ones without any explanation.
    """

    agree: int
    noted: int
    differ: int
    unsolved: int
    unexplained: int
    unavailable: int


@dataclass(frozen=True)
class Part:
    """A table, or a group of statements, with its counts; fields as in `Reproduction`."""

    title: str
    number: int | None
    counts: Counts
    comparisons: tuple[Comparison, ...]


@dataclass(frozen=True)
class Reproduced:
    """A paper, recomputed: what every renderer shows.

    title, generator: Of the document: the paper as text names it; "ArcadeMark 0.1.0".
    paper: Its name in `PAPERS`.
    source: The paper.
    counts: Over all parts shown.
    parts: Tables or groups of statements.
    figures: Figures made from the catalogue.
    """

    SCHEMA: ClassVar[str] = "arcademark.reproduction/1"
    title: str
    generator: str
    paper: str
    source: Source
    counts: Counts
    parts: tuple[Part, ...]
    figures: tuple[PaperFigure, ...]


@dataclass(frozen=True)
class Grid:
    """A table of "hns", "hwrns" or "saber" laid out as it is printed: algorithms across, games (ids) down.

    Cells by row, algorithm and quantity, also those of `FRAMES` and of the rows in `BELOW`.
    """

    quantity: str
    algorithms: tuple[str, ...]
    games: tuple[str, ...]
    cells: Mapping[tuple[str, str, str], Comparison]

    @property
    def rows(self) -> tuple[tuple[str, str], ...]:
        """Keys and names of the rows down to the games' last, training frames first where they are printed."""
        games = tuple((game, game_name(game)) for game in self.games)
        return ((FRAMES, FRAMES), *games) if any(row == FRAMES for row, _, _ in self.cells) else games

    @property
    def below(self) -> tuple[str, ...]:
        """The rows that it has below the games."""
        there = {row for row, _, _ in self.cells}
        return tuple(row for row in BELOW if row in there)

    def cell(self, row: str, algorithm: str, quantity: str = "") -> Comparison | None:
        """Return a cell, by default the percentage's; None where nothing is printed."""
        return self.cells.get((row, algorithm, quantity or self.quantity))

    def has_percent(self, algorithm: str) -> bool:
        """Tell whether an algorithm has percentages in the games' rows: references have scores alone."""
        return any(self.cell(game, algorithm) for game in self.games)


def reproduced(name: str, *, table: int | None = None, figure: int | None = None) -> Reproduced:
    """Recompute one of `PAPERS`, or just one table of it, or one figure with what the text states of it."""
    if name not in PAPERS:
        raise UnknownNameError("paper", name, PAPERS)
    paper = PAPERS[name]
    _check({"table": table, "figure": figure}, name, {"table": paper.tables, "figure": paper.figures})
    everything = table is None and figure is None
    parts = paper.parts(table) if everything or table is not None else ()
    if figure is not None:
        parts = (*parts, *paper.about_figure(figure))
    numbers = paper.figures if everything else () if figure is None else (figure,)
    return document(name, sources()[paper.source], parts, [paper.figure(number) for number in numbers])


def document(
    name: str, source: Source, parts: Iterable[Reproduction], figures: Iterable[PaperFigure] = ()
) -> Reproduced:
    """Put together what renderers show."""
    shown = tuple(Part(part.title, part.number, count(part.comparisons), part.comparisons) for part in parts)
    counts = count([comparison for part in shown for comparison in part.comparisons])
    title, generator = f"{source.short}, recomputed", f"ArcadeMark {__version__}"
    return Reproduced(title, generator, name, source, counts, shown, tuple(figures))


def _check(asked: Mapping[str, int | None], name: str, known: Mapping[str, range]) -> None:
    for kind, number in asked.items():
        if number is not None and number not in known[kind]:
            order = sorted(known, key=lambda other: other != kind)
            there = [f"{it.capitalize()}s {known[it][0]} to {known[it][-1]}" for it in order if known[it]]
            raise ArcadeMarkError(f"--{kind} {number}: of {name} there are {' and '.join(there)}")


def count(comparisons: Iterable[Comparison]) -> Counts:
    """Count verdicts."""
    verdicts = list(comparisons)
    differ = [item for item in verdicts if item.verdict == "differs"]
    return Counts(
        agree=sum(item.verdict == "agrees" for item in verdicts),
        noted=len(noted(verdicts)),
        differ=len(differ),
        unsolved=sum(item.category == UNSOLVED for item in differ),
        unexplained=sum(not item.why for item in differ),
        unavailable=sum(item.verdict == "not available" for item in verdicts),
    )


def in_words(counts: Counts, noun: str) -> str:
    """Say the counts of what `noun` names: "619 cells agree, 34 differ, all explained"."""
    plural = noun.replace(" or ", "s and ") + "s"
    if not counts.agree and not counts.differ:
        return f"{wording.count(counts.unavailable)} {noun if counts.unavailable == 1 else plural} cannot be checked"
    agree = f"{noun} agrees" if counts.agree == 1 else f"{plural} agree"
    text = f"{wording.count(counts.agree)} {agree}"
    if counts.noted:
        text += f" ({wording.count(counts.noted)} with a note)"
    number = wording.count(counts.differ) if counts.differ else "none"
    text += f", {number} {'differs' if counts.differ < 2 else 'differ'}"
    if counts.unexplained:
        text += f", {wording.count(counts.unexplained)} without an explanation"
    elif counts.differ:
        text += _explained(counts)
    return text + (f"; {wording.count(counts.unavailable)} cannot be checked" if counts.unavailable else "")


def _explained(counts: Counts) -> str:
    """Tell slips of which it is known how they came about from those that are only known to be slips."""
    solved = counts.differ - counts.unsolved
    if not counts.unsolved:
        return ", explained" if solved == 1 else ", all explained"
    told = f"{wording.count(counts.unsolved)} {'is a slip' if counts.unsolved == 1 else 'are slips'} of unknown origin"
    return f": {wording.count(solved)} {'is' if solved == 1 else 'are'} explained, {told}" if solved else f": {told}"


def overview(counts: Counts) -> Mapping[str, str]:
    """Choose the counts that are worth a column, with their headings."""
    return {field: title for field, title in OVERVIEW.items() if field in ("agree", "differ") or getattr(counts, field)}


def noun(parts: Sequence[Part]) -> str:
    """Name what parts are made of: "cell" of a table, "row" of one, "statement", or two of them."""
    found = {
        "statement" if part.number is None else "cell" if all(item.place for item in part.comparisons) else "row"
        for part in parts
    }
    return " or ".join(sorted(found))


def kinds(comparisons: Iterable[Comparison]) -> Mapping[str, Mapping[str, Sequence[Comparison]]]:
    """Gather what does not agree by its kind of slip and its explanation; what has no explanation comes first."""
    found: dict[str, dict[str, list[Comparison]]] = {}
    others = [item for item in comparisons if item.verdict != "agrees"]
    for item in sorted(others, key=lambda item: bool(item.why)):
        found.setdefault(item.category, {}).setdefault(item.why, []).append(item)
    return found


def where(item: Comparison) -> str:
    """Name a cell below its table's title, where the table's number need not be said again."""
    table, comma, rest = item.where.partition(", ")
    return rest if comma and item.place is not None and table == f"Table {item.place.table}" else item.where


def noted(comparisons: Iterable[Comparison]) -> tuple[Comparison, ...]:
    """Return what agrees, but with something to say about it."""
    return tuple(item for item in comparisons if item.verdict == "agrees" and item.why)


def grid(part: Part) -> Grid | None:
    """Lay a part out as a table; None where it is no table."""
    cells = {
        (item.place.row, item.place.algorithm, item.place.quantity): item
        for item in part.comparisons
        if item.place is not None
    }
    if not cells or len(cells) < len(part.comparisons):
        return None
    rows = dict.fromkeys(row for row, _, _ in cells)
    columns = [algorithm for row, algorithm, _ in cells if row not in BELOW and row != FRAMES]  # references come first
    return Grid(
        quantity=next(quantity for _, _, quantity in cells if quantity != "score"),
        algorithms=tuple(dict.fromkeys([*columns, *(algorithm for _, algorithm, _ in cells)])),
        games=tuple(row for row in rows if row not in BELOW and row != FRAMES),
        cells=cells,
    )
