"""What a reproduction is made of: counts, causes, tables laid out as printed, and what can be asked for."""

from __future__ import annotations

import dataclasses

from made_up_papers import CELLS, TABLE, made_up

from arcademark.catalogue import errata
from arcademark.reports.reproductions import analysis
from arcademark.reports.reproductions.analysis import Counts
from arcademark.reproduce.comparison import Comparison


def test_counts_are_over_verdicts_and_parts_add_up() -> None:
    shown = made_up()
    table, statements = (part.counts for part in shown.parts)
    assert table == Counts(agree=8, noted=2, differ=3, unsolved=1, unexplained=0, unavailable=0)
    assert statements == Counts(agree=1, noted=0, differ=1, unsolved=0, unexplained=0, unavailable=1)
    for field in dataclasses.fields(Counts):
        total, parts = getattr(shown.counts, field.name), (table, statements)
        assert total == sum(getattr(counts, field.name) for counts in parts)


def test_only_counts_that_matter_have_a_column() -> None:
    for counts, kept in (
        (Counts(0, 0, 0, 0, 0, 0), ["agree", "differ"]),
        (Counts(1, 1, 3, 1, 1, 1), [*analysis.OVERVIEW.values()]),
    ):
        columns = dataclasses.replace(made_up(), counts=counts).overview_columns
        assert [column.heading for column in columns] == ["part", *kept]


def test_the_errata_have_the_kind_that_is_counted_apart() -> None:
    assert analysis.UNSOLVED in {erratum.category for erratum in errata.errata()}


def test_differences_are_gathered_by_kind_and_cause() -> None:
    kinds = made_up().parts[0].kinds
    assert list(kinds) == ["lost factor", "cause not found"]
    assert list(kinds["lost factor"]) == ["A hundredth."]
    assert [analysis.where(item) for item in kinds["lost factor"]["A hundredth."]] == [
        "Quick, pong, hns",
        "Quick, mean, hns",
    ]
    listed = [item for causes in kinds.values() for items in causes.values() for item in items]
    assert len(listed) == sum(item.verdict != "agrees" for item in CELLS)


def test_what_is_not_explained_comes_first() -> None:
    bad = Comparison("Table 3, somewhere", "1", "2", "differs")
    part = made_up(dataclasses.replace(TABLE, comparisons=(*CELLS, bad))).parts[0]
    assert next(iter(part.kinds.items())) == ("", {"": [bad]})
    assert analysis.count([*CELLS, bad]).unexplained == 1


def test_a_table_is_laid_out_as_printed() -> None:
    table = made_up().parts[0]
    assert (table.quantity, table.algorithms) == ("hns", ("Random", "Quick"))
    assert [row for row, _ in table.rows] == ["training frames", "pong", "qbert"]
    assert [column.heading for column in table.below_columns] == ["algorithm", "", "mean %", "median %"]
    headings = ["game", "Random score", "Quick score", "Quick HNS %", "Quick ours"]
    assert [column.heading for column in table.columns] == headings
    cell = table.cell("qbert", "Quick", "score")
    assert cell is not None
    assert (cell.printed, cell.recomputed) == ("777", "770")
    assert table.cell("qbert", "Random") is None
