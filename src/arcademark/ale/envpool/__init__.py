"""EnvPool's Atari environments on our emulator: the whole interface, with the same results and random numbers.

>>> from arcademark.ale import envpool
>>> envs = envpool.make("Breakout-v5", env_type="gymnasium", num_envs=8, episodic_life=True, reward_clip=True, seed=1)

EnvPool behaves as follows, according to experiments with 0.6.6 and 1.2.5 and its published source:

* Game i has the seed ``seed + i``, or ``env_seed[i]``, for the emulator and for the generator (MT19937) of its no-ops.
* After an end the next step begins the next episode, whatever its action; after a lost life, in the same game. An
  explicit reset begins another game. Between 1 and `noop_max` no-ops are played, the last of which is FIRE in games
  with this action.
* An observation pools the last two frames of a step. A step in which the game ends has no later frames: its
  observation is its third frame alone, or the previous one. A new game's older images are copies of its first.
* Screens higher than 210 rows are cut to the first 210.

Games are played by `num_threads` threads, including the caller of `recv`, and are received in the order in which
actions were sent, so that no result depends on timing. If ale-py plays, the caller's thread plays them in turn.
"""

from __future__ import annotations

import ctypes
import importlib
import importlib.util
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import gymnasium
import numpy as np
from ale_py import roms
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from arcademark.ale import arguments, callbacks
from arcademark.ale.envpool.game import PooledGame, Record
from arcademark.ale.envpool.specs import Config, EnvSpec, Rendering, dm_env, observation_of
from arcademark.emulator.machine import RAM_SIZE
from arcademark.environments.interfaces.batch import Crew, default_threads
from arcademark.environments.observations import kernels
from arcademark.errors import ArcadeMarkError, one_line
from arcademark.keywords import knowing

__all__ = [
    "DMEnvPool",
    "EnvPool",
    "EnvSpec",
    "GymnasiumEnvPool",
    "list_all_envs",
    "make",
    "make_dm",
    "make_gym",
    "make_gymnasium",
    "make_spec",
]
__version__ = "1.2.5"
"""EnvPool's version, whose interface this is."""


class EnvPool(gymnasium.vector.VectorEnv[Any, Any, Any], gymnasium.Env[Any, Any]):  # type: ignore[misc]
    """A pool of games like EnvPool's; spaces are those of one game. See `make`.

    As in EnvPool, it is an instance of both of Gymnasium's classes, so that it suits the wrappers of either.

    Attributes
    ----------
    spec : EnvSpec
        Descriptions of its arguments and arrays; `config` has the arguments as a dictionary.
    all_env_ids : ndarray
        The numbers of the games.
    is_async : bool
        True if a batch is smaller than the number of games.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012
    is_vector_env = True

    def __init__(self, config: Config, rendering: Rendering, spaces: Any, old: bool) -> None:
        self._settings, self._rendering, self._old = config, rendering, old
        self._one_thread = arguments.OneThread()
        count, channels = config.num_envs, 1 if config.gray_scale else 3
        self.num_envs, self.all_env_ids = count, np.arange(count, dtype=np.int32)
        self._all = np.arange(count)
        seeds = config.env_seed or [config.seed + i for i in range(count)]
        array = (Record * count)()
        self._arrays = {
            "obs": np.zeros((count, config.stack_num * channels, config.img_height, config.img_width), np.uint8),
            "ram": np.zeros((count, RAM_SIZE), np.uint8),
        }
        given = zip(seeds, array, self._arrays["obs"], self._arrays["ram"], strict=True)
        self._games = [PooledGame(seed, config, *own) for seed, *own in given]
        self._set_records(array)
        self._actions = np.array([action.value for action in self._games[0].actions], np.int32)
        self._sent: list[int] = []  # games, in the order in which they are received
        self._begun: set[int] = set()  # those among them that begin an episode
        self._nothing = False  # True if the last call sent no games
        self.spec: Any = EnvSpec(config, len(self._actions), spaces)
        self.config = dict(zip(self.spec.config._fields, self.spec.config, strict=True))
        self.is_async, self.render_mode = config.batch_size < config.num_envs, rendering.render_mode
        self.observation_space = self.single_observation_space = self.spec.observation_space
        self.action_space = self.single_action_space = self.spec.action_space

    def _set_records(self, array: Any) -> None:
        """Make the columns of results, and the threads if our emulator plays."""
        records: NDArray[Any] = np.frombuffer(memoryview(array).cast("B"), np.dtype(Record))
        self._chosen = records["step"]["chosen"]
        self._columns = {name: records["step"][name] for name in ("lives", "reward", "terminated")}
        self._columns |= {name: records[name] for name in ("begins", "ended", "elapsed", "kind", "discount")}
        count, core, threads = self.num_envs, self._games[0].core, self._settings.num_threads
        self._crew: Crew | None = None
        self._given, self._numbers, self._everyone = 0, np.zeros(count, np.int64), [*range(count)]
        if core is not None:
            threads = min(threads if threads > 0 else default_threads(count, 1), count)
            kept, at = (array, self._games, self._arrays), ctypes.addressof(array)
            self._crew = Crew(core, threads, at, ctypes.sizeof(Record), count, kept)

    def __len__(self) -> int:
        return self._settings.num_envs

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.config.items())})"

    __str__ = __repr__  # gymnasium.Env's asks for an id

    def __reduce__(self) -> Any:
        raise arguments.ArgumentTypeError(
            "cannot pickle or copy 'EnvPool' object; make another, with the same arguments"
        )

    # ---- play

    def send(self, action: Any, env_id: Any = None) -> None:
        """Start a step of games under their actions, or the next episode after an end.

        Parameters
        ----------
        action : ndarray or dict
            One action per game, in any shape and type; or ``{"action": …, "env_id": …}``.
        env_id : ndarray, optional
            Numbers of the games; by default all.

        Raises
        ------
        ArcadeMarkError
            An action or a game is unknown, or a game is already being played.
        """
        if isinstance(action, dict):
            action, env_id = action.get("action"), action.get("env_id", env_id)
        which, actions = self._which(env_id), arguments.integers(_whole(action), "action")
        numbers, most = actions.tolist(), len(self._actions) - 1
        if len(numbers) != len(which) or (numbers and not 0 <= min(numbers) <= max(numbers) <= most):
            raise ArcadeMarkError(f"actions {actions}; expected {len(which)}, each from 0 to {most}")
        self._send(which, self._actions[actions])

    def async_reset(self) -> None:
        """Begin another game in all environments; `recv` returns the observations."""
        self._send(self._all, None)

    def recv(self, reset: bool = False, return_info: bool = True) -> Any:
        """Return the results of a batch of games in the order sent, or of all games sent if there are no batches.

        RefusedError: fewer were sent; EnvPool waits endlessly.
        """
        return self._to(self._receive(), reset, return_info)

    def step(self, action: Any, env_id: Any = None) -> Any:
        """Play a step in all or some games; return observations, rewards, terminations, truncations and infos."""
        self.send(action, env_id)
        return self.recv()

    def reset(self, env_id: Any = None, *, seed: Any = None, options: dict[str, Any] | None = None) -> Any:
        """Begin another game in all or some environments; return their observations and infos.

        `options` may contain a ``reset_mask``. A seed is ignored, with a warning: EnvPool fixes seeds in `make`.
        """
        if seed is not None:
            warnings.warn("reset ignores its seed, as in EnvPool; pass it to make", stacklevel=2)
        if not isinstance(options, Mapping | None):
            raise arguments.ArgumentTypeError(f"options of type {type(options).__name__}: expected a dictionary")
        mask = (options or {}).get("reset_mask")
        if {*(options or {})} - {"reset_mask"} or (env_id is not None and mask is not None):
            raise arguments.ArgumentValueError("reset takes env_id, or options with a reset_mask; nothing else")
        if mask is not None:
            mask = np.asarray(mask)
            if mask.shape != (self._settings.num_envs,) or mask.dtype != np.bool_ or not mask.any():
                raise arguments.ArgumentValueError(
                    f"reset_mask: expected {self._settings.num_envs} truth values, one of them true"
                )
            env_id = np.flatnonzero(mask)
        self._send(self._which(env_id), None)
        return self.recv(True, self._settings.gym_reset_return_info)

    def xla(self) -> tuple[Any, Callable[..., Any], Callable[..., Any], Callable[..., Any]]:
        """Return a handle, and functions `recv`, `send` and `step` for JAX that take a handle and return the next.

        They call back from JAX into this process. DependencyNotInstalled: JAX cannot be imported.
        """
        example = self._to(self._gather(self._all[: self._settings.batch_size]), False, True)

        def sent(action: NDArray[Any], env_id: NDArray[Any]) -> tuple[()]:
            self.send(action, env_id)
            return ()

        receive, give = callbacks.called_from_jax(self.recv, example), callbacks.called_from_jax(sent, ())

        def send(handle: Any, action: Any, env_id: Any = None) -> Any:
            return give(handle, action, self.all_env_ids if env_id is None else env_id)[0]

        def step(handle: Any, action: Any, env_id: Any = None) -> Any:
            return receive(send(handle, action, env_id))

        return callbacks.first_handle(), receive, send, step

    def seed(self, seed: Any = None) -> None:
        """Do nothing but warn, as in EnvPool."""
        warnings.warn("seed is ignored, as in EnvPool; pass it to make", stacklevel=2)

    def render(self, env_ids: Any = None, camera_id: Any = None) -> NDArray[np.uint8]:  # type: ignore[override]
        """Return screens (n, height, width, 3); ArcadeMarkError: the pool has no ``render_mode="rgb_array"``."""
        if self.render_mode is None:
            raise arguments.RefusedError("nothing is rendered; make it with render_mode='rgb_array'")
        chosen = self._rendering.render_env_id if env_ids is None else env_ids
        with self._one_thread:
            if self._crew is not None:
                self._crew.settle()  # steps that were sent may not have been played yet
            screens = [self._games[i].ale.getScreenRGB() for i in self._which(np.atleast_1d(chosen)).tolist()]
        return np.array([screen[: kernels.SCREEN[0]] for screen in screens])

    def close(self, **keywords: Any) -> None:
        """End the threads; the caller's thread can still play the games."""
        self.closed = True
        if self._crew is not None:
            self._crew.close()

    def _which(self, env_id: Any) -> NDArray[np.int64]:
        """Return the numbers of games."""
        if env_id is None:
            return self._all
        games = arguments.integers(_whole(env_id), "env_id")
        if len({*games.tolist()} & {*range(self.num_envs)}) != len(games):
            raise ArcadeMarkError(f"env_id {games}; expected different numbers from 0 to {self.num_envs - 1}")
        return games

    def _send(self, which: NDArray[np.int64], actions: NDArray[np.int32] | None) -> None:
        """Send games with actions of ALE; without actions, each begins another game."""
        with self._one_thread:
            games = which.tolist()
            if self._sent and (twice := {*self._sent}.intersection(games)):
                raise arguments.RefusedError(f"game {min(twice)} is already being played; call recv first")
            try:
                begun = games
                if actions is not None:
                    self._chosen[which] = actions
                    ended = self._columns["ended"][which].tolist()
                    begun = [i for i, over in zip(games, ended, strict=True) if over] if any(ended) else []
                for i in begun:
                    self._games[i].begin(forced=actions is None)
                self._begun.update(begun)
                self._sent += games
                self._nothing = not games
                if self._crew is not None:
                    self._numbers[which] = np.arange(self._given, self._given + len(games))
                    self._given += len(games)
                    self._crew.hand_over(which)
            except BaseException:
                self._forget()
                raise

    def _receive(self) -> dict[str, NDArray[Any]]:
        with self._one_thread:
            count = self._settings.batch_size if self.is_async else len(self._sent)
            if len(self._sent) < max(count, not self._nothing):
                raise arguments.RefusedError(f"{len(self._sent)} games are being played; call send or reset first")
            self._nothing = False
            games = self._sent[:count]
            try:
                self._finish(games)
                del self._sent[:count]
            except BaseException:
                self._forget()
                raise
            return self._gather(self._all if games == self._everyone else np.array(games, np.int64))

    def _finish(self, games: list[int]) -> None:
        """Wait until these games have been played, and play in this thread, too; or play them on ale-py."""
        if self._crew is None:
            for i in games:
                self._games[i].play()
        elif self.is_async:
            end = int(self._numbers[games[-1]]) + 1
            self._crew.wait(end, end - int(self._numbers[games[0]]))
        else:
            self._crew.settle()
        if self._begun:
            begun = self._begun.intersection(games)
            self._begun -= begun
            while over := [i for i in begun if self._columns["begins"][i]]:  # the no-ops ended the game
                for i in over:
                    self._games[i].reset()
                    if self._crew is None:
                        self._games[i].play()
                if self._crew is not None:
                    self._crew.play(np.array(over))
                    self._given += len(over)
        if self._games[0].pushes:
            for i in games:
                self._games[i].push()

    def _forget(self) -> None:
        """Wait for all games that were sent and forget them, after a call was interrupted."""
        if self._crew is not None:
            self._given = self._crew.settle()
        self._sent.clear()
        self._begun.clear()

    def _gather(self, which: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
        """Return the results of games as arrays, by EnvPool's names."""
        every, columns = which is self._all, self._columns

        def taken(column: NDArray[Any]) -> NDArray[Any]:
            return column.copy() if every else column[which]

        env_id, ended, elapsed = which.astype(np.int32), taken(columns["ended"]) != 0, taken(columns["elapsed"])
        raw = taken(columns["reward"]).astype(np.float32)
        return {
            "env_id": env_id,
            "players.env_id": env_id.copy(),
            "obs": taken(self._arrays["obs"]),
            "lives": taken(columns["lives"]),
            "raw": raw,
            "reward": np.sign(raw) if self._settings.reward_clip else raw.copy(),
            "terminated": taken(columns["terminated"]),
            "ram": taken(self._arrays["ram"]),
            "elapsed_step": elapsed,
            "done": ended,
            "trunc": ended & (elapsed >= self._settings.max_episode_steps),
            "discount": taken(columns["discount"]),
            "step_type": taken(columns["kind"]),
        }

    def _to(self, arrays: dict[str, NDArray[Any]], reset: bool, return_info: bool) -> Any:
        """Return results in the form of the interface."""
        infos: dict[str, Any] = {"env_id": arrays["env_id"], "players": {"env_id": arrays["players.env_id"]}}
        infos |= {"lives": arrays["lives"], "reward": arrays["raw"]}
        infos |= {name: arrays[name] for name in ("terminated", "ram", "elapsed_step")}
        observed, ended, truncated = arrays["obs"], arrays["done"], arrays["trunc"]
        if reset:
            return (observed, infos) if return_info or not self._old else observed
        if self._old:
            return observed, arrays["reward"], ended, infos | {"TimeLimit.truncated": truncated}
        return observed, arrays["reward"], ended & ~truncated, truncated, infos


def _whole(values: Any) -> Any:
    """Return an array flat and as whole numbers, truncated or read from text as in EnvPool; other values unchanged."""
    if not isinstance(values, np.ndarray):
        return values
    flat = np.asarray(values).reshape(-1)
    if flat.dtype.kind in "iu":
        return flat
    try:
        with np.errstate(invalid="raise"):  # for NaN, and numbers that are too large
            return flat.astype(np.int64)
    except (TypeError, ValueError, ArithmeticError):
        return flat


class DMEnvPool(EnvPool):
    """A pool as one of dm_env's environments, which returns dm_env's time steps."""

    def observation_spec(self) -> Any:
        """Return the description of a time step's observation."""
        return self.spec.observation_spec()

    def action_spec(self) -> Any:
        """Return the description of an action."""
        return self.spec.action_spec()

    def reward_spec(self) -> Any:
        """Return the description of a game's reward."""
        return dm_env().Environment.reward_spec(self)

    def discount_spec(self) -> Any:
        """Return the description of a game's discount."""
        return dm_env().Environment.discount_spec(self)

    def _to(self, arrays: dict[str, NDArray[Any]], reset: bool, return_info: bool) -> Any:
        observation = observation_of(arrays | {"reward": arrays["raw"]})
        return dm_env().TimeStep(arrays["step_type"], arrays["reward"], arrays["discount"], observation)


@dataclass(frozen=True, kw_only=True)
class _Settings(Config, Rendering):
    """Settings of `make`."""


def _config(task_id: str, given: dict[str, Any]) -> tuple[Config, Rendering]:
    """Return the settings of a task; ArcadeMarkError: one is wrong."""
    game = _tasks().get(arguments.text(task_id, "task_id"))
    if game is None:
        raise ArcadeMarkError(
            f"task {one_line(task_id, 60)!r} is not known; expected one of list_all_envs(), such as 'Breakout-v5'"
        )
    known = {**Rendering.__annotations__, **Config.__annotations__}
    if unknown := ", ".join(sorted(given.keys() - known.keys())):
        message = f"{one_line(unknown)}: not known; expected settings among {', '.join(known)}"
        raise arguments.ArgumentTypeError(message)
    seeded = not isinstance(given.get("seed", 0), str) and isinstance(given.get("seed"), Sequence | np.ndarray)
    if seeded:
        given = given | {"env_seed": given["seed"], "seed": 0}  # as in EnvPool
    if "env_seed" in given:
        given = given | {"env_seed": tuple(arguments.integers(given["env_seed"], "env_seed").tolist())}
    for name, value in given.items():
        if known[name] == "bool" and isinstance(value, int | np.integer | np.bool_ | None):
            given = given | {name: bool(value)}  # as in EnvPool
    settings = arguments.settings(given, known)
    rendering = Rendering(**{name: value for name, value in settings.items() if name in Rendering.__annotations__})
    config = Config(task=game)
    config = replace(config, **{name: value for name, value in settings.items() if name in Config.__annotations__})
    pixels = config.img_height * config.img_width * (1 if config.gray_scale else 3)
    arguments.check_sizes(asdict(config), config.num_envs * config.stack_num * pixels)
    height, width = kernels.SCREEN
    for wrong, expected in (
        (config.img_height > height or config.img_width > width, f"images of at most {height} by {width} pixels"),
        ((seeded or config.env_seed) and len(config.env_seed) != config.num_envs, f"{config.num_envs} seeds"),
        (config.max_num_players != 1, "max_num_players 1: the games are for one player"),
        (config.task not in roms.get_all_rom_ids(), "task to be a game such as 'ms_pacman'"),
        (rendering.render_mode not in (None, "rgb_array"), "render_mode None or 'rgb_array': no window is shown"),
        (
            rendering.render_width or rendering.render_height,
            "screens of their own size, without render_width",
        ),
        (rendering.from_pixels, "no from_pixels, which EnvPool has for MuJoCo alone"),
        (not 0 <= rendering.render_env_id < config.num_envs, f"render_env_id below {config.num_envs}"),
    ):
        if wrong:
            raise arguments.ArgumentValueError(f"{one_line(task_id, 60)}: expected {expected}")
    return replace(config, batch_size=config.batch_size or config.num_envs), rendering


@knowing(_Settings, checked=False)
def make(task_id: str, env_type: str = "gymnasium", **settings: Any) -> EnvPool:
    """Make a pool of games, like ``envpool.make``.

    Parameters
    ----------
    task_id : str
        One of `list_all_envs`, e.g. "Breakout-v5".
    env_type : {"gymnasium", "gym", "dm"}
        With "dm", results are dm_env's time steps. With "gym", spaces and results are gym's if that is installed:
        before gym 0.26 `reset` returns only observations, and `step` four results, as in EnvPool 0.6.
    **settings
        EnvPool's settings, with its defaults: see `Config`.

    Raises
    ------
    ArcadeMarkError
        A game, type or setting is unknown, or a setting has a wrong value.
    DependencyNotInstalled
        The type is "dm", and dm_env is not installed.
    """
    if env_type not in ("gymnasium", "gym", "dm"):
        known = "expected 'gymnasium', 'gym' or 'dm'"
        raise ArcadeMarkError(f"env_type {one_line(str(env_type), 60)!r} is not known; {known}")
    spaces, old = gymnasium.spaces, False
    if env_type == "gym" and importlib.util.find_spec("gym"):
        gym = importlib.import_module("gym")
        spaces, old = gym.spaces, tuple(map(int, gym.__version__.split(".")[:2])) < (0, 26)
        settings = {"gym_reset_return_info": not old} | settings
    if not (old or settings.get("gym_reset_return_info", True)):
        raise arguments.ArgumentValueError(
            "gym_reset_return_info=False: only with gym before 0.26 are infos left out; leave it out"
        )
    config, rendering = _config(task_id, settings)
    if env_type == "dm":
        dm_env().Environment.register(DMEnvPool)
        return DMEnvPool(config, rendering, spaces, False)
    return EnvPool(config, rendering, spaces, old)


GymnasiumEnvPool = EnvPoolMixin = EnvPool
make_dm, make_gym, make_gymnasium = (partial(make, env_type=name) for name in ("dm", "gym", "gymnasium"))


@knowing(_Settings, checked=False)
def make_spec(task_id: str, **settings: Any) -> EnvSpec:
    """Return the descriptions of a task's arguments and arrays; parameters and errors as in `make`."""
    config, _ = _config(task_id, settings)
    return EnvSpec(
        config, len(EnvPool(replace(config, num_envs=1, env_seed=()), Rendering(), gymnasium.spaces, False)._actions)
    )


def list_all_envs() -> list[str]:
    """Return the names of all tasks."""
    return sorted(_tasks())


def _tasks() -> dict[str, str]:
    """Return games by the names of their tasks, in which words are capitalised as in EnvPool."""
    specs = gymnasium.registry.values()
    games = {one.kwargs["game"] for one in specs if one.id.startswith("ArcadeMark/") and one.id.endswith("-v5")}
    return {f"{''.join(word.capitalize() for word in game.split('_'))}-v5": game for game in games}


api = envpool = protocol = python = registration = sys.modules[__name__]
sys.modules |= {
    f"{__name__}.{name}": envpool
    for name in ("python", "python.api", "python.envpool", "python.protocol", "registration")
}
"""EnvPool's modules from which programs import the names of this one."""
