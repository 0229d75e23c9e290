"""Descriptions of a pool's arguments and arrays, as in EnvPool."""

from __future__ import annotations

import importlib
from collections import namedtuple
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import gymnasium
import numpy as np


@dataclass(frozen=True, kw_only=True)
class Config:
    """EnvPool's arguments, in its order; `max_episode_steps` counts agent steps.

    `num_threads` includes the caller's thread; 0 means as many as there are cores. No result depends on it, nor on
    `thread_affinity_offset`, which is ignored. `base_path` is a folder that contains ``atari/roms``; by default the
    ROMs are ale-py's.
    """

    num_envs: int = 1
    batch_size: int = 0
    num_threads: int = 0
    max_num_players: int = 1
    thread_affinity_offset: int = -1
    base_path: str = ""
    seed: int = 42
    env_seed: tuple[int, ...] = ()
    gym_reset_return_info: bool = True
    max_episode_steps: int = 27_000
    stack_num: int = 4
    frame_skip: int = 4
    noop_max: int = 30
    zero_discount_on_life_loss: bool = False
    episodic_life: bool = False
    reward_clip: bool = False
    use_fire_reset: bool = True
    img_height: int = 84
    img_width: int = 84
    task: str = ""
    mode: int = -1
    difficulty: int = -1
    full_action_space: bool = False
    repeat_action_probability: float = 0.0
    use_inter_area_resize: bool = True
    gray_scale: bool = True


@dataclass(frozen=True, kw_only=True)
class Rendering:
    """EnvPool's arguments for `EnvPool.render`."""

    render_mode: str | None = None
    render_env_id: int = 0
    render_width: int = 0
    render_height: int = 0
    render_camera_id: int = -1
    from_pixels: bool = False


class ArraySpec(NamedTuple):
    """EnvPool's description of an array of one game: its shape (−1: one per player), type and bounds."""

    shape: list[int]
    dtype: np.dtype[Any]
    minimum: float
    maximum: float

    @property
    def is_discrete(self) -> bool:
        """Return False, as EnvPool does."""
        return False


class EnvSpec:
    """EnvPool's description of a task: `config`, `state_array_spec`, `action_array_spec` and spaces."""

    reward_threshold: float | None = None

    def __init__(self, config: Config, actions: int, spaces: Any = gymnasium.spaces) -> None:
        values = asdict(config)
        self.gen_config = namedtuple("Config", values, defaults=asdict(Config()).values())  # type: ignore[misc]
        self.config: Any = self.gen_config(**values | {"env_seed": [*config.env_seed]})
        whole, single = np.iinfo(np.int32), np.finfo(np.float32)
        any_whole = ArraySpec([-1], np.dtype(np.int32), whole.min, whole.max)
        any_real = ArraySpec([-1], np.dtype(np.float32), float(single.tiny), float(single.max))
        shape = [config.stack_num * (1 if config.gray_scale else 3), config.img_height, config.img_width]
        self.state_array_spec = {
            "info:env_id": ArraySpec([], np.dtype(np.int32), whole.min, whole.max),
            "info:players.env_id": any_whole,
            "elapsed_step": ArraySpec([], np.dtype(np.int32), whole.min, whole.max),
            "done": ArraySpec([], np.dtype(np.bool_), False, True),
            "reward": any_real,
            "discount": ArraySpec([-1], np.dtype(np.float32), 0.0, 1.0),
            "step_type": ArraySpec([], np.dtype(np.int32), whole.min, whole.max),
            "trunc": ArraySpec([], np.dtype(np.bool_), False, True),
            "obs": ArraySpec(shape, np.dtype(np.uint8), 0, 255),
            "info:lives": any_whole,
            "info:reward": any_real,
            "info:terminated": ArraySpec([-1], np.dtype(np.int32), 0, 1),
            "info:ram": ArraySpec([128], np.dtype(np.uint8), 0, 255),
        }
        self.action_array_spec = {
            "env_id": ArraySpec([], np.dtype(np.int32), whole.min, whole.max),
            "players.env_id": any_whole,
            "action": ArraySpec([-1], np.dtype(np.int32), 0, actions - 1),
        }
        self.observation_space = self.gymnasium_observation_space = spaces.Box(0, 255, tuple(shape), np.uint8)
        self.action_space = self.gymnasium_action_space = spaces.Discrete(actions)

    def observation_spec(self) -> Any:
        """Return dm_env's description of a time step's observation; dm_env must be installed."""
        known = self.state_array_spec
        shown = {
            name.rpartition(":")[2]: dm_spec(name.replace(":", ".").rpartition(".")[2], one)
            for name, one in known.items()
            if name.startswith(("obs", "info"))
        }
        return observation_of(shown)

    def action_spec(self) -> Any:
        """Return dm_env's description of an action; dm_env must be installed."""
        return dm_spec("action", self.action_array_spec["action"])

    def __repr__(self) -> str:
        return f"AtariEnvSpec{repr(self.config).removeprefix('Config')}"


def dm_env() -> Any:
    """Return the module dm_env; DependencyNotInstalled: it is not installed."""
    try:
        return importlib.import_module("dm_env")
    except ImportError as error:
        raise gymnasium.error.DependencyNotInstalled("env_type 'dm' needs dm_env: pip install dm-env") from error


def dm_spec(name: str, array: ArraySpec) -> Any:
    """Return dm_env's description of an array; dm_env must be installed."""
    specs, shape = dm_env().specs, tuple(one for one in array.shape if one != -1)
    if array.minimum == 0 and not shape and np.issubdtype(array.dtype, np.integer):
        return specs.DiscreteArray(int(array.maximum) + 1, dtype=array.dtype, name=name)
    return specs.BoundedArray(shape, array.dtype, array.minimum, array.maximum, name=name)


def observation_of(values: dict[str, Any]) -> Any:
    """Return the observation of a time step as EnvPool's named tuple."""
    players = _PLAYERS(values.pop("players.env_id"))
    return _STATE(values.pop("env_id"), players, *(values[name] for name in _STATE._fields[2:]))


_PLAYERS = namedtuple("players", ("env_id",))  # type: ignore[name-match]
_STATE = namedtuple("State", ("env_id", "players", "obs", "lives", "reward", "terminated", "ram"))  # type: ignore[name-match]
