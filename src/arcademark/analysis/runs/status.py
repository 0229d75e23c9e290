"""Results of ``arcademark status``: progress of runs, also while they are being played."""

from __future__ import annotations

import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from arcademark.errors import ArcadeMarkError
from arcademark.grouping import grouped
from arcademark.records import combined, live, queue
from arcademark.records.database import JOBS, SHARDS
from arcademark.records.ledger import Unread, find_runs
from arcademark.records.live import STATES, RunProgress, State, TrialProgress, read_progress
from arcademark.records.queue import ClusterJob, JobState

AskSlurm = Callable[[Sequence[Path]], tuple[tuple[ClusterJob, ...], str]]
"""Function from the folders of runs to their jobs, and the reason why SLURM could not be queried, or ""."""

_PART = re.compile(r"\d+(-of-\d+)$")


@dataclass(frozen=True)
class RunStatus:
    """One run's directory.

    running: True if a process is playing it now.
    trials: Number of its trials; for a shard, only those of the shard.
    frames_per_second: Speed of the command that plays it, with planners' simulated frames; None if it reports none.
    seconds_left: Estimate of that command; None while it has none.
    at_most: True if the estimate is an upper bound.
    shard: Number of the shard, from 1, and the number of shards of its plan; None if it is not a shard.
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
class WholeRun:
    """A run with its shards, in any directory; each trial once, as in `Status`."""

    directory: str
    trials: tuple[TrialProgress, ...]


@dataclass(frozen=True)
class Status:
    """Progress of runs.

    trials: Trials of all runs, and of the whole plans of shards, each once; of copies, the furthest.
    seconds_left: Estimated time until the last running run ends; None while any has no estimate.
    whole: Whole runs; elements of `runs` may be shards of these.
    jobs: Running or waiting SLURM jobs of the runs.
    jobs_unknown: Reason why SLURM cannot be queried; "" if it can, or there are no jobs.
    """

    SCHEMA: ClassVar[str] = "arcademark.status/1"
    protocols: tuple[str, ...]
    runs: tuple[RunStatus, ...]
    trials: tuple[TrialProgress, ...]
    frames_per_second: float | None
    seconds_left: float | None
    at_most: bool
    unread: tuple[Unread, ...]
    whole: tuple[WholeRun, ...] = ()
    jobs: tuple[ClusterJob, ...] = ()
    jobs_unknown: str = ""

    @property
    def states(self) -> Counter[State]:
        """The number of trials in each state."""
        return Counter(trial.state for trial in self.trials)

    @property
    def episodes(self) -> int:
        """The number of recorded episodes, over all trials."""
        return sum(trial.episodes for trial in self.trials)

    @property
    def planned_episodes(self) -> int:
        """The number of requested episodes, over all trials."""
        return sum(trial.planned_episodes for trial in self.trials)

    @property
    def shards(self) -> tuple[int, int]:
        """The number of shards that have begun, and the total number of their plans' shards."""
        begun = {(Path(run.directory).parent, *run.shard) for run in self.runs if run.shard}
        return len(begun), sum(count for _, count in {(folder, count) for folder, _, count in begun})

    @property
    def running(self) -> int:
        """The number of runs that a process is playing now."""
        return sum(run.running for run in self.runs)

    @property
    def job_states(self) -> Counter[JobState]:
        """The number of jobs in each state."""
        return Counter(job.state for job in self.jobs)

    @property
    def waited_for(self) -> bool:
        """True if anything is being played or a job is queued to play it."""
        states = self.job_states
        return bool(self.running or states["running"] or states["queued"] or states["requeued"])

    @property
    def waiting(self) -> list[tuple[ClusterJob, ...]]:
        """Jobs that are not running; jobs of a run with the same state and reason are one group."""
        waiting = (job for job in self.jobs if job.state != "running")
        alike = grouped(((job.folder, job.state, job.reason, job.begins, job.said), job) for job in waiting)
        return [tuple(jobs) for jobs in alike.values()]

    @property
    def unit(self) -> str:
        """The unit of lengths: "frame", or "step" if all trials are counted in steps."""
        return "step" if self.trials and all(trial.unit == "step" for trial in self.trials) else "frame"

    @property
    def failed(self) -> tuple[TrialProgress, ...]:
        """The trials that failed."""
        return tuple(trial for trial in self.trials if trial.state == "failed")

    @property
    def grids(self) -> Iterator[tuple[str, list[tuple[str, Mapping[int, TrialProgress]]]]]:
        """The title of each agent of each run, and its games with their trials by seed."""
        by_agent: defaultdict[tuple[str, ...], dict[str, dict[int, TrialProgress]]] = defaultdict(dict)
        for run in self.whole:
            for trial in run.trials:
                by_agent[run.directory, trial.agent, trial.protocol].setdefault(trial.game, {})[trial.seed] = trial
        for (directory, agent, protocol), games in by_agent.items():
            title = f"{agent}, {protocol}" if len(self.protocols) > 1 else agent
            yield f"{directory}: {title}" if len(self.whole) > 1 else title, [*games.items()]


def status(folders: Sequence[Path], ask: AskSlurm = queue.jobs) -> Status:
    """Read the progress of runs, and of runs in folders, and query SLURM for their jobs.

    Raises
    ------
    ArcadeMarkError
        If there is no run.
    """
    progress: list[RunProgress] = []
    unread = []
    found = dict.fromkeys(run for folder in folders for run in find_runs(folder))
    for directory in dict.fromkeys(part for run in found for part in find_runs(run, parts=True)):
        try:
            progress.append(read_progress(directory))
        except ArcadeMarkError as error:
            unread.append(Unread(str(directory), str(error)))
    of_runs = grouped((_whole(run), run) for run in progress)
    whole = tuple(WholeRun(name, _furthest(_trials(parts))) for (name, _), parts in of_runs.items())
    best = _furthest(itertools.chain(*(run.trials for run in whole)))
    homes = dict.fromkeys(_home(run.directory) for run in progress)
    jobs, jobs_unknown = ask([home for home in homes if (home / JOBS).is_dir()])
    runs = tuple(map(_run, progress))
    running = [run for run in runs if run.running]
    rates = [run.frames_per_second for run in running if run.frames_per_second is not None]
    left = [run.seconds_left for run in running if run.seconds_left is not None]
    return Status(
        protocols=tuple(dict.fromkeys(trial.protocol for trial in best)),
        runs=runs,
        trials=best,
        frames_per_second=sum(rates) if rates else None,
        seconds_left=max(left) if left and len(left) == len(running) else None,
        at_most=any(run.at_most for run in running),
        unread=tuple(unread),
        whole=whole,
        jobs=tuple(_unfinished(jobs, progress, asked=not jobs_unknown)),
        jobs_unknown=jobs_unknown,
    )


def _home(directory: Path) -> Path:
    """Return the folder of the run that a directory belongs to, which contains its shards and jobs."""
    for path in (directory, directory.parent):
        if path.parent.name == SHARDS:
            return path.parent.parent
    several = all((directory.parent / name).is_dir() for name in (SHARDS, JOBS))  # as of variants
    return directory.parent if several else directory


def _whole(run: RunProgress) -> tuple[str, str]:
    """Return the name of the run that this one belongs to, and the part that distinguishes it from others."""
    home = _home(run.directory)
    if home == run.directory and "shard" in run.document:  # played by hand, beside the others of its plan
        return _PART.sub(r"*\1", str(home)), combined.plan_of(run.document)
    return str(home), ""


def _trials(parts: Sequence[RunProgress]) -> Iterator[TrialProgress]:
    yield from itertools.chain(*(run.trials for run in parts))
    yield from live.planned(run.document for run in parts)


def _furthest(trials: Iterable[TrialProgress]) -> tuple[TrialProgress, ...]:
    """Return each trial once; of copies, the furthest."""
    best: dict[str, TrialProgress] = {}
    for trial in trials:
        best[trial.id] = max(
            best.get(trial.id, trial), trial, key=lambda trial: (STATES.index(trial.state), trial.episodes)
        )
    return tuple(best.values())


def _unfinished(jobs: Iterable[ClusterJob], progress: Sequence[RunProgress], *, asked: bool) -> Iterator[ClusterJob]:
    """Yield the jobs that are not known to have completed their work."""
    left: defaultdict[tuple[str, int, int], int] = defaultdict(int)
    merged = set()
    for run in progress:
        home = str(_home(run.directory))
        if "shard" in run.document:
            number, count = run.document["shard"]
            left[home, number, count] += sum(trial.state != "done" for trial in run.trials)
        else:
            merged.add(home)
    for job in jobs:
        done = job.folder in merged if job.shard is None else left.get((job.folder, *job.shard)) == 0
        ended = job.state == "completed" or (job.state in ("failed", "cancelled", "unknown") and done)
        if not (ended or (job.state == "unknown" and not asked)):
            yield job


def _run(run: RunProgress) -> RunStatus:
    states, reported = Counter(trial.state for trial in run.trials), run.live
    return RunStatus(
        directory=str(run.directory),
        running=run.running,
        trials=len(run.trials),
        done=states["done"],
        failed=states["failed"],
        episodes=sum(trial.episodes for trial in run.trials),
        planned_episodes=sum(trial.planned_episodes for trial in run.trials),
        frames_per_second=reported["frames_per_second"] if reported else None,
        seconds_left=reported["seconds_left"] if reported else None,
        at_most=reported["at_most"] if reported else False,
        shard=tuple(run.document["shard"]) if "shard" in run.document else None,
    )
