"""What ``arcademark status`` shows: how far runs are, also while they are played."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from arcademark.errors import ArcadeMarkError
from arcademark.runs.ledger import Unread, find_runs
from arcademark.runs.live import Look, State, TrialLook, look
from arcademark.suite.tasks import game_name


@dataclass(frozen=True)
class RunStatus:
    """One run's directory.

    played: Whether a process plays it now.
    frames_per_second: Of the command that plays it, with those that planners simulate; None if nothing is said.
    seconds_left: As that command has it; None while it cannot be told.
    at_most: Whether that is a bound.
    """

    directory: str
    played: bool
    trials: int
    done: int
    failed: int
    episodes: int
    planned_episodes: int
    frames_per_second: float | None
    seconds_left: float | None
    at_most: bool


@dataclass(frozen=True)
class TrialStatus:
    """One trial.

    state: "begun": something is recorded, and nobody plays it now as far as is known; "left": nothing is.
    trained: Frames of training, or episodes where its budget is in these; None unless it learns.
    budget: The same of its budget.
    """

    agent: str
    protocol: str
    game: str
    seed: int
    state: State
    episodes: int
    planned_episodes: int
    trained: int | None
    budget: int | None
    error: str


@dataclass(frozen=True)
class Status:
    """How far runs are.

    trials: Of all runs, each once; of copies of one, that which is furthest.
    seconds_left: Until the last of the runs that are played ends; None while one of them cannot tell.
    """

    SCHEMA: ClassVar[str] = "arcademark.status/1"
    protocols: tuple[str, ...]
    runs: tuple[RunStatus, ...]
    trials: tuple[TrialStatus, ...]
    frames_per_second: float | None
    seconds_left: float | None
    at_most: bool
    unread: tuple[Unread, ...]

    @property
    def states(self) -> Mapping[State, int]:
        """How many trials are in each state."""
        return Counter(trial.state for trial in self.trials)

    @property
    def over(self) -> bool:
        """Whether nothing is left to play, or nobody plays."""
        return not any(run.played for run in self.runs)


_ORDER: tuple[State, ...] = ("left", "begun", "failed", "playing", "done")


def status(folders: Sequence[Path]) -> Status:
    """Look at runs, and at those in folders; ArcadeMarkError if there is none."""
    looks: list[Look] = []
    unread = []
    for directory in dict.fromkeys(run for folder in folders for run in find_runs(folder, parts=True)):
        try:
            looks.append(look(directory))
        except ArcadeMarkError as error:
            unread.append(Unread(str(directory), str(error)))
    best: dict[str, TrialStatus] = {}
    for one in looks:
        for trial in one.trials:
            shown = _trial(trial, one.protocol)
            best[trial.id] = max(best.get(trial.id, shown), shown, key=_how_far)
    runs = tuple(map(_run, looks))
    played = [run for run in runs if run.played]
    rates = [run.frames_per_second for run in played if run.frames_per_second is not None]
    left = [run.seconds_left for run in played if run.seconds_left is not None]
    return Status(
        protocols=tuple(dict.fromkeys(one.protocol for one in looks)),
        runs=runs,
        trials=tuple(best.values()),
        frames_per_second=sum(rates) if rates else None,
        seconds_left=max(left) if left and len(left) == len(played) else None,
        at_most=any(run.at_most for run in played),
        unread=tuple(unread),
    )


def _run(found: Look) -> RunStatus:
    states, live = Counter(trial.state for trial in found.trials), found.live
    return RunStatus(
        directory=str(found.directory),
        played=found.played,
        trials=len(found.trials),
        done=states["done"],
        failed=states["failed"],
        episodes=sum(trial.episodes for trial in found.trials),
        planned_episodes=sum(trial.planned_episodes for trial in found.trials),
        frames_per_second=live["frames_per_second"] if live else None,
        seconds_left=live["seconds_left"] if live else None,
        at_most=live["at_most"] if live else False,
    )


def _trial(one: TrialLook, protocol: str) -> TrialStatus:
    named = one.agent, protocol, game_name(one.game), one.seed, one.state, one.episodes, one.planned_episodes
    return TrialStatus(*named, one.trained, one.budget, one.error)


def _how_far(trial: TrialStatus) -> tuple[int, int]:
    return _ORDER.index(trial.state), trial.episodes
