"""Training by a trainer: numbered games, recorded whole, even if the trainer sees each life as an episode.

Games may end in another order than they begin. A checkpoint is recorded with every game before the first that is still
in play; later games that have ended are stored in the checkpoint. After a stop, games in play start again under the
same numbers. When the budget is spent, no game begins any more, and those in play are played to their end without
learning.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import count
from types import SimpleNamespace
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from arcademark.agents.adapters import CheckedTrainer
from arcademark.environments.base import one_by_one
from arcademark.environments.interfaces.batch import make_batch
from arcademark.environments.observations.spaces import ObservationView
from arcademark.environments.play import GameEnvironment
from arcademark.environments.tasks import TaskEnvironment
from arcademark.errors import ArcadeMarkError
from arcademark.records.model import Checkpoint, EpisodeResult
from arcademark.runs.plan import Trial
from arcademark.runs.playing.events import Begun, PlayedFrames, PlayEvent, TrainedEpisode, TrainingBlock
from arcademark.runs.playing.networks import opened, packed
from arcademark.runs.playing.slot import TICK_SECONDS, Slot, fitting


class TrainingGames(VectorEnv[Any, NDArray[Any], NDArray[Any]]):
    """Games of a trial in training, each under the next free number.

    A `gymnasium.vector.VectorEnv` with ``AutoresetMode.SAME_STEP``, in which a lost life may end an episode and the
    same game continues, as the protocol specifies; whole games are recorded, with their raw scores.

    Parameters
    ----------
    trial : Trial
    games : sequence of GameEnvironment or of TaskEnvironment
        Opened for training.
    start : Checkpoint
        Training before a restart.
    waiting : sequence of EpisodeResult
        Games that have ended and wait for an earlier one to be recorded.
    first : bool
        Whether channels come first, as in PyTorch; see `environments.observations.spaces.View`.

    Attributes
    ----------
    frames : int
        Frames of this training, those before a restart included.
    """

    def __init__(
        self,
        trial: Trial,
        games: Sequence[GameEnvironment | TaskEnvironment],
        start: Checkpoint,
        waiting: Sequence[EpisodeResult] = (),
        first: bool = False,
    ) -> None:
        spec = games[0].spec
        self.num_envs = len(games)
        self.render_mode = None
        self.metadata = {"autoreset_mode": AutoresetMode.SAME_STEP}
        self._shown = ObservationView(spec, first)
        self._observations = np.zeros((self.num_envs, *spec.observation_shape), spec.observation_dtype)
        self.single_observation_space = self._shown.observation_space
        self.single_action_space = self._shown.action_space
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.envs = [SimpleNamespace(environment=game, render_mode=None) for game in games]
        self._trial = trial
        self._clips = trial.protocol.training_reward_clipping
        self._batch = make_batch(games, threads=1)
        self._slots = [Slot(row, game) for row, game in enumerate(games)]
        self._rngs = [np.random.default_rng(0) for _ in games]
        self._first = np.zeros(self.num_envs, np.bool_)  # whether an episode begins for the trainer
        self._next = start.episodes
        self._ended = {result.record.episode: result for result in waiting}
        self._numbers = (number for number in count(start.episodes) if number not in self._ended)
        self._earlier = start.frames
        self._begun = False
        self._events: list[PlayEvent] = []
        self._reported_frames = start.frames

    @property
    def frames(self) -> int:
        """Frames of this training."""
        return self._earlier + (int(self._batch.frames.sum()) if self._begun else 0)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin the first games, or observe those in play; `seed` has no effect: games are seeded by number."""
        if not self._begun:
            self._begun = True
            for row in range(self.num_envs):
                self._begin(row)
        return self._shown.rows(self._observations.copy()), {}

    def step(
        self, actions: NDArray[Any], idle: NDArray[np.bool_] | None = None
    ) -> tuple[Any, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Play an agent step in each game that is not `idle`, shape (games,).

        Errors are those of `GymnasiumVectorEnv.step`.
        """
        arrays = self._slots[0].environment.spec.array_actions
        if arrays is None:
            chosen = np.asarray(actions).tolist()
        else:
            chosen = list(arrays.checked(np.asarray(actions), "the action of envs.step", (self.num_envs,)))
        if len(chosen) != self.num_envs:
            raise ArcadeMarkError(f"{len(chosen)} actions for {self.num_envs} games; expected one each")
        still = np.zeros(self.num_envs, np.bool_) if idle is None else idle
        rewards, terminated, truncated = self._play(chosen, still)
        self._first = np.where(still, self._first, terminated | truncated)
        infos: dict[str, Any] = {}
        for row in np.flatnonzero(terminated | truncated).tolist():
            last = {
                "final_obs": self._shown.one(self._observations[row].copy()),
                "final_info": {"lives": self._slots[row].environment.lives},
            }
            infos = self._add_info(infos, last, row)
            if not self._continues(row, bool(terminated[row])):
                self._begin(row)
        infos["lives"] = self._batch.lives
        given = np.sign(rewards) if self._clips else rewards
        return self._shown.rows(self._observations.copy()), given, terminated, truncated, infos

    def play_out(self, trainer: CheckedTrainer) -> Iterator[None]:
        """Play the games in play to their end with the trainer's policy."""
        idle, first = np.zeros(self.num_envs, np.bool_), self._first
        while self._begun and not idle.all():
            actions = one_by_one(trainer.act(self._observations.copy(), first, self._rngs))
            _, terminated, truncated = self._play(actions, idle)
            first[:] = False
            for row in np.flatnonzero(terminated | truncated).tolist():
                first[row] = self._continues(row, bool(terminated[row]))
                idle[row] = not first[row]
            yield

    def events(self) -> list[PlayEvent]:
        """Return the events since the last call."""
        before, self._reported_frames = self._reported_frames, self.frames
        happened, self._events = [*self._events, PlayedFrames(self._reported_frames - before)], []
        return happened

    def block(self, trainer: CheckedTrainer, finished: bool) -> TrainingBlock:
        """Return a checkpoint with the games that can be recorded."""
        results = []
        while self._next in self._ended:
            results.append(self._ended.pop(self._next))
            self._next += 1
        data = fitting(packed(self._ended.values(), trainer.checkpoint()), trainer.where)
        return TrainingBlock(tuple(results), Checkpoint(self._next, self.frames, finished, data))

    def close_extras(self, **kwargs: Any) -> None:
        """Release the emulators, or environments."""
        self._batch.close()
        for slot in self._slots:
            slot.environment.close()

    def _play(
        self, actions: Sequence[Any], idle: NDArray[np.bool_]
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_]]:
        rewards, terminated, truncated = self._batch.step(actions, idle, self._observations)
        for slot, action, reward, left_out in zip(self._slots, actions, rewards.tolist(), idle.tolist(), strict=True):
            if not left_out:
                slot.actions.append(action)
                slot.score += reward
        return rewards, terminated, truncated

    def _continues(self, row: int, terminated: bool) -> bool:
        """Continue the same game after a lost life; add the game's result and return False if it is over."""
        slot, game = self._slots[row], self._slots[row].environment
        if game.life_lost:
            _, terminated, truncated = slot.go_on()
            if not (terminated or truncated):
                game.observe(self._observations[row, ...])
                return True
        result = slot.result(self._trial.id, terminated)
        share = round(result.record.wall_seconds / self.num_envs, 9)
        self._ended[slot.episode] = replace(result, record=replace(result.record, wall_seconds=share))
        self._events.append(TrainedEpisode(slot.score, game.episode_frames, self.frames))
        return False

    def _begin(self, row: int) -> None:
        """Begin the game with the next number."""
        slot, number = self._slots[row], next(self._numbers)
        self._earlier += slot.environment.episode_frames
        self._events.append(Begun("training", number))
        self._rngs[row] = slot.begin(self._trial.seed, "training", number)
        self._first[row] = True
        slot.environment.observe(self._observations[row, ...])


def fit(
    trial: Trial,
    trainer: CheckedTrainer,
    open_game: Callable[[], GameEnvironment | TaskEnvironment],
    checkpoint: Checkpoint | None,
    stopping: Callable[[], bool],
    pause_after: Callable[[float, int], float],
) -> Iterator[PlayEvent]:
    """Train until the budget is spent or it is stopped, yielding a block of games with each checkpoint.

    `pause_after` returns how long to train before the next checkpoint, given the seconds and size of the last one.
    """
    start = checkpoint or Checkpoint(0, 0, False, b"")
    waiting: list[EpisodeResult] = []
    if checkpoint is not None:
        waiting, data = opened(checkpoint, trial.id)
        trainer.restore(data)
    if start.finished:
        return
    budget = trial.training_frames or 0
    games = TrainingGames(trial, [open_game() for _ in range(trainer.num_envs)], start, waiting, trainer.channels_first)
    saved, saved_frames, pause = time.perf_counter(), start.frames, pause_after(0.0, 0)
    for _ in trainer.fit(games, budget) if budget else ():
        yield from games.events()
        stop, now = stopping(), time.perf_counter()
        if games.frames >= budget:
            break
        if stop or games.frames - saved_frames >= trainer.checkpoint_frames or now - saved >= pause:
            yield (block := games.block(trainer, False))
            saved, saved_frames = time.perf_counter(), games.frames
            pause = pause_after(saved - now, len(block.checkpoint.data))
            if stop:
                return games.close()
    if games.frames < budget:
        raise ArcadeMarkError(f"{trainer.where}: fit ended after {games.frames:,} frames; expected {budget:,}")
    if budget:
        games.reset()
        yield games.block(trainer, False)
    due = time.perf_counter() + TICK_SECONDS
    for _ in games.play_out(trainer):
        if stopping():
            return games.close()
        if time.perf_counter() >= due:
            yield from games.events()
            due = time.perf_counter() + TICK_SECONDS
    yield from games.events()
    yield games.block(trainer, True)
    games.close()
