"""What `arcademark.runs.execution.execute` tells while it works, and at the end."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from arcademark.runs.plan import LeftOut
from arcademark.runs.store import EpisodeRecord
from arcademark.suite.protocols import Protocol


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
    episodes_begun : int
        Further episodes, of planners, that go on where earlier commands left them.
    episodes_trained : int
        Recorded episodes of trainings that go on.
    """

    directory: Path
    trials: int
    episodes: int
    trials_done: int
    episodes_done: int
    left_out: tuple[LeftOut, ...]
    episodes_begun: int = 0
    episodes_trained: int = 0


@dataclass(frozen=True)
class Compiling:
    """The console is about to be compiled, once on a machine; told before `RunBegun`."""


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
class Stopping:
    """It was asked to stop, and waits for learners to end the episode in play, so that what they learnt is kept.

    Parameters
    ----------
    unkept : int
        Training episodes that ended since the last checkpoints.
    """

    unkept: int


@dataclass(frozen=True)
class LearnerBegun:
    """An agent turned out to be a learner; told once, of the first.

    Parameters
    ----------
    agent : str
        Its label.
    protocol : Protocol
    training_frames, training_episodes : int or None
        The budget of each trial, one of them None.
    episodes : int
        Evaluation episodes of each trial.
    seeds : int
        Trials of each game.
    """

    agent: str
    protocol: Protocol
    training_frames: int | None
    training_episodes: int | None
    episodes: int
    seeds: int


@dataclass(frozen=True)
class NotTrained:
    """Training was asked for, and an agent turned out not to learn; told once of each."""

    agent: str


@dataclass(frozen=True)
class Learning:
    """How far learners are.

    Parameters
    ----------
    episodes, frames : int
        Training so far, that of earlier commands included.
    wanted_episodes, wanted_frames : int or None
        The budget of all trials together, one of them None.
    recent : tuple of (str, float)
        By game: the mean score of the last training episodes of this command, averaged over the trials in training.
    """

    episodes: int
    frames: int
    wanted_episodes: int | None
    wanted_frames: int | None
    recent: tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class Planning:
    """What planners did.

    Parameters
    ----------
    decisions : int
        Actions chosen in this command.
    simulated_frames : int
        Frames emulated meanwhile by their models, in this command.
    simulated_frames_per_second : float
        In the last minutes.
    """

    decisions: int
    simulated_frames: int
    simulated_frames_per_second: float


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
        Played by this command, all workers together; without those that planners simulate.
    frames_per_second : float
        Since this command began.
    fraction : float or None
        How much of this command's work is done, by frames; None while nothing tells how long an episode is.
    seconds_left : float or None
        None while it cannot be told.
    at_most : bool
        Whether `seconds_left` is a bound, from episodes as long as the protocol lets them be.
    planning : Planning or None
        None where no agent plans.
    learning : Learning or None
        None where no agent learns, or all have learnt.
    """

    episodes_done: int
    episodes: int
    trials_done: int
    trials: int
    frames: int
    frames_per_second: float
    fraction: float | None
    seconds_left: float | None
    at_most: bool = False
    planning: Planning | None = None
    learning: Learning | None = None


Event = Compiling | RunBegun | LearnerBegun | NotTrained | EpisodeDone | TrialFailed | WorkerLost | Stopping | Progress


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
        Recorded, and played, by this command.
    wall_seconds : float
        That this command took.
    interrupted : bool
        Whether it was stopped before the end; the same command continues.
    left_out : tuple of LeftOut
        The combinations of agent and game that have no trial.
    decisions, simulated_frames : int
        Actions chosen by planners, and frames emulated meanwhile by their models, in this command.
    unkept : int
        Training episodes that ended but are not recorded, as it was stopped before their checkpoints.
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
    decisions: int = 0
    simulated_frames: int = 0
    unkept: int = 0

    @property
    def complete(self) -> bool:
        """Whether every trial is done."""
        return self.done == self.trials
