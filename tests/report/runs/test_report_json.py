"""The JSON against its schema, the schema against its description."""

from __future__ import annotations

import dataclasses
import json
import math
import re
from pathlib import Path
from typing import Any

import pytest
from made_up import collected, made_up_run

from arcademark.report.render import json as rendered
from arcademark.report.runs.document import Report
from arcademark.report.runs.notices import KINDS
from arcademark.report.runs.views import analyse
from json_schema import problems

SCHEMA = rendered.schema(Report)
PAGE = (Path(__file__).parents[3] / "docs" / "report-json.md").read_text(encoding="utf-8")


def through_json(report: Report) -> Any:
    return json.loads(json.dumps(rendered.render(report), allow_nan=False))


@pytest.mark.parametrize(
    "games", [("battle_zone", "double_dunk", "name_this_game", "phoenix", "qbert"), ("pong",), ("toy",)]
)
@pytest.mark.parametrize("played", [0, 1, 4])
def test_reports_fit_the_schema(games: tuple[str, ...], played: int) -> None:
    report = analyse(collected(made_up_run(games=games, episodes=4, played=played)))
    assert problems(through_json(report), SCHEMA, SCHEMA) == []


def test_a_full_report_fits_the_schema_and_keeps_its_numbers(report_two: Report) -> None:
    document = through_json(report_two)
    assert problems(document, SCHEMA, SCHEMA) == []
    assert document["schema"] == SCHEMA["properties"]["schema"]["const"] == Report.SCHEMA
    assert document["algorithms"][0]["estimate"]["value"] == report_two.algorithms[0].estimate.value
    assert document["runs"][0]["versions"]["ale-py"] == "0.12.1"
    assert document["runs"][0]["trials"][0]["status"] == "done"
    screen = next(item for item in document["runs"][0]["protocol"]["settings"] if item["field"] == "screen_size")
    assert screen["value"] == [84, 84]


@pytest.mark.parametrize(
    ("damage", "where"),
    [
        (lambda document: document.pop("games"), "$.games: is missing"),
        (lambda document: document.update(extra=1), "$.extra"),
        (
            lambda document: document["algorithms"][0]["scores"][0].update(episodes=1.5),
            "$.algorithms[0].scores[0].episodes",
        ),
        (lambda document: document["notices"][0].update(level="other"), "$.notices[0].level"),
        (lambda document: document["games"][0].update(random="0"), "$.games[0].random"),
        (lambda document: document["games"][0].update(hard_exploration=1), "$.games[0].hard_exploration"),
        (lambda document: document.update(schema="arcademark.report/0"), "$: 'arcademark.report/0'"),
    ],
)
def test_the_schema_refuses_what_does_not_fit(damage: Any, where: str, report_two: Report) -> None:
    document = through_json(report_two)
    damage(document)
    found = problems(document, SCHEMA, SCHEMA)
    assert found
    assert found[0].startswith(where) or "arcademark.report/0" in found[0]


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_no_number_is_refused(value: float, report_one: Report) -> None:
    algorithm = dataclasses.replace(
        report_one.algorithms[0], estimate=dataclasses.replace(report_one.algorithms[0].estimate, value=value)
    )
    with pytest.raises(ValueError, match="null"):
        rendered.render(dataclasses.replace(report_one, algorithms=(algorithm,)))


def test_every_field_is_described() -> None:
    sections = dict(re.findall(r"^## (\w+)\n(.*?)(?=^## |\Z)", PAGE, flags=re.MULTILINE | re.DOTALL))
    for name, schema in {"report": SCHEMA, **SCHEMA["$defs"]}.items():
        described = re.findall(r"^\| `(\w+)` \| [^|]+ \| [^|]+ \|$", sections[name], flags=re.MULTILINE)
        assert described == list(schema["properties"]), name
        assert set(schema["required"]) == set(schema["properties"])


def test_every_kind_of_notice_is_described() -> None:
    described = re.findall(
        r"^\| `(\w+)` \| (warning|note) \|", PAGE.partition("## Kinds of notice")[2], flags=re.MULTILINE
    )
    assert dict(described) == dict(KINDS)
