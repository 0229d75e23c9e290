"""Columns of reproduced papers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from arcademark import wording
from arcademark.analysis.reproductions import analysis
from arcademark.analysis.reproductions.analysis import BELOW, FRAMES, Reproduced, ReproducedPart
from arcademark.pages.columns import Column, Columns, Style
from arcademark.reproduce.comparison import PrintedComparison

Cells: TypeAlias = Mapping[str, PrintedComparison]

OVERVIEW = {
    "agree": "agree",
    "noted": "with a note",
    "differ": "differ",
    "unsolved": "cause not found",
    "unexplained": "not explained",
    "unavailable": "cannot be checked",
}
"""Headings of `arcademark.analysis.reproductions.analysis.AgreementCounts`."""

DIFFERS, NOTED_MARK = "≠", "≈"
"""Marks of a cell that differs, and of one that agrees with a note."""
MARKS = {"agrees": "=", "differs": DIFFERS, "not available": wording.MISSING}
STYLES: dict[str, Style] = {"agrees": "good", "differs": "doubtful", "not available": "weak"}

WHERE: Column[PrintedComparison] = Column("", analysis.where, kind="name")
RECOMPUTED: Columns[PrintedComparison] = (
    WHERE,
    Column("", lambda row: row.printed, str),
    Column("", lambda row: row.recomputed or wording.MISSING, kind="prose", style="strong"),
)
NOTED: Columns[PrintedComparison] = (
    WHERE,
    Column("", lambda row: row.printed, str),
    Column("", lambda row: row.why, kind="prose"),
)
PLAIN: Columns[PrintedComparison] = (
    Column("row", lambda row: row.where.partition(", ")[2] or row.where),
    Column("paper", lambda row: row.printed, str, kind="prose"),
    Column("ours", lambda row: row.recomputed, str, kind="prose"),
)
STATEMENTS: Columns[PrintedComparison] = (
    Column("statement", lambda row: f"{MARKS[row.verdict]} {row.where}", kind="prose", style="strong"),
    Column("paper", lambda row: row.printed, str, kind="prose"),
    Column("ours", lambda row: row.recomputed or row.verdict, kind="prose", style=lambda row: STYLES[row.verdict]),
    Column(
        "note",
        lambda row: "not explained" if analysis.unexplained(row) else row.why,
        str,
        kind="prose",
        style=lambda row: "bad" if analysis.unexplained(row) else "",
    ),
)
KINDS: Columns[str, int] = (
    Column("kind", lambda kind, _: kind or "without a kind"),
    Column("cells", lambda _, cells: cells),
)


def overview(it: Reproduced) -> Columns[ReproducedPart | Reproduced]:
    """Return the columns of counts, without rare ones that are all 0."""

    def column(name: str, title: str) -> Column[ReproducedPart | Reproduced]:
        styles: dict[str, Style] = {"differ": "doubtful", "unexplained": "bad"}
        return Column(
            title,
            lambda row: getattr(row.counts, name),
            style=lambda row: styles.get(name, "") if getattr(row.counts, name) else "weak",
        )

    return (
        Column(
            "part",
            lambda row: "total" if row is it else row.title,
            style=lambda row: "strong" if row is it else "",
        ),
        *(
            column(name, title)
            for name, title in OVERVIEW.items()
            if name in ("agree", "differ") or getattr(it.counts, name)
        ),
    )


def whole(part: ReproducedPart) -> Columns[str, str]:
    """Return the columns of each algorithm's score, and its percentage as printed and as recomputed."""
    return (Column("game", lambda _, game: game), *_cells(part))


def _cells(part: ReproducedPart) -> Iterator[Column[str, str]]:
    def column(
        heading: str, name: str, quantity: str = "", *, printed: bool = False, marked: bool = True
    ) -> Column[str, str]:
        return Column(
            heading,
            lambda row, _: _text(part.cell(row, name, quantity), printed=printed, marked=marked),
            str,
            style=lambda row, _: _style(part.cell(row, name, quantity)) if marked else "",
        )

    for name in part.algorithms:
        yield column(f"{name} score", name, "score", printed=True)
        if any(part.cell(row, name) for row, _ in part.rows if row != FRAMES):
            yield column(f"{name} {part.quantity.upper()} %", name, printed=True, marked=False)
            yield column(f"{name} ours", name)


def below(part: ReproducedPart) -> Columns[str, str, Cells]:
    """Return the columns of the summaries below the games, printed and recomputed."""

    def column(key: str) -> Column[str, str, Cells]:
        return Column(
            BELOW[key],
            lambda name, whose, cells: _text(cells.get(key), printed=whose == "paper", marked=whose == "ours"),
            str,
            style=lambda name, whose, cells: _style(cells.get(key)) if whose == "ours" else "",
        )

    rows = {row for row, _, _ in part.cells}
    names: Columns[str, str, Cells] = (
        Column("algorithm", lambda name, whose, cells: name, style="strong"),
        Column("", lambda name, whose, cells: whose),
    )
    return (*names, *map(column, (key for key in BELOW if key in rows)))


def _text(cell: PrintedComparison | None, *, printed: bool = False, marked: bool = True) -> str:
    """Return a printed or recomputed value, with the mark of one that differs, or agrees with a note."""
    if cell is None:
        return ""
    text = cell.printed if printed else cell.recomputed or wording.MISSING
    if not marked or (cell.verdict == "agrees" and (printed or not cell.why or cell.recomputed == cell.printed)):
        return text
    return f"{DIFFERS if cell.verdict == 'differs' else NOTED_MARK if cell.verdict == 'agrees' else ''} {text}".strip()


def _style(cell: PrintedComparison | None) -> Style:
    return "doubtful" if cell is not None and cell.verdict == "differs" else ""
