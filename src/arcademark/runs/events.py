"""What `arcademark.runs.execution.execute` tells while it works, and at the end."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from arcademark.runs.plan import LeftOut
from arcademark.runs.store import EpisodeRecord


@dataclass(frozen=True)
class RunBegun:
    """The run's directory is open and the work known.

    Parameters
    ----------
    directory : Path
    trials, episodes : int
        Of the whole plan; evaluation episodes.
    trials_done, episodes_done : int
        What was recorded by earlier commands.
    left_out : tuple of LeftOut
        The combinations of agent and game that have no trial.
    """

    directory: Path
    trials: int
    episodes: int
    trials_done: int
    episodes_done: int
    left_out: tuple[LeftOut, ...]


@dataclass(frozen=True)
class EpisodeDone:
    """An episode is recorded."""

    episode: EpisodeRecord


@dataclass(frozen=True)
class TrialFailed:
    """A trial was given up; the others go on.

    Parameters
    ----------
    trial_id, agent, game : str
    seed : int
    error : str
        Why, in one line.
    """

    trial_id: str
    agent: str
    game: str
    seed: int
    error: str


@dataclass(frozen=True)
class WorkerLost:
    """The process that played a trial died; what it had not handed over is played again."""

    trial_id: str
    reason: str


@dataclass(frozen=True)
class Progress:
    """How far the run is; told a few times a second.

    Parameters
    ----------
    episodes_done, episodes : int
        Evaluation episodes of the whole plan, those of earlier commands included.
    trials_done, trials : int
        Of the whole plan; failed ones are not done.
    frames : int
        Emulated by this command, all workers together.
    frames_per_second : float
        Since this command began.
    fraction : float or None
        How much of this command's work is done, by frames; None while nothing tells how long an episode is.
    seconds_left : float or None
        None while it cannot be told.
    """

    episodes_done: int
    episodes: int
    trials_done: int
    trials: int
    frames: int
    frames_per_second: float
    fraction: float | None
    seconds_left: float | None


Event = RunBegun | EpisodeDone | TrialFailed | WorkerLost | Progress


@dataclass(frozen=True)
class Summary:
    """How a command ended.

    Parameters
    ----------
    directory : Path
    trials : int
        Of the whole plan.
    done : int
        Complete trials, those of earlier commands included.
    failed : tuple of TrialFailed
    episodes, frames : int
        Recorded, and emulated, by this command.
    wall_seconds : float
        That this command took.
    interrupted : bool
        Whether it was stopped before the end; the same command continues.
    left_out : tuple of LeftOut
        The combinations of agent and game that have no trial.
    """

    directory: Path
    trials: int
    done: int
    failed: tuple[TrialFailed, ...]
    episodes: int
    frames: int
    wall_seconds: float
    interrupted: bool
    left_out: tuple[LeftOut, ...]

    @property
    def complete(self) -> bool:
        """Whether every trial is done."""
        return self.done == self.trials
