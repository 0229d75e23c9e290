"""What ``arcademark status`` shows: how far runs are, also while they are played."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from arcademark.errors import ArcadeMarkError
from arcademark.runs.ledger import Unread, find_runs
from arcademark.runs.live import STATES, RunProgress, State, TrialProgress, read_progress

_SHARD = re.compile(r"(.*?)-?(\d{1,9})-of-(\d{1,9})")  # what 'run --shard' and 'submit' call a shard's directory


@dataclass(frozen=True)
class RunStatus:
    """One run's directory.

    running: Whether a process plays it now.
    frames_per_second: Of the command that plays it, with those that planners simulate; None if nothing is reported.
    seconds_left: As that command has it; None while it cannot be told.
    at_most: Whether that is a bound.
    """

    directory: str
    running: bool
    trials: int
    done: int
    failed: int
    episodes: int
    planned_episodes: int
    frames_per_second: float | None
    seconds_left: float | None
    at_most: bool


@dataclass(frozen=True)
class Status:
    """How far runs are.

    trials: Of all runs, each once; of copies of one, that which is furthest.
    seconds_left: Until the last of the runs that are played ends; None while one of them cannot tell.
    """

    SCHEMA: ClassVar[str] = "arcademark.status/1"
    protocols: tuple[str, ...]
    runs: tuple[RunStatus, ...]
    trials: tuple[TrialProgress, ...]
    frames_per_second: float | None
    seconds_left: float | None
    at_most: bool
    unread: tuple[Unread, ...]

    @property
    def states(self) -> Mapping[State, int]:
        """How many trials are in each state."""
        return Counter(trial.state for trial in self.trials)

    @property
    def shards(self) -> Mapping[tuple[Path, str, int], set[int]]:
        """The shards that have begun, of those with the same folder, first part of the name, and count."""
        found: dict[tuple[Path, str, int], set[int]] = defaultdict(set)
        for path in (Path(run.directory) for run in self.runs):
            if named := _SHARD.fullmatch(path.name):
                found[path.parent, named[1], int(named[3])].add(int(named[2]))
        return found

    @property
    def idle(self) -> bool:
        """Whether no process plays any of these runs."""
        return not any(run.running for run in self.runs)


def status(folders: Sequence[Path]) -> Status:
    """Read the progress of runs, and of those in folders; ArcadeMarkError if there is none."""
    found: list[RunProgress] = []
    unread = []
    for directory in dict.fromkeys(run for folder in folders for run in find_runs(folder, parts=True)):
        try:
            found.append(read_progress(directory))
        except ArcadeMarkError as error:
            unread.append(Unread(str(directory), str(error)))
    best: dict[str, TrialProgress] = {}
    for trial in (trial for one in found for trial in one.trials):
        best[trial.id] = max(
            best.get(trial.id, trial), trial, key=lambda trial: (STATES.index(trial.state), trial.episodes)
        )
    runs = tuple(map(_run, found))
    running = [run for run in runs if run.running]
    rates = [run.frames_per_second for run in running if run.frames_per_second is not None]
    left = [run.seconds_left for run in running if run.seconds_left is not None]
    return Status(
        protocols=tuple(dict.fromkeys(trial.protocol for trial in best.values())),
        runs=runs,
        trials=tuple(best.values()),
        frames_per_second=sum(rates) if rates else None,
        seconds_left=max(left) if left and len(left) == len(running) else None,
        at_most=any(run.at_most for run in running),
        unread=tuple(unread),
    )


def _run(found: RunProgress) -> RunStatus:
    states, live = Counter(trial.state for trial in found.trials), found.live
    return RunStatus(
        directory=str(found.directory),
        running=found.running,
        trials=len(found.trials),
        done=states["done"],
        failed=states["failed"],
        episodes=sum(trial.episodes for trial in found.trials),
        planned_episodes=sum(trial.planned_episodes for trial in found.trials),
        frames_per_second=live["frames_per_second"] if live else None,
        seconds_left=live["seconds_left"] if live else None,
        at_most=live["at_most"] if live else False,
    )
