"""Do one trial: the loops are generators; limits, progress and the store consume what they yield.

::

    evaluation   lanes, each an environment; a policy acts on all lanes at once; a lane that ends takes the next episode
    training     one episode at a time until the budget is spent; the last one is played to its end

Every random draw of an episode follows from (seed, phase, episode's number, stream) alone, so that neither the order of
episodes, nor what shares a batch with them, nor a restart can change a score. A policy always sees ``batch_size`` rows;
rows without an episode are blank and their actions are not used.
"""

from __future__ import annotations

import time
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from arcademark.agents.adapters import CheckedLearner, CheckedPolicy
from arcademark.agents.base import Transition
from arcademark.agents.loading import make_policy
from arcademark.environments.base import Environment, EnvironmentSpec
from arcademark.environments.registry import environment_spec, open_environment
from arcademark.errors import ArcadeMarkError
from arcademark.runs.plan import Trial
from arcademark.runs.store import Checkpoint, EpisodeRecord, EpisodeResult, Phase, encode_actions, scored_phase

Stream = Literal["environment", "agent"]

TICK_SECONDS = 0.25
MAX_CHECKPOINT_BYTES = 999_000_000  # SQLite's own limit for a value is 1,000,000,000
_PHASES: dict[Phase, int] = {"training": 0, "evaluation": 1}
_STREAMS: dict[Stream, int] = {"environment": 0, "agent": 1}


def episode_rng(seed: int, phase: Phase, episode: int, stream: Stream) -> np.random.Generator:
    """Return the generator of one episode: the environment and the agent each have their own.

    Parameters
    ----------
    seed : int
        The trial's.
    phase : {"training", "evaluation"}
    episode : int
        From 0 in each phase.
    stream : {"environment", "agent"}
    """
    key = (_PHASES[phase], episode, _STREAMS[stream])
    return np.random.default_rng(np.random.SeedSequence(entropy=seed, spawn_key=key))


@dataclass(frozen=True)
class Begun:
    """An episode begins."""

    phase: Phase
    episode: int


@dataclass(frozen=True)
class Played:
    """Frames were played since the last time this was said."""

    frames: int


@dataclass(frozen=True)
class TrainingBlock:
    """Training episodes and the checkpoint that holds what was learnt from them."""

    results: tuple[EpisodeResult, ...]
    checkpoint: Checkpoint


Happening = Begun | Played | EpisodeResult | TrainingBlock


class Player:
    """A trial's agent and games, made once and used for any of its episodes.

    Parameters
    ----------
    trial : Trial

    Attributes
    ----------
    policy : CheckedPolicy
    learns : bool
    frames_per_action : int or None
        What the agent asks for instead of the protocol's ``frame_skip``; None if nothing.

    Raises
    ------
    ArcadeMarkError
        If the agent cannot be made, or the game not be opened.
    """

    def __init__(self, trial: Trial) -> None:
        self.trial = trial
        self.spec = environment_spec(trial.game, trial.protocol)
        self.policy: CheckedPolicy = make_policy(trial.agent, self.spec)
        self.learns = isinstance(self.policy, CheckedLearner)
        asked = self.policy.frames_per_action
        self.frames_per_action = None if asked == trial.protocol.frame_skip else asked
        self._lanes: list[_Lane] = []

    def play(self, episodes: Sequence[int], checkpoint: Checkpoint | None = None) -> Iterator[Happening]:
        """Play evaluation episodes, after the training that is left if the agent learns.

        Parameters
        ----------
        episodes : sequence of int
            The evaluation episodes to play.
        checkpoint : Checkpoint, optional
            Where the learner's training goes on.

        Raises
        ------
        ArcadeMarkError
            If the agent or the environment fails.
        """
        policy = self.policy
        if isinstance(policy, CheckedLearner):
            yield from train(self.trial, policy, self.open(training=True), checkpoint)
            policy.evaluate()
            if scored_phase(self.trial.protocol, learns=True) == "training":
                return
        while len(self._lanes) < min(policy.batch_size, len(episodes)):
            self._lanes.append(_Lane(len(self._lanes), self.open()))
        yield from evaluate(self.trial, policy, self.spec, self._lanes, episodes)

    def open(self, training: bool = False) -> Environment:
        """Open the trial's game."""
        return open_environment(self.spec, training=training, frames_per_action=self.frames_per_action)


class _Lane:
    """One environment and the episode that is played in it."""

    def __init__(self, row: int, environment: Environment) -> None:
        self.row = row
        self.environment = environment

    def begin(self, seed: int, phase: Phase, episode: int) -> np.random.Generator:
        """Begin an episode and return the agent's generator for it."""
        self.phase, self.episode = phase, episode
        self.started = time.perf_counter()
        self.score = 0.0
        self.actions = array("H")
        self.environment.reset(episode_rng(seed, phase, episode, "environment"))
        return episode_rng(seed, phase, episode, "agent")

    def result(self, trial_id: str, terminated: bool) -> EpisodeResult:
        """Return the episode that has just ended."""
        record = EpisodeRecord(
            trial_id=trial_id,
            phase=self.phase,
            episode=self.episode,
            score=self.score,
            frames=self.environment.episode_frames,
            steps=len(self.actions),
            end="terminated" if terminated else "truncated",
            wall_seconds=time.perf_counter() - self.started,
        )
        return EpisodeResult(record, encode_actions(self.actions))


class _Meter:
    """Says every `TICK_SECONDS` how many frames were played since it last did."""

    def __init__(self) -> None:
        self.due = time.perf_counter() + TICK_SECONDS
        self._ended = self._told = 0

    def ended(self, frames: int) -> None:
        self._ended += frames

    def tick(self, playing: Sequence[_Lane]) -> Played:
        total = self._ended + sum(lane.environment.episode_frames for lane in playing)
        told, self._told = self._told, total
        self.due = time.perf_counter() + TICK_SECONDS
        return Played(total - told)


def evaluate(
    trial: Trial, policy: CheckedPolicy, spec: EnvironmentSpec, lanes: Sequence[_Lane], episodes: Sequence[int]
) -> Iterator[Happening]:
    """Play evaluation episodes in lanes, the policy acting on all lanes at once."""
    rows = policy.batch_size
    observations = np.zeros((rows, *spec.observation_shape), spec.observation_dtype)
    first = np.ones(rows, np.bool_)
    rngs = [np.random.default_rng(0) for _ in range(rows)]
    waiting = iter(episodes)
    meter = _Meter()
    playing: list[_Lane] = []
    for lane, episode in zip(lanes, waiting, strict=False):
        yield Begun("evaluation", episode)
        rngs[lane.row] = lane.begin(trial.seed, "evaluation", episode)
        lane.environment.observe(observations[lane.row])
        playing.append(lane)
    while playing:
        actions = policy.act(observations, first, rngs).tolist()
        for lane in tuple(playing):
            row = lane.row
            action = actions[row]
            reward, terminated, truncated = lane.environment.step(action)
            lane.actions.append(action)
            lane.score += reward
            first[row] = ended = terminated or truncated
            if ended:
                yield lane.result(trial.id, terminated)
                meter.ended(lane.environment.episode_frames)
                following = next(waiting, None)
                if following is None:
                    playing.remove(lane)
                    observations[row] = 0
                    continue
                yield Begun("evaluation", following)
                rngs[row] = lane.begin(trial.seed, "evaluation", following)
            lane.environment.observe(observations[row])
        if time.perf_counter() > meter.due:
            yield meter.tick(playing)
    yield meter.tick(playing)


def train(
    trial: Trial, learner: CheckedLearner, environment: Environment, checkpoint: Checkpoint | None
) -> Iterator[Happening]:
    """Train a learner until its budget is spent, yielding a block of episodes with each checkpoint.

    The budget is the trial's ``training_frames`` or, without it, the protocol's ``training_episodes``. The episode in
    which it runs out is played to its end.
    """
    start = checkpoint or Checkpoint(0, 0, False, b"")
    if checkpoint is not None:
        learner.restore(checkpoint.data)
    if start.finished:
        return
    learner.train()
    lane, meter = _Lane(0, environment), _Meter()
    block: list[EpisodeResult] = []
    number, frames, saved_frames = start.episodes, start.frames, start.frames
    while True:
        spent = _spent(trial, number, frames)
        if spent or frames - saved_frames >= learner.checkpoint_frames:
            yield TrainingBlock(tuple(block), Checkpoint(number, frames, spent, _checkpoint(learner)))
            block, saved_frames = [], frames
        if spent:
            break
        yield Begun("training", number)
        for happening in _training_episode(trial, learner, lane, number, meter):
            if isinstance(happening, EpisodeResult):
                block.append(happening)
                frames += happening.record.frames
            else:
                yield happening
        number += 1
    yield meter.tick(())


def _spent(trial: Trial, episodes: int, frames: int) -> bool:
    """Whether the training budget is used up."""
    if trial.training_frames is not None:
        return frames >= trial.training_frames
    return episodes >= (trial.protocol.training_episodes or 0)


def _checkpoint(learner: CheckedLearner) -> bytes:
    data = learner.checkpoint()
    if len(data) > MAX_CHECKPOINT_BYTES:
        raise ArcadeMarkError(
            f"{learner.where}: its checkpoint has {len(data):,} bytes; the store holds up to {MAX_CHECKPOINT_BYTES:,}"
        )
    return data


def _training_episode(
    trial: Trial, learner: CheckedLearner, lane: _Lane, number: int, meter: _Meter
) -> Iterator[Played | EpisodeResult]:
    environment = lane.environment
    clip = trial.protocol.training_reward_clipping
    rng = lane.begin(trial.seed, "training", number)
    shape, dtype = environment.spec.observation_shape, environment.spec.observation_dtype
    before, after = np.zeros((1, *shape), dtype), np.zeros((1, *shape), dtype)
    environment.observe(before[0])
    first: NDArray[np.bool_] = np.ones(1, np.bool_)
    ended = False
    while not ended:
        action = int(learner.act(before, first, (rng,))[0])
        reward, terminated, truncated = environment.step(action)
        lane.actions.append(action)
        lane.score += reward
        environment.observe(after[0])
        seen = float(np.sign(reward)) if clip else reward
        learner.learn(Transition(before[0], action, seen, after[0], terminated, truncated), rng)
        before, after = after, before
        first[0] = False
        ended = terminated or truncated
        if not ended and time.perf_counter() > meter.due:
            yield meter.tick((lane,))
    meter.ended(environment.episode_frames)
    yield lane.result(trial.id, terminated)
