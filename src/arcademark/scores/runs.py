"""Reads score tables from runs: the episodes played become scores of algorithms on tasks.

Conventions
-----------
* An algorithm is an agent's label, and a score the mean over the episodes that the protocol reports: a trial's
  evaluation, or a learner's last k episodes of training. The table has a run for each seed.
* If each seed is a separate training (`trained_apart`), seeds are the independent samples. Those of any other agent
  are exchangeable: its episodes of all seeds are the independent samples.
* A trial with fewer episodes than requested is scored by those it has (none: NaN), and is listed in ``incomplete``, so
  that it can be reported with the score.
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
    """A trial whose score is the mean of fewer episodes than planned.

    Its status is "pending", "running", "failed" (for the reason `error`), or "done" if a learner's training had too few
    episodes.
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
    """The scores of one run as stored: algorithms are agent labels, runs in the order of `seeds`.

    `episodes` has the scores behind each cell of the table (algorithm, task), one array per seed that has any. `kinds`
    numbers the episodes of a cell, over all seeds, if some may be the same episode (`arcademark.records.repeats`).
    `apart` are the algorithms whose seeds are separate trainings; `incomplete` trials are in the plan's order.
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

    @property
    def names(self) -> tuple[str, ...]:
        """The name of each run's directory, or its whole path where two have the same name."""
        return _names(self.runs)


def load_run(directory: str | os.PathLike[str]) -> RunScores:
    """Read one run's scores, also while it is being played."""
    return load_runs([directory]).runs[0]


def load_runs(
    directories: str | os.PathLike[str] | Sequence[str | os.PathLike[str] | RunRecord],
) -> RunCollection:
    """Read the scores of one or more runs; records are runs that were read already.

    Runs of the same agents under the same protocol without a common trial, such as separately played seeds or shards,
    are read as one; the trials of missing shards are incomplete. An agent label that still occurs in several runs is
    followed by the run's directory in brackets: its name, or the whole path if two directories have the same name.
    """
    if isinstance(directories, str | os.PathLike):
        directories = [directories]
    if not directories:
        raise ArcadeMarkError("no runs given; name the directory of at least one")
    records = [place if isinstance(place, RunRecord) else read_run(place) for place in directories]
    places = Counter(os.path.realpath(record.directory) for record in records)
    repeated = [path for path, count in places.items() if count > 1]
    if repeated:
        raise ArcadeMarkError(f"{repeated[0]}: this run is named twice; name each once")
    scored = [dataclasses.replace(score_run(record), kinds=_kinds(record)) for record in together(records)]
    return collect(scored)


def collect(scored: Sequence[RunScores]) -> RunCollection:
    """Combine the scores of runs, at least one, as `load_runs` does."""
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
    """Return True if each of an agent's seeds is a separate training, so that scores vary between seeds.

    It is if the agent learns, if its networks differ between seeds on some game, if one of its parameters contains the
    seed ("model-{seed}.pt"), or if the run was imported from logs made elsewhere.
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
    """Number the episodes of each agent on each game where it may have played the same episode twice."""
    draws = {agent["label"] for agent in record.manifest["agents"] if agent.get("draws")}
    ordered = sorted(record.trials, key=lambda trial: trial.seed)
    trials = grouped(((trial.agent, trial.game), trial) for trial in ordered if trial.agent not in draws)
    result = {cell: repeats.kinds(record, mine) for cell, mine in trials.items()}
    return {cell: numbers for cell, numbers in result.items() if numbers is not None}


def _disambiguate(runs: Sequence[RunScores]) -> tuple[RunScores, ...]:
    labels = Counter(label for run in runs for label in run.table.algorithms)
    return tuple(
        run.rename({label: f"{label} [{name}]" for label in run.table.algorithms if labels[label] > 1})
        for run, name in zip(runs, _names(runs), strict=True)
    )


def _names(runs: Sequence[RunScores]) -> tuple[str, ...]:
    directories = [run.record.directory for run in runs]
    shared = Counter(directory.name for directory in directories)
    return tuple(path.name if path.name and shared[path.name] == 1 else str(path) for path in directories)
