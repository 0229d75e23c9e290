"""Benchmarks that Gymnasium cannot make as they are, as environments of its: ``Procgen-v0`` and ``Craftax-v0``."""

from __future__ import annotations

import functools
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

Infos = dict[str, Any]


class Procgen(gymnasium.Env[NDArray[np.uint8], np.int64]):
    """A game of Procgen with a seed of each episode's own: procgen-gym takes one when it is made, and no other.

    `settings` are Procgen's own: ``distribution_mode``, ``num_levels``, ….
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 15}  # noqa: RUF012

    def __init__(self, game: str, render_mode: str | None = None, **settings: Any) -> None:
        from procgen_gym import ProcgenEnv

        self.render_mode = render_mode
        self._make = functools.partial(ProcgenEnv, env_name=game, render_mode=render_mode, **settings)
        self._game: gymnasium.Env[NDArray[np.uint8], np.int64] | None = None
        self.observation_space = spaces.Box(0, 255, (64, 64, 3), np.uint8)
        self.action_space = spaces.Discrete(15)

    def reset(self, *, seed: int | None = None, options: Infos | None = None) -> tuple[NDArray[np.uint8], Infos]:
        """Begin an episode."""
        super().reset(seed=seed)
        self.close()
        self._game = self._make(rand_seed=int(self.np_random.integers(2**31)))
        return self._game.reset()

    def step(self, action: np.int64) -> tuple[NDArray[np.uint8], float, bool, bool, Infos]:
        """Play a step; what is seen after the last is the beginning of another episode."""
        assert self._game is not None
        return self._game.step(action)  # type: ignore[return-value]

    def render(self) -> Any:
        """Return the picture."""
        return None if self._game is None else self._game.render()

    def close(self) -> None:
        """Give its memory back."""
        if self._game is not None:
            self._game.close()
            self._game = None


@functools.cache
def _craftax(name: str) -> tuple[Any, Any, Any, Any]:
    """Return its environment, its parameters, and `reset` and `step`, which are compiled once."""
    import jax
    from craftax.craftax_env import make_craftax_env_from_name

    environment = make_craftax_env_from_name(name, auto_reset=False)
    return environment, environment.default_params, jax.jit(environment.reset), jax.jit(environment.step)


class Craftax(gymnasium.Env[NDArray[np.float32], np.int64]):
    """Craftax, "Craftax-Symbolic-v1" or another name of its, a step at a time."""

    def __init__(self, name: str) -> None:
        environment, parameters, *_ = _craftax(name)
        self._name = name
        self._state: Any = None
        self.observation_space = spaces.Box(
            -np.inf, np.inf, environment.observation_space(parameters).shape, np.float32
        )
        self.action_space = spaces.Discrete(environment.num_actions)

    def _key(self) -> Any:
        import jax

        return jax.random.PRNGKey(int(self.np_random.integers(2**32)))

    def reset(self, *, seed: int | None = None, options: Infos | None = None) -> tuple[NDArray[np.float32], Infos]:
        """Begin an episode."""
        super().reset(seed=seed)
        _, parameters, reset, _ = _craftax(self._name)
        seen, self._state = reset(self._key(), parameters)
        return np.asarray(seen), {}

    def step(self, action: np.int64) -> tuple[NDArray[np.float32], float, bool, bool, Infos]:
        """Play a step; at the end of its time an episode is truncated."""
        _, parameters, _, step = _craftax(self._name)
        seen, self._state, reward, done, _ = step(self._key(), self._state, int(action), parameters)
        truncated = bool(done) and int(self._state.timestep) >= parameters.max_timesteps
        return np.asarray(seen), float(reward), bool(done) and not truncated, truncated, {}


PACKAGES = {"Procgen-v0": "procgen_gym", "Craftax-v0": "craftax"}
"""The module that defines the tasks of each environment."""

for _name in PACKAGES:
    gymnasium.register(_name, f"{__name__}:{_name.partition('-')[0]}")
