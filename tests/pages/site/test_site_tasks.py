"""A leaderboard of runs on other tasks than Atari games."""

import pytest

from arcademark.analysis.site import analysis
from arcademark.errors import ArcadeMarkError
from arcademark.pages.render import pages
from arcademark.runs.engines.here import InProcessEngine
from arcademark.runs.execution import execute
from arcademark.runs.plan import make_plan
from arcademark.suite.protocols import step_protocol
from arcademark.suite.task_suites import read_suite

FILE = """
title = "Poles"
[tasks.cartpole]
environment = "CartPole-v1"
low = { score = 20, source = "random play" }
high = { score = 475, source = "Gymnasium's registry" }
"""


def played(folder, text):
    rules = step_protocol(read_suite(text, "poles.toml", "poles"))
    execute(make_plan("random", "all", rules, seeds=2, episodes=3), folder, make=InProcessEngine)
    return folder


def test_runs_on_tasks_are_ranked_by_their_suite(tmp_path):
    site = analysis.analyse([played(tmp_path / "run", FILE)])
    assert [(view.name, view.title, view.games) for view in site.views] == [("poles", "Poles", ("cartpole",))]
    assert [group.known for group in site.groups] == [True]
    row = site.algorithms[0]
    assert (row.name, row.kind, row.most_runs) == ("random", "run", 1)
    assert row.standings["poles"].summaries["normalised"]["median"][0] == pytest.approx(
        100 * (row.scores[0][0] - 20) / 455
    )
    assert site.unit == "step"
    assert b">Tasks</a>" in pages.render(site)[pages.PAGE]


def test_a_suite_without_references_has_no_leaderboard(tmp_path):
    bare = FILE[: FILE.index("low")]
    with pytest.raises(ArcadeMarkError, match="Poles: no task has the low and the high reference score"):
        analysis.analyse([played(tmp_path / "run", bare)])
