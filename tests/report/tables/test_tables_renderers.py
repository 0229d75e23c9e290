"""What shows a table and a comparison: terminal, page, LaTeX and JSON."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from html_page import Page
from made_up_tables import made_up_table
from rich.console import Console

import arcademark
from arcademark.report.render.json import render as render_json
from arcademark.report.render.json import schema
from arcademark.report.tables import comparison_terminal, html, latex, words
from arcademark.report.tables.compare import compare_tables
from arcademark.report.tables.comparison import Comparison
from arcademark.scores.table import ScoreTable
from arcademark.suite import tasks
from json_schema import problems

SCHEMAS = {"comparison": schema(Comparison)}
GAMES = ("battle_zone", "double_dunk", "montezuma_revenge", "name_this_game", "phoenix", "qbert", "carnival")
EVIL = '<script>alert("x")</script>&<b>'


@pytest.fixture(scope="module")
def pair() -> Comparison:
    return compare_tables(made_up_table(games=GAMES, runs={"mine": 5, "yours": 4}))


@pytest.fixture(scope="module")
def three() -> Comparison:
    return compare_tables(made_up_table(("mine", "yours", "theirs"), GAMES[:5], runs=4))


def printed(shown: Comparison, width: int, *, everything: bool = False) -> str:
    out = io.StringIO()
    comparison_terminal.render(shown, Console(file=out, width=width), everything=everything)
    return "".join(f"{line.rstrip()}\n" for line in out.getvalue().splitlines())


def bare(page: str) -> str:
    page = re.sub(r"<svg.*?</svg>", "<svg></svg>", page, flags=re.DOTALL)
    page = re.sub(r"<style>.*?</style>", "<style></style>", page, flags=re.DOTALL)
    return page.replace(f"ArcadeMark {arcademark.__version__}", "ArcadeMark VERSION")


@pytest.mark.parametrize("width", [80, 120])
def test_golden_terminal(pair: Comparison, three: Comparison, width: int, golden: Callable[[str, str], None]) -> None:
    golden(f"comparison_{width}.txt", printed(pair, width) + "\n" + printed(three, width, everything=True))


def test_golden_pages(pair: Comparison, golden: Callable[[str, str], None]) -> None:
    golden("comparison.html", bare(html.render_comparison(pair)))


def test_golden_latex_of_comparisons(pair: Comparison, three: Comparison, golden: Callable[[str, str], None]) -> None:
    text = latex.render_comparison(pair) + latex.render_comparison(three, everything=True)
    golden("comparison.tex", text.replace(f"ArcadeMark {arcademark.__version__}", "ArcadeMark VERSION"))


@pytest.mark.parametrize("width", [80, 120])
def test_no_line_is_wider_than_the_terminal(three: Comparison, width: int) -> None:
    assert max(map(len, printed(three, width, everything=True).splitlines())) <= width


def test_everything_visible_stands_in_the_page(pair: Comparison) -> None:
    page = html.render_comparison(pair)
    for notice in pair.notices:
        assert f'data-kind="{notice.kind}"' in page
    assert "prefers-color-scheme: dark" in page
    assert "hard exploration" in page.lower()


@pytest.mark.parametrize("several", [False, True])
def test_pages_are_well_formed_and_request_nothing(several: bool, pair: Comparison, three: Comparison) -> None:
    parsed = Page(html.render_comparison(three if several else pair))
    assert parsed.having("src") == []
    assert {tag for tag, _ in parsed.having("href")} == {"a"}
    ids = [value for _, value in parsed.having("id")]
    assert len(ids) == len(set(ids))
    assert {value for _, value in parsed.having("aria-labelledby")} <= set(ids)


def test_the_figure_is_said_in_words(pair: Comparison) -> None:
    (figure,) = [attributes for tag, attributes in Page(html.render_comparison(pair)).elements if tag == "svg"]
    assert figure["role"] == "img"
    assert "mine: " in str(figure["aria-label"])
    assert "above 100 %" in str(figure["aria-label"])


def test_names_from_users_are_escaped() -> None:
    table = made_up_table((EVIL, "other"), ("pong", "qbert"), runs=3)
    page = html.render_comparison(compare_tables(table))
    assert [tag for tag, _ in Page(page).elements].count("script") == 1
    assert 'alert("x")' not in page


def test_every_row_of_a_latex_table_has_its_columns(pair: Comparison, three: Comparison) -> None:
    single = compare_tables(made_up_table(games=GAMES, runs=1))
    text = "".join(latex.render_comparison(each, everything=True) for each in (pair, three, single))
    for columns, body in re.findall(r"\\begin\{tabular\}\{(\w+)\}(.*?)\\end\{tabular\}", text, flags=re.DOTALL):
        rows = [line for line in body.splitlines() if line.rstrip().endswith(r"\\")]
        assert rows
        assert {len(re.findall(r"(?<!\\)&", row)) + 1 for row in rows} == {len(columns)}


def through_json(document: Any) -> Any:
    return json.loads(json.dumps(document, allow_nan=False))


@pytest.mark.parametrize("games", [("pong",), ("carnival", "pong"), GAMES, tasks.suite("ale-55").tasks])
@pytest.mark.parametrize("runs", [1, 3])
@pytest.mark.parametrize("suite", ["atari-57", "ale-55"])
def test_documents_fit_their_schemas(games: tuple[str, ...], runs: int, suite: str) -> None:
    table = made_up_table(games=games, runs=runs)
    asked: dict[str, Any] = {"suite": suite, "resamples": 50, "frames": 1_000_000}
    compared = through_json(render_json(compare_tables(table, **asked)))
    assert problems(compared, SCHEMAS["comparison"], SCHEMAS["comparison"]) == []


def test_a_benchmark_of_ones_own_fits_too(tmp_path: Path) -> None:
    path = tmp_path / "references.csv"
    path.write_text("task,low,high\nhopper,0,3000\n")
    table = ScoreTable.from_rows((name, "hopper", run, 100.0 * run) for name in ("a", "b") for run in range(3))
    compared = compare_tables(table, references=path)
    assert problems(through_json(render_json(compared)), SCHEMAS["comparison"], SCHEMAS["comparison"]) == []
    assert "NaN" not in html.render_comparison(compared)
    assert printed(compared, 80)


@pytest.mark.parametrize(("value", "text"), [(None, "–"), (0.0, "0"), (4.37e-8, "4.37e−08"), (-1.2e-9, "−1.20e−09")])
def test_very_small_numbers(value: float | None, text: str) -> None:
    assert words.power_of_ten(value) == text


@pytest.mark.parametrize(("days", "text"), [(38.58, "38.6 days"), (0.193, "4.6 hours"), (19290.0, "52.8 years")])
def test_durations(days: float, text: str) -> None:
    assert words.days(days) == text
