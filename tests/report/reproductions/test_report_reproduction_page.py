"""A reproduction as a page and as JSON."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path
from typing import Any

import pytest
from html_page import Page
from made_up_papers import CELLS, FIGURES, STATEMENTS, TABLE, made_up

from arcademark.cli.score.reproduce import document
from arcademark.reports.render import html
from arcademark.reports.render import json as rendered
from arcademark.reports.reproductions.analysis import Reproduced
from json_schema import problems

SCHEMA = rendered.schema(Reproduced)
DESCRIPTION = (Path(__file__).parents[3] / "docs" / "reproduce-json.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def page() -> str:
    return html.render(document(made_up()))


def through_json(shown: Reproduced) -> Any:
    return json.loads(json.dumps(rendered.render(shown), allow_nan=False))


def test_the_page_has_every_cell_and_every_explanation(page: str) -> None:
    for item in (*CELLS, *STATEMENTS.comparisons):
        assert f">{item.printed}<" in page or f"≠ {item.printed}<" in page
        assert item.why in page
        if item.verdict == "differs":
            assert item.recomputed in page
    assert page.count(">≠ 27.31<") == 1
    assert ">≈ 27.3<" in page
    assert ">Quick ours</th>" in page
    assert "of unknown origin" in page


def test_the_page_has_every_figure_in_words_too(page: str) -> None:
    drawings = [attrs for tag, attrs in Page(page).elements if tag == "svg"]
    assert len(drawings) == len(FIGURES)
    assert all(attrs["role"] == "img" for attrs in drawings)
    assert re.search(r"HNS mean: [^;]*Quick 874", str(drawings[0]["aria-label"]))
    assert re.search(r"Basic: ≥ \S+ 100", str(drawings[3]["aria-label"]))
    for figure in FIGURES:
        assert figure.caption in page


def test_a_difference_without_explanation_is_said() -> None:
    cells = tuple(dataclasses.replace(item, why="", category="") for item in CELLS)
    assert "Not explained." in html.render(document(made_up(dataclasses.replace(TABLE, comparisons=cells))))
    assert "Not explained." not in html.render(document(made_up()))


@pytest.mark.parametrize(
    "shown", [made_up(), made_up(TABLE, figures=()), made_up(STATEMENTS, figures=FIGURES[:1])], ids=range(3)
)
def test_reproductions_fit_the_schema(shown: Reproduced) -> None:
    written = through_json(shown)
    assert problems(written, SCHEMA, SCHEMA) == []
    assert written["schema"] == SCHEMA["properties"]["schema"]["const"] == Reproduced.SCHEMA


def test_json_keeps_what_is_there() -> None:
    written = through_json(made_up())
    mean = written["parts"][0]["comparisons"][8]
    assert mean == {
        "where": "Table 3, Quick, mean, hns",
        "printed": "2.55",
        "recomputed": "27.31",
        "verdict": "differs",
        "why": "A hundredth.",
        "place": {"table": 3, "row": "mean", "algorithm": "Quick", "quantity": "hns"},
        "category": "lost factor",
    }
    assert written["figures"][0]["panels"][1]["series"][0]["values"] == [None, 2041.0, 5.5]
    assert written["counts"]["differ"] == 4


@pytest.mark.parametrize(
    ("damage", "where"),
    [
        (lambda document: document.pop("parts"), "$.parts: is missing"),
        (lambda document: document["counts"].update(differ="4"), "$.counts.differ"),
        (lambda document: document["parts"][0]["comparisons"][0].update(verdict="maybe"), "$.parts[0].comparisons[0]"),
        (lambda document: document["figures"][0].update(extra=1), "$.figures[0].extra"),
    ],
)
def test_the_schema_refuses_what_does_not_fit(damage: Any, where: str) -> None:
    written = through_json(made_up())
    damage(written)
    assert problems(written, SCHEMA, SCHEMA)[0].startswith(where)


def test_every_field_is_described() -> None:
    sections = dict(re.findall(r"^## (\w+)\n(.*?)(?=^## |\Z)", DESCRIPTION, flags=re.MULTILINE | re.DOTALL))
    for name, schema in {"reproduction": SCHEMA, **SCHEMA["$defs"]}.items():
        described = re.findall(r"^\| `(\w+)` \| [^|]+ \| [^|]+ \|$", sections[name], flags=re.MULTILINE)
        assert described == list(schema["properties"]), name
        assert set(schema["required"]) == set(schema["properties"])
