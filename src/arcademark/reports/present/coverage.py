"""How predictions from any games hold for what they were not learnt from."""

from __future__ import annotations

from arcademark.reports import wording
from arcademark.reports.blocks import Column, Document, Notices, section, table
from arcademark.reports.document import Notice
from arcademark.reports.subsets.covering import Coverage


def document(shown: Coverage) -> Document:
    """Show a line for each list of games and way to leave out, and how to read it."""
    level = f"{100 * shown.level:g} %"
    rows = [
        (
            row.subset,
            row.left_out,
            wording.count(row.algorithms),
            *map(wording.share, (row.mean_error, row.median_error, *row.coverage.values(), row.games_coverage)),
        )
        for row in shown.rows
    ]
    columns = [Column("from", "name"), Column("left out", "name"), Column("algorithms")]
    columns += [Column(name, over="error") for name in ("mean", "median")]
    columns += [Column(name, over="truths held") for name in (*shown.rows[0].coverage, "single games")]
    notes = (
        f"Error: 100 × |ln| of the estimated over the true median of all games (plus one). Truths held: how many were "
        f"within the interval for {level}, of all games' median and so on, and of single games.",
        "Each algorithm is predicted without its paper, without all of its kind, or, where it was published since that "
        "year, without all that were; what widens its interval leaves out the same. The fits behind other papers' "
        "misses had its paper.",
    )
    return Document(
        f"How often {level} intervals hold, from some games",
        "coverage",
        f"{shown.algorithms} published algorithms of {shown.papers} papers.",
        (
            section("", table(columns, rows, grouped=True)),
            section("How to read it", Notices(tuple(Notice("reading", "note", text) for text in notes))),
        ),
    )
