"""Observations for feature sets, step by step, of random play or of a recorded episode.

Also the actions of a recorded episode, as a trajectory that background sampling follows.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from arcademark.environments.base import AskedObservation, Environment, EnvironmentSpec
from arcademark.environments.registry import choose_emulator, environment_spec, open_environment
from arcademark.errors import ArcadeMarkError
from arcademark.records.model import Phase, RunRecord
from arcademark.records.randomness import episode_rng
from arcademark.records.reading import read_actions
from arcademark.runs.playing.slot import begin
from arcademark.runs.replay.episodes import EpisodeFilter, Recorded, observed_as, read_to_replay, select_one
from arcademark.suite.protocols import AtariProtocol, Protocol, rules_of, suite_protocol

RANDOM_PLAY = "ale-2013"  # protocol of random play


@dataclass(frozen=True)
class Moment:
    """An observation of an episode, before the next action."""

    first: bool  # whether it is the first of an episode
    frames: int  # frames played so far, in all episodes
    observation: NDArray[np.uint8]  # valid until the next step
    environment: Environment  # in that state; `render` returns the picture


@dataclass(frozen=True)
class RecordedPlay:
    """A game and its observations, in order; `moments` may be called again."""

    spec: EnvironmentSpec  # with the requested observations
    seed: int  # of random play, or of the recorded trial
    recorded: Recorded | None = None  # the episode; None for random play
    actions: tuple[int, ...] = ()  # of the episode; empty for random play

    @property
    def frames(self) -> int | None:
        """Frames of the recorded episode; None for random play, which has no end."""
        return None if self.recorded is None else self.recorded.episode.frames

    def moments(self) -> Iterator[Moment]:
        """Yield the observations of the recorded episode, or of one random episode after another without end."""
        phase: Phase = "evaluation" if self.recorded is None else self.recorded.episode.phase
        emulator = choose_emulator(self.spec.game, compiles=False, suite=self.spec.atari.suite)
        environment = open_environment(self.spec, training=phase == "training", emulator=emulator)
        try:
            if self.recorded is None:
                before = 0
                for episode in itertools.count():
                    rng = episode_rng(self.seed, phase, episode, "agent")
                    actions = (int(rng.integers(self.spec.num_actions)) for _ in itertools.count())
                    begin(environment, self.seed, phase, episode)
                    yield from _episode(environment, actions, before)
                    before += environment.episode_frames
            else:
                begin(environment, self.seed, phase, self.recorded.episode.episode)
                yield from _episode(environment, iter(self.actions), 0)
        finally:
            environment.close()


def random_play(game: str, observation: AskedObservation, seed: int = 0, suite: str | None = None) -> RecordedPlay:
    """Return random play, like an untrained agent that always explores: a uniformly random action every 5 frames.

    `suite` is the file of a game of one's own.
    """
    rules = rules_of(RANDOM_PLAY, suite, {})
    return RecordedPlay(environment_spec(game, observed_as(rules, observation)), seed)


def recorded_play(
    directory: str | os.PathLike[str], observation: AskedObservation, **choice: Unpack[EpisodeFilter]
) -> RecordedPlay:
    """Return an episode of a run, with another kind of observations than its agent's; `choice` as in `select_one`."""
    run = read_to_replay(directory, choice.get("suite"))
    recorded = select_one(run, **choice)
    settings = observed_as(run.protocol, observation)
    spec = environment_spec(recorded.trial.game, settings, recorded.trial.frames_per_action)
    return RecordedPlay(spec, recorded.trial.seed, recorded, tuple(_actions(run, recorded)))


@dataclass(frozen=True)
class RecordedTrajectory:
    """The actions of a recorded episode, to sample screens from (`arcademark.classic.features.samples`)."""

    recorded: Recorded
    protocol: Protocol  # under which the trajectory is followed
    actions: tuple[int, ...]  # of that protocol's action set, one for each of its agent steps

    def text(self) -> str:
        """Return the file's text: a description as comments, then a number per line."""
        trial, row = self.recorded
        settings = self.protocol
        actions = f"the {settings.action_set} action set" if isinstance(settings, AtariProtocol) else "the task"
        agent = " ".join(trial.agent.split())
        lines = (
            f"# {trial.game}: actions of {agent}, seed {trial.seed}, {row.phase} episode {row.episode}, "
            f"score {row.score:.15g}",
            f"# numbers of {actions}, one for each {settings.frame_skip} frames",
            *map(str, self.actions),
        )
        return "\n".join(lines) + "\n"


def recorded_trajectory(
    directory: str | os.PathLike[str], settings: Protocol | None = None, **choice: Unpack[EpisodeFilter]
) -> RecordedTrajectory:
    """Return the actions of a recorded episode, in the numbering and timing of the run's protocol or another one.

    `choice` is as in `select_one`. The protocol must have every action that was played, at the same rate.
    """
    run = read_to_replay(directory, choice.get("suite"))
    own = run.protocol.suite if run.protocol.suite and run.protocol.suite.of_games else None
    recorded = select_one(run, replayed=own is None, **choice)
    if settings is None:
        settings = run.protocol
    elif own is not None:
        settings = suite_protocol(own, settings)
    names = environment_spec(recorded.trial.game, run.protocol).action_meanings
    known = environment_spec(recorded.trial.game, settings).action_meanings
    where = f"{run.directory}: {recorded.episode.phase} episode {recorded.episode.episode} of {recorded.trial.id}"
    played = _actions(run, recorded)
    if missing := sorted({names[action] for action in played} - set(known)):
        raise ArcadeMarkError(
            f"{where} plays {missing[0]}, which is not an action of {settings.name!r}; choose another --protocol"
        )
    every = recorded.trial.frames_per_action or run.protocol.frame_skip
    steps, rest = divmod(every, settings.frame_skip)
    if rest:
        raise ArcadeMarkError(
            f"{where} has an action every {every} frame{'s' if every > 1 else ''}, and a trajectory of "
            f"{settings.name!r} one every {settings.frame_skip}; choose another --protocol, or an agent that acts so"
        )
    numbers = (known.index(names[action]) for action in played)
    return RecordedTrajectory(recorded, settings, tuple(number for number in numbers for _ in range(steps)))


def _actions(run: RunRecord, recorded: Recorded) -> list[int]:
    trial, row = recorded
    actions: list[int] = read_actions(run.directory, trial.id, row.episode, row.phase).tolist()
    return actions


def _episode(environment: Environment, actions: Iterator[int], before: int) -> Iterator[Moment]:
    """Yield the observation before each action of an episode that has begun; `before` frames were played earlier."""
    observation = np.empty(environment.spec.observation_shape, np.uint8)
    first = True
    for action in actions:
        environment.observe(observation)
        yield Moment(first, before + environment.episode_frames, observation, environment)
        first = False
        step = environment.step(action)
        if step.terminated or step.truncated:
            return
