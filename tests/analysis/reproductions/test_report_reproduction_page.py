"""A reproduction as a page and as JSON."""

import dataclasses
import re
from pathlib import Path

import pytest

from arcademark.analysis.reproductions.analysis import UNSOLVED, Reproduced
from arcademark.catalogue.errata import errata
from arcademark.pages.presenter import document
from arcademark.pages.render import html
from arcademark.pages.render import json as rendered
from html_page import Page
from made_up_papers import CELLS, FIGURES, STATEMENTS, TABLE, made_up
from shown import printed

SCHEMA = rendered.schema(Reproduced)
DESCRIPTION = (Path(__file__).parents[3] / "docs" / "reproduce-json.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def page():
    return html.render(document(made_up()))


def test_the_page_has_every_cell_and_every_explanation(page):
    for item in (*CELLS, *STATEMENTS.comparisons):
        assert f">{item.printed}<" in page or f"≠ {item.printed}<" in page
        assert item.why in page
        if item.verdict == "differs":
            assert item.recomputed in page
    assert page.count(">≠ 27.31<") == 1
    assert ">≈ 27.3<" in page
    assert ">Quick ours</th>" in page
    assert "of unknown origin" in page


def test_the_page_has_every_figure_in_words_too(page):
    drawings = [attrs for tag, attrs in Page(page).elements if tag == "svg" and attrs["class"] == "wide"]
    assert len(drawings) == len(FIGURES)
    assert all(attrs["role"] == "img" for attrs in drawings)
    assert re.search(r"HNS mean: [^;]*Quick 874", str(drawings[0]["aria-label"]))
    assert re.search(r"Basic: ≥ \S+ 100", str(drawings[3]["aria-label"]))
    for figure in FIGURES:
        assert figure.caption in page


def test_the_errata_have_the_kind_that_is_counted_apart():
    assert UNSOLVED in {erratum.category for erratum in errata()}


def test_every_field_is_described():
    sections = dict(re.findall(r"^## (\w+)\n(.*?)(?=^## |\Z)", DESCRIPTION, flags=re.MULTILINE | re.DOTALL))
    for name, schema in {"reproduction": SCHEMA, **SCHEMA["$defs"]}.items():
        described = re.findall(r"^\| `(\w+)` \| [^|]+ \| [^|]+ \|$", sections[name], flags=re.MULTILINE)
        assert described == list(schema["properties"]), name
        assert set(schema["required"]) == set(schema["properties"])


@pytest.mark.parametrize("width", [80, 120])
def test_golden_terminal(width, golden):
    golden(f"reproduction_{width}.txt", printed(made_up(), width) + printed(made_up(TABLE), width, everything=True))


def test_what_a_table_further_up_explains_is_referred_to():
    why = "The score is a hundredth of what it is elsewhere, and nobody knows how that came about."
    cells = tuple(dataclasses.replace(item, why=why) if item.why == "A hundredth." else item for item in CELLS)
    again = tuple(
        dataclasses.replace(
            item,
            where=item.where.replace("Table 3", "Table 4"),
            place=None if item.place is None else dataclasses.replace(item.place, table=4),
            recomputed="27.99" if item.recomputed == "27.31" else item.recomputed,
        )
        for item in cells
    )
    first = dataclasses.replace(TABLE, comparisons=cells)
    second = dataclasses.replace(TABLE, number=4, title="Table 4: again", comparisons=again)
    lines = [line.strip() for line in printed(made_up(first, second, figures=()), 120).splitlines()]
    there = lines[lines.index("Table 4: again") :]
    assert any(line.startswith("As in Table 3: The score is a hundredth") for line in there)
    assert "Quick, mean, hns   2.55   27.99" in there
    assert "Nobody knows." in there
    assert lines.count(why) == 1


def test_what_is_not_explained_is_said_loudly():
    cells = tuple(dataclasses.replace(item, why="", category="") for item in CELLS)
    statements = tuple(dataclasses.replace(item, why="") for item in STATEMENTS.comparisons)
    bad = made_up(
        dataclasses.replace(TABLE, comparisons=cells), dataclasses.replace(STATEMENTS, comparisons=statements)
    )
    text = printed(bad)
    assert "≠ not explained, 3 cells" in text
    assert "not explained" in text[text.index("Statements") :]
    assert "4 differ, 4 without an explanation" in text
    assert "[31mNot explained." in printed(bad, colour=True)
