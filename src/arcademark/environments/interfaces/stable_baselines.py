"""Games or tasks under a protocol as vector environments of Stable-Baselines3, for `arcademark.sb3`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.spaces import Box
from numpy.typing import NDArray
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import VecEnv

from arcademark.environments import fire
from arcademark.environments.interfaces import gymnasium
from arcademark.environments.interfaces.vector import GymnasiumVectorEnv
from arcademark.suite.protocols import Protocol


def make_vec(
    games: str | Sequence[str],
    num_envs: int | None = None,
    protocol: str | Protocol | None = None,
    *,
    training: bool = True,
    threads: int | None = None,
    **overrides: Any,
) -> VectorEnv:
    """Return games or other tasks as a `VecEnv`, played in this process.

    Parameters
    ----------
    games, num_envs, protocol, threads, **overrides
        As in `arcademark.make_vec`.
    training : bool
        Whether episodes end and rewards are clipped as the protocol specifies for training. Raw scores of whole games
        are in ``info["episode"]`` either way, where Stable-Baselines3 and its `evaluate_policy` expect them.

    Raises
    ------
    ArcadeMarkError
        As in `arcademark.make_vec`.
    """
    envs = gymnasium.make_vec(
        games,
        num_envs,
        protocol,
        training=training,
        autoreset_mode="same_step",
        threads=threads,
        channels_first=True,
        padding_type="zero",
        **overrides,
    )
    space: Any = envs.single_observation_space  # which a model is saved with
    space.fire_reset = any(fire.presses(env.environment_spec) for env in envs.envs)
    return VectorEnv(envs)


class VectorEnv(VecEnv):
    """A vector of games as a `VecEnv`; see `make_vec`.

    Observations are channels first: a stack of gray screens as (screens, height, width), coloured ones as (3 · screens,
    height, width); memory as (128,). Those of other tasks are one array, as in `environments.observations.spaces.View`.

    Parameters
    ----------
    envs : arcademark.environments.interfaces.vector.GymnasiumVectorEnv
        With ``autoreset_mode="same_step"``.
    """

    def __init__(self, envs: GymnasiumVectorEnv) -> None:
        self.envs = envs
        self.render_mode = envs.render_mode
        super().__init__(envs.num_envs, envs.single_observation_space, envs.single_action_space)
        self._actions: NDArray[Any] = np.zeros(envs.num_envs, np.int64)

    def reset(self) -> NDArray[np.uint8]:
        """Begin a game in each environment, with the seeds of `seed` if that was called."""
        observations, _ = self.envs.reset(seed=self._seeds)
        self._reset_seeds()
        self._reset_options()
        return observations

    def step_async(self, actions: NDArray[Any]) -> None:
        """Take the actions of the next step."""
        self._actions = actions.astype(self.action_space.dtype, copy=False)
        if isinstance(self.action_space, Box):  # scaling may round actions to values outside
            self._actions = np.clip(self._actions, self.action_space.low, self.action_space.high)

    def step_wait(self) -> tuple[NDArray[np.uint8], NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        """Play a step; infos have "lives" and, at an episode's end, the fields of Stable-Baselines3's environments."""
        observations, rewards, terminated, truncated, columns = self.envs.step(self._actions)
        infos: list[dict[str, Any]] = [{"lives": lives} for lives in columns["lives"].tolist()]
        ended = terminated | truncated
        for i in np.flatnonzero(ended).tolist():
            infos[i]["terminal_observation"] = columns["final_obs"][i]
            infos[i]["TimeLimit.truncated"] = bool(truncated[i])
            if "episode" in columns and columns["_episode"][i]:
                infos[i]["episode"] = {key: column[i].item() for key, column in columns["episode"].items()}
        return observations, rewards.astype(np.float32), ended, infos

    def close(self) -> None:
        """Release the emulators."""
        self.envs.close()

    def get_images(self) -> Sequence[NDArray[np.uint8] | None]:
        """Return each game's screen in colour."""
        return list(self.envs.render())

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Return an attribute of environments."""
        return [getattr(self.envs.envs[i], attr_name) for i in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Set an attribute of environments."""
        for i in self._get_indices(indices):
            setattr(self.envs.envs[i], attr_name, value)

    def env_method(self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any) -> list[Any]:
        """Call a method of environments."""
        return [
            getattr(env, method_name)(*method_args, **method_kwargs)
            for env in (self.envs.envs[i] for i in self._get_indices(indices))
        ]

    def env_is_wrapped(self, wrapper_class: type, indices: Any = None) -> list[bool]:
        """Return True for `Monitor` only, as raw scores of whole games are in its place."""
        return [wrapper_class is Monitor for _ in self._get_indices(indices)]
