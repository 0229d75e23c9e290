"""A game or another task under a protocol as a `gymnasium.Env`, and statistics of whole games."""

from __future__ import annotations

import time
from functools import partial
from typing import Any, Literal

import gymnasium
import numpy as np
from gymnasium.envs.registration import EnvSpec
from numpy.typing import NDArray

from arcademark.environments import fire
from arcademark.environments.base import EnvironmentSpec
from arcademark.environments.observations.spaces import ObservationView
from arcademark.environments.play import GameEnvironment
from arcademark.environments.registry import open_environment
from arcademark.keywords import knowing

FRAMES_A_SECOND = 60
INFOS = ("lives", "episode_frame_number", "frame_number")
MAKE = "arcademark.environments.interfaces.gymnasium:make"
PaddingType = Literal["reset", "zero"]


class GameStatistics:
    """Raw score, agent steps and duration of the game in play in each of some environments.

    Parameters
    ----------
    count : int
        Number of environments.

    Attributes
    ----------
    earlier_frames : int64 array, shape (count,)
        Frames of the series' earlier games.
    finished : dict of int to dict
        Statistics of the games that have just ended, as in Gymnasium's ``RecordEpisodeStatistics``, by the numbers of
        their environments.
    """

    def __init__(self, count: int) -> None:
        self.scores = np.zeros(count)
        self.steps = np.zeros(count, np.int64)
        self.earlier_frames = np.zeros(count, np.int64)
        self.finished: dict[int, dict[str, Any]] = {}
        self._began = np.full(count, time.perf_counter())

    def begin(self, i: int, reward: float) -> None:
        """Begin a new game in an environment, whose start gave a reward."""
        self.scores[i], self.steps[i], self._began[i] = reward, 0, time.perf_counter()

    def add(self, rewards: NDArray[np.float64], played: NDArray[np.bool_]) -> None:
        """Add a step in the environments that played one, with raw rewards (0 in others)."""
        self.scores += rewards
        self.steps += played

    def end(self, i: int) -> None:
        """End the game in an environment."""
        seconds = round(time.perf_counter() - float(self._began[i]), 6)
        self.finished[i] = {"r": float(self.scores[i]), "l": int(self.steps[i]), "t": seconds}


class GymnasiumEnv(gymnasium.Env[Any, Any]):
    """A game or another task under a protocol as a `gymnasium.Env`; see `arcademark.make`.

    ``info`` has the fields of ALE's own environment: ``lives``, ``episode_frame_number`` (frames since the game began)
    and ``frame_number`` (frames since the series of episodes began). When a game ends, ``info["episode"]`` contains its
    raw score "r", agent steps "l" and seconds "t", as with Gymnasium's ``RecordEpisodeStatistics``, but of the whole
    game, even if training clips rewards and ends episodes with lives. For other tasks, frames are steps, and lives are
    0.

    Parameters
    ----------
    environment_spec : EnvironmentSpec
        The task and protocol.
    training : bool
    render_mode : {"rgb_array"}, optional
    channels_first : bool
    padding_type : {"reset", "zero"}
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": FRAMES_A_SECOND}  # noqa: RUF012

    @knowing()
    def __init__(
        self,
        environment_spec: EnvironmentSpec,
        *,
        training: bool = False,
        render_mode: Literal["rgb_array"] | None = None,
        channels_first: bool = False,
        padding_type: PaddingType = "reset",
    ) -> None:
        protocol = environment_spec.protocol
        self.environment_spec = environment_spec
        settings = {"training": training, "channels_first": channels_first, "padding_type": padding_type}
        self._settings: dict[str, Any] = {**settings, "render_mode": render_mode}
        drawn = render_mode is not None
        self.environment = open_environment(environment_spec, training=training, pictures=drawn)
        if isinstance(self.environment, GameEnvironment):
            self.environment.pad_with_zeros(padding_type == "zero")
        self.render_mode = render_mode
        self.metadata = {**type(self).metadata, "render_fps": max(1, FRAMES_A_SECOND // protocol.frame_skip)}
        self.view = ObservationView(environment_spec, channels_first)
        self.observation_space, self.action_space = self.view.observation_space, self.view.action_space
        self.spec = EnvSpec(
            id=f"arcademark/{environment_spec.game}",
            entry_point=MAKE,
            kwargs={"game": environment_spec.game, "protocol": protocol, **settings},
        )
        self.clips_rewards = training and protocol.training_reward_clipping
        self.statistics, self.row = GameStatistics(1), 0

    def __reduce__(self) -> Any:
        """Return how to make another with the same arguments, at its start, as ale-py's environments are copied."""
        return partial(type(self), self.environment_spec, **self._settings), ()

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start the next episode of the series, or the first one of the series that `seed` begins.

        Without a seed, an episode after a lost life continues the same game if the protocol specifies it.
        """
        super().reset(seed=seed, options=options)
        self.statistics.finished.pop(self.row, None)
        self.begin_episode(new_game=seed is not None)
        if seed is not None:
            self.statistics.earlier_frames[self.row] = 0
        return self._observe(), self.info()

    def begin_episode(self, new_game: bool = False) -> None:
        """Start the next episode without observing it; with `new_game` in a new game, regardless of the protocol."""
        if self.environment.life_lost and not new_game:
            step = self.environment.go_on()
            self.statistics.scores[self.row] += step.reward
            self.statistics.steps[self.row] += not fire.presses(self.environment_spec)
            if not self.environment.ended:
                return
            self.end_episode()
        self.statistics.earlier_frames[self.row] += self.environment.episode_frames
        self.statistics.begin(self.row, self.environment.reset(self.np_random.spawn(1)[0]))

    def end_episode(self) -> None:
        """End the game, if the episode that has just ended was its last."""
        if not self.environment.life_lost:
            self.statistics.end(self.row)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Play one agent step.

        Raises
        ------
        ArcadeMarkError
            If the action is invalid, or the episode has ended.
        """
        reward, terminated, truncated = self.environment.step(
            _number(action) if self.environment_spec.array_actions is None else action
        )
        self.statistics.scores[self.row] += reward
        self.statistics.steps[self.row] += 1
        self.statistics.finished.pop(self.row, None)
        if terminated or truncated:
            self.end_episode()
        return self._observe(), self.given(reward), terminated, truncated, self.info()

    def given(self, reward: float) -> float:
        """Return the agent's reward: its sign, if rewards are clipped."""
        return float(np.sign(reward)) if self.clips_rewards else reward

    def info(self) -> dict[str, Any]:
        """Return lives and frame counts under ALE's names, and "episode" where a game has just ended."""
        frames = self.environment.episode_frames
        frame_number = int(self.statistics.earlier_frames[self.row]) + frames
        infos = dict(zip(INFOS, (self.environment.lives, frames, frame_number), strict=True))
        finished = self.statistics.finished.get(self.row)
        return infos if finished is None else {**infos, "episode": finished}

    def render(self) -> NDArray[np.uint8] | None:
        """Return the screen in colour, shape (height, width, 3), with ``render_mode="rgb_array"``."""
        return self.environment.render() if self.render_mode == "rgb_array" else None

    def get_action_meanings(self) -> list[str]:
        """Return the actions' names, none where these are arrays."""
        return list(self.environment_spec.action_meanings)

    def close(self) -> None:
        """Release the emulator, or close the task's environment."""
        self.environment.close()

    def _observe(self) -> Any:
        observation = np.empty(self.environment_spec.observation_shape, self.environment_spec.observation_dtype)
        self.environment.observe(observation)
        return self.view.one(observation)


def _number(action: Any) -> Any:
    """Return an action as a Python number; several stay as they are, for the environment to refuse."""
    try:
        return np.asarray(action).item()
    except ValueError:
        return action
