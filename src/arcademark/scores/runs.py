"""Reads score tables from runs: what was played becomes a score of an algorithm on a task.

Conventions
-----------
* An algorithm is an agent's label, a run of it a seed, and the score the mean over the episodes that the protocol
  reports: a trial's evaluation, or a learner's last k episodes of training.
* A trial that has fewer episodes than were asked for counts with those it has (none: NaN), and always stands in
  ``incomplete``, for whoever shows the score to say so.
"""

from __future__ import annotations

import dataclasses
import os
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from arcademark.errors import ArcadeMarkError
from arcademark.runs.store import RunRecord, read_run
from arcademark.scores.table import ScoreTable, concatenate
from arcademark.suite.protocols import Difference, differences


@dataclass(frozen=True)
class IncompleteTrial:
    """A trial whose score stands on fewer episodes than were asked for.

    Parameters
    ----------
    algorithm, task : str
        As in the table.
    seed : int
        The trial's seed.
    planned, played : int
        Episodes asked for, and those that the score is the mean of.
    status : str
        "pending", "running", "failed", or "done" where a learner's training held too few episodes.
    error : str or None
        Why the trial failed.
    """

    algorithm: str
    task: str
    seed: int
    planned: int
    played: int
    status: str
    error: str | None


@dataclass(frozen=True)
class RunScores:
    """The scores of one run.

    Parameters
    ----------
    record : RunRecord
        The run as stored.
    table : ScoreTable
        One algorithm an agent label, runs in the order of `seeds`; NaN where a trial has no episode yet.
    seeds : mapping of str to tuple of int
        For each algorithm the seeds along the run axis.
    episodes : mapping of (algorithm, task) to tuple of float array, shape (episodes,)
        The episode scores behind each table cell, one array a seed; seeds that have none are left out.
    incomplete : tuple of IncompleteTrial
        Trials with fewer episodes than were asked for, in the plan's order. Empty where the run is complete.
    """

    record: RunRecord
    table: ScoreTable
    seeds: Mapping[str, tuple[int, ...]]
    episodes: Mapping[tuple[str, str], tuple[NDArray[np.float64], ...]]
    incomplete: tuple[IncompleteTrial, ...]

    def rename(self, names: Mapping[str, str]) -> RunScores:
        """Give algorithms new names everywhere but in the record; errors are those of `ScoreTable.rename`."""
        return RunScores(
            self.record,
            self.table.rename(names),
            {names.get(algorithm, algorithm): seeds for algorithm, seeds in self.seeds.items()},
            {(names.get(algorithm, algorithm), task): scores for (algorithm, task), scores in self.episodes.items()},
            tuple(
                dataclasses.replace(trial, algorithm=names.get(trial.algorithm, trial.algorithm))
                for trial in self.incomplete
            ),
        )


@dataclass(frozen=True)
class ProtocolDifference:
    """Two runs whose scores were made under different settings and must not be ranked together without a warning.

    Parameters
    ----------
    first, second : Path
        The runs' directories.
    settings : tuple of Difference
        The settings that differ, with both values.
    """

    first: Path
    second: Path
    settings: tuple[Difference, ...]


@dataclass(frozen=True)
class RunCollection:
    """The scores of several runs, side by side.

    Parameters
    ----------
    runs : tuple of RunScores
        In the order asked for, with the names that `table` uses.
    table : ScoreTable
        All their algorithms.
    protocol_differences : tuple of ProtocolDifference
        Each run that was played under other settings than the first. Empty where all are comparable.
    """

    runs: tuple[RunScores, ...]
    table: ScoreTable
    protocol_differences: tuple[ProtocolDifference, ...]


def load_run(directory: str | os.PathLike[str]) -> RunScores:
    """Read one run's scores, also while it is being played.

    Raises
    ------
    ArcadeMarkError
        If there is no run, or it is damaged, locked, or written by a newer version.
    """
    return score_run(read_run(directory))


def load_runs(directories: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]) -> RunCollection:
    """Read the scores of a run or of several.

    An agent label that more than one run has is followed by the run's directory in brackets: its name, or the whole
    path where two directories share their name.

    Raises
    ------
    ArcadeMarkError
        As `load_run`, or where no directory is given, or one twice.
    """
    if isinstance(directories, str | os.PathLike):
        directories = [directories]
    if not directories:
        raise ArcadeMarkError("no runs given; name the directory of at least one")
    repeated = [path for path, count in Counter(os.path.realpath(path) for path in directories).items() if count > 1]
    if repeated:
        raise ArcadeMarkError(f"{repeated[0]}: this run is given twice; name each once")
    return collect([load_run(directory) for directory in directories])


def collect(scored: Sequence[RunScores]) -> RunCollection:
    """Put runs, at least one, side by side as `load_runs` does."""
    runs = _disambiguate(scored)
    first = runs[0].record
    compared = (
        ProtocolDifference(
            first.directory, run.record.directory, tuple(differences(first.protocol, run.record.protocol))
        )
        for run in runs[1:]
    )
    return RunCollection(
        runs, concatenate([run.table for run in runs]), tuple(found for found in compared if found.settings)
    )


def score_run(record: RunRecord) -> RunScores:
    """Turn a run as stored into scores."""
    rows: list[tuple[str, str, int, float]] = []
    by_seed: dict[tuple[str, str], dict[int, NDArray[np.float64]]] = defaultdict(dict)
    incomplete = []
    for trial in record.trials:
        scores = record.scored_episodes(trial).score
        rows.append((trial.agent, trial.game, trial.seed, float(scores.mean()) if scores.size else np.nan))
        if scores.size:
            by_seed[trial.agent, trial.game][trial.seed] = scores
        if trial.status != "done" or scores.size < trial.episodes:
            incomplete.append(
                IncompleteTrial(
                    trial.agent, trial.game, trial.seed, trial.episodes, scores.size, trial.status, trial.error
                )
            )
    seeds: dict[str, set[int]] = defaultdict(set)
    for trial in record.trials:
        seeds[trial.agent].add(trial.seed)
    return RunScores(
        record,
        ScoreTable.from_rows(
            rows,
            protocols=dict.fromkeys(seeds, record.protocol.label),
            sources=dict.fromkeys(seeds, str(record.directory)),
        ),
        {agent: tuple(sorted(found)) for agent, found in seeds.items()},
        {cell: tuple(scores for _, scores in sorted(found.items())) for cell, found in by_seed.items()},
        tuple(incomplete),
    )


def _disambiguate(runs: Sequence[RunScores]) -> tuple[RunScores, ...]:
    labels = Counter(label for run in runs for label in run.table.algorithms)
    directories = Counter(run.record.directory.name for run in runs)
    renamed = []
    for run in runs:
        directory = run.record.directory
        place = directory.name if directory.name and directories[directory.name] == 1 else str(directory)
        shared = [label for label in run.table.algorithms if labels[label] > 1]
        renamed.append(run.rename({label: f"{label} [{place}]" for label in shared}))
    return tuple(renamed)
