"""The examples of training loops run, with few steps."""

import runpy
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.filterwarnings("ignore:You have specified a mini-batch")
@pytest.mark.parametrize(
    ("name", "needs", "steps"),
    [("sb3_ppo", "stable_baselines3", 64), ("cleanrl_ppo", "torch", 128), ("recurrent_policy", "sb3_contrib", 64)],
)
def test_an_example_trains(name, needs, steps, tmp_path, monkeypatch, capsys):
    pytest.importorskip(needs)
    monkeypatch.chdir(tmp_path)
    command = [name, "--game", "breakout", "--steps", str(steps), "--horizon", "8"]
    monkeypatch.setattr(sys, "argv", command)
    runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    told = capsys.readouterr().out
    if name == "cleanrl_ppo":
        assert told.count(": loss ") == 2
    else:
        assert (tmp_path / "models/breakout/seed0.zip").stat().st_size > 1_000_000
