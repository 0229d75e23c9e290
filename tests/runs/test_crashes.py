"""Processes that are really killed: the finished run equals an undisturbed one, row by row."""

import contextlib
import os
import pickle
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from arcademark.agents.loading import agent_specs
from arcademark.errors import ArcadeMarkError
from arcademark.records.model import EpisodeRecord
from arcademark.records.reading import read_run
from arcademark.runs.execution import execute
from arcademark.runs.plan import make_plan
from arcademark.runs.playing.events import Lost, OfTrial

pytestmark = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="finds processes by /proc")

KILLS = 6
DRIVER = """
import pickle, sys
from arcademark.runs.store import recording
from arcademark.runs.execution import execute
plan, scratch = pickle.loads(bytes.fromhex(sys.argv[1])), sys.argv[3] if len(sys.argv) > 3 else None
recording.COPY_SECONDS, recording.COPY_SHARE = 0.0, 1.0
sys.exit(0 if execute(plan, sys.argv[2], workers=2, scratch=scratch).complete else 1)
"""


def children(process):
    with contextlib.suppress(OSError):
        return [int(number) for number in Path(f"/proc/{process}/task/{process}/children").read_text().split()]
    return []


def alive(process):
    with contextlib.suppress(OSError):
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def gone(processes, seconds=5.0):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if not any(alive(process) for process in processes):
            return True
        time.sleep(0.01)
    return False


def workers_of(driver, seconds=30.0):
    """Wait until a driver has workers, or has ended."""
    end = time.monotonic() + seconds
    while not (workers := children(driver.pid)) and driver.poll() is None and time.monotonic() < end:
        time.sleep(0.01)
    return workers


def kill_in_turn(driver, killed, rng):
    """Kill the driver, the next time one of its workers, and so on; return which it was, and the workers then."""
    workers = workers_of(driver)
    who = "worker" if killed["worker"] < killed["driver"] else "driver"
    os.kill(rng.choice(workers) if who == "worker" else driver.pid, signal.SIGKILL)
    killed[who] += 1
    if who == "driver":
        driver.wait()
    return who, workers


def recorded_episodes(directory):
    with contextlib.suppress(Exception):
        return len(read_run(directory).episodes)
    return 0


def wait_for_more(directory, driver, seconds=30.0):
    """Wait until the run has more episodes than now, or has ended."""
    before, end = recorded_episodes(directory), time.monotonic() + seconds
    while recorded_episodes(directory) == before and driver.poll() is None and time.monotonic() < end:
        time.sleep(0.05)


def start(plan_bytes, directory, pace="0.004", scratch=None):
    return subprocess.Popen(
        [sys.executable, "-c", DRIVER, plan_bytes.hex(), str(directory), *map(str, [scratch] if scratch else [])],
        env={**os.environ, "PACE": pace},
        stderr=subprocess.DEVNULL,
    )


@pytest.mark.slow
@pytest.mark.parametrize("local", [False, True])
def test_a_run_killed_again_and_again_equals_an_undisturbed_one(tmp_path, toy_plan, paced, rows, local):
    """`local`: whether it is recorded on a local disk and copied to its directory all the time."""
    scratch = tmp_path if local else None
    plan = toy_plan(paced("Paced"), paced("Learner"), seeds=(0, 1), episodes=60, frames=3000)
    plan_bytes = pickle.dumps(plan)
    rng = random.Random(20)
    killed = {"driver": 0, "worker": 0}
    recorded = []
    driver = start(plan_bytes, tmp_path / "run", scratch=scratch)
    try:
        while sum(killed.values()) < KILLS:
            wait_for_more(tmp_path / "run", driver)  # however slow the machine is, the run gets on
            time.sleep(rng.uniform(0.0, 0.4))
            if driver.poll() is not None:
                assert driver.returncode == 1, f"the run was complete after {killed}"
                driver = start(
                    plan_bytes, tmp_path / "run", scratch=scratch
                )  # it had given a trial up; it is tried again
                continue
            who, workers = kill_in_turn(driver, killed, rng)
            if who == "driver":
                assert gone(workers)
                with contextlib.suppress(Exception):
                    recorded.append(len(read_run(tmp_path / "run").episodes))
                driver = start(plan_bytes, tmp_path / "run", scratch=scratch)
    finally:
        driver.kill()
        driver.wait()
    assert set(killed.values()) == {KILLS // 2}
    assert recorded == sorted(recorded)
    assert recorded[-1] > 0
    summary = execute(plan, tmp_path / "run", workers=2, scratch=scratch)
    assert summary.episodes > 0
    assert summary.complete
    assert execute(plan, tmp_path / "undisturbed", workers=1).complete
    assert rows(tmp_path / "run") == rows(tmp_path / "undisturbed")


# Agents that meddle with the process they play in: only their own trial may suffer


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
    lost = [event.event.reason for event in events if isinstance(event, OfTrial) and isinstance(event.event, Lost)]
    if what == "daemon":
        assert lost == ["SIGKILL"]
        assert Path(f"/proc/{left}/stat").read_text().rpartition(")")[2].split()[0] == "S", "it was not waited for"
        os.kill(int(left), signal.SIGKILL)
    elif what == "fork":
        assert lost == []  # the copy ends when it has something to say; it has no part in the connection
    else:
        assert lost == ["ended, as it sent data that are not a message"]
    assert execute(plan, tmp_path / "undisturbed", workers=2).complete
    assert rows(tmp_path / "run") == rows(tmp_path / "undisturbed")


@pytest.mark.slow
def test_an_agent_whose_workers_only_send_noise_is_given_up(tmp_path, meddling):
    summary = execute(meddling("garbage", once=False, after=0), tmp_path / "run", workers=2)
    assert summary.done == 1
    (failed,) = summary.failed
    assert "died 3 times in a row (ended, as it sent data that are not a message)" in failed.error


@pytest.mark.parametrize("how", ["deleted", "replaced"])
def test_a_directory_that_goes_is_noticed_at_once(tmp_path, toy_plan, paced, monkeypatch, how):
    monkeypatch.setenv("PACE", "0.01")
    directory = tmp_path / "run"
    gone = []

    def listen(event):
        if isinstance(event, EpisodeRecord) and not gone:
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
