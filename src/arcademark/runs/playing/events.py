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
    Share,
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
    """Start of an episode, or its continuation from a checkpoint."""

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
    """End of a training episode, which is recorded with the next checkpoint."""

    score: Score
    frames: Amount
    trained: Amount  # frames of the training up to its end


@dataclass(frozen=True)
class TrainingBlock:
    """Training episodes with the checkpoint after them."""

    results: tuple[EpisodeResult, ...]
    checkpoint: Checkpoint


@dataclass(frozen=True)
class Snapshot:
    """Score of a learner before the end of its training, in episodes that are not recorded."""

    share: Share  # of the training budget that was used
    score: Score  # mean over the episodes, the first of the evaluation
    episodes: Count
    frames: Amount  # of these episodes


@dataclass(frozen=True)
class Opened:
    """Facts of a trial that are known once its agent was made."""

    frames_per_action: Interval | None  # requested by the agent instead of the protocol's ``frame_skip``
    learns: bool
    batch_size: Count  # episodes that the agent plays at once
    plans: bool = False  # whether the agent is a planner
    trains: bool = False  # whether it is a trainer: it learns, and can be checkpointed at any time
    trained_frames: Count | None = None  # of a network's training, by its file
    libraries: tuple[str, ...] = ()  # modules of `arcademark.runs.store.provenance.libraries`
    draws: bool | None = None  # whether the agent draws random numbers, if it declares so


@dataclass(frozen=True)
class Failed:
    """Failure of a trial that is given up, with the reason in one line."""

    error: str


@dataclass(frozen=True)
class Lost:
    """Loss of the process that played a trial; work that it had not reported is played again."""

    reason: str


@dataclass(frozen=True)
class Used:
    """Memory that the process of a trial used; programs that it starts are not counted."""

    peak_bytes: Annotated[int, Meta(ge=0, le=MAX_NUMBER)]  # of memory


_Played = PlayedFrames | EpisodeResult | TrainedEpisode | TrainingBlock | Snapshot | Unfinished

PlayEvent = Begun | _Played
"""Reported by the player of a trial."""

TrialEvent = Opened | _Played | Used | Failed | Lost
"""Reported by an engine, with the trial's id."""


@dataclass(frozen=True)
class Note:
    """Note or warning about a circumstance of the run, in one line."""

    text: str
    warning: bool = False


@dataclass(frozen=True)
class OfTrial:
    """Event of a trial that is recorded later: the end of a training episode, or the loss of its worker."""

    trial_id: str
    event: TrainedEpisode | Lost


@dataclass(frozen=True)
class Stopping:
    """The run was stopped, and waits for learners to end the episode in play, to keep their progress."""

    unkept: int  # training episodes since the last checkpoints


@dataclass(frozen=True)
class LearnerBegun:
    """The first agent of the run that turned out to be a learner; reported once."""

    trial: TrialRecord
    protocol: Protocol
    seeds: int  # trials per game


@dataclass(frozen=True)
class Learning:
    """Progress of training."""

    episodes: int  # of training so far, earlier commands included
    frames: int  # likewise
    wanted_episodes: int | None  # of all trials; None if budgets are in frames
    wanted_frames: int | None  # of all trials; None if budgets are in episodes
    recent: tuple[tuple[str, float], ...]
    """Mean score of the last training episodes of this command by game, averaged over the trials in training."""


@dataclass(frozen=True)
class Planning:
    """Planners' decisions and simulated frames."""

    decisions: int  # actions chosen in this command
    simulated_frames: int  # frames emulated by their models in this command
    simulated_frames_per_second: float  # over the last minutes


@dataclass(frozen=True)
class Progress:
    """Progress of a run, reported a few times per second."""

    episodes_done: int  # evaluation episodes, earlier commands included
    episodes: int  # of the whole plan
    trials_done: int  # without failed ones
    trials: int  # of the whole plan
    frames: int  # played by this command on all workers, without those that planners simulate
    frames_per_second: float  # since this command began
    fraction: float | None
    """Share of this command's work that is done, by frames; None while the length of an episode is unknown."""
    seconds_left: float | None  # None while it is unknown
    at_most: bool = False  # whether `seconds_left` is a bound, from episodes up to the frame cap
    planning: Planning | None = None  # None if no agent plans
    learning: Learning | None = None  # None if no agent is in training


@dataclass(frozen=True)
class RunBegun:
    """The run begins: its directory is open and its work known."""

    progress: Progress  # of earlier commands
    left_out: tuple[LeftOut, ...]
    episodes_begun: int = 0  # further episodes, of planners, that earlier commands began
    episodes_trained: int = 0  # recorded episodes of trainings that continue


Event = Note | RunBegun | LearnerBegun | OfTrial | EpisodeRecord | TrialRecord | Stopping | Progress
"""Passed to the listener: an `EpisodeRecord` once an episode is recorded, a `TrialRecord` if a trial failed."""


@dataclass(frozen=True)
class RunSummary:
    """Result of a command that played a run."""

    directory: Path
    trials: int  # of the whole plan
    done: int  # complete trials, earlier commands included
    failed: tuple[TrialRecord, ...]
    episodes: int  # recorded by this command
    frames: int  # played by this command
    wall_seconds: float  # of this command
    interrupted: bool  # whether it was stopped; the same command continues
    left_out: tuple[LeftOut, ...]
    decisions: int = 0  # of planners, in this command
    simulated_frames: int = 0  # emulated by planners' models
    unkept: int = 0  # training episodes that ended after the last checkpoints and are lost
    kept: tuple[int, int] | None = None
    """Frames of training in checkpoints, and of all budgets; None unless training by frames is left."""

    @property
    def complete(self) -> bool:
        """True if every trial is done."""
        return self.done == self.trials
