"""Documents are made of templates; what is interpolated is never read as structure."""

from __future__ import annotations

from dataclasses import dataclass

import jinja2
import pytest

from arcademark.reports import presenter, prose
from arcademark.reports.columns import Column
from arcademark.reports.render.blocks import Code, Facts, Notices, Prose, Section, Table

HOSTILE = "## forged\n- name :: value\n\ue0000\ue001\n{bad}\n! warning"


@dataclass(frozen=True)
class Row:
    name: str
    score: float | None

    COLUMNS = (Column("who", "name", style="strong"), Column("score", "score"))


@dataclass(frozen=True)
class Analysis:
    title: str
    rows: tuple[Row, ...] = ()


@pytest.fixture
def write(monkeypatch):
    def write(text: str) -> None:
        environment = prose._environment().overlay(loader=jinja2.DictLoader({"documents/test.jinja": text}))
        monkeypatch.setattr(prose, "_environment", lambda: environment)

    return write


def test_a_template_is_read_as_sections_facts_notices_code_and_tables(write):
    write(
        "# {{ title }}\n> lead\n{weak} First\nparagraph.\n\nSecond.\n\n"
        "## Rows {detail}\n{{ table(rows, sortable=true) }}\n"
        "### Inner\n- a :: {{ 1234 }}\n- b :: c\n! Beware\nof it.\n* Note.\n\n~~~\n# not a title\n\n  x\n~~~\n"
        "## Empty\n{{ table([]) }}\n"
    )
    shown = presenter.document(Analysis("T", (Row("one", 2.0), Row("two", None))), "test")
    assert (shown.title, shown.kind, shown.lead) == ("T", "test", "lead")
    first, second, rows = shown.blocks
    assert first == Prose("First paragraph.", "weak")
    assert second == Prose("Second.")
    assert isinstance(rows, Section)
    assert (rows.title, rows.detail, rows.folded) == ("Rows", True, False)
    listed, inner = rows.blocks
    assert isinstance(listed, Table)
    assert listed.sortable
    assert [[cell.text for cell in row] for row in listed.rows] == [["one", "2.00"], ["two", "–"]]
    assert [(column.heading, column.kind) for column in listed.columns] == [("who", "name"), ("score", "number")]
    assert isinstance(inner, Section)
    facts, notices, code = inner.blocks
    assert facts == Facts((("a", "1,234"), ("b", "c")))
    assert isinstance(notices, Notices)
    assert [(item.level, item.text) for item in notices.notices] == [("warning", "Beware of it."), ("note", "Note.")]
    assert code == Code("# not a title\n\n  x")


def test_what_is_interpolated_is_one_piece_of_text(write):
    write(
        "# {{ title }}\n{{ title }}\n\n- {{ title }} :: {{ title }}\n{% set it %}({{ title }}){% endset %}\n\n"
        "{{ it }}\n"
    )
    shown = presenter.document(Analysis(HOSTILE), "test")
    assert shown.title == HOSTILE
    assert shown.blocks == (Prose(HOSTILE), Facts(((HOSTILE, HOSTILE),)), Prose(f"({HOSTILE})"))
