"""The package of examples/plugin, built and installed as pip does without a network, plays by its names."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from plugin_packages import install

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
    from arcademark.errors import ArcadeMarkError
    from arcademark.features.registry import feature_set

    monkeypatch.syspath_prepend(str(tmp_path))
    code = """
from arcademark.features.registry import FeatureSet
from arcademark.features.sets.ram import RamBits

BITS = FeatureSet("bits", "the bits again", "", "ram", RamBits)
"""
    install(tmp_path, "plugged_features", "[arcademark.features]\nbits = plugged_features:BITS\nfew = math:pi\n", code)
    assert feature_set("bits").observed == "ram"
    assert feature_set("basic").factory.__module__ == "arcademark.features.sets.basic"
    with pytest.raises(ArcadeMarkError, match="math:pi is a float; expected an"):
        feature_set("few")
    with pytest.raises(ArcadeMarkError, match="did you mean 'bits'"):
        feature_set("bitz")
