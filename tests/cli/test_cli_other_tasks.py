"""Runs on other tasks than Atari games: killed and continued, what needs a suite named, and what commands say of them.

The tutorial's test has the reports.
"""

import contextlib
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from arcademark.agents.loading import agent_specs
from arcademark.analysis.runs import tuning
from arcademark.runs.engines.here import InProcessEngine
from arcademark.runs.execution import execute
from arcademark.runs.plan import make_plan
from arcademark.suite.protocols import step_protocol
from arcademark.suite.task_suites import read_suite

EXAMPLES = Path(__file__).parents[2] / "examples"


def played(directory):
    with contextlib.suppress(sqlite3.Error), contextlib.closing(sqlite3.connect(directory / "run.sqlite")) as database:
        return database.execute("SELECT COUNT(*) FROM episode").fetchone()[0]
    return 0


@pytest.mark.needs("minatar", "minigrid")
@pytest.mark.slow
def test_a_killed_run_is_continued_as_if_undisturbed(tmp_path, invoke, rows):
    asked = "--games cart_pole,minatar_breakout,empty --seeds 2 --episodes 12 --out"
    run = ("run", "random", "--suite", f"{EXAMPLES}/small_tasks.toml", *asked.split())
    command = [sys.executable, "-m", "arcademark", *run, "killed", "--workers", "1"]
    killed = subprocess.Popen(command, start_new_session=True)
    while killed.poll() is None and not played(tmp_path / "killed"):
        time.sleep(0.01)
    os.killpg(killed.pid, signal.SIGKILL)
    killed.wait()
    assert 0 < played(tmp_path / "killed") < 72
    assert "were played before" in invoke(*run, "killed").err
    assert invoke(*run, "undisturbed").code == 0
    assert rows(tmp_path / "killed") == rows(tmp_path / "undisturbed")
    assert "all 72 recorded episodes replay to their score" in invoke("verify", "killed", "--workers", 1).out


def test_a_run_on_tasks_that_are_not_shipped_takes_their_suite(invoke):
    lake = '[tasks.lake]\nenvironment = "FrozenLake-v1"\nkwargs = { map_name = "8x8" }\n'
    Path("lake.toml").write_text(
        f'{lake}low = {{ score = 0, source = "none" }}\nhigh = {{ score = 1, source = "the most" }}\n'
    )
    assert invoke("run", "random", "--suite", "lake.toml", "--episodes", 2, "--workers", 1, "--out", "run").code == 0
    commands = ("verify", "run"), ("catalogue", "submit", "run"), ("site", "run", "--no-animations"), ("watch", "run")
    for command in (*commands, ("runs", "export", "run", "--out", "lake-v0")):
        refused = invoke(*command, code=2)
        assert "which is never made for a run alone; if you trust it, give the suite" in refused.err
    for command in commands[:3]:
        assert invoke(*command, "--suite", "lake.toml", "--workers", 1).code == 0
    assert '"badges":["replayed"]' in Path("site/data.js").read_text()
    paper = "--entry paper=doe-2026,kind=baseline,authors=A,title=T,venue=V,year=2026 --out submission"
    assert "has no Atari games, as the catalogue requires" in invoke(*commands[1], *paper.split()).err


SUITE = """
[tasks.breakout]
environment = "CartPole-v1"
max_steps = 20
low = { score = 0, source = "none" }
high = { score = 20, source = "its limit" }

[tasks.pong]
environment = "FrozenLake-v1"
max_steps = 20
training = true
"""
AGENT = """
class Agent:
    def __init__(self, env, *, action: int = 0):
        self.action = action

    def act(self, observations, first, rngs):
        return [self.action] * len(first)
"""


@pytest.fixture(scope="module")
def played_tasks(tmp_path_factory):
    """Two settings of an agent on a task for training and one for testing, called like games of Atari."""
    tmp_path = tmp_path_factory.mktemp("tasks")
    (tmp_path / "tasks.toml").write_text(SUITE)
    (tmp_path / "agent.py").write_text(AGENT)
    rules = step_protocol(read_suite(SUITE, "tasks.toml", "tasks")).override({"evaluation_episodes": 2})
    for name in ("a", "b"):
        specs = agent_specs(f"{tmp_path}/agent.py:Agent", {"action": str(int(name == "b"))})
        execute(make_plan(specs, "all", rules), tmp_path / "runs" / name, make=InProcessEngine)
    return tmp_path


@pytest.fixture
def invoke_there(invoke, played_tasks, monkeypatch):
    monkeypatch.chdir(played_tasks)
    return invoke


def test_tasks_keep_their_names_and_are_no_games(invoke_there):
    commands = ("status runs", "runs list", "runs ledger --all", "report runs/a --all", "compare runs/a runs/b --all")
    plan = "plan agent.py:Agent --suite tasks.toml --assume rate=100 --out runs/a"
    for command in (*commands, plan, f"{plan} --episodes 2 --assume episode_frames=5"):
        out = invoke_there(*command.split()).out
        assert not re.search(r"\b([Gg]ames?|[Ff]rames?|Breakout|Pong)\b", out.replace("episode_frames=N", ""))
    assert "breakout" in out
    for document in ("status", "runs list", "runs ledger"):
        assert '"breakout"' in invoke_there(*document.split(), "runs", "--format=json").out
    refused = invoke_there("score", "runs/a", "--suite", "atari-57")
    assert (refused.code, refused.out) == (2, "")
    assert "--suite atari-57 is of Atari games, and runs/a was played on tasks of tasks" in refused.err


@pytest.mark.slow
def test_a_suite_tells_what_is_tuned_and_what_is_tested(invoke_there):
    found = invoke_there("runs", "ledger", "--format=json").json
    assert [(one["game"], one["test"], one["suite"]) for one in found["evaluations"][:2]] == [
        ("breakout", True, "tasks"),
        ("pong", False, "tasks"),
    ]
    assert [(one["game"], one["settings"]) for one in found["accounts"][0]["repeated"]] == [("breakout", 2)]
    tune = ("tune", "agent.py:Agent", "--grid", "action=0,1", "--episodes", 1, "--workers", 1, "--suite")
    shown = invoke_there(*tune, "tasks.toml", "--out", "tuned", "--format=json")
    assert (shown.json["games"], "warning" in shown.err) == (["pong"], False)
    told = tuning.warning(("breakout", "pong"), read_suite(SUITE, "tasks.toml", "tasks"))
    assert told.startswith("breakout is for testing; ")
    assert told.endswith("Tune on the suite's training tasks, pong")
    unsplit = "no task of gymnasium is for training"
    assert f"note: {unsplit}" in invoke_there(*tune, "gymnasium:FrozenLake-v1", "--out", "spot").err
    assert unsplit in invoke_there("runs", "ledger", "spot").words
