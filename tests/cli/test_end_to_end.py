"""One short way through the commands as users give them: in processes of their own, one of which is killed."""

import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

PACED = Path(__file__).parents[1] / "runs" / "paced.py"
ASKED = ("run", f"{PACED}:Remembering", "--games", "atari-5", "--episodes", "4", "--workers", "2")
SHORT = ("--override", "max_frames_per_episode=600")


def python(*arguments):
    """Run what must succeed, in the current folder."""
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done


def recorded(run):
    with contextlib.suppress(sqlite3.Error), contextlib.closing(sqlite3.connect(f"{run}/run.sqlite")) as database:
        return int(database.execute("SELECT COUNT(*) FROM episode").fetchone()[0])
    return 0


@pytest.mark.end_to_end
def test_a_run_is_killed_continued_verified_shown_and_predicted_from(tmp_path, monkeypatch, rows):
    monkeypatch.chdir(tmp_path)
    command = [sys.executable, "-m", "arcademark", *ASKED, *SHORT, "--out", "killed"]
    with subprocess.Popen(command, env=os.environ | {"PACE": "0.005"}, start_new_session=True) as killed:
        while killed.poll() is None and not recorded("killed"):
            time.sleep(0.01)
        os.killpg(killed.pid, signal.SIGKILL)
    assert 0 < recorded("killed") < 20
    assert "were played before" in python("-m", "arcademark", *ASKED, *SHORT, "--out", "killed").stderr
    python(
        "-m", "arcademark", *ASKED, *SHORT, "--engine", "emulator=ale", "--out", "whole"
    )  # the other on the console, where it is
    assert rows(Path("killed")) == rows(Path("whole"))
    assert "all 20 recorded episodes replay to their score" in python("-m", "arcademark", "verify", "killed").stdout
    python("-c", "import arcademark; arcademark.report('killed').save('page.html')")
    assert "Battle Zone" in Path("page.html").read_text(encoding="utf-8")
    assert "%" in python("-m", "arcademark", "subset", "predict", "killed", "--estimator", "atari-5").stdout
