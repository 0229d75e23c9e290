"""Recomputation of every cell of the review's Tables 3 to 14 from raw scores and references.

Conventions
-----------
* Percentages are in percent, efficiencies in fractions per frame.
* Cells are computed from a `ReviewScores`. `ours` has the catalogue's scores and the suite's unrounded references; in
  `as_rounded` the references are rounded as the review prints them, which its authors may have used.
* Mean and median are over the games with a score, of which there may be fewer than 57.

Equations are those of Fan, "A Review for Deep Reinforcement Learning in Atari: Benchmarks, Challenges, and Solutions",
2021.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from arcademark.catalogue import collections
from arcademark.catalogue.model import Location
from arcademark.catalogue.printed import printed_cells, printed_number
from arcademark.metrics import aggregate, efficiency, normalise
from arcademark.suite.references import scores as reference_scores

PAPER = "fan-2021"
COLLECTION = "review-2021"
RANDOM, HUMAN, RECORD = REFERENCES = ("Random", "Human", "Human World Record")
QUANTITIES = {"hns": "HNS", "hwrns": "HWRNS", "saber": "SABER"}
"""Percentages of the tables, and their names."""
_KINDS = {RANDOM: "random", HUMAN: "human", RECORD: "human_world_record"}

Scores = Mapping[str, Mapping[str, float]]
"""Scores by algorithm, or by reference, and by game."""


@dataclass(frozen=True, eq=False)
class ReviewScores:
    """Raw scores of `REFERENCES` and of algorithms, and training frames: 0 for Random, without unknown ones."""

    references: Scores
    scores: Scores
    frames: Mapping[str, int]

    def with_references(self, changes: Mapping[tuple[str, str], float]) -> ReviewScores:
        """Return a copy in which some references, by (reference, game), have other scores."""
        return replace(self, references=_changed(self.references, changes))

    def with_scores(self, changes: Mapping[tuple[str, str], float]) -> ReviewScores:
        """Return a copy in which some scores, by (algorithm, game), are different."""
        return replace(self, scores=_changed(self.scores, changes))


@cache
def ours() -> ReviewScores:
    """Return the catalogue's scores and training frames, and the suite's unrounded references."""
    scores: dict[str, dict[str, float]] = {}
    for result in collections.results(COLLECTION):
        if result.entry.algorithm not in REFERENCES:
            scores.setdefault(result.entry.algorithm, {})[result.task] = result.score
    trained = ((entry.algorithm, entry.training_frames) for entry in collections.entries(COLLECTION))
    frames = {name: count for name, count in trained if count is not None}
    return ReviewScores({name: reference_scores(kind) for name, kind in _KINDS.items()}, scores, frames)


@cache
def as_rounded() -> ReviewScores:
    """Return `ours` with each reference rounded as the review prints it, except misprinted ones."""
    references = ours().references
    changes = {
        (cell.place.algorithm, cell.place.row): number.value
        for cell in printed_cells()
        if cell.place.algorithm in REFERENCES and cell.place.quantity == "score"
        if (number := printed_number(cell.printed))
        and number.is_rounding_of(references[cell.place.algorithm][cell.place.row])
    }
    return ours().with_references(changes)


def value(place: Location, basis: ReviewScores) -> float | None:
    """Compute a cell of Tables 3 to 14; None if there is no score, or the training frames are not known."""
    if place.row == "training frames":
        return basis.frames.get(place.algorithm)
    if place.quantity == "score":
        return {**basis.references, **basis.scores}[place.algorithm].get(place.row)
    if place.row == "hwrb":
        hwrns = percentages(place.algorithm, "hwrns", basis)
        return len(normalise.reaching(list(hwrns.values()), tuple(hwrns)))
    if place.row.startswith(("mean", "median")):
        return _summary(place, basis)
    return percentages(place.algorithm, place.quantity, basis).get(place.row)


def known(row: str, quantity: str, algorithm: str) -> float:
    """Return a cell of `ours`, which must have a value."""
    result = value(Location(0, row, algorithm, quantity), ours())
    assert result is not None, algorithm
    return float(result)


@cache
def percentages(algorithm: str, quantity: str, basis: ReviewScores) -> Mapping[str, float]:
    """Compute an algorithm's or reference's normalised scores: "hns" (Eq. 4), "hwrns" (Eq. 5), or "saber".

    "saber" is Eq. 5 clipped to 0 to 200 percent. Only games with a score are included.
    """
    raw = {**basis.references, **basis.scores}[algorithm]
    low, human, record = (basis.references[name] for name in REFERENCES)
    tasks = tuple(raw)
    scores = np.array([raw[task] for task in tasks])
    function = {"hns": normalise.hns, "hwrns": normalise.hwrns, "saber": normalise.saber}[quantity]
    values = function(scores, low, human if quantity == "hns" else record, tasks)
    return dict(zip(tasks, values.tolist(), strict=True))


def _summary(place: Location, basis: ReviewScores) -> float | None:
    statistic = aggregate.mean if place.row.startswith("mean") else aggregate.median
    percent = float(statistic(list(percentages(place.algorithm, place.quantity, basis).values())))
    if not place.row.endswith("efficiency"):
        return percent
    frames = basis.frames.get(place.algorithm)
    if frames is None:
        return None
    if frames == 0:  # Random does not train; the review prints 0
        return 0.0
    return float(efficiency.learning_efficiency(percent / normalise.PERCENT, frames))


def _changed(scores: Scores, changes: Mapping[tuple[str, str], float]) -> Scores:
    changed = dict(scores)
    for (name, task), score in changes.items():
        changed[name] = {**changed[name], task: score}
    return changed
