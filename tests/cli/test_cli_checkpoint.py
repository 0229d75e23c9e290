"""Trained networks on the command line: a file or a pattern, one network for each game and seed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install 'arcademark[deep]'")

from torch import nn  # noqa: E402

Invoke = Callable[..., Any]
HOW = ("--protocol", "dqn-2015", "--override", "max_frames_per_episode=400", "--episodes", "2", "--workers", "1")


def write(path: Path, actions: int, seed: int) -> None:
    torch.manual_seed(seed)
    layers = [
        *(nn.Conv2d(4, 2, 8, 4), nn.ReLU(), nn.Conv2d(2, 2, 4, 2), nn.ReLU(), nn.Conv2d(2, 2, 3, 1), nn.ReLU()),
        *(nn.Flatten(), nn.Linear(2 * 7 * 7, 8), nn.ReLU(), nn.Linear(8, actions)),
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    torch.save(nn.ModuleDict({"network": nn.Sequential(*layers)}).state_dict(), path)


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for seed in (0, 1):
        write(tmp_path / f"models/pong/{seed}.pt", 6, seed)
        write(tmp_path / f"models/freeway/{seed}.pt", 3, seed)
    return tmp_path


PATTERN = "models/{game}/{seed}.pt"


def test_seeds_of_a_pattern_are_one_algorithm(models: Path, invoke: Invoke) -> None:
    done = invoke("run", PATTERN, "--games", "pong,freeway", "--seeds", "2", "--name", "DQN (ours)", "--out", "r", *HOW)
    assert done.code == 0, done.err
    report = json.loads(invoke("report", "r", "--json").out)
    assert [item["name"] for item in report["algorithms"]] == ["DQN (ours)"]
    assert "one_network" not in [item["kind"] for item in report["notices"]]
    manifest = json.loads((models / "r/manifest.json").read_text())
    networks = manifest["agents"][0]["checkpoints"]
    assert sorted(networks) == ["freeway 0", "freeway 1", "pong 0", "pong 1"]
    assert len(set(networks.values())) == 4
    assert invoke("verify", "r").code == 0


def test_run_grows_by_seeds_and_refuses_another_file(models: Path, invoke: Invoke) -> None:
    assert invoke("run", PATTERN, "--games", "pong", "--seeds", "1", "--out", "r", *HOW).code == 0
    assert invoke("run", PATTERN, "--games", "pong", "--seeds", "2", "--out", "r", *HOW).code == 0
    networks = json.loads((models / "r/manifest.json").read_text())["agents"][0]["checkpoints"]
    assert sorted(networks) == ["pong 0", "pong 1"]
    write(models / "models/pong/0.pt", 6, 7)
    refused = invoke("run", PATTERN, "--games", "pong", "--seeds", "2", "--out", "r", *HOW)
    assert refused.code == 2
    assert "checkpoint of models/{game}/{seed}.pt on pong 0 (sha256)" in refused.err


def test_missing_files_are_listed_before_anything_plays(models: Path, invoke: Invoke) -> None:
    refused = invoke("run", PATTERN, "--games", "pong,qbert", "--seeds", "3", "--out", "r", *HOW)
    assert refused.code == 2
    assert "4 checkpoints are missing: " in refused.err
    for name in ("pong/2.pt", "qbert/0.pt", "qbert/2.pt"):
        assert name in refused.err
    assert not (models / "r").exists()


def test_one_network_with_several_seeds_is_said(models: Path, invoke: Invoke) -> None:
    assert invoke("run", "models/pong/0.pt", "--games", "pong", "--seeds", "2", "--out", "r", *HOW).code == 0
    report = json.loads(invoke("report", "r", "--json").out)
    assert "one_network" in [item["kind"] for item in report["notices"]]


def test_wrong_number_of_actions_names_the_override(models: Path, invoke: Invoke) -> None:
    refused = invoke("run", "models/pong/0.pt", "--games", "pong", "--out", "r", "--override", "action_set=full", *HOW)
    assert refused.code == 1
    assert "try --override action_set=minimal, which has 6" in refused.err
