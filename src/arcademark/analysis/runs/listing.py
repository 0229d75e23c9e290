"""The runs below a folder: agents, games, protocol and progress of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

from arcademark.analysis.runs.directory import known_set
from arcademark.errors import ArcadeMarkError
from arcademark.records import imported
from arcademark.records.ledger import Unread, find_runs
from arcademark.records.model import RunRecord
from arcademark.records.reading import read_run


@dataclass(frozen=True)
class ListedRun:
    """One run."""

    directory: str
    agents: tuple[str, ...]  # in the plan's order
    games: tuple[str, ...]  # their names, in the plan's order
    scope: str  # the suite or subset of exactly these games, "the 5 games of atari-5"; "" if there is none
    protocol: str  # the protocol's label, overrides included
    seeds: tuple[int, ...]
    episodes: int  # finished scored episodes
    planned_episodes: int  # requested scored episodes
    status: Literal["complete", "incomplete", "failed"]  # all trials are done, some are not, or at least one failed
    created: str  # time of its creation, in ISO 8601
    imported: bool = False  # True if it was imported from logs, which cannot be verified
    unit: Literal["frame", "step"] = "frame"  # unit of lengths


@dataclass(frozen=True)
class RunList:
    """Runs below folders."""

    SCHEMA: ClassVar[str] = "arcademark.runs/1"

    runs: tuple[ListedRun, ...]  # by directory
    unread: tuple[Unread, ...]  # runs that cannot be read, and why


def list_runs(folders: Sequence[Path]) -> RunList:
    """Return the runs in some folders."""
    runs, unread = [], []
    for directory in dict.fromkeys(run for folder in folders for run in find_runs(folder)):
        try:
            runs.append(_listed(read_run(directory, whole=False)))
        except ArcadeMarkError as error:
            unread.append(Unread(str(directory), str(error)))
    return RunList(tuple(runs), tuple(unread))


def _listed(record: RunRecord) -> ListedRun:
    scored = [min(len(record.scored_episodes(trial)), trial.episodes) for trial in record.trials]
    statuses = {trial.status for trial in record.trials}
    games = tuple(dict.fromkeys(trial.game for trial in record.trials))
    planned = sum(trial.episodes for trial in record.trials)
    return ListedRun(
        directory=str(record.directory),
        agents=tuple(dict.fromkeys(trial.agent for trial in record.trials)),
        games=tuple(map(record.protocol.task_name, games)),
        scope=known_set(games, record.protocol.suite),
        protocol=record.protocol.label,
        seeds=tuple(sorted({trial.seed for trial in record.trials})),
        episodes=sum(scored),
        planned_episodes=planned,
        status="failed" if "failed" in statuses else "complete" if statuses == {"done"} else "incomplete",
        created=str(record.manifest.get("created", "")),
        imported=imported.origin(record) is not None,
        unit=record.protocol.unit,
    )
