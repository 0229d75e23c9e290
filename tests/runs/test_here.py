"""Agents that were made in Python, without a file: played in this process, to the rows that a file gives."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

import pytest

import arcademark
from arcademark.agents.loading import AgentSpec, agent_specs, made_spec, named
from arcademark.errors import ArcadeMarkError
from arcademark.runs.engines import here
from arcademark.runs.execution import execute
from arcademark.runs.plan import make_plan
from arcademark.runs.store import manifest
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

    changed = AgentSpec("play_one", made=Shadow().play_one)
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
