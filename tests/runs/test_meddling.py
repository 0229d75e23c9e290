"""Agents that meddle with the process they play in: only their own trial may suffer."""

import os
import shutil
import signal
import time
from pathlib import Path

import pytest

from arcademark.agents.loading import agent_specs
from arcademark.errors import ArcadeMarkError
from arcademark.runs.execution import execute
from arcademark.runs.plan import make_plan
from arcademark.runs.playing.events import EpisodeDone, WorkerLost

pytestmark = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="finds processes by /proc")


@pytest.fixture
def meddling(tmp_path, toy_plan, fake):
    """Plan a run of a meddling agent and of one that does not."""

    def plan(what, once=True, **settings):
        settings |= {"once": str(tmp_path / "once")} if once else {}
        (spec,) = agent_specs(fake("meddling"), {"what": what, **settings})
        base = toy_plan("random", episodes=8)
        return make_plan([spec, *base.agents], ["toy"], base.protocol, episodes=8)

    return plan


@pytest.mark.slow
@pytest.mark.parametrize("what", ["daemon", "garbage", "begun", "fork"])
def test_a_worker_that_was_meddled_with_costs_nothing(tmp_path, meddling, rows, what):
    events = []
    plan = meddling(what)
    assert execute(plan, tmp_path / "run", workers=2, on_event=events.append).complete
    left = (tmp_path / "once").read_text()
    lost = [event.reason for event in events if isinstance(event, WorkerLost)]
    if what == "daemon":
        assert lost == ["SIGKILL"]
        assert Path(f"/proc/{left}/stat").read_text().rpartition(")")[2].split()[0] == "S", "it was not waited for"
        os.kill(int(left), signal.SIGKILL)
    elif what == "fork":
        assert lost == []  # the copy ends when it has something to say; it has no part in the connection
    else:
        assert lost == ["ended, as it sent what is no message"]
    assert execute(plan, tmp_path / "undisturbed", workers=2).complete
    assert rows(tmp_path / "run") == rows(tmp_path / "undisturbed")


@pytest.mark.slow
def test_an_agent_whose_workers_only_send_noise_is_given_up(tmp_path, meddling):
    summary = execute(meddling("garbage", once=False, after=0), tmp_path / "run", workers=2)
    assert summary.done == 1
    (failed,) = summary.failed
    assert "died 3 times in a row (ended, as it sent what is no message)" in failed.error


@pytest.mark.parametrize("how", ["deleted", "replaced"])
def test_a_directory_that_goes_is_noticed_at_once(tmp_path, toy_plan, paced, monkeypatch, how):
    monkeypatch.setenv("PACE", "0.01")
    directory = tmp_path / "run"
    gone = []

    def listen(event):
        if isinstance(event, EpisodeDone) and not gone:
            gone.append(time.monotonic())
            if how == "deleted":
                shutil.rmtree(directory)
            else:
                directory.rename(tmp_path / "aside")
                shutil.copytree(tmp_path / "aside", directory)

    with pytest.raises(ArcadeMarkError, match=r"run\.sqlite was deleted, moved or replaced while the run was played"):
        execute(toy_plan(paced("Paced"), episodes=1000), directory, workers=1, on_event=listen)
    assert time.monotonic() - gone[0] < 10  # the run itself would take twenty minutes
    assert directory.exists() == (how == "replaced")
