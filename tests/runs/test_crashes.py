"""Processes that are really killed: the finished run equals an undisturbed one, row by row."""

import contextlib
import os
import pickle
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from arcademark.runs.execution import execute
from arcademark.runs.store.reading import read_run

KILLS = 6
DRIVER = """
import pickle, sys
from arcademark.runs.store import recording
from arcademark.runs.execution import execute
plan, scratch = pickle.loads(bytes.fromhex(sys.argv[1])), sys.argv[3] if len(sys.argv) > 3 else None
recording.COPY_SECONDS, recording.COPY_SHARE = 0.0, 1.0
sys.exit(0 if execute(plan, sys.argv[2], workers=2, scratch=scratch).complete else 1)
"""

pytestmark = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="finds processes by /proc")


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
