"""Models that Stable-Baselines3 trained on its own environments, played there and here: the same actions and scores."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from played import here

contrib = pytest.importorskip("sb3_contrib", reason="Stable-Baselines3 is not installed: make test-deep")

import ale_py  # noqa: E402
import gymnasium  # noqa: E402
import torch  # noqa: E402
from stable_baselines3 import A2C, DQN, PPO  # noqa: E402
from stable_baselines3.common.env_util import make_atari_env  # noqa: E402
from stable_baselines3.common.vec_env import VecFrameStack  # noqa: E402

from arcademark.environments.registry import environment_spec  # noqa: E402
from arcademark.suite import protocols  # noqa: E402

pytestmark = pytest.mark.deep

CAP = 1200
"""Frames of an episode, of which two are played."""
PROTOCOL = protocols.protocol("dqn-2015").override({"start": "reset", "noop_max": 0, "max_frames_per_episode": CAP})
GAMES = {"journey_escape": "JourneyEscape", "asterix": "Asterix", "crazy_climber": "CrazyClimber"}
"""Games without the button, which Stable-Baselines3's wrappers would press."""
REPLAY = {"buffer_size": 2000, "learning_starts": 100, "exploration_fraction": 0.5}
ROLLOUT = {"n_steps": 128, "batch_size": 64}
MODELS = {
    "ppo": (PPO, "CnnPolicy", ROLLOUT),
    "a2c": (A2C, "CnnPolicy", {}),
    "dqn": (DQN, "CnnPolicy", REPLAY),
    "qr-dqn": (contrib.QRDQN, "CnnPolicy", REPLAY),
    "recurrent-ppo": (contrib.RecurrentPPO, "CnnLstmPolicy", ROLLOUT),
}


def environments(game: str, **wrapped: Any) -> VecFrameStack:
    gymnasium.register_envs(ale_py)
    rules = {"max_num_frames_per_episode": CAP}
    made = make_atari_env(f"{GAMES[game]}NoFrameskip-v4", seed=0, env_kwargs=rules, wrapper_kwargs=wrapped)
    return VecFrameStack(made, 4)


def shake(model: Any, seed: int) -> None:
    """Move a policy that prefers one action everywhere, so that what moves on screen tells."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in model.policy.named_parameters():
            parameter.add_(torch.randn(parameter.shape, generator=generator) * 0.03)
            if "bias" in name:
                parameter.zero_()
            elif parameter.dim() > 1:
                parameter.sub_(parameter.mean(dim=tuple(range(1, parameter.dim())), keepdim=True))


def there(model: Any, envs: VecFrameStack) -> tuple[list[list[int]], list[list[float]]]:
    """Play two episodes; return each one's actions and its rewards."""
    seen, state, first = envs.reset(), None, np.ones(1, np.bool_)
    episodes: tuple[list[list[int]], list[list[float]]] = ([], [])
    while not first[0] or len(episodes[0]) < 2:
        for kept in episodes if first[0] else ():
            kept.append([])  # type: ignore[arg-type]
        action, state = model.predict(seen, state=state, episode_start=first, deterministic=True)
        seen, reward, first, _ = envs.step(action)
        episodes[0][-1].append(int(action[0]))
        episodes[1][-1].append(float(reward[0]))
    return episodes


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("kind", MODELS)
def test_trained_model_plays_the_same_there_and_here(game: str, kind: str, tmp_path: Path) -> None:
    made, policy, settings = MODELS[kind]
    model = made(policy, environments(game), seed=0, device="cpu", **settings).learn(1000)
    played = environments(game, noop_max=0, terminal_on_life_loss=False, clip_reward=False)
    for seed in range(10):
        theirs = there(model, played)
        if len({action for actions in theirs[0] for action in actions}) > 1:
            break
        shake(model, seed)
    else:
        pytest.fail("prefers one action everywhere, so that nothing is compared")
    model.save(tmp_path / "model.zip")
    assert here(tmp_path / "model.zip", environment_spec(game, PROTOCOL), 2, CAP) == theirs
