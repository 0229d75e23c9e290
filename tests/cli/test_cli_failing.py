"""Whatever is wrong: one line that names it, exit code 2, nothing written."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

FAKES = Path(__file__).parents[1] / "fakes"


@pytest.mark.slow
def test_an_agent_that_fails_on_one_game_fails_its_trials_only(invoke, short):
    ended = invoke(
        "run", f"{FAKES}/raising.py:make_agent", "--games", "pong", "--episodes", 1, *short, "--out", "run", code=1
    )
    assert "failed" in ended.err
    assert "Traceback" not in ended.err
    assert "failed" in invoke("report", "run", code=0).out


@pytest.mark.parametrize("form", [[], ["--format=json"]])
def test_a_reader_that_leaves_is_no_bad_news(form):
    command = [sys.executable, "-c", "from arcademark.cli.main import main; main()", "info", "games", *form]
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "wb") as out:
        ended = subprocess.run(command, stdout=out, stderr=subprocess.PIPE, timeout=60, check=False)
    assert (ended.returncode, ended.stderr) == (141, b"")
