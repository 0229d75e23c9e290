"""How often intervals from as few runs as a document has were seen to hold the true value; see docs/intervals.md.

The simulations of `arcademark.metrics.uncertainty.coverage` are of human-normalised scores, and of those capped at 100
%. They stand for other normalised scores too, but not for other caps, which were not measured.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from arcademark.metrics.uncertainty import coverage
from arcademark.metrics.uncertainty.intervals import LEVEL
from arcademark.reports import wording
from arcademark.reports.measures import Measure
from arcademark.reports.tables.dataset import Dataset
from arcademark.reports.tables.document import STATISTICS

PERCENT = "\N{NO-BREAK SPACE}%"

MEASURED_CAP = (0.0, 100.0)
"""Bounds of the capped scores that were simulated."""


@dataclass(frozen=True)
class Basis:
    """What intervals stand on: the fewest and most runs of games that have several, and all games that take part."""

    fewest: int
    most: int
    games: int
    noun: str  # what these are called

    @property
    def title(self) -> str:
        """The runs in words."""
        runs = f"{self.fewest} runs a {self.noun}"
        return runs if self.fewest == self.most else f"as few as {runs}"


def of_algorithms(dataset: Dataset, measures: Sequence[Measure], method: str) -> Iterator[str]:
    """Warn of algorithms whose intervals hold the truth too rarely, those of which the same is said together."""
    found: dict[str, list[str]] = {}
    for name in dataset.algorithms:
        basis = _basis(dataset, name)
        if basis and (told := _told(basis, measures, method, "")):
            found.setdefault(f"{basis.title}: {told}", []).append(name)
    for told, names in found.items():
        yield f"{wording.shortened(names)}, {told}"


def of_pairs(
    dataset: Dataset, pairs: Sequence[tuple[str, str]], measures: Sequence[Measure], method: str
) -> Iterator[str]:
    """Warn where intervals of differences hold the truth too rarely, of many pairs for that with the fewest runs."""
    bases = [(basis, pair) for pair in pairs if (basis := _basis(dataset, *pair))]
    if not bases:
        return
    basis, pair = min(bases, key=lambda item: (item[0].fewest, item[0].games))
    improvement = coverage.measured("probability_of_improvement", method, basis.games, basis.fewest)
    told = [_told(basis, measures, method, "difference of ")]
    if improvement and improvement[0] < coverage.ENOUGH:
        told.append(f"of the probability of improvement {coverage.span(improvement)}{PERCENT}")
    if any(told):
        whose = wording.listing(pair) if len(pairs) == 1 else f"The pair with the fewest runs, {wording.listing(pair)}"
        yield f"{whose}, {basis.title}: {'; '.join(filter(None, told))}"


def _basis(dataset: Dataset, *names: str) -> Basis | None:
    """Return what the intervals over the games that all of these algorithms have stand on; None without intervals."""
    played = [dataset.runs(name) for name in names]
    inside = [task for task in dataset.benchmark.tasks if all(task in runs for runs in played)]
    several = [[runs[task].size for task in inside if runs[task].size > 1] for runs in played]
    if not all(several):
        return None
    sizes = [size for found in several for size in found]
    return Basis(min(sizes), max(sizes), len(inside), dataset.benchmark.noun)


def _told(basis: Basis, measures: Sequence[Measure], method: str, prefix: str) -> str:
    """Say which summaries' intervals hold the truth too rarely; "" where all hold it often enough."""
    groups: dict[str, list[str]] = {}
    for measure in measures:
        if not measure.capped:
            groups.setdefault(prefix, []).append(measure.title)
        elif measure.bounds == MEASURED_CAP:
            groups.setdefault(f"{prefix}capped ", []).append(measure.title)
    told = [
        f"{wording.listing(titles)}, {short}"
        for kind, titles in groups.items()
        if (short := _short(basis, method, kind))
    ]
    what = "intervals of such differences" if prefix else "intervals"
    sentences = []
    if told:
        games, runs = coverage.nearest(basis.games, basis.fewest)
        sentences.append(
            f"of simulated {100 * LEVEL:g}{PERCENT} {what} from {runs} runs of {games} games, fewer held the true "
            f"value: {'; '.join(told)}"
        )
    unknown = [item.title for item in measures if item.capped and item.bounds != MEASURED_CAP]
    if unknown and (told or basis.fewest < coverage.FEW_RUNS):
        sentences.append(f"how often {what} of {wording.listing(unknown)} hold it was not measured")
    return ". ".join(
        sentence[0].upper() + sentence[1:] if place else sentence for place, sentence in enumerate(sentences)
    )


def _short(basis: Basis, method: str, prefix: str) -> str:
    found = []
    for statistic, title in STATISTICS.items():
        seen = coverage.measured(f"{prefix}{statistic}", method, basis.games, basis.fewest)
        if seen and seen[0] < coverage.ENOUGH:
            found.append(f"{title} {coverage.span(seen)}{PERCENT}")
    return ", ".join(found)
