"""Comparison of algorithms with published ones of a similar training budget, as in the review (Fan 2021).

All numbers are over the same games: those of the benchmark on which the report's algorithm has a score. Published
algorithms without one of them are left out, and listed. Protocols may differ; known differences are listed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from arcademark.analysis import measures, published
from arcademark.analysis.document import Peer, Similar
from arcademark.analysis.scoring.ranking import SUITE
from arcademark.analysis.tables import protocols
from arcademark.analysis.tables.dataset import Dataset
from arcademark.analysis.tables.document import Algorithm
from arcademark.catalogue import collections
from arcademark.grouping import grouped
from arcademark.metrics import aggregate, efficiency, normalise
from arcademark.records.model import scored_phase


def budgets(dataset: Dataset, algorithms: Sequence[Algorithm]) -> Iterator[Similar]:
    """Yield comparisons with published algorithms, one for each budget, set of games and protocol."""
    if dataset.benchmark.view.name != SUITE:
        return
    groups = grouped(
        ((item.efficiency.training_frames, games, dataset.play(item.name).label), item.name)
        for item in algorithms
        if (games := tuple(task for task in dataset.means(item.name) if task in dataset.benchmark.tasks))
        and item.efficiency
        and not dataset.scores.get(item.name).qualified
    )
    for (frames, games, _), names in groups.items():
        yield _beside(dataset, frames, games, names)


def _beside(dataset: Dataset, frames: int, games: tuple[str, ...], names: Sequence[str]) -> Similar:
    entries, within, lacking = published.of_similar_budget(frames, games)
    own = tuple(
        Peer(name, "", "", frames, _reported(dataset, name), **_figures(dataset.means(name), games, frames))
        for name in names
    )
    play = dataset.play(names[0])
    peers = []
    for entry in entries:
        scores = {task: result.score for task, result in collections.scores_of(entry).items()}
        spent, paper = entry.training_frames or 0, entry.origin
        differs = protocols.difference(play, protocols.from_entry(entry)) if play.known else ()
        figures = _figures(scores, games, spent)
        known = (entry.identity, paper.short, paper.key, spent, entry.reported)
        peers.append(Peer(*known, **figures, differs=differs, protocol=entry.protocol))
    return Similar(frames, games, published.SIMILAR, within, own, tuple(peers), lacking)


def _reported(dataset: Dataset, name: str) -> str:
    item = dataset.scores.get(name).played
    if item is None:
        return "unknown"
    return scored_phase(item.run.record.protocol, any(trial.learns for trial in item.trials))


def _figures(scores: Mapping[str, float], games: Sequence[str], frames: int) -> dict[str, Any]:
    """Summarise scores over games as the review's tables do (Fan 2021, Eqs. 3, 7 and HWRB)."""
    percent = {
        metric: measures.atari()[metric].normaliser([scores[task] for task in games], games)
        for metric in ("hns", "hwrns", "saber")
    }
    means = {f"mean_{metric}": float(aggregate.mean(values)) for metric, values in percent.items()}
    medians = {f"median_{metric}": float(aggregate.median(values)) for metric, values in percent.items()}
    broken = len(normalise.reaching(percent["hwrns"], games))
    gained = {
        "hns_a_frame": means["mean_hns"] / normalise.PERCENT,
        "median_hns_a_frame": medians["median_hns"] / normalise.PERCENT,
        "records_a_frame": broken,
    }
    per_frame = {name: float(efficiency.learning_efficiency(value, frames)) for name, value in gained.items()}
    return {**means, **medians, "records": broken, **per_frame}
