"""The games as Gymnasium environments, to train with any library under a declared protocol.

Seeding: ``reset(seed=s)`` begins a series of episodes, each with its own generator: the next child of
``numpy.random.SeedSequence(s)``. A reset without a seed goes on to the next episode of the series. Sub-environment i of
a vector is seeded with ``s + i`` and plays exactly what a single environment with that seed plays.

Rewards are raw and games end as in evaluation; with ``training=True`` they end, and rewards are clipped, as the
protocol says for training.

Importing this module registers every game with Gymnasium as "arcademark/pong-v0", so that its own functions take
"arcademark.environments.gymnasium:arcademark/pong-v0", with ``protocol=…`` beside it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

import gymnasium
import numpy as np
from gymnasium.envs.registration import EnvSpec
from gymnasium.spaces import Box, Discrete, Space
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from arcademark.environments import toy
from arcademark.environments.base import EnvironmentSpec
from arcademark.environments.batch import Batch, default_threads
from arcademark.environments.registry import environment_spec, open_environment
from arcademark.errors import ArcadeMarkError
from arcademark.suite import protocols
from arcademark.suite.subsets import resolve_tasks
from arcademark.suite.tasks import games

FRAMES_A_SECOND = 60
DEFAULT_PROTOCOL = "world-records"
INFOS = ("lives", "episode_frame_number", "frame_number")


def make(
    game: str,
    protocol: str | protocols.Protocol = DEFAULT_PROTOCOL,
    *,
    training: bool = False,
    render_mode: str | None = None,
    **overrides: object,
) -> AtariEnv:
    """Return a game as a Gymnasium environment.

    Parameters
    ----------
    game : str
        Any spelling of its name.
    protocol : str or Protocol
        A protocol or its name.
    training : bool
        Whether episodes end and rewards are clipped as the protocol says for training.
    render_mode : {"rgb_array"}, optional
    **overrides
        Settings of the protocol to change, e.g. ``frame_skip=5``.

    Raises
    ------
    ArcadeMarkError
        There is no such game, protocol or setting, or the game cannot be played so.
    """
    return AtariEnv(_spec(game, protocol, overrides), training=training, render_mode=render_mode)


def make_vec(
    games: str | Sequence[str],
    num_envs: int | None = None,
    protocol: str | protocols.Protocol = DEFAULT_PROTOCOL,
    *,
    training: bool = False,
    render_mode: str | None = None,
    autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
    copy: bool = True,
    threads: int | None = None,
    **overrides: object,
) -> AtariVectorEnv:
    """Return one or several games as a Gymnasium vector environment, played in this process.

    Parameters
    ----------
    games : str or sequence of str
        A game, several, a subset or a suite; sub-environment i plays game ``i % len(games)``.
    num_envs : int, optional
        Sub-environments; one a game by default.
    protocol, training, render_mode, **overrides
        As for `make`.
    autoreset_mode : gymnasium.vector.AutoresetMode or str
        "next_step", "same_step" or "disabled": what follows the end of a sub-environment's episode.
    copy : bool
        Whether each step returns an array of its own, rather than the same one written anew.
    threads : int, optional
        Threads that play games on our own console; by default one a core, at most one for each four games. Results do
        not depend on it. ale-py plays games in turn.

    Raises
    ------
    ArcadeMarkError
        As `make`; or the games' actions or observations differ.
    """
    if isinstance(games, str):
        games = (games,) if games.strip().lower() == toy.NAME else resolve_tasks(games)
    specs = [_spec(game, protocol, overrides) for game in games]
    count = len(specs) if num_envs is None else num_envs
    if not specs or count < 1:
        raise ArcadeMarkError(f"a vector of {count} environments of {len(specs)} games; expected at least one of each")
    return AtariVectorEnv(
        [specs[i % len(specs)] for i in range(count)],
        training=training,
        render_mode=render_mode,
        autoreset_mode=autoreset_mode,
        copy=copy,
        threads=threads,
    )


def _spec(game: str, protocol: str | protocols.Protocol, overrides: Mapping[str, object]) -> EnvironmentSpec:
    named = protocols.protocol(protocol) if isinstance(protocol, str) else protocol
    return environment_spec(game, named.override(overrides) if overrides else named)


class AtariEnv(gymnasium.Env[NDArray[np.uint8], np.int64]):
    """A game under a protocol as a `gymnasium.Env`; see `make`.

    ``info`` holds what ALE's own environment gives: ``lives``, ``episode_frame_number`` (frames since the reset) and
    ``frame_number`` (frames since the series of episodes began).
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": FRAMES_A_SECOND}  # noqa: RUF012

    def __init__(
        self, environment_spec: EnvironmentSpec, *, training: bool = False, render_mode: str | None = None
    ) -> None:
        if render_mode not in {None, "rgb_array"}:
            raise ArcadeMarkError(f"render_mode {render_mode!r} is not known; expected 'rgb_array' or none")
        protocol = environment_spec.protocol
        self.environment_spec = environment_spec
        self.environment = open_environment(environment_spec, training=training)
        self.render_mode = render_mode
        self.metadata = {**type(self).metadata, "render_fps": max(1, FRAMES_A_SECOND // protocol.frame_skip)}
        self.observation_space = _observation_space(environment_spec)
        self.action_space = Discrete(environment_spec.num_actions)
        self.spec = EnvSpec(
            id=f"arcademark/{environment_spec.game}",
            entry_point=f"{make.__module__}:{make.__name__}",
            kwargs={"game": environment_spec.game, "protocol": protocol, "training": training},
        )
        self.clips_rewards = training and protocol.training_reward_clipping
        self.earlier_frames = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.uint8], dict[str, Any]]:
        """Start the next episode of the series, or the first one of the series that `seed` begins."""
        super().reset(seed=seed, options=options)
        self.begin_episode()
        if seed is not None:
            self.earlier_frames = 0
        return self._observe(), self.info()

    def begin_episode(self) -> None:
        """Start the next episode without observing it."""
        self.earlier_frames += self.environment.episode_frames
        self.environment.reset(self.np_random.spawn(1)[0])

    def step(self, action: np.int64) -> tuple[NDArray[np.uint8], float, bool, bool, dict[str, Any]]:
        """Play one agent step; an ArcadeMarkError if the action is invalid or the episode has ended."""
        reward, terminated, truncated = self.environment.step(np.asarray(action).item())
        return self._observe(), self.given(reward), terminated, truncated, self.info()

    def given(self, reward: float) -> float:
        """Return the reward that the agent is given: its sign, if it is clipped."""
        return float(np.sign(reward)) if self.clips_rewards else reward

    def info(self) -> dict[str, Any]:
        """Return lives and frame counts under ALE's names."""
        frames = self.environment.episode_frames
        return dict(zip(INFOS, (self.environment.lives, frames, self.earlier_frames + frames), strict=True))

    def render(self) -> NDArray[np.uint8] | None:
        """Return the console's screen in colour, shape (height, width, 3), with ``render_mode="rgb_array"``."""
        return self.environment.render() if self.render_mode == "rgb_array" else None

    def get_action_meanings(self) -> list[str]:
        """Return the actions' names."""
        return list(self.environment_spec.action_meanings)

    def close(self) -> None:
        """Release the emulator."""
        self.environment.close()

    def _observe(self) -> NDArray[np.uint8]:
        observation = np.empty(self.environment_spec.observation_shape, np.uint8)
        self.environment.observe(observation)
        return observation


class AtariVectorEnv(VectorEnv[NDArray[np.uint8], NDArray[np.int64], NDArray[Any]]):
    """Games under a protocol as a `gymnasium.vector.VectorEnv`, one spec a sub-environment; see `make_vec`."""

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"]}  # noqa: RUF012

    def __init__(
        self,
        environment_specs: Sequence[EnvironmentSpec],
        *,
        training: bool = False,
        render_mode: str | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        copy: bool = True,
        threads: int | None = None,
    ) -> None:
        self.envs: list[AtariEnv] = []
        _check_agreement(environment_specs)
        self.envs = [AtariEnv(spec, training=training, render_mode=render_mode) for spec in environment_specs]
        first = self.envs[0]
        self.num_envs = len(self.envs)
        if threads is not None and threads < 1:
            raise ArcadeMarkError(f"threads is {threads}; a step is played in at least 1")
        games = [env.environment for env in self.envs]
        self._batch = Batch(games, default_threads(self.num_envs) if threads is None else threads)
        self.render_mode = render_mode
        self.copy = copy
        self.autoreset_mode = _autoreset_mode(autoreset_mode)
        self.metadata = {**first.metadata, "autoreset_mode": self.autoreset_mode}
        self.single_observation_space = first.observation_space
        self.single_action_space = first.action_space
        self.observation_space = batch_space(first.observation_space, self.num_envs)
        self.action_space = batch_space(first.action_space, self.num_envs)
        self._shape = (self.num_envs, *environment_specs[0].observation_shape)
        self._observations = np.zeros(self._shape, np.uint8)
        self._ended = np.zeros(self.num_envs, np.bool_)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.uint8], dict[str, Any]]:
        """Start episodes: in all sub-environments, or in those of the bool mask ``options["reset_mask"]``, (num_envs,).

        Sub-environment i is seeded with ``seed + i``, or ``seed[i]``.
        """
        seeds = _seeds(seed, self.num_envs)
        mask = np.ones(self.num_envs, np.bool_) if options is None else options.get("reset_mask", np.ones(1, np.bool_))
        infos: dict[str, Any] = {}
        if self.copy:
            self._observations = self._observations.copy()
        for i in np.flatnonzero(np.broadcast_to(mask, self.num_envs)).tolist():
            self._observations[i], info = self.envs[i].reset(seed=seeds[i])
            infos = self._add_info(infos, info, i)
            self._ended[i] = False
        return self._observations, infos

    def step(
        self, actions: NDArray[np.int64]
    ) -> tuple[NDArray[np.uint8], NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Play one agent step in each sub-environment.

        ArcadeMarkError: there is not one valid action for each, or, with autoreset disabled, an episode has ended.
        """
        chosen = np.asarray(actions).tolist()
        if len(chosen) != self.num_envs:
            raise ArcadeMarkError(f"{len(chosen)} actions for {self.num_envs} environments; expected one each")
        if self.copy:
            self._observations = np.empty(self._shape, np.uint8)
        restarts = self.autoreset_mode is AutoresetMode.NEXT_STEP
        idle = self._ended if restarts else np.zeros(self.num_envs, np.bool_)
        for i in np.flatnonzero(idle).tolist():
            self.envs[i].begin_episode()
        rewards, terminated, truncated = self._batch.step(chosen, idle, self._observations)
        if self.envs[0].clips_rewards:
            np.sign(rewards, out=rewards)
        self._ended = terminated | truncated
        infos = self._restart_ended() if self.autoreset_mode is AutoresetMode.SAME_STEP else {}
        return self._observations, rewards, terminated, truncated, infos | self._infos()

    def _restart_ended(self) -> dict[str, Any]:
        """Start new episodes where one has ended; return what was last seen of the old ones."""
        infos: dict[str, Any] = {}
        for i in np.flatnonzero(self._ended).tolist():
            env = self.envs[i]
            last = {"final_obs": self._observations[i].copy(), "final_info": env.info()}
            infos = self._add_info(infos, last, i)
            env.begin_episode()
            env.environment.observe(self._observations[i])
        return infos

    def _infos(self) -> dict[str, Any]:
        frames = self._batch.frames
        earlier = np.array([env.earlier_frames for env in self.envs])
        infos: dict[str, Any] = {}
        for name, column in zip(INFOS, (self._batch.lives, frames, earlier + frames), strict=True):
            infos[name] = column
            infos[f"_{name}"] = np.ones(self.num_envs, np.bool_)
        return infos

    def render(self) -> tuple[NDArray[np.uint8] | None, ...]:  # type: ignore[override]
        """Return each sub-environment's screen in colour."""
        return tuple(env.render() for env in self.envs)

    def close_extras(self, **kwargs: Any) -> None:
        """Release the emulators and end the threads."""
        self._batch.close()
        for env in self.envs:
            env.close()


def _observation_space(spec: EnvironmentSpec) -> Space[NDArray[np.uint8]]:
    high = 127 if spec.protocol.observation == "palette" else 255
    return cast(Space[NDArray[np.uint8]], Box(0, high, spec.observation_shape, np.uint8))


def _autoreset_mode(mode: AutoresetMode | str) -> AutoresetMode:
    """Return a mode from itself, its value or its name, however it is written."""
    asked = re.sub(r"[\W_]", "", mode.value if isinstance(mode, AutoresetMode) else str(mode)).lower()
    for known in AutoresetMode:
        if asked == known.value.lower():
            return known
    expected = ", ".join(repr(known.name.lower()) for known in AutoresetMode)
    raise ArcadeMarkError(f"autoreset_mode {mode!r} is not known; expected one of {expected}")


def _check_agreement(specs: Sequence[EnvironmentSpec]) -> None:
    first = specs[0]
    for spec in specs[1:]:
        if spec.num_actions != first.num_actions or spec.observation_shape != first.observation_shape:
            raise ArcadeMarkError(
                f"games {first.game!r} and {spec.game!r} cannot share a vector: {first.num_actions} and "
                f"{spec.num_actions} actions, observations of shape {first.observation_shape} and "
                f"{spec.observation_shape}; try action_set='full' and a screen_size"
            )


def _seeds(seed: int | Sequence[int | None] | None, count: int) -> list[int | None]:
    if seed is None:
        return [None] * count
    if isinstance(seed, int | np.integer):
        return [int(seed) + i for i in range(count)]
    if len(seed) != count:
        raise ArcadeMarkError(f"{len(seed)} seeds for {count} environments; expected one each")
    return list(seed)


def _vector(num_envs: int, *, game: str, **how: Any) -> AtariVectorEnv:
    return make_vec(game, num_envs, **how)


for _game in games():
    gymnasium.register(
        f"arcademark/{_game}-v0",
        entry_point=f"{__name__}:make",
        vector_entry_point=f"{__name__}:_vector",
        kwargs={"game": _game},
    )
