"""EnvPool's Atari environments on the console: the same arguments, results and random numbers.

>>> from arcademark.ale import envpool
>>> envs = envpool.make("Breakout-v5", env_type="gym", num_envs=8, episodic_life=True, reward_clip=True, seed=1)

What is known of EnvPool's was found by experiment with 0.6.6 and 1.2.5:

* Game i has the seed ``seed + i``, for the emulator and for the generator (MT19937) of its no-ops.
* After an end the next step begins the next episode, whatever its action: after a lost life in the same game. Between 1
  and `noop_max` no-ops are played, the last of which is FIRE in games that take it.
* An observation pools the last two frames of a step. In a step in which the game ends, no later frame is looked at: it
  shows its third frame alone, or what was shown before. A new game's older images are copies of its first.
* Of screens higher than 210 rows the first 210 are seen.

An explicit reset with `episodic_life` differs: here it goes on in a game that is not over, EnvPool's begins another.
"""

from __future__ import annotations

import ctypes
import importlib
import importlib.util
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import gymnasium
import numpy as np
from ale_py import Action, LoggerMode, roms
from numpy.typing import NDArray

from arcademark.ale import arguments
from arcademark.ale.interface import ALEInterface
from arcademark.emulator import build
from arcademark.environments.emulation.facts import standard
from arcademark.environments.emulation.palettes import gray_table
from arcademark.environments.observations import kernels
from arcademark.environments.observations.area import AreaResize
from arcademark.errors import ArcadeMarkError, one_line
from arcademark.keywords import knowing


@dataclass(frozen=True, kw_only=True)
class Config:
    """EnvPool's arguments; `max_episode_steps` counts agent steps, and games are played in turn, without threads."""

    num_envs: int = 1
    batch_size: int = 0
    num_threads: int = 0
    thread_affinity_offset: int = -1
    seed: int = 42
    gym_reset_return_info: bool = False
    max_episode_steps: int = 27_000
    stack_num: int = 4
    frame_skip: int = 4
    noop_max: int = 30
    episodic_life: bool = False
    reward_clip: bool = False
    use_fire_reset: bool = True
    img_height: int = 84
    img_width: int = 84
    mode: int = -1
    difficulty: int = -1
    full_action_space: bool = False
    repeat_action_probability: float = 0.0
    gray_scale: bool = True


class _Game:
    """One game, and what of it is seen."""

    def __init__(self, game: str, seed: int, config: Config) -> None:
        self._config, self._chance = config, np.random.RandomState(seed & 0xFFFFFFFF)
        ALEInterface.setLoggerMode(LoggerMode.Error)
        rom, self.ale = roms.get_rom_path(game), ALEInterface()
        assert rom is not None
        ale = self.ale
        ale.setInt("random_seed", (seed + 2**31) % 2**32 - 2**31)
        ale.setFloat("repeat_action_probability", config.repeat_action_probability)
        ale.loadROM(rom)
        if config.mode >= 0:
            ale.setMode(config.mode)  # an ArcadeMarkError if there is no such
        if config.difficulty >= 0:
            ale.setDifficulty(config.difficulty)
        self.actions = ale.getLegalActionSet() if config.full_action_space else ale.getMinimalActionSet()
        self._fire = config.use_fire_reset and Action.FIRE in self.actions
        shape, size = kernels.SCREEN, (config.img_height, config.img_width)
        if size[0] > shape[0] or size[1] > shape[1]:
            raise ArcadeMarkError(f"images of {size[0]} by {size[1]} pixels; expected at most {shape[0]} by {shape[1]}")
        channels = 1 if config.gray_scale else 3
        self.stack = np.zeros((config.stack_num * channels, *size), np.uint8)
        self._images = self.stack.reshape(config.stack_num, channels, *size)
        self._screens = np.zeros((2, 2, *shape, channels), np.uint8)  # the newest two; and in C those before
        self._newest = self._screens[0] if channels > 1 else self._screens[0, ..., 0]
        self._resize, self._where = AreaResize(shape, size), None
        self._screen = ale.getScreenGrayscale if config.gray_scale else ale.getScreenRGB
        if (ale.getScreenDims(), size, channels) == (shape, kernels.IMAGE, 1):  # bytes of higher ones may be odd
            with suppress(build.NoCore):
                self._core, self._screen = build.core(), ale.getScreen
                self._table = kernels.greatest(gray_table(standard(game)))
                self._where = kernels.observation(self._table, self._screens[1], self.stack)
        self.ended, self.elapsed, self.lives, self.reward = True, config.max_episode_steps, 0, 0

    @property
    def truncated(self) -> bool:
        """Whether the game has reached its limit of steps."""
        return self.elapsed >= self._config.max_episode_steps

    def begin(self) -> None:
        """Begin an episode, in the same game where that goes on."""
        config, ale = self._config, self.ale
        noops = int.from_bytes(self._chance.bytes(4), "little") * max(1, config.noop_max) >> 32
        new = not config.episodic_life or ale.game_over() or self.truncated
        if new:
            ale.reset_game()
            self.elapsed = 0
        for _ in range(noops + (not self._fire)):
            ale.act(Action.NOOP)
            if ale.game_over():
                ale.reset_game()
                new = True
        if self._fire:
            ale.act(Action.FIRE)
        self._newest[0] = self._screen()[: kernels.SCREEN[0]]
        self._newest[1] = self._newest[0]
        self._push()
        if new:
            self._images[:-1] = self._images[-1]
        self.ended, self.reward, self.lives = False, 0, ale.lives()

    def step(self, action: int) -> None:
        """Play an agent step, or begin the next episode after an end."""
        if self.ended:
            return self.begin()
        config, ale, left = self._config, self.ale, self._config.frame_skip
        self.reward = 0
        while left and not ale.game_over():
            self.reward += ale.act(self.actions[action])
            left -= 1
            if left < 2:
                self._newest[1 - left] = self._screen()[: kernels.SCREEN[0]]
        if left == 1 or config.frame_skip == 1:
            self._newest[left] = self._newest[1 - left]
        self._push()
        self.elapsed += 1
        lives, self.lives = self.lives, ale.lives()
        self.ended = ale.game_over() or self.truncated or (config.episodic_life and 0 < self.lives < lives)
        return None

    def _push(self) -> None:
        """Append the image of the newest screens."""
        if self._where is not None:
            newest, before = (int(screen.ctypes.data) for screen in self._newest)
            self._core.console_push(ctypes.byref(self._where), newest, before)
            return
        first, second = self._screens[0]
        np.maximum(first, second, out=first)
        image = np.empty((*self.stack.shape[1:], first.shape[2]), np.uint8)
        self._resize(first, image)
        self._images[:-1] = self._images[1:]
        self._images[-1] = np.moveaxis(image, 2, 0)


class EnvPool(gymnasium.vector.VectorEnv[Any, Any, Any]):
    """Games as EnvPool has them; spaces are those of one game. See `make`."""

    def __init__(self, game: str, config: Config, spaces: Any, old: bool) -> None:
        self.config, self._old, self._one_thread = config, old, arguments.OneThread()
        self._games = [_Game(game, config.seed + i, config) for i in range(config.num_envs)]
        self.num_envs, self.all_env_ids = config.num_envs, np.arange(config.num_envs, dtype=np.int32)
        first = self._games[0]
        self.observation_space = self.single_observation_space = spaces.Box(0, 255, first.stack.shape, np.uint8)
        self.action_space = self.single_action_space = spaces.Discrete(len(first.actions))

    def __len__(self) -> int:
        return self.num_envs

    def reset(self, env_id: NDArray[Any] | None = None) -> Any:  # type: ignore[override]
        """Begin an episode in all games or in some; return their observations, and in the newer interface infos."""
        which = self._which(env_id)
        with self._one_thread:
            for i in which:
                self._games[i].begin()
            observed, _, _, _, infos = self._results(which)
        return observed if self._old and not self.config.gym_reset_return_info else (observed, infos)

    def step(self, action: NDArray[Any], env_id: NDArray[Any] | None = None) -> Any:
        """Play a step in all games or in some: observations, rewards, ends (with truncations apart if newer), infos."""
        which, actions = self._which(env_id), arguments.integers(action, "action")
        most = len(self._games[0].actions) - 1
        if len(actions) != len(which) or not all(0 <= one <= most for one in actions.tolist()):
            raise ArcadeMarkError(f"actions {actions}; expected {len(which)}, each from 0 to {most}")
        with self._one_thread:
            for i, one in zip(which, actions.tolist(), strict=True):
                self._games[i].step(one)
            observed, reward, ended, truncated, infos = self._results(which)
        if self._old:
            return observed, reward, ended, infos | {"TimeLimit.truncated": truncated}
        return observed, reward, ended & ~truncated, truncated, infos

    def _which(self, env_id: Any) -> NDArray[np.int32]:
        if env_id is None:
            return self.all_env_ids.copy()
        games = arguments.integers(env_id, "env_id")
        if len({*games.tolist()} & {*range(self.num_envs)}) != len(games):
            raise ArcadeMarkError(f"env_id {games}; expected different numbers from 0 to {self.num_envs - 1}")
        return games.astype(np.int32)

    def _results(self, which: NDArray[np.int32]) -> tuple[Any, ...]:
        games = [self._games[i] for i in which]
        raw = np.array([game.reward for game in games], np.float32)
        ended, truncated = (np.array([getattr(game, name) for game in games]) for name in ("ended", "truncated"))
        infos = {
            "env_id": which,
            "players": {"env_id": which},
            "lives": np.array([game.lives for game in games], np.int32),
            "reward": raw,
            "terminated": np.array([game.ale.game_over() for game in games], np.int32),
            "ram": np.array([game.ale.getRAM() for game in games]),
            "elapsed_step": np.array([game.elapsed for game in games], np.int32),
        }
        observed = np.array([game.stack for game in games])
        return observed, np.sign(raw) if self.config.reward_clip else raw, ended, truncated, infos


@knowing(Config, checked=False)
def make(task_id: str, env_type: str = "gymnasium", **settings: Any) -> EnvPool:
    """Return games as ``envpool.make`` does.

    Parameters
    ----------
    task_id : str
        "Breakout-v5".
    env_type : {"gymnasium", "gym"}
        With "gym", spaces and results are of gym where that is installed: before its 0.26 `reset` returns observations
        alone, and `step` four results.
    **settings
        EnvPool's, with its defaults: see `Config`.

    Raises
    ------
    ArcadeMarkError
        There is no such game, type or setting, or the setting has another value than is known here.
    """
    spec = gymnasium.registry.get(f"ArcadeMark/{arguments.text(task_id, 'task_id')}")
    if spec is None:
        raise ArcadeMarkError(
            f"task {one_line(task_id, 60)!r} is not known; expected one of ale-py's such as 'Breakout-v5'"
        )
    known = Config.__annotations__
    if unknown := ", ".join(sorted(settings.keys() - known.keys())):
        raise ArcadeMarkError(f"{one_line(unknown)}: not known; expected settings among {', '.join(known)}")
    config = Config(**arguments.settings(settings, known))
    pixels = config.img_height * config.img_width * (1 if config.gray_scale else 3)
    arguments.check_sizes(asdict(config), config.num_envs * config.stack_num * pixels)
    if config.batch_size not in (0, config.num_envs):
        raise ArcadeMarkError(f"batch_size {config.batch_size} of num_envs {config.num_envs}; expected all in a batch")
    if env_type not in ("gymnasium", "gym"):
        raise ArcadeMarkError(f"env_type {one_line(str(env_type), 60)!r} is not known; expected 'gymnasium' or 'gym'")
    spaces, old = gymnasium.spaces, False
    if env_type == "gym" and importlib.util.find_spec("gym"):
        gym = importlib.import_module("gym")
        spaces, old = gym.spaces, tuple(map(int, gym.__version__.split(".")[:2])) < (0, 26)
    return EnvPool(spec.kwargs["game"], config, spaces, old)


make_gym, make_gymnasium = (partial(make, env_type=name) for name in ("gym", "gymnasium"))
