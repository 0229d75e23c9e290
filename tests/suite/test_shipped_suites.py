"""The suites that come with the package: what their files say, and that their tasks keep it, on the real packages."""

import importlib.util

import gymnasium
import numpy as np
import pytest

from arcademark.environments.registry import environment_spec, open_environment
from arcademark.environments.tasks import copies
from arcademark.errors import ArcadeMarkError
from arcademark.suite.protocols import step_protocol
from arcademark.suite.task_suites import task_suites
from arcademark.testing.environments import check_repeatable

NEEDS = {
    "box2d": "Box2D",
    "classic-control": "gymnasium",
    "minatar": "minatar",
    "minigrid": "minigrid",
    "mujoco": "mujoco",
    "toy-text": "gymnasium",
}
"""By suite: the module that its extra brings."""

UNCOPIED = {"box2d", "mujoco"}


def test_these_are_shipped_and_random_play_scores_less_than_what_counts_as_100_percent():
    assert list(task_suites()) == list(NEEDS)
    for suite in task_suites().values():
        step_protocol(suite)
        assert suite.citation
        for task in suite.tasks.values():
            assert all(one.source for one in (task.low, task.high) if one)
            assert task.high is None or (task.low is not None and task.low.score < task.high.score)


@pytest.mark.parametrize("name", ["box2d", "classic-control", "mujoco", "toy-text"])
def test_thresholds_are_those_of_gymnasiums_registry(name):
    thresholds = {
        task.environment: task.high.score
        for task in task_suites()[name].tasks.values()
        if task.high and task.high.source.startswith("Gymnasium's registry")
    }
    assert len(thresholds) > 2
    assert thresholds == {environment: gymnasium.spec(environment).reward_threshold for environment in thresholds}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # theirs
@pytest.mark.parametrize("name", NEEDS)
def test_every_task_plays_the_same_again_and_is_copied_where_planners_are_let_in(name, tmp_path, monkeypatch):
    if importlib.util.find_spec(NEEDS[name]) is None:
        pytest.skip(f"{NEEDS[name]} is not installed: pip install '.[{name}]'")
    monkeypatch.chdir(tmp_path)  # MuJoCo writes a log there
    protocol = step_protocol(task_suites()[name])
    for task in protocol.suite.tasks:
        spec = environment_spec(task, protocol)
        check_repeatable(lambda spec=spec: open_environment(spec), np.random.default_rng(0), steps=30)
        try:
            copied = copies(spec, protocol)
        except ArcadeMarkError:
            copied = False
        assert copied == (name not in UNCOPIED), task
