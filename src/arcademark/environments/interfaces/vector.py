"""Games or other tasks under protocols as a `gymnasium.vector.VectorEnv`."""

from __future__ import annotations

import operator
import reprlib
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Annotated, Any, TypeAlias

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from arcademark.environments.base import EnvironmentSpec, one_by_one
from arcademark.environments.interfaces.batch import default_threads, make_batch
from arcademark.environments.interfaces.single import INFOS, GameStatistics, GymnasiumEnv
from arcademark.environments.observations.spaces import ObservationView
from arcademark.errors import ArcadeMarkError, one_line
from arcademark.keywords import knowing

_MODES = f"one of {', '.join(repr(mode.name.lower()) for mode in AutoresetMode)}"
ResetMode: TypeAlias = Annotated[AutoresetMode | str, _MODES]
"""Behaviour at the end of a sub-environment's episode."""


class GymnasiumVectorEnv(VectorEnv[Any, Any, Any]):
    """Games or other tasks under a protocol as a `gymnasium.vector.VectorEnv`; see `arcademark.make_vec`.

    ``infos`` are those of `GymnasiumEnv`, as arrays. When episodes end, ``infos["episode"]`` has arrays of all games
    and ``infos["_episode"]`` marks those that have ended, except by a lost life, as with Gymnasium's
    ``RecordEpisodeStatistics`` for vectors; that wrapper itself, which would count clipped rewards and lives, refuses
    to replace them. With "same_step" they are also in ``infos["final_info"]``.

    Parameters
    ----------
    environment_specs : sequence of EnvironmentSpec
        One per sub-environment; actions and observations must agree.
    autoreset_mode, copy, threads
        As for `make_vec`.
    **settings
        Settings of each `GymnasiumEnv`.

    Raises
    ------
    ArcadeMarkError
        If actions or observations differ.

    Attributes
    ----------
    observed : array
        The last observations, one row each, as `Environment.observe` writes them.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"]}  # noqa: RUF012

    @knowing()
    def __init__(
        self,
        environment_specs: Sequence[EnvironmentSpec],
        *,
        autoreset_mode: ResetMode = AutoresetMode.NEXT_STEP,
        copy: bool = True,
        threads: int | None = None,
        **settings: Any,
    ) -> None:
        self.envs: list[GymnasiumEnv] = []
        _check_agreement(environment_specs)
        self.envs = [GymnasiumEnv(spec, **settings) for spec in environment_specs]
        first = self.envs[0]
        self.num_envs = len(self.envs)
        self._rows = first.view.rows
        self._statistics = GameStatistics(self.num_envs)
        for i, env in enumerate(self.envs):
            env.statistics, env.row = self._statistics, i
        self._settings = {"autoreset_mode": autoreset_mode, "copy": copy, "threads": threads, **settings}
        if threads is not None and threads < 1:
            raise ArcadeMarkError(f"threads is {threads}; expected at least 1")
        games = [env.environment for env in self.envs]
        self._batch = make_batch(games, default_threads(self.num_envs) if threads is None else threads)
        self.render_mode = first.render_mode
        self.copy = copy
        self.autoreset_mode = _autoreset_mode(autoreset_mode)
        self.metadata = {**first.metadata, "autoreset_mode": self.autoreset_mode}
        self.single_observation_space = first.observation_space
        self.single_action_space = first.action_space
        self.observation_space = batch_space(first.observation_space, self.num_envs)
        self.action_space = batch_space(first.action_space, self.num_envs)
        self._shape = (self.num_envs, *environment_specs[0].observation_shape)
        self._dtype = environment_specs[0].observation_dtype
        self.observed: NDArray[Any] = np.zeros(self._shape, self._dtype)
        self._ended = np.zeros(self.num_envs, np.bool_)

    def __reduce__(self) -> Any:
        """Return how to make another with the same arguments, whose episodes are still to be begun."""
        specs = [env.environment_spec for env in self.envs]
        return partial(type(self), specs, **self._settings), ()

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start episodes: in all sub-environments, or in those of the mask ``options["reset_mask"]``.

        Parameters
        ----------
        seed : int or sequence of int, optional
            Sub-environment i is seeded with ``seed + i``, or ``seed[i]``.
        options : dict, optional
            ``reset_mask``, a bool array of shape (num_envs,).
        """
        seeds = _seeds(seed, self.num_envs)
        if not isinstance(options, Mapping | None):
            raise ArcadeMarkError(f"options {reprlib.repr(options)}: expected a dictionary, such as of a reset_mask")
        mask = _array((options or {}).get("reset_mask", np.ones(self.num_envs, np.bool_)), "reset_mask")
        if mask.shape != (self.num_envs,) or mask.dtype != np.bool_:
            raise ArcadeMarkError(
                f"reset_mask of shape {mask.shape}, {mask.dtype}: expected {self.num_envs} truth values"
            )
        infos: dict[str, Any] = {}
        if self.copy:
            self.observed = self.observed.copy()
        for i in np.flatnonzero(mask).tolist():
            _, info = self.envs[i].reset(seed=seeds[i])
            self.envs[i].environment.observe(self.observed[i, ...])
            infos = self._add_info(infos, info, i)
            self._ended[i] = False
        return self._rows(self.observed), infos

    def step(
        self, actions: Any
    ) -> tuple[Any, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Play one agent step in each sub-environment.

        Raises
        ------
        ArcadeMarkError
            If there is not one valid action per sub-environment, or, with autoreset disabled, an episode has ended.
        """
        chosen = one_by_one(np.atleast_1d(_array(actions, "actions")))
        if len(chosen) != self.num_envs:
            raise ArcadeMarkError(f"{len(chosen)} actions for {self.num_envs} environments; expected one each")
        if self.copy:
            self.observed = np.empty(self._shape, self._dtype)
        restarts = self.autoreset_mode is AutoresetMode.NEXT_STEP
        idle = self._ended if restarts else np.zeros(self.num_envs, np.bool_)
        self._statistics.finished.clear()
        for i in idle.nonzero()[0].tolist():
            self.envs[i].begin_episode()
        rewards, terminated, truncated = self._batch.step(chosen, idle, self.observed)
        self._statistics.add(rewards, ~idle)
        if self.envs[0].clips_rewards:
            np.sign(rewards, out=rewards)
        self._ended = terminated | truncated
        infos: dict[str, Any] = {}
        for i in self._ended.nonzero()[0].tolist():
            env = self.envs[i]
            env.end_episode()
            if self.autoreset_mode is AutoresetMode.SAME_STEP:
                seen = env.view.one(self.observed[i, ...].copy())
                infos = self._add_info(infos, {"final_obs": seen, "final_info": env.info()}, i)
                env.begin_episode()
                env.environment.observe(self.observed[i, ...])
        return self._rows(self.observed), rewards, terminated, truncated, infos | self._infos()

    def _infos(self) -> dict[str, Any]:
        """Return the infos of all environments, and the statistics of ended games."""
        frames, finished = self._batch.frames, self._statistics.finished
        columns = self._batch.lives, frames, self._statistics.earlier_frames + frames
        infos: dict[str, Any] = dict(zip(INFOS, columns, strict=True))
        infos |= zip((f"_{name}" for name in INFOS), np.ones((len(INFOS), self.num_envs), np.bool_), strict=True)
        if finished or True in self._ended.tolist():
            rows = list(finished)
            infos["episode"] = {"r": np.zeros(self.num_envs), "l": np.zeros(self.num_envs, np.int64)}
            infos["episode"]["t"] = np.zeros(self.num_envs)
            for key, column in infos["episode"].items():
                column[rows] = [finished[i][key] for i in rows]
            infos["_episode"] = np.zeros(self.num_envs, np.bool_)
            infos["_episode"][rows] = True
        return infos

    def render(self) -> tuple[NDArray[np.uint8] | None, ...]:  # type: ignore[override]
        """Return each sub-environment's screen in colour."""
        return tuple(env.render() for env in self.envs)

    def close_extras(self, **kwargs: Any) -> None:
        """Release the environments and end the threads."""
        self._batch.close()
        for env in self.envs:
            env.close()


def _autoreset_mode(mode: ResetMode) -> AutoresetMode:
    """Return the mode given by itself, its value, or its name in any case."""
    given = mode.value if isinstance(mode, AutoresetMode) else mode
    for known in AutoresetMode:
        if given == known.value or given.replace("-", "_").upper() == known.name:
            return known
    raise ArcadeMarkError(f"autoreset_mode {mode!r} is not known; expected {_MODES}")


def _check_agreement(specs: Sequence[EnvironmentSpec]) -> None:
    first = specs[0]
    for spec in specs[1:]:
        pair = [(view.observation_space, view.action_space) for view in (ObservationView(first), ObservationView(spec))]
        if pair[0] != pair[1]:
            spaces = (one_line(f"{observed} and {acted}", 100) for observed, acted in pair)
            raise ArcadeMarkError(
                f"{first.game!r} and {spec.game!r} cannot share a vector: they have {', and '.join(spaces)}; take a "
                "vector of each, or, of games, action_set='full' and a screen_size"
            )


def _array(values: Any, what: str) -> NDArray[Any]:
    try:
        return np.asarray(values)
    except ValueError:
        raise ArcadeMarkError(f"{what} {reprlib.repr(values)}: expected an array, or values for one") from None


def _seeds(seed: Any, count: int) -> list[int | None]:
    if seed is None:
        return [None] * count
    if hasattr(seed, "tolist"):  # a number or an array of NumPy, a tensor
        seed = seed.tolist()
    if isinstance(seed, int):
        return [seed + i for i in range(count)]
    seeds = seed if isinstance(seed, Sequence) and not isinstance(seed, str | bytes) else [seed]
    try:
        numbers = [None if one is None else operator.index(one) for one in seeds]  # Gymnasium accepts only Python's
    except TypeError:
        quoted = reprlib.repr(seed)
        raise ArcadeMarkError(f"seed {quoted}: expected a whole number, or one for each environment") from None
    if len(numbers) != count:
        raise ArcadeMarkError(f"{len(numbers)} seeds for {count} environments; expected one each")
    return numbers
