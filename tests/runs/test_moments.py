"""What feature sets are shown: random play and recorded episodes, step by step, and actions as trajectories."""

import itertools

import numpy as np
import pytest

from arcademark.agents.loading import AgentSpec
from arcademark.environments.registry import environment_spec, open_environment
from arcademark.errors import ArcadeMarkError
from arcademark.features.samples import read_trajectory
from arcademark.runs.execution import execute
from arcademark.runs.plan import make_plan
from arcademark.runs.playing.slot import episode_rng
from arcademark.runs.replay.feature_steps import random_play, recorded_play, recorded_trajectory
from arcademark.runs.store.reading import read_actions, read_run
from arcademark.suite.protocols import protocol

pytestmark = pytest.mark.usefixtures("in_this_process")

RULES = protocol("world-records").override({"max_frames_per_episode": 100, "repeat_action_probability": 0.0})


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Two seeds of random play of the toy game, with the minimal set of 3 actions and 2 frames an action."""
    directory = tmp_path_factory.mktemp("moments") / "run"
    rules = RULES.override({"action_set": "minimal", "frame_skip": 2})
    perturb = AgentSpec("perturb", {"action": "LEFT", "probability": 0.5})
    execute(make_plan([perturb], ["toy"], rules, seeds=(0, 1), episodes=2), directory, workers=1)
    return directory


def test_random_play_shows_every_observation_of_one_episode_after_another():
    play = random_play("toy", "palette", seed=3)
    found = [
        (moment.first, moment.frames, moment.observation.copy()) for moment in itertools.islice(play.moments(), 60)
    ]
    environment = open_environment(environment_spec("toy", protocol("ale-2013")))
    screen, before, expected = np.empty((8, 8), np.uint8), 0, []
    for episode in range(10):
        environment.reset(episode_rng(3, "evaluation", episode, "environment"))
        agent = episode_rng(3, "evaluation", episode, "agent")
        first, ended = True, False
        while not ended:
            environment.observe(screen)
            expected.append((first, before + environment.episode_frames, screen.copy()))
            _, *ends = environment.step(int(agent.integers(18)))
            first, ended = False, any(ends)
        before += environment.episode_frames
    assert sum(first for first, *_ in found) > 2
    for (first, frames, seen), (begins, so_far, screen) in zip(found, expected, strict=False):
        assert (first, frames) == (begins, so_far)
        assert np.array_equal(seen, screen)


def test_a_recorded_episode_is_shown_step_by_step(run):
    play = recorded_play(run, "palette", seed=1, episode=1)
    trial = next(trial for trial in read_run(run).trials if trial.seed == 1)
    actions = read_actions(run, trial.id, 1)
    moments = [(moment.first, moment.frames) for moment in play.moments()]
    assert play.actions == tuple(actions.tolist())
    assert moments == [(step == 0, 2 * step) for step in range(len(actions))]
    assert play.frames in (2 * len(actions), 2 * len(actions) - 1)


def test_one_trial_must_be_meant(run):
    with pytest.raises(ArcadeMarkError, match="2 trials fit, choose one by game, agent, seed or trial"):
        recorded_play(run, "palette")


def test_a_trajectory_is_read_back_as_what_was_played(run, tmp_path):
    found = recorded_trajectory(run, seed=0)
    path = tmp_path / "actions.txt"
    path.write_text(found.text())
    trial = read_run(run).trials[0]
    played = read_actions(run, trial.id, 0).tolist()
    assert read_trajectory(str(path), environment_spec("toy", found.protocol)) == tuple(played)
    first, second, *_ = found.text().splitlines()
    assert first.startswith("# toy: actions of perturb(action=LEFT, probability=0.5), seed 0, evaluation episode 0")
    assert second == "# numbers of the minimal action set, one for each 2 frames"


def test_another_protocol_numbers_and_times_actions_its_own_way(run):
    played = recorded_trajectory(run, seed=0).actions
    full = recorded_trajectory(run, RULES.override({"frame_skip": 1}), seed=0).actions
    numbers = {0: 0, 1: 3, 2: 4}  # NOOP, RIGHT, LEFT
    assert full == tuple(numbers[action] for action in played for _ in range(2))
    assert set(full) == {0, 3, 4}


def test_what_cannot_be_said_as_a_trajectory_is_refused(run):
    with pytest.raises(ArcadeMarkError, match=r"has an action every 2 frames, and a trajectory of 'ale-2013' one"):
        recorded_trajectory(run, protocol("ale-2013"), seed=0)


def test_actions_that_a_protocol_lacks_are_named(tmp_path):
    fire = AgentSpec("const", {"action": "FIRE"})
    execute(make_plan([fire], ["toy"], RULES, seeds=(0,), episodes=1), tmp_path / "run", workers=1)
    with pytest.raises(ArcadeMarkError, match="plays FIRE, which is no action of 'world-records'"):
        recorded_trajectory(tmp_path / "run", RULES.override({"action_set": "minimal"}))
