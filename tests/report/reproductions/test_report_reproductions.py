"""What a reproduction is made of: counts, causes, tables laid out as printed, and what can be asked for."""

from __future__ import annotations

import dataclasses

import pytest
from made_up_papers import BARS, CELLS, SOURCE, STATEMENTS, TABLE, made_up

from arcademark.catalogue import errata
from arcademark.errors import ArcadeMarkError, UnknownNameError
from arcademark.reports import prose
from arcademark.reports.reproductions import analysis, papers
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


@pytest.mark.parametrize(
    ("counts", "noun", "said"),
    [
        (Counts(619, 0, 34, 0, 0, 0), "cell", "619 cells agree, 34 differ, all explained"),
        (Counts(1, 0, 1, 0, 0, 1), "statement", "1 statement agrees, 1 differs, explained; 1 cannot be checked"),
        (Counts(6946, 510, 0, 0, 0, 0), "cell", "6,946 cells agree (510 with a note), none differs"),
        (Counts(5, 0, 4, 0, 3, 0), "cell", "5 cells agree, 4 differ, 3 without an explanation"),
        (
            Counts(5, 0, 4, 2, 0, 0),
            "cell or statement",
            "5 cells and statements agree, 4 differ: 2 are explained, 2 are slips of unknown origin",
        ),
        (Counts(0, 0, 0, 0, 0, 7), "statement", "7 statements cannot be checked"),
        (Counts(0, 0, 0, 0, 0, 1), "statement", "1 statement cannot be checked"),
    ],
)
def test_counts_in_words(counts: Counts, noun: str, said: str) -> None:
    assert prose.text("reproduction", "counted", counts=counts, noun=noun) == said


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


def test_a_cell_keeps_its_table_where_it_stands_elsewhere() -> None:
    assert analysis.where(Comparison("Table 3, x", "", "", "agrees")) == "Table 3, x"
    assert analysis.where(STATEMENTS.comparisons[0]) == "§1: Quick is best"


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


def test_statements_are_no_table() -> None:
    assert not made_up().parts[1].cells


def test_nouns() -> None:
    assert [part.noun for part in made_up().parts] == ["cell", "statement"]
    assert made_up().words(made_up().parts).startswith("9 cells and statements agree")


@pytest.fixture
def one_paper(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """A registry of one made-up paper, which notes what it was asked for."""
    asked: list[object] = []

    def parts(number: int | None) -> tuple[object, ...]:
        asked.append(("parts", number))
        return (TABLE,) if number else (TABLE, STATEMENTS)

    def figure(number: int) -> object:
        asked.append(("figure", number))
        return BARS

    paper = papers.Paper(SOURCE.key, parts, range(3, 5), figure, range(1, 3))  # type: ignore[arg-type]
    monkeypatch.setattr(analysis, "PAPERS", {"made-up": paper})
    monkeypatch.setattr(analysis, "sources", lambda: {SOURCE.key: SOURCE})
    return asked


def test_only_what_is_asked_for_is_computed(one_paper: list[object]) -> None:
    assert len(analysis.reproduced("made-up").parts) == 2
    assert one_paper == [("parts", None), ("figure", 1), ("figure", 2)]
    one_paper.clear()
    shown = analysis.reproduced("made-up", table=3)
    assert (len(shown.parts), shown.figures, one_paper) == (1, (), [("parts", 3)])
    one_paper.clear()
    shown = analysis.reproduced("made-up", figure=2)
    assert (shown.parts, len(shown.figures), one_paper) == ((), 1, [("figure", 2)])
    one_paper.clear()
    analysis.reproduced("made-up", table=4, figure=1)
    assert one_paper == [("parts", 4), ("figure", 1)]


@pytest.mark.parametrize(("table", "figure"), [(2, None), (5, None), (None, 0), (None, 3), (3, 3)])
def test_an_unknown_number_is_answered_with_what_there_is(
    one_paper: list[object], table: int | None, figure: int | None
) -> None:
    with pytest.raises(ArcadeMarkError, match="Tables 3 to 4") as refused:
        analysis.reproduced("made-up", table=table, figure=figure)
    assert "Figures 1 to 2" in str(refused.value)
    assert one_paper == []


def test_an_unknown_paper_is_answered_with_those_there_are(one_paper: list[object]) -> None:
    with pytest.raises(UnknownNameError, match="made-up"):
        analysis.reproduced("madeup")
