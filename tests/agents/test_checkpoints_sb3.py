"""Models that Stable-Baselines3 saved, played there on its own wrappers and here: the same actions and scores."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install 'arcademark[sb3]'")
pytest.importorskip("stable_baselines3", reason="Stable-Baselines3 is not installed: pip install 'arcademark[sb3]'")
contrib = pytest.importorskip("sb3_contrib", reason="sb3-contrib is not installed: pip install 'arcademark[sb3]'")

import ale_py  # noqa: E402
import gymnasium  # noqa: E402
from stable_baselines3 import A2C, DQN, PPO  # noqa: E402
from stable_baselines3.common.atari_wrappers import AtariWrapper  # noqa: E402
from stable_baselines3.common.vec_env import DummyVecEnv, VecFrameStack  # noqa: E402

from arcademark.agents.checkpoints.paths import checksum  # noqa: E402
from arcademark.agents.checkpoints.policy import Checkpoint  # noqa: E402
from arcademark.environments.registry import environment_spec, open_environment  # noqa: E402
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


def shaken(model: Any) -> Any:
    """Give a model weights with which it takes different actions."""
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for name, parameter in model.policy.named_parameters():
            parameter.add_(torch.randn(parameter.shape, generator=generator) * 0.03)
            if "bias" in name:
                parameter.zero_()
    return model


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
