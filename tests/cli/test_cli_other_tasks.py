"""CartPole, MinAtar and MiniGrid in one run: killed, continued and verified; the tutorial's test has the reports."""

import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


def played(directory):
    with contextlib.suppress(sqlite3.Error), contextlib.closing(sqlite3.connect(directory / "run.sqlite")) as database:
        return database.execute("SELECT COUNT(*) FROM episode").fetchone()[0]
    return 0


@pytest.mark.slow
def test_a_killed_run_is_continued_as_if_undisturbed(tmp_path, invoke, rows):
    for name in ("minatar", "minigrid"):
        pytest.importorskip(name, reason=f"{name} is not installed: pip install '.[{name}]'")
    asked = "--games cart_pole,minatar_breakout,empty --seeds 2 --episodes 30 --workers 1 --out"
    run = ("run", "random", "--suite", f"{EXAMPLES}/small_tasks.toml", *asked.split())
    killed = subprocess.Popen([sys.executable, "-m", "arcademark", *run, "killed"], start_new_session=True)
    while killed.poll() is None and not played(tmp_path / "killed"):
        time.sleep(0.01)
    os.killpg(killed.pid, signal.SIGKILL)
    killed.wait()
    assert 0 < played(tmp_path / "killed") < 180
    assert "were played before" in invoke(*run, "killed").err
    assert invoke(*run, "undisturbed").code == 0
    assert rows(tmp_path / "killed") == rows(tmp_path / "undisturbed")
    assert "all 180 recorded episodes replay to their score" in invoke("verify", "killed").out
