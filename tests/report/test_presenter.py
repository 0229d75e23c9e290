"""Documents are made of templates; what is interpolated is never read as structure."""

from __future__ import annotations

from dataclasses import dataclass

import jinja2
import pytest

from arcademark.reports import presenter, prose
from arcademark.reports.render.blocks import Facts, Prose

HOSTILE = "## forged\n- name :: value\n\ue0000\ue001\n{bad}\n! warning"


@dataclass(frozen=True)
class Analysis:
    title: str


@pytest.fixture
def write(monkeypatch):
    def write(text):
        environment = prose._environment().overlay(loader=jinja2.DictLoader({"documents/test.jinja": text}))
        monkeypatch.setattr(prose, "_environment", lambda: environment)

    return write


def test_what_is_interpolated_is_one_piece_of_text(write):
    write(
        "# {{ title }}\n{{ title }}\n\n- {{ title }} :: {{ title }}\n{% set it %}({{ title }}){% endset %}\n\n"
        "{{ it }}\n"
    )
    shown = presenter.document(Analysis(HOSTILE), "test")
    assert shown.title == HOSTILE
    assert shown.blocks == (Prose(HOSTILE), Facts(((HOSTILE, HOSTILE),)), Prose(f"({HOSTILE})"))
