import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

from arcademark.agents import base
from arcademark.agents.base import Transition
from arcademark.agents.loading import agent_specs, make_agent
from arcademark.records.reading import read_run
from arcademark.runs.execution import execute
from arcademark.runs.plan import make_plan
from arcademark.runs.replay.verify import verify
from arcademark.suite.protocols import protocol
from arcademark.testing import check_agent
from plugin_packages import install

EXAMPLES = Path(__file__).parents[2] / "examples"
EXAMPLE = f"{EXAMPLES}/my_agent.py:make_agent"
SHORT = {"max_frames_per_episode": 60}
PLANNER = f"{EXAMPLES}/my_planner.py:make_planner"
LEARNER = f"{EXAMPLES}/my_learner.py:make_learner"


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(4, 84, 84), (210, 160, 3), (128,)])
@pytest.mark.parametrize("settings", [{}, {"boredom": "1", "pixels": "16"}])
def test_the_example_conforms_on_every_kind_of_observation(shape, settings, make_env):
    env = make_env(shape=shape)
    (spec,) = agent_specs(EXAMPLE, settings)
    check_agent(lambda: make_agent(spec, env), env, np.random.default_rng(0))


@pytest.mark.slow
def test_the_planner_looks_ahead(tmp_path):
    rules = protocol("ale-2013").override({"max_frames_per_episode": 300, "evaluation_episodes": 3})
    plan = make_plan([*agent_specs(PLANNER, {"steps": "7"}), *agent_specs("random")], ["toy"], rules, episodes=3)
    assert plan.trials[0].agent.label == "my_planner.py:make_planner(steps=7)"
    assert execute(plan, tmp_path / "run", workers=2).complete
    assert verify(tmp_path / "run", workers=1).confirmed == 6
    run = read_run(tmp_path / "run")
    ahead, random = (sum(row.score for row in run.by_trial[trial.id]) for trial in run.trials)
    assert ahead > 2 * random
    assert all(row.simulated_frames > 18 * row.steps for row in run.by_trial[plan.trials[0].id])


@pytest.mark.slow
def test_the_learner_conforms(make_env):
    env = make_env("toy")
    (spec,) = agent_specs(LEARNER, {"step_size": "0.5"})
    check_agent(lambda: make_agent(spec, env), env, np.random.default_rng(0))


def test_the_learner_learns_the_action_that_brings_most(make_env):
    env = make_env("toy")
    learner = make_agent(agent_specs(LEARNER, {"step_size": "0.5", "exploration": "0.0"})[0], env)
    seen, rng = np.zeros(env.observation_shape, np.uint8), np.random.default_rng(0)
    learner.train()
    for action, reward in ((0, -1.0), (2, 4.0), (2, 0.0), (1, 0.5)):
        learner.learn(Transition(seen, action, reward, seen, False, False), rng)
    learner.evaluate()
    assert learner.act(seen[None], np.ones(1, np.bool_), [rng]).tolist() == [2]  # 2 and then 1, against 0.25
    assert json.loads(learner.checkpoint())[:3] == [-0.5, 0.25, 1.0]


def test_the_planner_of_the_docstring_plays(own_agent, tmp_path):
    code = textwrap.dedent(base.__doc__.partition("::\n")[2])
    plan = make_plan(own_agent(code, "Greedy"), ["toy"], protocol("world-records").override(SHORT), episodes=1)
    assert execute(plan, tmp_path / "run", workers=1).complete
    (row,) = read_run(tmp_path / "run").episodes
    assert row.simulated_frames >= 4 * row.steps


# The package of examples/plugin, built and installed as pip does without a network, plays by its names


PLUGIN = Path(__file__).parents[2] / "examples" / "plugin"


@pytest.mark.slow
def test_the_example_package_is_installed_plays_and_passes_its_own_tests(tmp_path):
    site, source = tmp_path / "site", tmp_path / "source"
    subprocess.run(["cp", "-r", PLUGIN, source], check=True)

    def python(*words):
        here = dict(os.environ, PYTHONPATH=str(site))
        return subprocess.run([sys.executable, "-m", *map(str, words)], cwd=tmp_path, env=here, check=True, text=True)

    offline = ("--no-deps", "--no-build-isolation", "--no-index", "--disable-pip-version-check", "-q")
    python("pip", "install", *offline, "--target", site, source)
    python("pytest", "-q", "-p", "no:cacheprovider", source / "tests")
    short = ("--games", "pong", "--protocol", "ale-2013", "--episodes", 1, "--override", "max_frames_per_episode=60")
    python("arcademark", "run", "sticky", "--set", "hold=2", *short, "--out", "sticky")
    learner = ("--set", "features=bytes", "--training-episodes", 1)
    python("arcademark", "run", "sarsa", *learner, *short, "--out", "sarsa")
    python("arcademark", "info", "features", "show", "bytes", "--games", "pong")
    python("arcademark", "info", "agents", "sticky")


AGENT = """
def make(env, *, step: int = 1):
    return lambda observation: step
"""


def test_an_agent_that_a_package_declares_is_known_by_name_and_recorded_by_its_place(tmp_path, monkeypatch, env):
    from arcademark.agents.loading import agent_specs, make_agent
    from arcademark.errors import ArcadeMarkError

    monkeypatch.syspath_prepend(str(tmp_path))
    declared = "[arcademark.agents]\nholder = plugged:make\nrandom = plugged:make\ngone = plugged:gone\n"
    install(tmp_path, "plugged", declared, AGENT)
    (spec,) = agent_specs("holder", {"step": "2"})
    assert (spec.ref, spec.parameters, spec.own) == ("plugged:make", {"step": 2}, True)
    assert make_agent(spec, env).policy
    assert agent_specs("random")[0].ref == "random"
    with pytest.raises(ArcadeMarkError, match="did you mean 'holder'"):
        agent_specs("holders")
    with pytest.raises(ArcadeMarkError, match="package plugged is plugged:gone"):
        agent_specs("gone")


def test_a_feature_set_that_a_package_declares_is_known_by_name(tmp_path, monkeypatch, env):
    from arcademark.classic.features.registry import feature_set
    from arcademark.errors import ArcadeMarkError

    monkeypatch.syspath_prepend(str(tmp_path))
    code = """
from arcademark.classic.features.registry import FeatureSet
from arcademark.classic.features.sets.ram import RamBits

BITS = FeatureSet("bits", "the bits again", "", "ram", RamBits)
"""
    install(tmp_path, "plugged_features", "[arcademark.features]\nbits = plugged_features:BITS\nfew = math:pi\n", code)
    assert feature_set("bits").observed == "ram"
    assert feature_set("basic").factory.__module__ == "arcademark.classic.features.sets.basic"
    with pytest.raises(ArcadeMarkError, match="math:pi is a float; expected an"):
        feature_set("few")
    with pytest.raises(ArcadeMarkError, match="did you mean 'bits'"):
        feature_set("bitz")
