"""The ledger: all evaluations in a folder of runs, with their agents, games, times and commands.

Only the times of evaluations are recorded for it; the rest follows from the runs. An *algorithm* is an agent without
its parameters; a *setting* is its parameters, the code of a user's own agent, and the requested training budget.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from arcademark.errors import ArcadeMarkError
from arcademark.grouping import grouped
from arcademark.records import manifest
from arcademark.records.database import DATABASE
from arcademark.records.model import EvaluationRecord, RunRecord, TrialRecord
from arcademark.records.reading import read_run
from arcademark.suite.protocols import Protocol
from arcademark.suite.task_suites import TaskSuite

DEEPEST = 3  # levels of folders that are searched for runs


@dataclass(frozen=True)
class LedgerEntry:
    """An agent's evaluation on one game in one run."""

    directory: str  # the run's
    algorithm: str  # the agent without its parameters
    parameters: Mapping[str, Any]  # what differs from the agent's defaults
    code: str | None  # SHA-256 of the file of a user's own agent
    training_frames: int | None  # the requested budget; None for the protocol's
    training_episodes: int | None  # likewise
    protocol: str  # the protocol's label, overrides included
    game: str  # the task's id
    seeds: tuple[int, ...]  # of the trials with a score
    episodes: int  # number of scored episodes
    begun: str  # when the first was recorded, ISO 8601 with the zone; in older runs the start of the run
    commands: tuple[str, ...]  # that recorded them, in order; in older runs all commands
    suite: TaskSuite | None = None  # suite of the task; None for Atari games

    @property
    def setting(self) -> tuple[str, str | None, int | None, int | None]:
        """The key that distinguishes this setting from others of the algorithm."""
        parameters = json.dumps(dict(self.parameters), sort_keys=True)
        return parameters, self.code, self.training_frames, self.training_episodes


@dataclass(frozen=True)
class Unread:
    """A run that cannot be read, with the reason in one line."""

    directory: str
    reason: str


@dataclass(frozen=True)
class Ledger:
    """Evaluations of runs."""

    runs: tuple[str, ...]  # the directories that were read
    entries: tuple[LedgerEntry, ...]  # run by run
    unread: tuple[Unread, ...]


def find_runs(path: Path, *, parts: bool = False) -> tuple[Path, ...]:
    """Return the runs of a folder: itself, if it is one, else those in it, by name; with `parts` both."""
    itself = (path,) if (path / manifest.FILE).is_file() else ()
    if itself and not parts:
        return itself
    if not path.is_dir():
        what = "is a file" if path.exists() else "no such directory"
        raise ArcadeMarkError(f"{path}: {what}; name runs, or the folder in which they lie")
    runs = (*itself, *sorted(_below(path, DEEPEST)))
    if not runs:
        raise ArcadeMarkError(f"{path}: no run in it; name runs, or the folder in which they lie")
    return runs


def _below(path: Path, depth: int) -> Iterator[Path]:
    try:
        with os.scandir(path) as listing:
            folders = [Path(entry.path) for entry in listing if entry.is_dir() and not entry.name.startswith(".")]
    except OSError:  # folders that cannot be read are skipped
        return
    for folder in folders:
        if (folder / manifest.FILE).is_file():
            yield folder
        elif depth > 1:
            yield from _below(folder, depth - 1)


def read_ledger(paths: Sequence[Path], *, wanted: Callable[[manifest.Document], bool] = lambda _: True) -> Ledger:
    """Read the ledger of runs, or of folders of runs."""
    entries: list[LedgerEntry] = []
    runs, unread = [], []
    for directory in dict.fromkeys(run for path in paths for run in find_runs(path)):
        try:
            if not (directory / DATABASE).is_file() or not wanted(manifest.read(directory)):
                continue
            entries += entries_of(read_run(directory))
        except ArcadeMarkError as error:
            unread.append(Unread(str(directory), str(error)))
        else:
            runs.append(str(directory))
    return Ledger(tuple(runs), tuple(entries), tuple(unread))


def entries_of(record: RunRecord) -> Iterator[LedgerEntry]:
    """Yield the evaluations of one run: agents on games with a score."""
    scored = ((trial, len(record.scored_episodes(trial))) for trial in record.trials)
    yield from make_entries(record.directory, record.manifest, record.protocol, scored, record.evaluations)


def make_entries(
    directory: Path,
    document: manifest.Document,
    protocol: Protocol,
    scored: Iterable[tuple[TrialRecord, int]],
    evaluations: Iterable[EvaluationRecord],
) -> Iterator[LedgerEntry]:
    """Yield the evaluations of trials with their numbers of scored episodes: agents on games with a score."""
    agents = manifest.agents_of(document)
    trials: defaultdict[tuple[str, str], dict[TrialRecord, int]] = defaultdict(dict)
    for trial, count in scored:
        if count:
            trials[trial.agent, trial.game][trial] = count
    notes = grouped((item.trial_id, item) for item in evaluations)
    for (label, game), mine in trials.items():
        agent = agents.get(label, {})
        parameters = agent.get("parameters") or {}
        begun, commands = _noted(document, [item for trial in mine for item in notes.get(trial.id, ())])
        yield LedgerEntry(
            directory=str(directory),
            algorithm=algorithm(label, parameters),
            parameters=parameters,
            code=(agent.get("source") or {}).get("sha256"),
            training_frames=document.get("training_frames"),
            training_episodes=document.get("training_episodes"),
            protocol=protocol.label,
            game=game,
            seeds=tuple(sorted({trial.seed for trial in mine})),
            episodes=sum(mine.values()),
            begun=begun,
            commands=commands,
            suite=protocol.suite,
        )


def entries_beside(directory: Path, algorithms: Collection[str]) -> tuple[LedgerEntry, ...]:
    """Return the entries of some algorithms in the runs next to a run's directory, which may be new."""

    def wanted(document: manifest.Document) -> bool:
        agents = document["agents"]
        return any(algorithm(agent["label"], agent.get("parameters") or {}) in algorithms for agent in agents)

    folder = directory.parent
    runs = sorted(_below(folder, 1)) if folder.is_dir() else []
    neighbours = [path for path in runs if path.resolve() != directory.resolve()]
    entries = read_ledger(neighbours, wanted=wanted).entries
    return tuple(entry for entry in entries if entry.algorithm in algorithms)


def algorithm(label: str, parameters: Mapping[str, Any]) -> str:
    """Return an agent's label without its parameters."""
    return label.partition("(")[0] if parameters else label


def _noted(document: manifest.Document, noted: Sequence[EvaluationRecord]) -> tuple[str, tuple[str, ...]]:
    """Return the time of some trials' first evaluation, and the commands that evaluated them."""
    given = [str(document.get("command", "")), *(str(later["command"]) for later in document.get("continued") or ())]
    if not noted:
        return str(document.get("created", "")), tuple(dict.fromkeys(given))
    numbers = sorted({item.command for item in noted})
    commands = dict.fromkeys(given[number] for number in numbers if number < len(given))
    return min(item.begun for item in noted), tuple(commands)
