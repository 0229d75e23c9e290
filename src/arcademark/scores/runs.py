"""Reads score tables from runs: what was played becomes a score of an algorithm on a task.

Conventions
-----------
* An algorithm is an agent's label, and a score the mean over the episodes that the protocol reports: a trial's
  evaluation, or a learner's last k episodes of training. The table has a run for each seed.
* Seeds that are trainings of their own (`trained_apart`) are what varies independently. Those of any other agent are
  exchangeable: what varies is its episodes, whichever seed they are of.
* A trial that has fewer episodes than were asked for counts with those it has (none: NaN), and always stands in
  ``incomplete``, for whoever shows the score to say so.
"""

from __future__ import annotations

import dataclasses
import os
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arcademark.errors import ArcadeMarkError
from arcademark.grouping import grouped
from arcademark.records import imported, repeats
from arcademark.records.combined import together
from arcademark.records.model import RunRecord
from arcademark.records.reading import read_run
from arcademark.scores.readers.base import numbers_of_runs
from arcademark.scores.table import ScoreTable, concatenate


@dataclass(frozen=True)
class IncompleteTrial:
    """A trial whose score is the mean of fewer episodes than were planned.

    Its status is "pending", "running", "failed" (`error` says why), or "done" where a learner's training held too few.
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
    """The scores of one run as stored: an algorithm an agent label, runs in the order of `seeds`.

    `episodes` has the scores behind each cell of the table (algorithm, task), one array a seed that has any; `kinds`,
    where some may be the same episode, a number each (`arcademark.records.repeats`), over all seeds; `apart` the
    algorithms whose seeds are trainings of their own; `incomplete` trials stand in the plan's order.
    """

    record: RunRecord
    table: ScoreTable
    seeds: Mapping[str, tuple[int, ...]]
    episodes: Mapping[tuple[str, str], tuple[NDArray[np.float64], ...]]
    incomplete: tuple[IncompleteTrial, ...]
    apart: frozenset[str] = frozenset()
    kinds: Mapping[tuple[str, str], NDArray[np.int64]] = field(default_factory=dict)

    def independent(self, algorithm: str, task: str) -> tuple[NDArray[np.float64], ...]:
        """Return the scores behind a cell as independent samples: an array per seed, or one of all episodes."""
        return pooled(self.episodes[algorithm, task], apart=algorithm in self.apart)

    def rename(self, names: Mapping[str, str]) -> RunScores:
        """Rename algorithms everywhere but in the record; errors are those of `ScoreTable.rename`."""
        new = {algorithm: names.get(algorithm, algorithm) for algorithm in self.table.algorithms}
        return RunScores(
            self.record,
            self.table.rename(names),
            {new[algorithm]: seeds for algorithm, seeds in self.seeds.items()},
            {(new[algorithm], task): scores for (algorithm, task), scores in self.episodes.items()},
            tuple(dataclasses.replace(trial, algorithm=new[trial.algorithm]) for trial in self.incomplete),
            frozenset(new[algorithm] for algorithm in self.apart),
            {(new[algorithm], task): numbers for (algorithm, task), numbers in self.kinds.items()},
        )


@dataclass(frozen=True)
class RunCollection:
    """The scores of several runs, with the names that `table` uses."""

    runs: tuple[RunScores, ...]
    table: ScoreTable


def load_run(directory: str | os.PathLike[str]) -> RunScores:
    """Read one run's scores, also while it is being played."""
    return load_runs([directory]).runs[0]


def load_runs(
    directories: str | os.PathLike[str] | Sequence[str | os.PathLike[str] | RunRecord],
) -> RunCollection:
    """Read the scores of a run or of several; records stand for runs that were read already.

    Runs of the same agents under the same protocol that have no trial in common, seeds or shards played apart, are read
    as one; the trials of shards that are not given are incomplete. An agent label that more than one has even so is
    followed by the run's directory in brackets: its name, or the whole path where two directories share their name.
    """
    if isinstance(directories, str | os.PathLike):
        directories = [directories]
    if not directories:
        raise ArcadeMarkError("no runs given; name the directory of at least one")
    records = [place if isinstance(place, RunRecord) else read_run(place) for place in directories]
    places = Counter(os.path.realpath(record.directory) for record in records)
    repeated = [path for path, count in places.items() if count > 1]
    if repeated:
        raise ArcadeMarkError(f"{repeated[0]}: this run is given twice; name each once")
    scored = [dataclasses.replace(score_run(record), kinds=_kinds(record)) for record in together(records)]
    return collect(scored)


def collect(scored: Sequence[RunScores]) -> RunCollection:
    """Collect runs, at least one, as `load_runs` does."""
    runs = _disambiguate(scored)
    return RunCollection(runs, concatenate([run.table for run in runs]))


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
            known = (trial.agent, trial.game, trial.seed, trial.episodes)
            incomplete.append(IncompleteTrial(*known, scores.size, trial.status, trial.error))
    seeds = numbers_of_runs((trial.agent, trial.game, trial.seed) for trial in record.trials)
    protocols, sources = (dict.fromkeys(seeds, text) for text in (record.protocol.label, str(record.directory)))
    return RunScores(
        record,
        ScoreTable.from_rows(rows, protocols=protocols, sources=sources),
        seeds,
        {cell: tuple(scores for _, scores in sorted(result.items())) for cell, result in by_seed.items()},
        tuple(incomplete),
        frozenset(agent for agent in seeds if trained_apart(record, agent)),
    )


def trained_apart(record: RunRecord, agent: str) -> bool:
    """Return whether each of an agent's seeds is a training run of its own, so that scores vary between seeds.

    That is where it learns, where its networks differ by seed on some game, where a parameter of it names the seed
    ("model-{seed}.pt"), and of logs made elsewhere.
    """
    if imported.origin(record) is not None or any(trial.learns for trial in record.trials if trial.agent == agent):
        return True
    described: Mapping[str, Any] = next((one for one in record.manifest["agents"] if one["label"] == agent), {})
    networks: dict[str, set[str]] = defaultdict(set)
    for trial, sha256 in described.get("checkpoints", {}).items():
        networks[trial.rpartition(" ")[0]].add(sha256)
    return bool(described.get("by_seed")) or any(len(those) > 1 for those in networks.values())


def pooled(seeds: Sequence[NDArray[np.float64]], *, apart: bool) -> tuple[NDArray[np.float64], ...]:
    """Return episodes' scores as independent samples: an array per seed if `apart`, else one array."""
    return tuple(seeds) if apart or not seeds else (np.concatenate(seeds),)


def _kinds(record: RunRecord) -> dict[tuple[str, str], NDArray[np.int64]]:
    """Number the episodes of each agent on each game, where it may have played the same one again."""
    draws = {agent["label"] for agent in record.manifest["agents"] if agent.get("draws")}
    ordered = sorted(record.trials, key=lambda trial: trial.seed)
    trials = grouped(((trial.agent, trial.game), trial) for trial in ordered if trial.agent not in draws)
    result = {cell: repeats.kinds(record, mine) for cell, mine in trials.items()}
    return {cell: numbers for cell, numbers in result.items() if numbers is not None}


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
