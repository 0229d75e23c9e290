"""What ``arcademark status`` shows: how far runs are, also while they are played."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from arcademark.errors import ArcadeMarkError
from arcademark.runs.store import live
from arcademark.runs.store.ledger import Unread, find_runs
from arcademark.runs.store.live import STATES, RunProgress, State, TrialProgress, read_progress


@dataclass(frozen=True)
class RunStatus:
    """One run's directory.

    running: Whether a process plays it now.
    trials: Of it alone, if it is a shard.
    frames_per_second: Of the command that plays it, with those that planners simulate; None if nothing is reported.
    seconds_left: As that command has it; None while it cannot be told.
    at_most: Whether that is a bound.
    shard: Which it is, from 1, of how many shards of a plan; None if of none.
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
    shard: tuple[int, int] | None = None


@dataclass(frozen=True)
class Status:
    """How far runs are.

    trials: Of all runs, and of all plans of which one is a shard, each once; of copies of one, that which is furthest.
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
    def shards(self) -> Mapping[tuple[Path, int], set[int]]:
        """The shards that have begun, of those in the same folder with the same count."""
        found: dict[tuple[Path, int], set[int]] = defaultdict(set)
        for run in self.runs:
            if run.shard:
                found[Path(run.directory).parent, run.shard[1]].add(run.shard[0])
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
    planned = live.planned(one.document for one in found)
    for trial in itertools.chain(*(one.trials for one in found), planned):
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
    states, told = Counter(trial.state for trial in found.trials), found.live
    return RunStatus(
        directory=str(found.directory),
        running=found.running,
        trials=len(found.trials),
        done=states["done"],
        failed=states["failed"],
        episodes=sum(trial.episodes for trial in found.trials),
        planned_episodes=sum(trial.planned_episodes for trial in found.trials),
        frames_per_second=told["frames_per_second"] if told else None,
        seconds_left=told["seconds_left"] if told else None,
        at_most=told["at_most"] if told else False,
        shard=tuple(found.document["shard"]) if "shard" in found.document else None,
    )
