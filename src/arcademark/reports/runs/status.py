"""What ``arcademark status`` shows: how far runs are, also while they are played."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from arcademark.errors import ArcadeMarkError
from arcademark.records import live
from arcademark.records.ledger import Unread, find_runs
from arcademark.records.live import STATES, RunProgress, State, TrialProgress, read_progress
from arcademark.reports import wording
from arcademark.reports.columns import Column, Style
from arcademark.reports.runs.listing import RunList


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

    MAX_SEEDS: ClassVar = 8  # that have a column each
    STYLES: ClassVar[dict[State, Style]] = {
        "done": "good",
        "playing": "strong",
        "failed": "bad",
        "started": "doubtful",
        "pending": "weak",
    }
    UNREAD: ClassVar = RunList.UNREAD

    @property
    def states(self) -> Counter[State]:
        """How many trials are in each state."""
        return Counter(trial.state for trial in self.trials)

    @property
    def shards(self) -> tuple[int, int]:
        """How many shards have begun, and how many there are, of all that lie in the same folder."""
        begun = {(Path(run.directory).parent, *run.shard) for run in self.runs if run.shard}
        return len(begun), sum(count for _, count in {(folder, count) for folder, _, count in begun})

    @property
    def running(self) -> int:
        """How many of these runs a process plays now."""
        return sum(run.running for run in self.runs)

    @property
    def unit(self) -> str:
        """What lengths are counted in: frames, unless all are counted in steps."""
        return "step" if self.trials and all(trial.unit == "step" for trial in self.trials) else "frame"

    @property
    def columns(self) -> tuple[Column, ...]:
        """What is shown of each run."""
        return (
            Column("run", "directory"),
            Column("running", "running", style=lambda run: "strong" if run.running else "weak"),
            Column("trials", lambda run: _of(run.done, run.trials)),
            Column("episodes", lambda run: _of(run.episodes, run.planned_episodes)),
            Column(f"{self.unit}s/s", "frames_per_second", lambda rate: wording.score(rate, 0)),
            Column("time left", lambda run: None if run.seconds_left is None else _left(run.seconds_left, run.at_most)),
        )

    @property
    def failed(self) -> tuple[TrialProgress, ...]:
        """The trials that failed."""
        return tuple(trial for trial in self.trials if trial.state == "failed")

    @property
    def failures(self) -> tuple[Column, ...]:
        """What is shown of a trial that failed."""
        game = Column(wording.noun(self.unit), "game", kind="name")
        return Column("agent", "agent"), game, Column("seed", "seed", str), Column("why", "error", kind="prose")

    @property
    def grids(self) -> Iterator[tuple[str, list[tuple[str, dict[int, TrialProgress]]], list[Column]]]:
        """Each agent's title, its games with their trials by seed, and what is shown of these."""
        for agent, protocol in dict.fromkeys((trial.agent, trial.protocol) for trial in self.trials):
            games: dict[str, dict[int, TrialProgress]] = {}
            for trial in self.trials:
                if (trial.agent, trial.protocol) == (agent, protocol):
                    games.setdefault(trial.game, {})[trial.seed] = trial
            seeds = sorted({seed for trials in games.values() for seed in trials})
            by_seed = map(self._of_seed, seeds)
            columns = by_seed if len(seeds) <= self.MAX_SEEDS else map(self._of_state, self.STYLES)
            title = f"{agent}, {protocol}" if len(self.protocols) > 1 else agent
            yield title, [*games.items()], [Column(wording.noun(self.unit), 0), *columns]

    def _of_seed(self, seed: int) -> Column:
        return Column(
            f"seed {seed}",
            lambda row: _progress(row[1].get(seed)),
            style=lambda row: self.STYLES[row[1][seed].state if seed in row[1] else "pending"],
        )

    def _of_state(self, state: State) -> Column:
        def count(row: tuple[str, dict[int, TrialProgress]]) -> int:
            return sum(trial.state == state for trial in row[1].values())

        return Column(state, count, style=lambda row: self.STYLES[state] if count(row) else "weak")


def _progress(trial: TrialProgress | None) -> str | None:
    if trial is None or trial.state == "pending":
        return None
    if trial.state in ("done", "failed"):
        return trial.state
    if trial.trained is not None and trial.budget and trial.trained < trial.budget:
        return f"{wording.share(trial.trained / trial.budget)} trained"
    return _of(trial.episodes, trial.planned_episodes)


def _of(number: int, planned: int) -> str:
    return f"{wording.count(number)} of {wording.count(planned)}"


def _left(seconds: float, at_most: bool) -> str:
    return f"{'at most ' if at_most else ''}{wording.time_span(seconds)}"


def status(folders: Sequence[Path]) -> Status:
    """Read the progress of runs, and of those in folders; ArcadeMarkError if there is none."""
    progress: list[RunProgress] = []
    unread = []
    for directory in dict.fromkeys(run for folder in folders for run in find_runs(folder, parts=True)):
        try:
            progress.append(read_progress(directory))
        except ArcadeMarkError as error:
            unread.append(Unread(str(directory), str(error)))
    best: dict[str, TrialProgress] = {}
    planned = live.planned(run.document for run in progress)
    for trial in itertools.chain(*(run.trials for run in progress), planned):
        best[trial.id] = max(
            best.get(trial.id, trial), trial, key=lambda trial: (STATES.index(trial.state), trial.episodes)
        )
    runs = tuple(map(_run, progress))
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
