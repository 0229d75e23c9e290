"""The examples of training loops run, with few steps."""

import re
import shlex
from pathlib import Path

import pytest

from arcademark.records.reading import read_run
from command_line import execute

EXAMPLES = Path(__file__).parents[2] / "examples"
TRAINING = Path(__file__).parents[2] / "docs" / "training.md"

pytestmark = pytest.mark.needs("sb3_contrib")


@pytest.mark.filterwarnings("ignore:You have specified a mini-batch")
@pytest.mark.parametrize(("name", "steps"), [("sb3_ppo", 64), ("cleanrl_ppo", 128), ("recurrent_policy", 64)])
def test_an_example_trains(name, steps, tmp_path):
    command = ["python", f"{EXAMPLES / name}.py", "--game", "breakout", "--steps", str(steps), "--horizon", "8"]
    told = execute(tmp_path, command)
    if name == "cleanrl_ppo":
        assert told.count(": loss ") == 2
    else:
        assert (tmp_path / "models/breakout/seed0.zip").stat().st_size > 1_000_000


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of libraries, on what Stable-Baselines3 leaves open
def test_what_the_wrappers_of_stable_baselines_trained_is_scored_and_imported(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    _, import_line, after = TRAINING.read_text("utf-8").partition("import ale_py\n")
    code, _, after = after.partition("```")
    short = {"1_000_000": "512", '-v4", 8': '-v4", 2', "envs, seed=0": "envs, seed=0, n_steps=128, n_epochs=1"}
    for written, enough in short.items():
        assert written in code
        code = code.replace(written, enough)
    exec(import_line + code, {})
    run, imported = re.findall(r"^arcademark (.+)$", after.partition("## ")[0], re.MULTILINE)[:2]
    shorter = "--episodes 1 --override max_frames_per_episode=400 --workers 1"
    for command in (f"{run} {shorter}", imported, "runs import tb --out runs/averages"):
        execute(tmp_path, ["arcademark", *shlex.split(command, comments=True)])
    for name in ("ppo", "training", "averages"):
        assert [trial.game for trial in read_run(Path("runs", name)).trials] == ["breakout"]
    capsys.readouterr()
