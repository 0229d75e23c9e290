"""CartPole, MinAtar and MiniGrid in one run, killed, continued and verified; and what needs a suite named."""

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


def test_a_run_on_tasks_that_are_not_shipped_takes_their_suite(invoke):
    lake = '[tasks.lake]\nenvironment = "FrozenLake-v1"\nkwargs = { map_name = "8x8" }\n'
    Path("lake.toml").write_text(
        f'{lake}low = {{ score = 0, source = "none" }}\nhigh = {{ score = 1, source = "the most" }}\n'
    )
    assert invoke("run", "random", "--suite", "lake.toml", "--episodes", 2, "--workers", 1, "--out", "run").code == 0
    commands = ("verify", "run"), ("submit-check", "run"), ("site", "run", "--no-films"), ("watch", "run")
    for command in (*commands, ("export", "run", "--minari", "--out", "lake-v0")):
        refused = invoke(*command)
        assert (refused.code, refused.out) == (2, "")
        assert "which a run may not have made by itself; if you trust it, give the suite" in refused.err
    for command in commands[:3]:
        assert invoke(*command, "--suite", "lake.toml", "--workers", 1).code == 0
    assert '"badges":["replayed"]' in Path("site/data.js").read_text()
    paper = "--authors A --title T --venue V --year 2026 --paper doe-2026 --kind baseline --out submission"
    assert "has no Atari games, of which the catalogue is" in invoke(*commands[1], *paper.split()).err
