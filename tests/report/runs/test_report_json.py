"""Reports as JSON against their schema, and what docs/json.md says of them."""

import re
from pathlib import Path

import pytest
from made_up import ATARI_5, collected, made_up_run
from made_up_tables import made_up_table
from shown import values

from arcademark.reports.notices import KINDS
from arcademark.reports.render import json
from arcademark.reports.tables.analysis import analyse
from arcademark.reports.tables.report import ScoreReport
from arcademark.suite import tasks
from json_schema import problems

SCHEMA = json.schema(ScoreReport)
PAGE = (Path(__file__).parents[3] / "docs" / "json.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "report",
    [
        *(
            lambda games=games, played=played: analyse(collected(made_up_run(games=games, episodes=4, played=played)))
            for games, played in ((ATARI_5, 0), (("pong",), 1), (("toy",), 4))
        ),
        *(
            lambda games=games, runs=runs, suite=suite: analyse(
                made_up_table(games=games, runs=runs), suite=suite, resamples=50, frames=1_000_000
            )
            for games, runs, suite in (
                (("pong",), 1, "atari-57"),
                (("carnival", "pong"), 3, "atari-57"),
                (tasks.suite("ale-55").tasks, 3, "ale-55"),
            )
        ),
    ],
)
def test_reports_fit_the_schema(report):
    assert problems(values(report()), SCHEMA, SCHEMA) == []


def test_a_full_report_fits_the_schema_and_keeps_its_numbers(report_two):
    document = values(report_two)
    assert problems(document, SCHEMA, SCHEMA) == []
    assert document["schema"] == SCHEMA["properties"]["schema"]["const"] == ScoreReport.SCHEMA
    assert document["algorithms"][0]["estimate"]["value"] == report_two.algorithms[0].estimate.value
    assert document["runs"][0]["versions"]["ale-py"] == "0.12.1"
    assert document["runs"][0]["trials"][0]["status"] == "done"
    screen = next(item for item in document["runs"][0]["protocol"]["settings"] if item["field"] == "screen_size")
    assert screen["value"] == [84, 84]


def test_every_kind_of_notice_is_described():
    described = re.findall(r"^\| `(\w+)` \| (warning|note) \|", PAGE, flags=re.MULTILINE)
    assert dict(described) == dict(KINDS)
