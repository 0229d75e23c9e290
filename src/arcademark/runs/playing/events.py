"""Events of a run: those that the player of a trial reports, and those that `execute` passes to its listener."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from msgspec import Meta

from arcademark.records.database import MAX_NUMBER
from arcademark.records.model import (
    Amount,
    Checkpoint,
    EpisodeRecord,
    EpisodeResult,
    Phase,
    Score,
    TrialRecord,
    Unfinished,
)
from arcademark.runs.plan import LeftOut
from arcademark.suite.protocols import Protocol
from arcademark.suite.settings import MAX_FRAMES, MAX_FRAMES_PER_ACTION

Count = Annotated[int, Meta(ge=1)]
Difference = Annotated[int, Meta(ge=-MAX_FRAMES, le=MAX_FRAMES)]
Interval = Annotated[int, Meta(ge=1, le=MAX_FRAMES_PER_ACTION)]


@dataclass(frozen=True)
class Begun:
    """An episode begins, or goes on where it was kept."""

    phase: Phase
    episode: Amount


@dataclass(frozen=True)
class PlayedFrames:
    """Frames and decisions since the last report."""

    frames: Difference  # of episodes
    simulated_frames: Difference = 0  # emulated while planning
    decisions: Difference = 0  # actions chosen by planning

    def __add__(self, other: PlayedFrames) -> PlayedFrames:
        return PlayedFrames(
            self.frames + other.frames, self.simulated_frames + other.simulated_frames, self.decisions + other.decisions
        )

    def __sub__(self, other: PlayedFrames) -> PlayedFrames:
        return self + PlayedFrames(-other.frames, -other.simulated_frames, -other.decisions)


@dataclass(frozen=True)
class TrainedEpisode:
    """A training episode has ended; it is recorded with the next checkpoint."""

    score: Score
    frames: Amount
    trained: Amount  # frames of the training by its end


@dataclass(frozen=True)
class TrainingBlock:
    """Training episodes and the checkpoint that holds what was learnt from them."""

    results: tuple[EpisodeResult, ...]
    checkpoint: Checkpoint


@dataclass(frozen=True)
class Opened:
    """A trial's agent was made."""

    frames_per_action: Interval | None  # what the agent asks for instead of the protocol's ``frame_skip``
    learns: bool
    batch_size: Count  # how many episodes the agent plays at once
    plans: bool = False  # whether the agent is a planner
    trains: bool = False  # whether it is a trainer: it learns, and may be kept at any moment
    trained_frames: Count | None = None  # what a network was trained for, as its file says
    libraries: tuple[str, ...] = ()  # modules of `arcademark.runs.store.provenance.libraries`
    draws: bool | None = None  # whether the agent draws random numbers, if it says so


@dataclass(frozen=True)
class Failed:
    """A trial was given up, and why, in one line."""

    error: str


@dataclass(frozen=True)
class Lost:
    """The process that played a trial died; what it had not handed over is played again."""

    reason: str


@dataclass(frozen=True)
class Used:
    """Memory that the process of a trial used; programs that it starts are not counted."""

    peak_bytes: Annotated[int, Meta(ge=0, le=MAX_NUMBER)]  # of memory


PlayEvent = Begun | PlayedFrames | EpisodeResult | TrainedEpisode | TrainingBlock | Unfinished
"""Told by who plays a trial."""

TrialEvent = Opened | PlayedFrames | EpisodeResult | TrainedEpisode | TrainingBlock | Unfinished | Used | Failed | Lost
"""Told by an engine of a trial."""


@dataclass(frozen=True)
class Compiling:
    """The console is about to be compiled, once on a machine; told before `RunBegun`."""


@dataclass(frozen=True)
class NoConsole:
    """The console is not here, which nobody asked for, so that ale-py plays; told before `RunBegun`."""

    reason: str


@dataclass(frozen=True)
class OfTrial:
    """Event of a trial that is recorded later: the end of a training episode, or the loss of its worker."""

    trial_id: str
    event: TrainedEpisode | Lost


@dataclass(frozen=True)
class Stopping:
    """It was asked to stop, and waits for learners to end the episode in play, so that what they learnt is kept."""

    unkept: int  # training episodes that ended since the last checkpoints


@dataclass(frozen=True)
class LearnerBegun:
    """An agent turned out to be a learner; told once, of the first."""

    trial: TrialRecord
    protocol: Protocol
    seeds: int  # trials of each game


@dataclass(frozen=True)
class NotTrained:
    """Training was asked for, and an agent turned out not to learn; told once of each."""

    agent: str


@dataclass(frozen=True)
class FireMissed:
    """Networks were trained where FIRE was pressed for them, and nobody presses it here; told before they play."""

    agent: str
    games: tuple[str, ...]
    waiting: tuple[str, ...]  # those of them that stand still until it is pressed


@dataclass(frozen=True)
class Learning:
    """Progress of training."""

    episodes: int  # of training so far, that of earlier commands included
    frames: int  # likewise
    wanted_episodes: int | None  # of all trials together; None where budgets are in frames
    wanted_frames: int | None  # the other way round
    recent: tuple[tuple[str, float], ...]
    """By game: the mean score of the last training episodes of this command, averaged over the trials in training."""


@dataclass(frozen=True)
class Planning:
    """Planners' decisions and simulated frames."""

    decisions: int  # actions chosen in this command
    simulated_frames: int  # frames emulated meanwhile by their models, in this command
    simulated_frames_per_second: float  # in the last minutes


@dataclass(frozen=True)
class Progress:
    """Progress of a run, reported a few times per second."""

    episodes_done: int  # of evaluation, those of earlier commands included
    episodes: int  # of the whole plan
    trials_done: int  # failed ones are not
    trials: int  # of the whole plan
    frames: int  # played by this command, all workers together; without those that planners simulate
    frames_per_second: float  # since this command began
    fraction: float | None
    """How much of this command's work is done, by frames; None while nothing tells how long an episode is."""
    seconds_left: float | None  # None while it cannot be told
    at_most: bool = False  # whether `seconds_left` is a bound, from episodes as long as the protocol lets them be
    planning: Planning | None = None  # None where no agent plans
    learning: Learning | None = None  # None where no agent learns, or all have learnt


@dataclass(frozen=True)
class RunBegun:
    """The run's directory is open and the work known."""

    progress: Progress  # by earlier commands
    left_out: tuple[LeftOut, ...]
    episodes_begun: int = 0  # further episodes, of planners, that go on where earlier commands left them
    episodes_trained: int = 0  # recorded episodes of trainings that go on


Event = (
    Compiling
    | NoConsole
    | RunBegun
    | LearnerBegun
    | NotTrained
    | FireMissed
    | OfTrial
    | EpisodeRecord
    | TrialRecord
    | Stopping
    | Progress
)
"""Told to who listens: an `EpisodeRecord` once an episode is recorded, a `TrialRecord` where a trial was given up."""


@dataclass(frozen=True)
class RunSummary:
    """Result of a command that played a run."""

    directory: Path
    trials: int  # of the whole plan
    done: int  # complete trials, those of earlier commands included
    failed: tuple[TrialRecord, ...]
    episodes: int  # recorded by this command
    frames: int  # played by this command
    wall_seconds: float  # of this command
    interrupted: bool  # whether it was stopped before the end; the same command continues
    left_out: tuple[LeftOut, ...]
    decisions: int = 0  # of planners, in this command
    simulated_frames: int = 0  # emulated by their models meanwhile
    unkept: int = 0  # training episodes that ended but are not recorded, as it was stopped before their checkpoints
    kept: tuple[int, int] | None = None
    """Frames of training that checkpoints hold, and those of all budgets; None unless learners that count frames have
    some left."""

    @property
    def complete(self) -> bool:
        """True if every trial is done."""
        return self.done == self.trials
