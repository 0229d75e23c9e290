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
from arcademark.report.tables import comparison_terminal, html, latex, notices, terminal, words
from arcademark.report.tables.analysis import score_table
from arcademark.report.tables.compare import compare_tables
from arcademark.report.tables.comparison import Comparison
from arcademark.report.tables.document import ScoreReport
from arcademark.scores.table import ScoreTable
from arcademark.suite import tasks
from json_schema import problems

SCHEMAS = {"scores": schema(ScoreReport), "comparison": schema(Comparison)}
PAGE = (Path(__file__).parents[3] / "docs" / "score-json.md").read_text(encoding="utf-8")
GAMES = ("battle_zone", "double_dunk", "montezuma_revenge", "name_this_game", "phoenix", "qbert", "carnival")
EVIL = '<script>alert("x")</script>&<b>'


@pytest.fixture(scope="module")
def scores() -> ScoreReport:
    known = {"mine": "world-records", "yours": "dqn-2015"}
    return score_table(
        made_up_table(games=GAMES, runs={"mine": 5, "yours": 3}, protocols=known), frames={"mine": 200_000_000}
    )


@pytest.fixture(scope="module")
def pair() -> Comparison:
    return compare_tables(made_up_table(games=GAMES, runs={"mine": 5, "yours": 4}))


@pytest.fixture(scope="module")
def three() -> Comparison:
    return compare_tables(made_up_table(("mine", "yours", "theirs"), GAMES[:5], runs=4))


def printed(shown: ScoreReport | Comparison, width: int, *, everything: bool = False) -> str:
    out = io.StringIO()
    console = Console(file=out, width=width)
    if isinstance(shown, ScoreReport):
        terminal.render(shown, console, everything=everything)
    else:
        comparison_terminal.render(shown, console, everything=everything)
    return "".join(f"{line.rstrip()}\n" for line in out.getvalue().splitlines())


def bare(page: str) -> str:
    page = re.sub(r"<svg.*?</svg>", "<svg></svg>", page, flags=re.DOTALL)
    page = re.sub(r"<style>.*?</style>", "<style></style>", page, flags=re.DOTALL)
    return page.replace(f"ArcadeMark {arcademark.__version__}", "ArcadeMark VERSION")


@pytest.mark.parametrize("width", [80, 120])
def test_golden_terminal(
    scores: ScoreReport, pair: Comparison, three: Comparison, width: int, golden: Callable[[str, str], None]
) -> None:
    golden(f"scores_{width}.txt", printed(scores, width, everything=True))
    golden(f"comparison_{width}.txt", printed(pair, width) + "\n" + printed(three, width, everything=True))


def test_golden_pages(scores: ScoreReport, pair: Comparison, golden: Callable[[str, str], None]) -> None:
    golden("scores.html", bare(html.render_scores(scores)))
    golden("comparison.html", bare(html.render_comparison(pair)))


def test_golden_latex(scores: ScoreReport, golden: Callable[[str, str], None]) -> None:
    text = latex.render_scores(scores, everything=True)
    golden("scores.tex", text.replace(f"ArcadeMark {arcademark.__version__}", "ArcadeMark VERSION"))


def test_golden_latex_of_comparisons(pair: Comparison, three: Comparison, golden: Callable[[str, str], None]) -> None:
    text = latex.render_comparison(pair) + latex.render_comparison(three, everything=True)
    golden("comparison.tex", text.replace(f"ArcadeMark {arcademark.__version__}", "ArcadeMark VERSION"))


@pytest.mark.parametrize("width", [80, 120])
def test_no_line_is_wider_than_the_terminal(scores: ScoreReport, three: Comparison, width: int) -> None:
    for shown in (scores, three):
        assert max(map(len, printed(shown, width, everything=True).splitlines())) <= width


def test_games_are_shown_when_all_is_asked_for(scores: ScoreReport) -> None:
    assert "Carnival" not in printed(scores, 100).partition("At a glance")[2].partition("Hard exploration")[0]
    assert "7 games: --all shows each" in printed(scores, 100)
    assert "--all" not in printed(scores, 100, everything=True)


def test_of_very_many_algorithms_the_first_are_shown_until_all_is_asked_for() -> None:
    table = {f"a{place:03}": {"pong": float(place)} for place in range(terminal.MOST + 20)}
    report = score_table(table)
    few, all_of_them = (printed(report, 100, everything=everything) for everything in (False, True))
    assert f"a{terminal.MOST - 1:03}" in few
    assert f"a{terminal.MOST:03} " not in few
    assert f"The first {terminal.MOST} of {terminal.MOST + 20} algorithms, 1 game: --all shows each." in few
    assert f"a{terminal.MOST + 19:03}" in all_of_them


def test_everything_visible_stands_in_the_page(scores: ScoreReport, pair: Comparison) -> None:
    for shown, page in ((scores, html.render_scores(scores)), (pair, html.render_comparison(pair))):
        for notice in shown.notices:
            assert f'data-kind="{notice.kind}"' in page
        assert "prefers-color-scheme: dark" in page
        assert "hard exploration" in page.lower()


@pytest.mark.parametrize("several", [False, True])
def test_pages_are_well_formed_and_request_nothing(
    several: bool, scores: ScoreReport, pair: Comparison, three: Comparison
) -> None:
    for page in (html.render_scores(scores), html.render_comparison(three if several else pair)):
        parsed = Page(page)
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
    for page in (html.render_scores(score_table(table)), html.render_comparison(compare_tables(table))):
        assert [tag for tag, _ in Page(page).elements].count("script") == 1
        assert 'alert("x")' not in page


def test_latex_escapes_names_and_balances_its_braces() -> None:
    name = "100%_of$#&{x}~^\\[a] |<>"
    text = latex.render_scores(score_table(made_up_table((name,), ("pong", "qbert"), runs=3)), everything=True)
    body = "\n".join(line for line in text.splitlines() if not line.startswith("%"))
    assert r"100\%\_of\$\#\&\{x\}\textasciitilde{}\textasciicircum{}\textbackslash{}{[}a{]} \textbar{}" in body
    unescaped = re.sub(r"\\[\\{}%&$#_]", "", body)
    assert unescaped.count("{") == unescaped.count("}")
    assert "%" not in unescaped
    assert text.count(r"\begin{tabular}") == text.count(r"\end{tabular}") == text.count(r"\bottomrule")


def test_every_row_of_a_latex_table_has_its_columns(scores: ScoreReport, pair: Comparison, three: Comparison) -> None:
    single = compare_tables(made_up_table(games=GAMES, runs=1))
    text = latex.render_scores(scores, everything=True) + "".join(
        latex.render_comparison(each, everything=True) for each in (pair, three, single)
    )
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
    document = through_json(render_json(score_table(table, **asked)))
    assert problems(document, SCHEMAS["scores"], SCHEMAS["scores"]) == []
    compared = through_json(render_json(compare_tables(table, **asked)))
    assert problems(compared, SCHEMAS["comparison"], SCHEMAS["comparison"]) == []


def test_a_benchmark_of_ones_own_fits_too(tmp_path: Path) -> None:
    path = tmp_path / "references.csv"
    path.write_text("task,low,high\nhopper,0,3000\n")
    table = ScoreTable.from_rows((name, "hopper", run, 100.0 * run) for name in ("a", "b") for run in range(3))
    document = through_json(render_json(score_table(table, references=path)))
    assert problems(document, SCHEMAS["scores"], SCHEMAS["scores"]) == []
    assert document["hard_exploration"] is None
    compared = compare_tables(table, references=path)
    assert problems(through_json(render_json(compared)), SCHEMAS["comparison"], SCHEMAS["comparison"]) == []
    assert "NaN" not in html.render_comparison(compared)
    assert printed(compared, 80)


def test_schemas_refuse_what_does_not_fit(scores: ScoreReport) -> None:
    document = through_json(render_json(scores))
    document["algorithms"][0]["coverage"]["games"] = "seven"
    document["notices"][0]["level"] = "other"
    document["extra"] = 1
    assert len(problems(document, SCHEMAS["scores"], SCHEMAS["scores"])) == 3


def test_every_field_is_described() -> None:
    sections = dict(re.findall(r"^## (\w+)\n(.*?)(?=^## |\Z)", PAGE, flags=re.MULTILINE | re.DOTALL))
    for top, whole in SCHEMAS.items():
        for name, part in {top: whole, **whole["$defs"]}.items():
            described = re.findall(r"^\| `(\w+)` \| [^|]+ \| [^|]+ \|$", sections[name], flags=re.MULTILINE)
            assert sorted(described) == sorted(part["properties"]), name
            assert part["required"] == list(part["properties"]), name


def test_every_kind_of_notice_is_described() -> None:
    described = re.findall(
        r"^\| `(\w+)` \| (warning|note) \|", PAGE.partition("## Kinds of notice")[2], flags=re.MULTILINE
    )
    assert dict(described) == dict(notices.KINDS)


@pytest.mark.parametrize(("value", "text"), [(None, "–"), (0.0, "0"), (4.37e-8, "4.37e−08"), (-1.2e-9, "−1.20e−09")])
def test_very_small_numbers(value: float | None, text: str) -> None:
    assert words.power_of_ten(value) == text


@pytest.mark.parametrize(("days", "text"), [(38.58, "38.6 days"), (0.193, "4.6 hours"), (19290.0, "52.8 years")])
def test_durations(days: float, text: str) -> None:
    assert words.days(days) == text
