"""Agents whose files are not where they were."""

import dataclasses
import importlib
import os
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

from arcademark.agents.loading import agent_specs, command_spec, make_agent
from arcademark.environments.registry import environment_spec
from arcademark.errors import ArcadeMarkError
from arcademark.runs.cluster.shipping import packed, unpacked
from arcademark.runs.plan import Trial, make_plan
from arcademark.suite import protocols

EXAMPLES = Path(__file__).parents[2] / "examples"
AGENT = """
from pathlib import Path
def make(env, *, path: str = "weights/one.txt", other: str = "", depth: int = 0):
    action = int(Path(path).read_text()) + (int(Path(other).read_text()) if other else 0)
    return lambda observation: action
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with an agent and two files of weights; commands are given there."""
    monkeypatch.setenv("ARCADEMARK_CACHE", str(tmp_path / "cache"))
    place = tmp_path / "mine"
    (place / "weights").mkdir(parents=True)
    (place / "own.py").write_text(AGENT)
    (place / "weights" / "one.txt").write_text("1")
    (place / "two.txt").write_text("2")
    monkeypatch.chdir(place)
    return place


def trial_of(reference, **settings):
    return make_plan(agent_specs(reference, settings), ["toy"], episodes=1).trials[0]


def action_of(trial):
    env = environment_spec(trial.game, trial.protocol)
    observations = np.zeros((1, *env.observation_shape), env.observation_dtype)
    return int(make_agent(trial.agent, env).act(observations, np.ones(1, bool), [np.random.default_rng(0)])[0])


def away(folder):
    """Leave the folder as a machine is that has none of it."""
    os.chdir(folder.parent)
    shutil.rmtree(folder)
    sys.modules.pop("own", None)
    importlib.invalidate_caches()


@pytest.mark.parametrize("other", ["", "~/mine/"])
def test_files_that_are_missing_come_along(folder, monkeypatch, other):
    monkeypatch.setenv("HOME", str(folder.parent))
    trial = trial_of("own.py:make", other=f"{other or folder}/two.txt".replace("//", "/"))
    files = packed(trial)
    assert [Path(name).name for name, _ in files.files] == ["own.py", "one.txt", "two.txt"]
    away(folder)
    monkeypatch.setenv("HOME", "/elsewhere")
    there = unpacked(trial, files)
    assert (there.id, there.agent.label) == (trial.id, trial.agent.label)
    assert action_of(there) == 3
    written = sorted((path, path.stat().st_mtime_ns) for path in (folder.parent / "cache").rglob("*"))
    assert unpacked(trial, files) == there
    assert sorted((path, path.stat().st_mtime_ns) for path in (folder.parent / "cache").rglob("*")) == written


def test_files_that_are_there_are_used(folder):
    trial = trial_of("own.py:make")
    assert unpacked(trial, packed(trial)).agent is trial.agent
    assert not (folder.parent / "cache" / "agents").exists()
    files = packed(trial)
    (folder / "weights" / "one.txt").write_text("5")
    there = unpacked(trial, files)
    assert action_of(there) == 1
    assert (folder / "weights" / "one.txt").read_text() == "5"


def test_what_was_damaged_on_a_node_is_refused(folder):
    trial = trial_of("own.py:make")
    files = packed(trial)
    away(folder)
    unpacked(trial, files)
    (kept,) = (folder.parent / "cache").rglob("one.txt")
    kept.write_text("9")
    with pytest.raises(ArcadeMarkError, match=r"one\.txt: is not as it was sent to this node; remove .*agents"):
        unpacked(trial, files)
    assert kept.read_text() == "9"


def test_modules_are_sent_from_the_folder_and_compared_elsewhere(folder, monkeypatch):
    trial = trial_of("own:make")
    files = packed(trial)
    other = dataclasses.replace(files, files=(), code="0" * 64)
    with pytest.raises(ArcadeMarkError, match="its code is missing on this node, or another one"):
        unpacked(trial, other)
    away(folder)
    with pytest.raises(ArcadeMarkError, match="its code is missing on this node"):
        unpacked(trial, dataclasses.replace(files, files=()))
    there = unpacked(trial, files)
    assert there.agent.ref == "own:make"
    assert action_of(there) == 1


def test_the_program_of_a_command_is_compared_and_not_sent(folder):
    (folder / "own.py").write_text((EXAMPLES / "agent.py").read_text())
    trial = make_plan(command_spec(f"{sys.executable} own.py"), ["toy"], episodes=1).trials[0]
    files = packed(trial)
    assert files.files == ()
    assert 0 <= action_of(unpacked(trial, files)) < 18
    (folder / "own.py").write_text("")
    with pytest.raises(ArcadeMarkError, match="its code is missing on this node, or another one"):
        unpacked(trial, files)


def test_a_checkpoint_comes_with_what_is_read_beside_it(folder):
    for name in ("pong", "toy"):
        (folder / f"{name}.pth").write_bytes(b"PK env_steps")
    (folder / "config.json").write_text("{}")
    spec = agent_specs("{game}.pth")[0]
    trial = Trial(spec, "toy", make_plan("random", ["toy"]).protocol, 0, 1)
    files = packed(trial)
    assert {Path(name).name for name, _ in files.files} == {"toy.pth", "config.json"}
    away(folder)
    there = unpacked(trial, files)
    assert there.agent.ref.endswith("/mine/{game}.pth")
    assert Path(there.agent.ref.replace("{game}", "toy")).is_file()


@pytest.mark.needs("onnx")
def test_weights_beside_an_onnx_model_come_along(folder):
    import onnx

    weight = onnx.numpy_helper.from_array(np.ones((3, 2), np.float32), "weight")
    graph = onnx.helper.make_graph([], "network", [], [], [weight])
    onnx.save_model(
        onnx.helper.make_model(graph),
        folder / "agent.onnx",
        save_as_external_data=True,
        location="agent.data",
        size_threshold=0,
    )
    (spec,) = agent_specs(str(folder / "agent.onnx"))
    files = packed(Trial(spec, "pong", protocols.protocol("dqn-2015"), 0, 1))
    assert [Path(name).name for name, _ in files.files] == ["agent.onnx", "agent.data"]
    assert dict(files.files)[str(folder / "agent.data")] == np.ones((3, 2), np.float32).tobytes()
