"""Whether the order of algorithms changes under another metric or another set of references."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from arcademark.metrics import ranking
from arcademark.metrics.uncertainty.bootstrap import AGGREGATES
from arcademark.reports.measures import Measure
from arcademark.reports.tables.comparison import Flip, Ranking, Sensitivity
from arcademark.reports.tables.dataset import Dataset
from arcademark.reports.tables.document import STATISTICS
from arcademark.suite import references

OTHER_SOURCES = "hns_other_sources"

USUAL = "median"
"""The summary of the first metric whose order the others are held against."""


def of(dataset: Dataset) -> Sensitivity | None:
    """Rank a table's algorithms by every summary of every metric, over the games that all have; None if there are none.

    HNS is also taken with the references that other sources print, where sources disagree.
    """
    runs = {name: dataset.runs(name) for name in dataset.algorithms}
    shared = [task for task in dataset.tasks if all(task in found for found in runs.values())]
    if not shared:
        return None
    found_by: list[tuple[Measure, str, dict[str, float]]] = []
    for measure in _measures(dataset):
        known = [task for task in shared if task in measure.known]
        if not known:
            continue
        found = {name: measure.aggregates({task: rows[task] for task in known}) for name, rows in runs.items()}
        found_by += [
            (measure, statistic, {name: float(four[place]) for name, four in found.items()})
            for place, statistic in enumerate(AGGREGATES)
        ]
    if not found_by:
        return None
    usual = next(values for _, statistic, values in found_by if statistic == USUAL)
    rankings = [_ranking(measure, statistic, values, usual) for measure, statistic, values in found_by]
    return Sensitivity(tuple(rankings), tuple(_flips(dataset.algorithms, rankings)))


def _measures(dataset: Dataset) -> Iterator[Measure]:
    yield from dataset.benchmark.measures.values()
    if "human" in dataset.benchmark.references:
        low, high = _as_others_print("random"), _as_others_print("human")
        yield Measure(OTHER_SOURCES, "HNS, other sources", "HNS with references as others print them", low, high)


def _as_others_print(kind: str) -> dict[str, float]:
    return {
        task: found.alternatives[0].score if found.alternatives else found.score
        for task, found in references.references(kind).items()
    }


def _ranking(measure: Measure, statistic: str, values: Mapping[str, float], usual: Mapping[str, float]) -> Ranking:
    sign = -1.0 if statistic == "optimality_gap" else 1.0
    signed = {name: sign * value for name, value in values.items()}
    ordered = min(len(set(order.values())) for order in (signed, usual)) > 1
    return Ranking(
        metric=measure.metric,
        title=measure.title,
        statistic=statistic,
        values=tuple(values.values()),
        ranks=tuple(ranking.ranks(signed).values()),
        inversions=ranking.inversions(usual, signed).count,
        kendall_tau=ranking.kendall_tau(usual, signed) if ordered else None,
    )


def _flips(names: tuple[str, ...], rankings: list[Ranking]) -> Iterator[Flip]:
    values: dict[ranking.Measure, dict[str, float]] = {
        f"{STATISTICS[item.statistic]} {item.title}": {
            name: -float(rank) for name, rank in zip(names, item.ranks, strict=True)
        }
        for item in rankings
    }
    for flip in ranking.rank_sensitivity(values).flips:
        yield Flip(flip.first, flip.second, tuple(map(str, flip.above)), tuple(map(str, flip.below)))
