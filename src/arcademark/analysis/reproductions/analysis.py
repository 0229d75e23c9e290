"""Results of ``arcademark reproduce``: a paper's tables, statements and figures beside our recomputation."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from arcademark.analysis.document import GENERATOR
from arcademark.analysis.reproductions.papers import PAPERS
from arcademark.catalogue.collections import sources
from arcademark.catalogue.model import Source
from arcademark.errors import ArcadeMarkError, UnknownNameError
from arcademark.reproduce.comparison import PrintedComparison, Reproduction
from arcademark.reproduce.figures import PaperFigure
from arcademark.suite.tasks import game_name
from arcademark.wording import prose

BELOW: Mapping[str, str] = {
    "mean": "mean %",
    "mean efficiency": "per frame",
    "median": "median %",
    "median efficiency": "per frame",
    "hwrb": "records broken",
}
"""The rows below the games, in the paper's order, and their headings; efficiencies are fractions per training frame."""

UNSOLVED = "cause not found"
"""The errata's category of errors whose cause is not known."""

FRAMES = "training frames"
"""The row above the games."""


@dataclass(frozen=True)
class AgreementCounts:
    """Counts of printed cells or statements by verdict.

    agree, differ, unavailable: Counts by verdict.
    noted: Number of those that agree with a remark.
    unsolved: Number of those that differ and whose correct value is known, but not the cause of the error.
    unexplained: Number of those that differ without any explanation.
    """

    agree: int
    noted: int
    differ: int
    unsolved: int
    unexplained: int
    unavailable: int

    @property
    def solved(self) -> int:
        """The number of differing items whose cause is known."""
        return self.differ - self.unsolved


@dataclass(frozen=True)
class ReproducedPart:
    """A table, or a group of statements, with its counts; fields as in `Reproduction`.

    A table of "hns", "hwrns" or "saber" has the layout of the paper: a column per algorithm, a row per game.
    """

    title: str
    number: int | None
    counts: AgreementCounts
    comparisons: tuple[PrintedComparison, ...]

    @property
    def noun(self) -> str:
        """The noun for its items: "cell" or "row" of a table, or "statement"."""
        if self.number is None:
            return "statement"
        return "cell" if all(item.place for item in self.comparisons) else "row"

    @cached_property
    def cells(self) -> Mapping[tuple[str, str, str], PrintedComparison]:
        """Cells by row (also `FRAMES` and those of `BELOW`), algorithm and quantity; empty if it is not a table."""
        placed = [(item.place, item) for item in self.comparisons if item.place is not None]
        by_place = {(place.row, place.algorithm, place.quantity): item for place, item in placed}
        return by_place if len(by_place) == len(self.comparisons) else {}

    @cached_property
    def quantity(self) -> str:
        """The quantity printed beside scores."""
        return next(quantity for _, _, quantity in self.cells if quantity != "score")

    @cached_property
    def algorithms(self) -> tuple[str, ...]:
        """The algorithms from left to right; references come first."""
        of_games = [algorithm for row, algorithm, _ in self.cells if row not in BELOW and row != FRAMES]
        return tuple(dict.fromkeys([*of_games, *(algorithm for _, algorithm, _ in self.cells)]))

    @cached_property
    def rows(self) -> tuple[tuple[str, str], ...]:
        """Keys and names of the rows of training frames, if these are printed, and of games."""
        every = dict.fromkeys(row for row, _, _ in self.cells)
        games = ((row, game_name(row)) for row in every if row not in BELOW and row != FRAMES)
        return (*([(FRAMES, FRAMES)] if FRAMES in every else []), *games)

    def cell(self, row: str, algorithm: str, quantity: str = "") -> PrintedComparison | None:
        """Return a cell, by default that of the percentage; None where nothing is printed."""
        return self.cells.get((row, algorithm, quantity or self.quantity))

    @property
    def below_rows(self) -> Iterator[tuple[str, str, dict[str, PrintedComparison]]]:
        """Yield for each algorithm the cells printed below the games, and our recomputation."""
        for name in self.algorithms:
            if cells := {row: cell for row in BELOW if (cell := self.cell(row, name))}:
                yield from ((name, "paper", cells), (name, "ours", cells))

    @property
    def kinds(self) -> Mapping[str, Mapping[str, Sequence[PrintedComparison]]]:
        """Disagreements by kind of error and explanation; those without an explanation come first."""
        groups: dict[str, dict[str, list[PrintedComparison]]] = {}
        others = [item for item in self.comparisons if item.verdict != "agrees"]
        for item in sorted(others, key=lambda item: bool(item.why)):
            groups.setdefault(item.category, {}).setdefault(item.why, []).append(item)
        return groups

    def cells_of(self, kind: str) -> int:
        """Count the cells of a kind of error."""
        return sum(map(len, self.kinds[kind].values()))

    @property
    def notes(self) -> tuple[Sequence[PrintedComparison], Sequence[PrintedComparison]]:
        """Agreements with a note: those below the games, and those in the games' rows."""
        every = noted(self.comparisons)
        below = [item for item in every if item.place is None or item.place.row in BELOW]
        return below, [item for item in every if item not in below]

    @property
    def plain(self) -> Sequence[PrintedComparison]:
        """Rows of a table that agree throughout without a note."""
        return [item for item in self.comparisons if self.number and item.verdict == "agrees" and not item.why]

    @property
    def statements(self) -> Sequence[PrintedComparison]:
        """Statements, and rows that do not agree or have a note."""
        return [item for item in self.comparisons if item not in self.plain]


@dataclass(frozen=True)
class Reproduced:
    """A paper's printed values, recomputed.

    title, generator: Title and generator of the document: the paper's short citation; "ArcadeMark 1.0.0".
    paper: The paper's name in `PAPERS`.
    source: The paper.
    counts: Counts over all parts.
    parts: Tables or groups of statements.
    figures: Figures made from the catalogue.
    ours: True if the comparison is with our own runs of the paper's agents.
    """

    SCHEMA: ClassVar[str] = "arcademark.reproduction/1"
    title: str
    generator: str
    paper: str
    source: Source
    counts: AgreementCounts
    parts: tuple[ReproducedPart, ...]
    figures: tuple[PaperFigure, ...]
    ours: bool

    @property
    def counted(self) -> tuple[ReproducedPart | Reproduced, ...]:
        """The parts, and all of them together."""
        return (*self.parts, self)

    @property
    def explained(self) -> Mapping[str, str]:
        """The table in which each explanation appears first."""
        first: dict[str, str] = {}
        for part in self.parts:
            for why in itertools.chain.from_iterable(part.kinds.values()):
                first.setdefault(why, f"Table {part.number}")
        return first

    @staticmethod
    def words(parts: Sequence[ReproducedPart]) -> str:
        """Describe the counts of parts: "619 cells agree, 34 differ, all explained"."""
        counts = count([item for part in parts for item in part.comparisons])
        return prose.text(
            "reproduction", "counted", counts=counts, noun=" or ".join(sorted({part.noun for part in parts}))
        )

    @property
    def different_kinds(self) -> dict[str, int]:
        """The number of differing cells by kind of difference, the most frequent first."""
        every = (item for part in self.parts for item in part.comparisons if item.verdict == "differs")
        return dict(Counter(item.category for item in every).most_common())


def unexplained(item: PrintedComparison) -> bool:
    """Return True if an item differs without any explanation."""
    return item.verdict == "differs" and not item.why


def reproduced(name: str, *, table: int | None = None, figure: int | None = None, ours: bool = False) -> Reproduced:
    """Recompute one of `PAPERS`, one table of it, or one figure with the text's statements about it.

    With ``ours``, compare only its scores with our own runs of its agents. Raises if a name or number is unknown.
    """
    if name not in PAPERS:
        raise UnknownNameError("paper", name, PAPERS)
    paper = PAPERS[name]
    _check({"table": table, "figure": figure}, name, {"table": paper.tables, "figure": paper.figures})
    if ours:
        if not (own := paper.ours()):
            raise ArcadeMarkError(f"--with ours: there are no runs of our own for {name}; choose ale-2013")
        return document(name, sources()[paper.source], own, ours=True)
    everything = table is None and figure is None
    parts = paper.parts(table) if everything or table is not None else ()
    if figure is not None:
        parts = (*parts, *paper.about_figure(figure))
    numbers = paper.figures if everything else () if figure is None else (figure,)
    return document(name, sources()[paper.source], parts, [paper.figure(number) for number in numbers])


def document(
    name: str, source: Source, parts: Iterable[Reproduction], figures: Iterable[PaperFigure] = (), *, ours: bool = False
) -> Reproduced:
    """Assemble the document of a reproduction."""
    every = tuple(ReproducedPart(part.title, part.number, count(part.comparisons), part.comparisons) for part in parts)
    counts = count([comparison for part in every for comparison in part.comparisons])
    title = f"{source.short}, {'and our own runs' if ours else 'recomputed'}"
    return Reproduced(title, GENERATOR, name, source, counts, every, tuple(figures), ours)


def _check(requested: Mapping[str, int | None], name: str, known: Mapping[str, range]) -> None:
    for kind, number in requested.items():
        if number is not None and number not in known[kind]:
            order = sorted(known, key=lambda other: other != kind)
            choices = [f"{it.capitalize()}s {known[it][0]} to {known[it][-1]}" for it in order if known[it]]
            raise ArcadeMarkError(f"--{kind} {number}: {name} has {' and '.join(choices)}")


def count(comparisons: Iterable[PrintedComparison]) -> AgreementCounts:
    """Count verdicts."""
    verdicts = list(comparisons)
    differ = [item for item in verdicts if item.verdict == "differs"]
    return AgreementCounts(
        agree=sum(item.verdict == "agrees" for item in verdicts),
        noted=len(noted(verdicts)),
        differ=len(differ),
        unsolved=sum(item.category == UNSOLVED for item in differ),
        unexplained=sum(not item.why for item in differ),
        unavailable=sum(item.verdict == "not available" for item in verdicts),
    )


def where(item: PrintedComparison) -> str:
    """Return an item's place; for a cell without its table's number, for use below the table's title."""
    table, comma, rest = item.where.partition(", ")
    return rest if comma and item.place is not None and table == f"Table {item.place.table}" else item.where


def noted(comparisons: Iterable[PrintedComparison]) -> tuple[PrintedComparison, ...]:
    """Return the comparisons that agree but have a note."""
    return tuple(item for item in comparisons if item.verdict == "agrees" and item.why)
