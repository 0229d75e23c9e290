"""A reproduction as a page and as JSON."""

import re
from pathlib import Path

import pytest
from html_page import Page
from made_up_papers import CELLS, FIGURES, STATEMENTS, made_up

from arcademark.catalogue.errata import errata
from arcademark.reports.presenter import document
from arcademark.reports.render import html
from arcademark.reports.render import json as rendered
from arcademark.reports.reproductions.analysis import UNSOLVED, Reproduced

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
    drawings = [attrs for tag, attrs in Page(page).elements if tag == "svg"]
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
