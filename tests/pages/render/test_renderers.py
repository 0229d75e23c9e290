"""Every block in every form, of names that would steer each of them."""

import io
import re
from dataclasses import dataclass

import jinja2
import pytest

from arcademark.analysis.citations import Citation
from arcademark.analysis.document import Notice
from arcademark.pages import presenter
from arcademark.pages.columns import Column
from arcademark.pages.figures.model import RowPanel, RowsFigure
from arcademark.pages.render import html, latex, markdown, terminal
from arcademark.pages.render.blocks import (
    Cell,
    Code,
    Document,
    Facts,
    Figure,
    Notices,
    Prose,
    References,
    Table,
    section,
)
from arcademark.pages.render.layout import Console
from arcademark.wording import prose

HOSTILE = "<b>&_|\\x\x1b[31m*"
PAPER = Citation("ours2026", "Ours 2026", "https://example.org/paper", "@misc{ours2026,\n  year = {2026},\n}")
SCORES = Table(
    (
        Column("game", str, kind="name"),
        Column("algorithm", str, kind="name"),
        Column("score", str),
        Column("random", str, optional=True),
    ),
    (
        (Cell("Pong"), Cell(HOSTILE), Cell("18.9", "strong", "17.5 … 19.3", 18.9), Cell("−20.7")),
        (Cell("Pong"), Cell("PPO"), Cell("20.1", "best", "19.9 … 20.3", 20.1), Cell("−20.7")),
        (Cell("Breakout"), Cell("PPO"), Cell("400", sort=400.0), Cell("1.7")),
    ),
    caption="Means over seeds.",
    grouped=True,
)


def drawing():
    return [(RowsFigure((("", (HOSTILE,)),), (RowPanel("", (0.0, 1.0), (), ()),)), f"A drawing of {HOSTILE}")]


CARDS = Table(
    (
        Column("who", str, kind="name"),
        Column("median", str),
        Column("from", str, kind="name"),
        Column("seeds", str),
    ),
    ((Cell("PPO"), Cell("12 %", "good", sort=12.0), Cell("five"), Cell("2")),),
    cards=True,
)
DOCUMENT = Document(
    f"Two of {HOSTILE}",
    "test",
    "Made for a test.",
    (
        Notices(
            (Notice("few", "warning", f"Few runs of {HOSTILE}.", "Play more."), Notice("how", "note", "Read it so."))
        ),
        section("Headline", CARDS),
        section("Games", SCORES),
        section("All games", Prose("A detail."), detail=True),
        section("Figure", Figure("one", drawing, "A caption.", (("PPO", "series-1"),))),
        section("Runs", Facts((("machine", HOSTILE),)), Code("verify\nit"), section("Sums", Prose("md5"), folded=True)),
        section("", References((PAPER,))),
        section("Nothing", section("Nor here")),
    ),
)


def printed(width, **how):
    console = Console(file=io.StringIO(), width=width)
    terminal.render(DOCUMENT, console, **how)
    return console.file.getvalue()


def written(form, **how):
    if form == "page":
        return html.render(DOCUMENT)
    return (
        printed(80, **how)
        if form == "terminal"
        else {"latex": latex, "markdown": markdown}[form].render(DOCUMENT, **how)
    )


@pytest.mark.parametrize("form", ["page", "latex", "markdown", "terminal"])
def test_every_form_shows_numbers_and_escapes_names(form):
    text = written(form)
    assert "\x1b" not in text
    for number in ("18.9", "20.1", "400", "12", "Breakout"):
        assert number in text
    assert ("<b>" in text) == (form in ("terminal", "latex"))  # in LaTeX as a comment
    assert "Nothing" not in text


@pytest.mark.parametrize("form", ["latex", "markdown", "terminal"])
def test_details_are_shown_where_everything_is_asked_for(form):
    assert "A detail." not in written(form)
    assert ("A detail." in written(form, everything=True)) == (form != "latex")


def test_a_terminal_says_what_more_there_is():
    assert "--all also shows: All games." in printed(80)
    assert "--all" not in printed(80, everything=True)


@pytest.mark.parametrize("form", ["page", "latex", "markdown", "terminal"])
def test_what_to_do_on_the_command_line_is_said_there_only(form):
    assert ("Play more." in written(form)) == (form == "terminal")


def test_columns_without_room_are_left_out_or_a_table_of_their_own():
    assert "random" in printed(80)
    assert "random" not in printed(44)
    assert "random" in printed(44, everything=True)


@pytest.mark.parametrize("width", [20, 30, 44, 60, 80, 120])
def test_a_narrow_terminal_loses_no_digit(width):
    text = printed(width)
    for number in ("18.9", "17.5", "19.3", "20.1", "400", "12"):
        assert re.search(rf"(?<![\d.]){re.escape(number)}(?![\d.])", text)


def test_columns_stand_closer_before_a_table_is_cut_in_two():
    columns = (Column("name", str, kind="name"), *(Column(f"{number}", str) for number in range(9)))
    shown = Document("Wide", "test", "", (Table(columns, ((Cell("a-name"), *[Cell("12345")] * 9),)),))
    console = Console(file=io.StringIO(), width=70)
    terminal.render(shown, console)
    assert console.file.getvalue().count("a-name") == 1
    assert "12345  12345" in console.file.getvalue()


def test_a_table_shows_its_first_rows_and_counts_the_others():
    rows = tuple((Cell(f"row-{number}"), Cell(str(number))) for number in range(9))
    shown = Document(
        "Long", "test", "", (Table((Column("name", str, kind="name"), Column("number", str)), rows, most=4),)
    )
    console = Console(file=io.StringIO(), width=80)
    terminal.render(shown, console)
    assert "and 5 more: --all shows them" in console.file.getvalue()
    assert "row-4" not in console.file.getvalue()
    assert "row-4" not in markdown.render(shown)
    assert "row-8" in markdown.render(shown, everything=True)
    assert "row-8" in html.render(shown)


def test_latex_is_balanced_and_cautions_stand_in_the_first_caption():
    text = latex.render(DOCUMENT)
    assert text.count(r"\begin{table}") == text.count(r"\end{table}") == 2
    assert [r"Few runs of \textless{}b" in part for part in text.split(r"\caption")[1:]] == [True, False]
    assert r"\textbf{20.1}" in text
    assert "% @misc{ours2026," in text


def test_a_page_is_one_file_with_its_figures_said_in_words():
    text = html.render(DOCUMENT)
    assert re.search(r'<svg class="wide" role="img" aria-label="A drawing of &lt;b&gt;', text)
    assert not re.search(r'(?:src|href)="(?!https://example.org|#)', text)
    assert 'data-value="18.9"' in text
    assert text.count("<h2") == 5


def test_markdown_tables_have_as_many_fields_as_columns():
    for line in markdown.render(DOCUMENT).splitlines():
        if line.startswith("|"):
            assert len(re.findall(r"(?<!\\)\|", line)) in (4, 5)


# Documents are made of templates; what is interpolated is never read as structure


FORGED = "## forged\n- name :: value\n\ue0000\ue001\n{bad}\n! warning"


@dataclass(frozen=True)
class Analysis:
    title: str


class Outside:
    """A result that makes a sentence anew each time that it is asked."""

    @property
    def sentence(self):
        return prose.text("prediction", "outside", names=("Pong",))


@pytest.fixture
def write(monkeypatch):
    def write(text):
        loaders = [jinja2.DictLoader({"documents/test.jinja": text}), prose._environment().loader]
        environment = prose._environment().overlay(loader=jinja2.ChoiceLoader(loaders))
        monkeypatch.setattr(prose, "_environment", lambda *_: environment)

    return write


def test_what_is_interpolated_is_one_piece_of_text(write):
    write(
        "# {{ it.title }}\n{{ it.title }}\n\n- {{ it.title }} :: {{ it.title }}\n"
        "{% set put %}({{ it.title }}){% endset %}\n\n{{ put }}\n"
    )
    shown = presenter.document(Analysis(FORGED), "test")
    assert shown.title == FORGED
    assert shown.blocks == (Prose(FORGED), Facts(((FORGED, FORGED),)), Prose(f"({FORGED})"))


def test_a_sentence_of_a_result_is_the_same_within_a_document(write):
    write("{% for text in [it.sentence, it.sentence]|unique %}\n* {{ text }}\n{% endfor %}\n")
    (notices,) = presenter.document(Outside(), "test").blocks
    assert [notice.text for notice in notices.notices] == [Outside().sentence]


def test_a_figure_is_drawn_part_by_part_each_for_a_screen_and_a_phone():
    drawn = html.drawings(Figure("two", lambda: (*drawing(), *drawing()), "A caption."))
    assert [part.count("<svg ") for part in drawn] == [2, 2]
