"""What feature sets are shown: random play and recorded episodes, step by step, and actions as trajectories."""

import itertools

import numpy as np
import pytest

from arcademark.agents.loading import AgentSpec, made_spec
from arcademark.classic.features.samples import read_trajectory
from arcademark.environments.registry import environment_spec, open_environment
from arcademark.errors import ArcadeMarkError
from arcademark.records.randomness import episode_rng
from arcademark.records.reading import read_actions, read_run
from arcademark.runs.engines.here import InProcessEngine
from arcademark.runs.execution import execute
from arcademark.runs.plan import make_plan
from arcademark.runs.replay import offline
from arcademark.runs.replay.feature_steps import random_play, recorded_play, recorded_trajectory
from arcademark.suite.protocols import protocol, step_protocol
from arcademark.suite.task_suites import load_suite

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
    with pytest.raises(ArcadeMarkError, match="2 trials match; choose one, as in --only seed=0: "):
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
    with pytest.raises(ArcadeMarkError, match="plays FIRE, which is not an action of 'world-records'"):
        recorded_trajectory(tmp_path / "run", RULES.override({"action_set": "minimal"}))


# Minari reads what is exported, and it is what the agent saw, did and got


SEEN = []


class Remembering:
    """Plays at random and remembers all."""

    def __init__(self, env):
        self.num_actions = env.num_actions

    def act(self, observations, first, rngs):
        action = int(rngs[0].integers(self.num_actions))
        SEEN.append((observations[0].copy(), bool(first[0]), action))
        return np.array([action])


@pytest.mark.needs("minari")
@pytest.mark.parametrize("game", ["toy", "pong"])
def test_a_dataset_is_what_an_agent_saw_did_and_got(game, tmp_path, monkeypatch):
    import minari

    SEEN.clear()
    rules = protocol("saber").override({"max_frames_per_episode": 60, "fire_reset": True})
    execute(make_plan(made_spec(Remembering), [game], rules, episodes=2), tmp_path / "run")
    target = tmp_path / "sets" / "remembering-v0"
    assert offline.export(tmp_path / "run", target) == (2, len(SEEN))
    assert [path.name for path in target.parent.iterdir()] == ["remembering-v0"]

    monkeypatch.setenv("MINARI_DATASETS_PATH", str(target.parent))
    dataset = minari.load_dataset("remembering-v0")
    begins = [place for place, (_, first, _) in enumerate(SEEN) if first]
    for episode, row, steps in zip(
        dataset, read_run(tmp_path / "run").episodes, np.split(np.arange(len(SEEN)), begins[1:]), strict=True
    ):
        assert (episode.observations[:-1] == np.array([SEEN[step][0] for step in steps])).all()
        assert len(episode.observations) == len(steps) + 1
        assert episode.actions.tolist() == [SEEN[step][2] for step in steps]
        assert episode.rewards.sum() == row.score
        ends = np.stack([episode.terminations, episode.truncations])
        assert ends.sum() == ends[int(row.end == "truncated"), -1] == 1
    again = dataset.recover_environment()
    assert again.unwrapped.environment_spec.protocol == rules
    assert again.observation_space == dataset.observation_space
    with pytest.raises(ArcadeMarkError, match="expected a new folder"):
        offline.export(tmp_path / "run", target)


def test_a_dataset_is_of_one_agent_on_one_game(tmp_path):
    execute(make_plan(["random", "const"], ["toy"], protocol("saber"), episodes=1), tmp_path / "run", workers=1)
    with pytest.raises(ArcadeMarkError, match=r"has random on toy and const.*choose one by --only agent="):
        offline.export(tmp_path / "run", tmp_path / "set-v0")
    with pytest.raises(ArcadeMarkError, match="named like pong-human-v0"):
        offline.export(tmp_path / "run", tmp_path / "a set")


@pytest.mark.needs("minari")
@pytest.mark.parametrize("task", ["pendulum_v1", "blackjack_v1"])
def test_a_dataset_of_another_task(task, tmp_path, monkeypatch):
    import minari

    suite = load_suite("gymnasium:Pendulum-v1,Blackjack-v1")
    rules = step_protocol(suite).override({"max_steps_per_episode": 60})
    execute(make_plan("random", [task], rules, episodes=2), tmp_path / "run", make=InProcessEngine)
    run = read_run(tmp_path / "run")
    offline.export(tmp_path / "run", tmp_path / "random-v0")
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    dataset = minari.load_dataset("random-v0")
    environment = dataset.recover_environment()
    assert environment.observation_space == dataset.observation_space
    assert environment.spec.max_episode_steps == 60
    for episode, row in zip(dataset, run.episodes, strict=True):
        assert (episode.actions == read_actions(run.directory, row.trial_id, row.episode)).all()
        assert sum(episode.rewards.tolist()) == row.score
        first = episode.observations[0] if task == "pendulum_v1" else tuple(part[0] for part in episode.observations)
        assert environment.observation_space.contains(first)
