"""Scores for searches and predictions: averaged over runs and normalised, in percent.

Collections of the catalogue keep their reference players (the average human is one of the 62 algorithms that the
Atari-5 models were fitted to, Table 8). Tasks without reference scores are left out, with a remark.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeGuard

import numpy as np

from arcademark import wording
from arcademark.analysis.tables import plausible, protocols
from arcademark.analysis.tables.benchmarks import Benchmark
from arcademark.analysis.tables.dataset import ScoreOptions, prepare
from arcademark.analysis.tables.loading import CATALOGUE, EVERYTHING, ScoreSource, published_entries
from arcademark.analysis.tables.protocols import PlayConditions
from arcademark.catalogue import collections
from arcademark.subset.problem import Floats

METRICS = ("hns", "normalised")
"""Measures that models use: HNS on Atari, scores normalised by two references elsewhere."""


@dataclass(frozen=True, eq=False)
class Normalised:
    """Scores of algorithms on the tasks of a benchmark.

    percent, raw: Shape (algorithms, tasks), normalised, and in each task's own unit; NaN where missing.
    benchmark: Benchmark that they are measured by.
    metric: Name of the measure: "hns" or "normalised".
    low, high: Raw scores of 0 % and 100 %.
    plays: Conditions under which each algorithm's scores were obtained, where known.
    sources, remarks: Sources of the scores, and remarks that a reader must know.
    papers: The key of the paper that an algorithm's scores were first published in, where the catalogue has it.
    unscored: Tasks that the table names but has no score on.
    """

    algorithms: tuple[str, ...]
    tasks: tuple[str, ...]
    percent: Floats
    raw: Floats
    benchmark: Benchmark
    metric: str
    low: Mapping[str, float]
    high: Mapping[str, float]
    plays: Mapping[str, PlayConditions]
    sources: tuple[str, ...]
    remarks: tuple[str, ...]
    papers: Mapping[str, str] = field(default_factory=dict)
    unscored: tuple[str, ...] = ()


def normalised(places: Sequence[ScoreSource], options: ScoreOptions, *, players: bool = True) -> Normalised:
    """Read and normalise scores; collections of the catalogue keep their reference players if ``players``."""
    prepared = prepare([_kept(place) if players else place for place in places], options)
    benchmark = prepared.benchmark
    measure = benchmark.measures[next(name for name in METRICS if name in benchmark.measures)]
    tasks = tuple(task for task in prepared.tasks if task in measure.known)
    raw = prepared.scores.table.select(tasks=tasks).mean_over_runs()
    kinds = ("low", "high") if "low" in benchmark.references else ("random", "human")
    low, high = ({task: benchmark.references[kind][task] for task in tasks} for kind in kinds)
    collected = [published_entries(place) for place in places if _is_collection(place)]
    entries = {name: entry for members in collected for name, entry in members.items() if name in prepared.algorithms}
    warnings = (warning.text for warning in plausible.warnings(prepared) if warning.kind in plausible.OF_DATA)
    remarks = [*prepared.scores.remarks, *warnings]
    if unknown := [task for task in prepared.tasks if task not in measure.known]:
        names = wording.shortened(map(benchmark.title, unknown))
        remarks.append(f"Not used, because they have no reference scores: {names}.")
    return Normalised(
        algorithms=prepared.algorithms,
        tasks=tasks,
        percent=np.asarray(measure.normaliser(raw.T, tasks)).T if tasks else raw,
        raw=raw,
        benchmark=benchmark,
        metric=measure.metric.name,
        low=low,
        high=high,
        plays={name: prepared.play(name) for name in prepared.algorithms}
        | {name: protocols.from_entry(entry) for name, entry in entries.items()},
        sources=tuple(_source(place, summary) for place, summary in zip(places, prepared.scores.sources, strict=False)),
        remarks=tuple(remarks),
        papers={name: entry.paper.key for name, entry in entries.items() if entry.paper is not None},
        unscored=prepared.unscored,
    )


def _is_collection(place: ScoreSource) -> TypeGuard[str]:
    return isinstance(place, str) and place.startswith(CATALOGUE)


def _source(place: ScoreSource, summary: str) -> str:
    if place == f"{CATALOGUE}{EVERYTHING}":
        return "catalogue: all published scores"
    return f"{place}: published scores" if _is_collection(place) else summary


def _kept(place: ScoreSource) -> ScoreSource:
    """Return a collection uncorrected, as published models were fitted to it, with its reference players."""
    return collections.table(published_entries(place), as_published=True) if _is_collection(place) else place
