"""Play one trial: the loops are generators, whose events limits, progress and the store consume.

In evaluation a policy acts on all slots, each an environment, at once; a slot whose episode ends takes the next one. A
learner's training and planning (`arcademark.runs.playing.planning`) play one episode at a time; the last training
episode is played to its end. A trainer has its own loop (`arcademark.runs.playing.training`). A policy always receives
``batch_size`` rows; those without an episode are blank and their actions are not used.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from arcademark.agents.adapters import CheckedLearner, CheckedPlanner, CheckedPolicy, CheckedTrainer
from arcademark.agents.base import Transition
from arcademark.agents.loading import make_agent
from arcademark.environments import fire
from arcademark.environments.base import Environment, EnvironmentSpec, one_by_one
from arcademark.environments.registry import EmulatorName, as_asked, environment_spec, open_environment, open_model
from arcademark.errors import ArcadeMarkError
from arcademark.records.model import Checkpoint, EpisodeRecord, EpisodeResult, Unfinished, scored_phase
from arcademark.runs.plan import SNAPSHOTS, Trial
from arcademark.runs.playing.events import Begun, PlayedFrames, PlayEvent, Snapshot, TrainedEpisode, TrainingBlock
from arcademark.runs.playing.planning import plan_episodes
from arcademark.runs.playing.slot import Meter, Slot, fitting

if TYPE_CHECKING:
    from arcademark.environments.generative import GenerativeModel
    from arcademark.environments.play import GameEnvironment
    from arcademark.environments.tasks import TaskEnvironment

CHECKPOINT_SECONDS = 60.0  # wall time of training after which a checkpoint is due
CHECKPOINT_SHARE = 0.02  # maximum share of the time that such checkpoints take
CHECKPOINT_BYTES_PER_SECOND = 1_000_000.0  # maximum rate of writing them


class TrialPlayer:
    """A trial's agent and environments, made once and used for any of its episodes."""

    def __init__(self, trial: Trial, emulator: EmulatorName | None = None) -> None:
        self.trial = trial
        self._emulator = emulator
        learnt, spec = trial.learnt, environment_spec(trial.game, trial.protocol, seed=trial.seed)
        spec_of_training = environment_spec(trial.game, learnt.protocol, seed=trial.seed) if learnt else spec
        self.agent = make_agent(trial.agent, spec_of_training)
        self.spec = as_asked(spec, self.agent.observation, self.agent.frames_per_action)
        self.trains = isinstance(self.agent, CheckedTrainer)
        self.learns = learnt is None and (self.trains or isinstance(self.agent, CheckedLearner))
        self.plans = isinstance(self.agent, CheckedPlanner)
        self.model: GenerativeModel | None = open_model(self.spec, emulator=emulator) if self.plans else None
        self._slots: list[Slot] = []

    def play(
        self,
        episodes: Collection[int],
        checkpoint: Checkpoint | None = None,
        unfinished: Sequence[Unfinished] = (),
        stopping: Callable[[], bool] = lambda: False,
    ) -> Iterator[PlayEvent]:
        """Play these evaluation episodes, after the remaining training of an agent that learns.

        Training continues from `checkpoint`, unless it is the result of training in another run; a planner's episodes
        continue from `unfinished`. `stopping` is called between training episodes: True ends training, with a
        checkpoint.
        """
        agent = self.agent
        if self.trial.learnt:
            self._take_over(checkpoint)
        elif isinstance(agent, CheckedLearner | CheckedTrainer):
            if isinstance(agent, CheckedTrainer):
                from arcademark.runs.playing.training import fit

                yield from fit(self.trial, agent, partial(self.open, training=True), checkpoint, stopping, _pause)
            else:
                scored = scored_phase(self.trial.protocol, learns=True) == "evaluation"
                snapshot = self._snapshot if scored else None
                yield from train(self.trial, agent, self.open(training=True), checkpoint, stopping, snapshot)
            if stopping():
                return
            agent.evaluate()
            if scored_phase(self.trial.protocol, learns=True) == "training":
                return
        if isinstance(agent, CheckedPolicy):
            yield from self._evaluate(agent, episodes)
        elif self.model is not None and episodes:
            yield from plan_episodes(self.trial, agent, self._slots_for(1)[0], self.model, episodes, unfinished)

    def _evaluate(self, policy: CheckedPolicy, episodes: Collection[int]) -> Iterator[PlayEvent]:
        """Play evaluation episodes."""
        slots = self._slots_for(min(policy.batch_size, len(episodes)))
        yield from evaluate(self.trial, policy, self.spec, slots, episodes)

    def _snapshot(self, learner: CheckedLearner, share: float) -> Iterator[PlayedFrames | Snapshot]:
        """Evaluate a learner in training after a share of it, without effect on its learning."""
        learner.evaluate()
        played: list[EpisodeRecord] = []
        for event in self._evaluate(learner, range(self.trial.snapshot_episodes)):
            if isinstance(event, EpisodeResult):
                played.append(event.record)
            elif isinstance(event, PlayedFrames):
                yield event
        mean = sum(record.score for record in played) / len(played)
        yield Snapshot(share, mean, len(played), sum(record.frames for record in played))
        learner.train()

    def _slots_for(self, number: int) -> list[Slot]:
        """Return at least `number` slots in which episodes are evaluated."""
        while len(self._slots) < number:
            self._slots.append(self.slot(len(self._slots)))
        return self._slots

    def _take_over(self, checkpoint: Checkpoint | None) -> None:
        """Restore the agent's training in another run."""
        if checkpoint is None or not isinstance(self.agent, CheckedLearner | CheckedTrainer):
            raise ArcadeMarkError(f"{self.agent.where}: its training result is missing; give the same command again")
        data = checkpoint.data
        if self.trains:
            from arcademark.runs.playing.networks import opened

            data = opened(checkpoint, self.trial.id)[1]
        self.agent.restore(data)
        self.agent.evaluate()

    def slot(self, row: int) -> Slot:
        """Make the slot in which episodes are evaluated."""
        network = self.trial.network
        waits = network is not None and fire.waits(self.spec, network.fire_reset)
        return Slot(row, self.open(), self.plans, waits_for_fire=waits)

    def open(self, training: bool = False) -> GameEnvironment | TaskEnvironment:
        """Open the trial's game or task."""
        return open_environment(self.spec, training=training, emulator=self._emulator)


def evaluate(
    trial: Trial, policy: CheckedPolicy, spec: EnvironmentSpec, slots: Sequence[Slot], episodes: Collection[int]
) -> Iterator[PlayEvent]:
    """Play evaluation episodes in slots, on all of which the policy acts at once."""
    rows = policy.batch_size
    observations = policy.rows(spec)
    first = np.ones(rows, np.bool_)
    rngs = [np.random.default_rng(0) for _ in range(rows)]
    waiting = iter(episodes)
    meter = Meter()
    playing: list[Slot] = []
    for slot, episode in zip(slots, waiting, strict=False):
        yield Begun("evaluation", episode)
        rngs[slot.row] = slot.begin(trial.seed, "evaluation", episode)
        slot.environment.observe(observations[slot.row, ...])
        playing.append(slot)
    while playing:
        actions = one_by_one(policy.act(observations, first, rngs))
        for slot in tuple(playing):
            row = slot.row
            _, terminated, truncated = slot.step(actions[row])
            ended = terminated or truncated
            first[row] = ended or slot.environment.life_begun
            if ended:
                yield slot.result(trial.id, terminated)
                meter.ended(slot)
                following = next(waiting, None)
                if following is None:
                    playing.remove(slot)
                    observations[row] = np.zeros((), observations.dtype)
                    continue
                yield Begun("evaluation", following)
                rngs[row] = slot.begin(trial.seed, "evaluation", following)
            slot.environment.observe(observations[row, ...])
        if time.perf_counter() > meter.due:
            yield meter.tick(playing)
    yield meter.tick(playing)


def train(
    trial: Trial,
    learner: CheckedLearner,
    environment: Environment,
    checkpoint: Checkpoint | None,
    stopping: Callable[[], bool],
    snapshot: Callable[[CheckedLearner, float], Iterator[PlayEvent]] | None = None,
) -> Iterator[PlayEvent]:
    """Train a learner until its budget is spent or it is stopped, yielding a block of episodes with each checkpoint.

    A checkpoint is due after the learner's ``checkpoint_frames``, sooner if these take long, and when it stops.
    `snapshot` evaluates the learner after the shares of training in `SNAPSHOTS`, always before a checkpoint that is due
    then, so that training that continues from there does not repeat it.
    """
    start = checkpoint or Checkpoint(0, 0, False, b"")
    if checkpoint is not None:
        learner.restore(checkpoint.data)
    if start.finished:
        return
    learner.train()
    slot, meter = Slot(0, environment), Meter()
    block: list[EpisodeResult] = []
    number, frames, saved_frames = start.episodes, start.frames, start.frames
    saved, pause = time.perf_counter(), CHECKPOINT_SECONDS
    played, budget = trial.spent(frames, number)
    while True:
        before, (played, _) = played, trial.spent(frames, number)
        spent = played >= budget
        if snapshot and not spent and any(before < share * budget <= played for share in SNAPSHOTS):
            yield from snapshot(learner, played / budget)
        stop = stopping()
        began = time.perf_counter()
        late = frames - saved_frames >= learner.checkpoint_frames or began - saved >= pause
        if spent or (block and (stop or late)):
            data = fitting(learner.checkpoint(), learner.where)
            pause = _pause(time.perf_counter() - began, len(data))
            yield TrainingBlock(tuple(block), Checkpoint(number, frames, spent, data))
            block, saved_frames, saved = [], frames, time.perf_counter()
        if spent or stop:
            break
        yield Begun("training", number)
        learner.set_progress(played / budget)
        for event in training_episode(trial, learner, slot, number, meter):
            if isinstance(event, EpisodeResult):
                block.append(event)
                frames += event.record.frames
                yield TrainedEpisode(event.record.score, event.record.frames, frames)
            else:
                yield event
        number += 1
    yield meter.tick(())


def _pause(seconds: float, size: int) -> float:
    """Return how long to train before a checkpoint is due again, when the last took `seconds` and had `size` bytes."""
    return max(CHECKPOINT_SECONDS, seconds / CHECKPOINT_SHARE, size / CHECKPOINT_BYTES_PER_SECOND)


def training_episode(
    trial: Trial, learner: CheckedLearner, slot: Slot, number: int, meter: Meter
) -> Iterator[PlayedFrames | EpisodeResult]:
    """Play one training episode and let the learner learn from each step; yield the episode's result last.

    If a lost life ends an episode for the learner but not the game, the whole game is played and recorded.
    """
    environment = slot.environment
    clip = trial.protocol.training_reward_clipping
    rng = slot.begin(trial.seed, "training", number)
    shape, dtype = environment.spec.observation_shape, environment.spec.observation_dtype
    before, after = np.zeros((1, *shape), dtype), np.zeros((1, *shape), dtype)
    environment.observe(before[0, ...])
    first: NDArray[np.bool_] = np.ones(1, np.bool_)
    ended = False
    while not ended:
        action = one_by_one(learner.act(before, first, (rng,)))[0]
        reward, terminated, truncated = slot.step(action)
        environment.observe(after[0, ...])
        seen = float(np.sign(reward)) if clip else reward
        learner.learn(Transition(before[0], action, seen, after[0], terminated, truncated), rng)
        before, after = after, before
        first[0] = environment.life_lost
        if environment.life_lost:
            _, terminated, truncated = slot.go_on()
            environment.observe(before[0, ...])
        ended = terminated or truncated
        if not ended and time.perf_counter() > meter.due:
            yield meter.tick((slot,))
    meter.ended(slot)
    yield slot.result(trial.id, terminated)
