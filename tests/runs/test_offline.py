"""Minari reads what is exported, and it is what the agent saw, did and got."""

import numpy as np
import pytest

from arcademark.agents.loading import made_spec
from arcademark.environments.registry import load_suite
from arcademark.errors import ArcadeMarkError
from arcademark.runs.engines.here import InProcessEngine
from arcademark.runs.execution import execute
from arcademark.runs.plan import make_plan
from arcademark.runs.replay import offline
from arcademark.runs.store.reading import read_actions, read_run
from arcademark.suite.protocols import protocol, step_protocol

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
