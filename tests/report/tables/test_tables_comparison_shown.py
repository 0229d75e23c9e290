"""How a comparison is shown."""

import io
import json
import re

import pytest
from html_page import Page
from made_up_tables import made_up_table

from arcademark.metrics.sequential import Plan
from arcademark.reports import presenter
from arcademark.reports.render import html, latex, terminal
from arcademark.reports.render.json import render as render_json
from arcademark.reports.render.json import schema
from arcademark.reports.render.layout import Console
from arcademark.reports.tables.compare import compare_tables
from arcademark.reports.tables.comparison import Comparison
from arcademark.suite import tasks
from json_schema import problems

CONTRACT = schema(Comparison)
GAMES = ("battle_zone", "double_dunk", "montezuma_revenge", "name_this_game", "phoenix", "qbert", "carnival")


@pytest.fixture(scope="module")
def pair():
    return compare_tables(made_up_table(games=GAMES, runs={"mine": 5, "yours": 4}))


@pytest.fixture(scope="module")
def three():
    return compare_tables(made_up_table(("mine", "yours", "theirs"), GAMES[:5], runs=4))


@pytest.fixture(scope="module")
def whole():
    """Over all games, of which some are decided."""
    return compare_tables(made_up_table(("theirs", "yours")), resamples=200)


def printed(found, width=80, *, everything=False):
    out = io.StringIO()
    terminal.render(presenter.document(found), Console(file=out, width=width), everything=everything)
    return "".join(f"{line.rstrip()}\n" for line in out.getvalue().splitlines())


def in_one_line(text):
    return " ".join(text.split())


def test_golden_terminal(pair, three, golden):
    golden("comparison.txt", printed(pair) + "\n" + printed(three, everything=True))


def test_games_that_were_decided_are_shown_and_the_others_counted(whole):
    decided = {game.game for game in whole.pairs[0].games if game.verdict in ("better", "worse")}
    assert 0 < len(decided) < 57
    games = printed(whole).partition("Games: theirs less yours\n")[2].partition("\n\n")[0]
    names = {tasks.game_name(game) for game in decided}
    assert {name for game in whole.games if (name := game.name) in games} == names
    assert f"and {57 - len(decided)} more: --all shows them" in games
    everything = printed(whole, everything=True)
    assert all(game.name in everything for game in whole.games)


def test_who_needs_more_runs_is_said_first_and_in_every_form():
    scores = {"a": [1.0, 2.0, 3.0, 4.0, 5.0], "b": [1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5], "c": [30.0, 31, 32, 33, 34]}
    found = compare_tables({name: {"pong": runs} for name, runs in scores.items()}, plan=Plan(), resamples=100)
    text = in_one_line(printed(found))
    assert "Yes: 5 more runs of a; 3 more runs of b. That makes 10 runs, group 2 of at most 5; 1 of 3 pairs" in text
    assert text.index("Whether more runs are needed") < text.index("Each against each")
    assert "A run's score is its points on Pong." in text
    assert "Mathieu et al. 2024" in text
    assert any("2306.10882" in item.url for item in found.citations)
    document = render_json(found)
    assert not problems(document, CONTRACT, CONTRACT)
    assert [pair["decision"] for pair in document["sequential"]["pairs"]] == ["undecided", "smaller", "smaller"]
    assert "Whether more runs are needed" in html.render(presenter.document(found))
    decided = compare_tables({name: {"pong": scores[name]} for name in "ac"}, plan=Plan(), resamples=100)
    assert "No: it is decided." in printed(decided)
    single = compare_tables({name: {"pong": [1.0, 2.0], "qbert": [1.0, 2.0]} for name in "ab"}, plan=Plan())
    assert "Yes on every game: 3 more runs of each of a and b." in in_one_line(printed(single))


@pytest.mark.parametrize("several", [False, True])
def test_a_page_shows_everything(several, pair, three):
    found = three if several else pair
    text = html.render(presenter.document(found))
    for notice in found.notices:
        assert f'data-kind="{notice.kind}"' in text
    for name in (*(game.name.replace("'", "&#39;") for game in found.games), "Ranks by every measure", "Freeway"):
        assert name in text
    page = Page(text)
    (figure,) = [attributes for tag, attributes in page.elements if tag == "svg"]
    assert "mine: " in str(figure["aria-label"])
    assert "above 100 %" in str(figure["aria-label"])
    ids = [value for _, value in page.having("id")]
    assert len(ids) == len(set(ids))


def test_every_row_of_a_latex_table_has_its_columns(pair, three):
    text = "".join(latex.render(presenter.document(each), everything=True) for each in (pair, three))
    found = re.findall(r"\\begin\{tabular\}\{(\w+)\}(.*?)\\end\{tabular\}", text, flags=re.DOTALL)
    assert len(found) >= 8
    for columns, body in found:
        rows = [line for line in body.splitlines() if line.rstrip().endswith(r"\\")]
        assert {len(re.findall(r"(?<!\\)&", row)) + 1 for row in rows} == {len(columns)}


def values(found):
    return json.loads(json.dumps(render_json(found), allow_nan=False))


@pytest.mark.parametrize(
    ("games", "runs", "suite"),
    [(("pong",), 1, "atari-57"), (GAMES, 3, "atari-57"), (tasks.suite("ale-55").tasks, 3, "ale-55")],
)
def test_the_document_fits_its_schema(games, runs, suite):
    found = compare_tables(made_up_table(games=games, runs=runs), suite=suite, resamples=50, frames=1_000_000)
    assert problems(values(found), CONTRACT, CONTRACT) == []
