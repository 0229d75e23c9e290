"""Models that Stable-Baselines3 saved, played there on its own wrappers and here: the same actions and scores."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install '.[sb3]'")
pytest.importorskip("stable_baselines3", reason="Stable-Baselines3 is not installed: pip install '.[sb3]'")
contrib = pytest.importorskip("sb3_contrib", reason="sb3-contrib is not installed: pip install '.[sb3]'")

import ale_py  # noqa: E402
import gymnasium  # noqa: E402
from stable_baselines3 import A2C, DQN, PPO  # noqa: E402
from stable_baselines3.common.atari_wrappers import AtariWrapper  # noqa: E402
from stable_baselines3.common.env_util import make_atari_env  # noqa: E402
from stable_baselines3.common.evaluation import evaluate_policy  # noqa: E402
from stable_baselines3.common.vec_env import DummyVecEnv, VecFrameStack  # noqa: E402

from arcademark.agents.checkpoints.paths import checksum  # noqa: E402
from arcademark.agents.checkpoints.policy import Checkpoint  # noqa: E402
from arcademark.environments.registry import environment_spec, open_environment  # noqa: E402
from arcademark.runs.events import FireMissed  # noqa: E402
from arcademark.runs.execution import execute  # noqa: E402
from arcademark.runs.plan import make_plan  # noqa: E402
from arcademark.runs.store import read_run  # noqa: E402
from arcademark.suite import protocols  # noqa: E402

STEPS = 60
PROTOCOL = protocols.protocol("dqn-2015").override({"start": "reset", "noop_max": 0})
MODELS = {
    "ppo": (PPO, "CnnPolicy", {"n_steps": 8, "batch_size": 8}),
    "a2c": (A2C, "CnnPolicy", {}),
    "dqn": (DQN, "CnnPolicy", {"buffer_size": 10}),
    "qr-dqn": (contrib.QRDQN, "CnnPolicy", {"buffer_size": 10}),
    "recurrent-ppo": (contrib.RecurrentPPO, "CnnLstmPolicy", {"n_steps": 8, "batch_size": 8}),
}


def wrapped(name: str) -> VecFrameStack:
    gymnasium.register_envs(ale_py)
    made = gymnasium.make(f"{name}NoFrameskip-v4")
    single = AtariWrapper(made, noop_max=0, terminal_on_life_loss=False, clip_reward=False)
    return VecFrameStack(DummyVecEnv([lambda: single]), 4)


def shaken(model: Any, seed: int = 0) -> Any:
    """Give a model weights with which it takes different actions."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in model.policy.named_parameters():
            parameter.add_(torch.randn(parameter.shape, generator=generator) * 0.03)
            if "bias" in name:
                parameter.zero_()
    return model


class Still(gymnasium.Env[Any, Any]):
    """What a model needs to be made: spaces."""

    def __init__(self, observations: Any, actions: Any) -> None:
        self.observation_space, self.action_space = observations, actions


def there(model: Any, envs: VecFrameStack) -> tuple[list[int], list[float]]:
    seen, state, first = envs.reset(), None, np.ones(1, np.bool_)
    actions, rewards = [], []
    for _ in range(STEPS):
        action, state = model.predict(seen, state=state, episode_start=first, deterministic=True)
        seen, reward, first, _ = envs.step(action)
        actions.append(int(action[0]))
        rewards.append(float(reward[0]))
    return actions, rewards


def here(path: Path, game: str) -> tuple[list[int], list[float]]:
    spec = environment_spec(game, PROTOCOL)
    agent, environment = Checkpoint(spec, path, checksum(path)), open_environment(spec)
    environment.reset(np.random.default_rng(0))
    seen, first = np.zeros((1, *spec.observation_shape), np.uint8), np.ones(1, np.bool_)
    actions, rewards = [], []
    for _ in range(STEPS):
        environment.observe(seen[0])
        action = int(agent.act(seen, first, [np.random.default_rng(0)])[0])
        actions.append(action)
        rewards.append(environment.step(action).reward)
        first[0] = False
    return actions, rewards


@pytest.mark.parametrize(
    ("game", "name", "kind"),
    [  # games without the button, which Stable-Baselines3's wrappers would press
        ("journey_escape", "JourneyEscape", "ppo"),
        ("journey_escape", "JourneyEscape", "recurrent-ppo"),
        ("asterix", "Asterix", "a2c"),
        ("asterix", "Asterix", "dqn"),
        ("crazy_climber", "CrazyClimber", "qr-dqn"),
    ],
)
def test_saved_model_plays_the_same_there_and_here(game: str, name: str, kind: str, tmp_path: Path) -> None:
    envs = wrapped(name)
    kept, policy, settings = MODELS[kind]
    model = shaken(kept(policy, envs, seed=0, device="cpu", **settings))
    model.save(tmp_path / "model.zip")
    theirs = there(model, envs)
    assert here(tmp_path / "model.zip", game) == theirs
    assert len(set(theirs[0])) > 1


@pytest.mark.parametrize("kind", ["ppo", "recurrent-ppo"])
def test_breakout_scores_the_same_there_and_here_where_fire_is_pressed(kind: str, tmp_path: Path) -> None:
    """Evaluation on their wrappers, which press FIRE and show a new beginning after each lost life."""
    gymnasium.register_envs(ale_py)
    envs = VecFrameStack(make_atari_env("BreakoutNoFrameskip-v4", 1, wrapper_kwargs={"noop_max": 0}), 4)
    rules = PROTOCOL.override({"fire_reset": True, "max_frames_per_episode": 108_000})
    kept, policy, settings = MODELS[kind]
    theirs, ours = [], []
    for seed in (5, 6):
        model = shaken(kept(policy, envs, seed=seed, device="cpu", **settings), seed)
        model.save(tmp_path / f"{seed}.zip")
        scores, frames = evaluate_policy(model, envs, n_eval_episodes=1, return_episode_rewards=True)
        theirs.append((scores[0], frames[0]))
        plan = make_plan(str(tmp_path / f"{seed}.zip"), ["breakout"], rules, episodes=1)
        execute(plan, tmp_path / f"run{seed}", workers=1)
        ours += [(row.score, row.frames) for row in read_run(tmp_path / f"run{seed}").episodes]
    assert ours == theirs
    assert max(ours)[0] > 0


@pytest.mark.parametrize(
    ("game", "changes", "data", "missed"),
    [
        ("breakout", {}, {}, 1),
        ("breakout", {"fire_reset": True}, {}, 0),
        ("asterix", {}, {}, 0),  # has no such action
        ("breakout", {}, {"algorithm": "ppo"}, 0),  # trained here, where nobody pressed
    ],
)
def test_a_network_that_misses_fire_is_told_of_once(
    game: str, changes: dict[str, bool], data: dict[str, str], missed: int, tmp_path: Path
) -> None:
    rules = PROTOCOL.override({"max_frames_per_episode": 20} | changes)
    spec = environment_spec(game, rules)
    space = gymnasium.spaces.Box(0, 255, (4, 84, 84), np.uint8)
    model = PPO("CnnPolicy", Still(space, gymnasium.spaces.Discrete(spec.num_actions)), n_steps=8, batch_size=8)
    model.save(tmp_path / "model.zip")
    with zipfile.ZipFile(tmp_path / "model.zip") as there, zipfile.ZipFile(tmp_path / "0.zip", "w") as made:
        for name in there.namelist():
            content = there.read(name)
            made.writestr(name, json.dumps(json.loads(content) | data) if name == "data" else content)
    heard: list[Any] = []
    plan = make_plan(str(tmp_path / "0.zip"), [game], rules, seeds=2, episodes=1)
    execute(plan, tmp_path / "run", workers=1, on_event=heard.append)
    assert [event.game for event in heard if isinstance(event, FireMissed)] == [game] * missed


@pytest.mark.parametrize("kind", MODELS)
def test_whole_policy_plays_as_the_saved_model(kind: str, tmp_path: Path) -> None:
    kept, policy, settings = MODELS[kind]
    model = shaken(kept(policy, wrapped("Pong"), seed=0, device="cpu", **settings))
    model.save(tmp_path / "model.zip")
    torch.save(model.policy, tmp_path / "policy.pt")
    spec = environment_spec("pong", PROTOCOL)
    whole, saved = (
        Checkpoint(spec, tmp_path / name, "", trust=name == "policy.pt") for name in ("policy.pt", "model.zip")
    )
    seen = np.random.default_rng(0).integers(0, 255, (8, *spec.observation_shape), dtype=np.uint8)
    rngs = [np.random.default_rng(row) for row in range(8)]
    for first in (np.ones(8, np.bool_), np.zeros(8, np.bool_)):
        np.testing.assert_array_equal(whole._ask(0, seen, first), saved._ask(0, seen, first))
    assert whole.action_space.n == saved.action_space.n == spec.num_actions
    assert len(whole.act(seen, np.ones(8, np.bool_), rngs)) == 8
