"""An episode in play.

Every random draw depends on (seed, phase, episode's number, stream) alone, so that neither order, batch nor restart
changes a score.
"""

from __future__ import annotations

import json
import time
from array import array
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from arcademark.environments import fire
from arcademark.environments.base import Environment, Step, one_by_one
from arcademark.errors import ArcadeMarkError
from arcademark.records.model import (
    MAX_CHECKPOINT_BYTES,
    EpisodeRecord,
    EpisodeResult,
    Phase,
    Unfinished,
    decode_actions,
    encode_actions,
)
from arcademark.records.randomness import episode_rng
from arcademark.runs.playing.events import PlayedFrames

TICK_SECONDS = 0.25


def begin(environment: Environment, seed: int, phase: Phase, episode: int) -> float:
    """Start an episode, for play or replay, and return the reward of actions pressed for the agent."""
    noops = environment.spec.protocol.noops(episode) if phase == "evaluation" else None
    return environment.reset(episode_rng(seed, phase, episode, "environment"), noops)


class Slot:
    """One environment and the episode played in it.

    `waits_for_fire`: whether the agent may never press FIRE in a game that waits for it.
    """

    def __init__(
        self, row: int, environment: Environment, plans: bool = False, *, waits_for_fire: bool = False
    ) -> None:
        self.row = row
        self.environment = environment
        self.plans = plans
        self._watch = fire.Watch(environment) if waits_for_fire else None

    def begin(self, seed: int, phase: Phase, episode: int) -> np.random.Generator:
        """Begin an episode and return the agent's generator for it."""
        self.phase, self.episode = phase, episode
        self.started = time.perf_counter()
        self.actions: Any = array("H") if self.environment.spec.array_actions is None else []
        self.simulated_frames = 0
        self._before = PlayedFrames(0)
        self.score = begin(self.environment, seed, phase, episode)
        if self._watch is not None:
            self._watch.begin()
        return episode_rng(seed, phase, episode, "agent")

    def resume(self, seed: int, kept: Unfinished) -> np.random.Generator:
        """Replay an unfinished episode up to its checkpoint, and return the agent's generator in its state there."""
        rng = self.begin(seed, "evaluation", kept.episode)
        ended = False
        for action in one_by_one(decode_actions(kept.actions)):
            step = self.step(action)
            ended = step.terminated or step.truncated
        if ended or self.environment.episode_frames != kept.frames:
            raise ArcadeMarkError(
                f"game {self.environment.spec.game!r}: unfinished episode {kept.episode} does not replay as recorded; "
                "play the run again in another directory"
            )
        rng.bit_generator.state = json.loads(kept.generator)
        self.simulated_frames = kept.simulated_frames
        self.started -= kept.wall_seconds
        self._before = self._all()
        return rng

    def step(self, action: Any) -> Step:
        """Play one action."""
        step = self.environment.step(action)
        self.actions.append(action)
        self.score += step.reward
        if self._watch is not None:
            self._watch.look(action, step.reward)
        return step

    def each_frame(self, action: Any) -> Iterator[Step]:
        """Play one action frame by frame, and yield each frame's result."""
        self.actions.append(action)
        for step in self.environment.each_frame(action):
            self.score += step.reward
            yield step

    def go_on(self) -> Step:
        """Continue the same game after a lost life, by a step of the agent unless actions are pressed for it."""
        step = self.environment.go_on()
        if not fire.presses(self.environment.spec):
            self.actions.append(0)
        self.score += step.reward
        return step

    def played(self) -> PlayedFrames:
        """Return the amounts played of the episode since its start or its resumption."""
        return self._all() - self._before

    def _all(self) -> PlayedFrames:
        decisions = len(self.actions) if self.plans else 0
        return PlayedFrames(self.environment.episode_frames, self.simulated_frames, decisions)

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
            wall_seconds=round(time.perf_counter() - self.started, 9),
            simulated_frames=self.simulated_frames,
        )
        return EpisodeResult(record, encode_actions(self.actions))

    def unfinished(self, rng: np.random.Generator, checkpoint: bytes) -> Unfinished:
        """Return a checkpoint of the episode: the agent's generator and its own checkpoint."""
        return Unfinished(
            episode=self.episode,
            frames=self.environment.episode_frames,
            simulated_frames=self.simulated_frames,
            wall_seconds=round(time.perf_counter() - self.started, 9),
            generator=json.dumps(rng.bit_generator.state),
            actions=encode_actions(self.actions),
            checkpoint=checkpoint,
        )


def fitting(checkpoint: bytes, where: str) -> bytes:
    """Return a checkpoint; ArcadeMarkError: it is larger than the store allows."""
    if len(checkpoint) > MAX_CHECKPOINT_BYTES:
        raise ArcadeMarkError(
            f"{where}: its checkpoint has {len(checkpoint):,} bytes; the store allows up to {MAX_CHECKPOINT_BYTES:,}"
        )
    return checkpoint


class Meter:
    """Reports every `TICK_SECONDS` the amounts played since the last report."""

    def __init__(self) -> None:
        self.due = time.perf_counter() + TICK_SECONDS
        self._ended = self._reported = PlayedFrames(0)

    def ended(self, slot: Slot) -> None:
        """Add the amounts of a slot's ended episode, before the next one begins there."""
        self._ended += slot.played()

    def tick(self, playing: Sequence[Slot]) -> PlayedFrames:
        """Return the amounts played in these slots and in ended episodes since the last report."""
        total = self._ended
        for slot in playing:
            total += slot.played()
        before, self._reported = self._reported, total
        self.due = time.perf_counter() + TICK_SECONDS
        return total - before
