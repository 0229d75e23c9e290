"""Agents that were made in Python, without a file: played in this process, to the rows that a file gives."""

import dataclasses
import importlib
import importlib.metadata
import json
import os
import shutil
import signal
import sys
import types
from pathlib import Path

import numpy as np
import pytest

import arcademark
from arcademark.agents.loading import MadeSpec, agent_specs, command_spec, made_spec, make_agent, named
from arcademark.analysis.scoring.analysis import analyse
from arcademark.environments.registry import environment_spec
from arcademark.errors import ArcadeMarkError
from arcademark.records import manifest
from arcademark.runs.engines import here
from arcademark.runs.engines.shipping import packed, unpacked
from arcademark.runs.execution import execute
from arcademark.runs.plan import Trial, make_plan
from arcademark.suite import protocols
from arcademark.suite.protocols import protocol

RULES = protocol("world-records").override({"max_frames_per_episode": 400})
LEARNING = protocol("ale-2013").override({"max_frames_per_episode": 400})
EXAMPLES = Path(__file__).parents[2] / "examples"


class Even:
    def __init__(self, env, *, rate: float = 0.5):
        self.rate = rate

    def act(self, observations, first, rngs):
        self.calls = 0 if first[0] else self.calls + 1
        return [2 if rng.random() < self.rate else self.calls % 2 for rng in rngs]


def brightest(observation):
    return int(observation.max()) % 3


def make(env):
    return brightest


def play(directory, agents, rules=RULES, **options):
    return execute(make_plan(agents, ["toy"], rules, seeds=2, episodes=3, **options), directory)


def records(directory):
    return manifest.read(directory)["agents"][0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "name", "made"),
    [
        (__file__, "Even", lambda Even: Even(None)),
        (__file__, "make", lambda _: brightest),
        *((file, name, lambda made: made) for file, name in ((__file__, "Even"), (__file__, "make"))),
        (f"{EXAMPLES}/my_learner.py", "Habit", lambda made: made),
        (f"{EXAMPLES}/my_planner.py", "Lookahead", lambda made: made),
    ],
)
def test_an_object_gives_the_rows_of_a_file(tmp_path, rows, file, name, made, monkeypatch):
    monkeypatch.syspath_prepend(EXAMPLES)
    there = getattr(sys.modules[__name__] if file == __file__ else __import__(Path(file).stem), name)
    rules, options = (LEARNING, {"training_episodes": 2}) if name == "Habit" else (RULES, {})
    play(tmp_path / "file", named(agent_specs(f"{file}:{name}"), "A"), rules, **options)
    assert play(tmp_path / "object", named([made_spec(made(there))], "A"), rules, **options).complete
    assert rows(tmp_path / "object") == rows(tmp_path / "file")


def test_the_manifest_says_that_there_is_no_file(tmp_path):
    play(tmp_path / "run", [made_spec(play_one)])
    agent = records(tmp_path / "run")
    assert agent["label"] == "play_one"
    assert agent["reference"] == "play_one, made in Python: it has no file"
    assert agent["source"]["path"] == "play_one, made in Python"
    assert len(agent["source"]["sha256"]) == 64
    json.dumps(agent)


def play_one(observation):
    return 1


def test_the_same_name_continues_and_another_is_refused(tmp_path):
    play(tmp_path / "run", [made_spec(play_one)])
    again = execute(make_plan([made_spec(play_one)], ["toy"], RULES, seeds=3, episodes=3), tmp_path / "run")
    assert (again.episodes, again.complete) == (3, True)
    with pytest.raises(ArcadeMarkError, match="another run: agents: play_one there, other now"):
        play(tmp_path / "run", named([made_spec(play_one)], "other"))

    changed = MadeSpec("play_one", made=Shadow().play_one)
    with pytest.raises(ArcadeMarkError, match=r"code of play_one \(sha256 of play_one, made in Python\)"):
        play(tmp_path / "run", [changed])


class Shadow:
    def play_one(self, observation):
        return 0


def test_what_raises_fails_its_trial(tmp_path):
    def broken(observation):
        raise ValueError("no idea")

    summary = play(tmp_path / "run", [made_spec(broken)])
    assert [trial.seed for trial in summary.failed] == [0, 1]
    assert "raised ValueError: no idea (test_here.py, line" in summary.failed[0].error


@pytest.mark.parametrize("given", [None, 7, object()])
def test_what_is_no_agent_is_refused(given):
    with pytest.raises(ArcadeMarkError, match="expected an agent's name, an object with act"):
        arcademark.run(given, "pong")


def test_many_workers_are_refused(tmp_path):
    plan = make_plan([made_spec(play_one)], ["toy"], RULES, episodes=1)
    with pytest.raises(ArcadeMarkError, match="agent play_one was made in this process, which alone can play it"):
        execute(plan, tmp_path / "run", workers=2)
    assert not (tmp_path / "run").exists()


def test_a_learner_that_is_stopped_ends_its_episode_first(tmp_path, rows, monkeypatch):
    monkeypatch.syspath_prepend(EXAMPLES)
    monkeypatch.setattr(here, "BATCH_SECONDS", 0.0)  # whatever happens is told at once
    steps = []

    class Stopping(__import__("my_learner").Habit):
        def learn(self, transition, rng):
            super().learn(transition, rng)
            steps.append(1)
            if len(steps) == 200:
                os.kill(os.getpid(), signal.SIGINT)

    plan = make_plan([made_spec(Stopping)], ["toy"], LEARNING, episodes=2, training_episodes=20)
    first = execute(plan, tmp_path / "stopped")
    assert (first.interrupted, first.unkept) == (True, 0)
    assert 0 < first.episodes < 20
    assert execute(plan, tmp_path / "stopped").complete
    execute(plan, tmp_path / "at once")
    assert rows(tmp_path / "stopped")["episode"] == rows(tmp_path / "at once")["episode"]


# The code and the command that a run was made with


LIBRARY = ("onnxruntime", "onnxruntime-gpu")


def test_a_run_says_with_which_libraries_it_was_made_and_continued(tmp_path, monkeypatch):
    versions = {"1.2.3": 2, "1.3.0": 3, "1.3.1": 3}  # in what each command goes to
    real = importlib.metadata.version
    monkeypatch.setitem(sys.modules, "onnxruntime", types.ModuleType("onnxruntime"))
    for found, episodes in versions.items():
        monkeypatch.setattr(importlib.metadata, "version", lambda name, v=found: v if name in LIBRARY else real(name))
        agent = made_spec(lambda observation: 0)
        execute(make_plan([agent], ["toy"], RULES, episodes=episodes), tmp_path / "run")
    document = manifest.read(tmp_path / "run")
    assert document["versions"]["onnxruntime"] == "1.2.3"
    assert [later["versions"].get("onnxruntime") for later in document["continued"]] == ["1.3.0", None], (
        "nothing played"
    )
    shown = manifest.versions(document)
    assert shown["onnxruntime"] == "1.2.3, then 1.3.0"
    assert shown["numpy"] == real("numpy")
    methods = " ".join(analyse(str(tmp_path / "run")).methods)
    assert "onnxruntime 1.2.3, then 1.3.0" in methods


# Agents whose files are not where they were


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
    with pytest.raises(ArcadeMarkError, match=r"one\.txt: differs from what was sent to this node; remove .*agents"):
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
