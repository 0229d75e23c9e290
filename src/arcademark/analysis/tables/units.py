"""Recognition of scores in other units than points, by the published scores of each game.

Conventions
-----------
* The evidence of a game's score x for a unit u is log p_u(x) − log p_points(x). p_points is a density of the game's
  scores in the catalogue, with random play, humans and checkpoints; p_u is that of the same scores in u.
* Densities are of asinh(2 x), which is a logarithm of large scores: Gaussian kernels of width `BANDWIDTH`, with a flat
  density that weighs as much as two scores. A score of exactly 0 has the evidence `ZERO`: agents that fail have it in
  points.
* An algorithm is in a unit if the sum over its games exceeds `WHOLE`, or if a mixture in which a `SHARE` of its games
  is in that unit fits better by `WHOLE`, plus `MIXED` per game. docs/tables.md reports how often that is right.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from arcademark.catalogue import collections
from arcademark.grouping import grouped
from arcademark.metrics.normalise import normalise
from arcademark.suite import references

BANDWIDTH = 0.35
FLAT = 2.0
"""Weight of the flat density, in scores."""
ZERO = -2.0
"""Evidence of a score that is 0."""
WHOLE, MIXED, SHARE = 5.0, 0.3, 0.3
FEWEST = 10
"""Published scores that a game needs to count."""

_END, _STEP = 24.0, 0.05
_GRID = np.arange(-_END, _END + _STEP, _STEP)

_Floats = NDArray[np.float64]

Densities = Mapping[str, Mapping[str, _Floats]]
"""Log densities at `_GRID` by game and unit."""


def _normalised(task: str, scores: _Floats) -> _Floats:
    return normalise(scores[:, np.newaxis], references.scores("random"), references.scores("human"), [task])[:, 0]


_POINTS = "points"
UNITS: Mapping[str, Callable[[str, _Floats], _Floats]] = {
    _POINTS: lambda _, scores: scores,
    "human-normalised scores in fractions": _normalised,
    "human-normalised scores in percent": lambda task, scores: 100 * _normalised(task, scores),
    "thousands of points": lambda _, scores: scores / 1000,
}
"""Conversions of a game's points into each unit."""


def densities(published: Mapping[str, Sequence[float]]) -> Densities:
    """Return the densities of published scores and the references, in points, by game and unit."""
    low, high = references.scores("random"), references.scores("human")
    points = {task: np.array([*scores, low[task], high[task]]) for task, scores in published.items() if task in high}
    return {
        task: {unit: _log_density(convert(task, scores)) for unit, convert in UNITS.items()}
        for task, scores in points.items()
        if len(scores) >= FEWEST
    }


@cache
def of_catalogue() -> Densities:
    """Return the densities of all scores in the catalogue."""
    return densities(grouped((task, score) for _, task, score in published()))


def published() -> tuple[tuple[str, str, float], ...]:
    """Return all scores in the catalogue, also of checkpoints, as (algorithm, game, score)."""
    finished = ((item.entry.identity, item.task, item.score) for item in collections.results())
    points = ((one.entry.identity, *score) for one in collections.checkpoints() for score in one.scores.items())
    return (*finished, *points)


def _log_density(scores: _Floats) -> _Floats:
    places = np.rint((np.arcsinh(2 * scores) + _END) / _STEP).astype(np.int64)
    counts = np.bincount(np.clip(places, 0, len(_GRID) - 1), minlength=len(_GRID)).astype(np.float64)
    offsets = np.arange(-4 * BANDWIDTH, 4 * BANDWIDTH + _STEP, _STEP)
    kernel = np.exp(-0.5 * (offsets / BANDWIDTH) ** 2) / (BANDWIDTH * np.sqrt(2 * np.pi))
    return np.asarray(
        np.log((np.convolve(counts, kernel, mode="same") + FLAT / (2 * _END)) / (len(scores) + FLAT)), dtype=np.float64
    )


def detect(tasks: Sequence[str], means: _Floats, known: Densities | None = None) -> dict[int, tuple[str, str]]:
    """Return the rows of algorithms whose scores are in another unit, with the unit and the task of most evidence.

    Parameters
    ----------
    tasks : sequence of str
    means : float array, shape (algorithms, tasks)
        Mean scores; NaN where one is missing.
    known : mapping, optional
        Densities as from `densities`; by default those of the catalogue.
    """
    known = of_catalogue() if known is None else known
    columns = [column for column, task in enumerate(tasks) if task in known]
    if not columns:
        return {}
    names = [unit for unit in UNITS if unit != _POINTS]
    evidence = np.stack(  # units, algorithms, tasks
        [_evidence(known[tasks[column]], means[:, column], names) for column in columns], axis=-1
    )
    number = (~np.isnan(means[:, columns])).sum(axis=1)
    whole = evidence.sum(axis=-1) - WHOLE
    mixed = np.logaddexp(np.log(1 - SHARE), np.log(SHARE) + evidence).sum(axis=-1) - WHOLE - MIXED * number
    best = np.maximum(whole, mixed)
    return {
        int(row): (names[unit], tasks[columns[int(evidence[unit, row].argmax())]])
        for row in np.flatnonzero(best.max(axis=0) > 0)
        for unit in [int(best[:, row].argmax())]
    }


def _evidence(of_game: Mapping[str, _Floats], scores: _Floats, names: Sequence[str]) -> _Floats:
    at = np.arcsinh(2 * scores)
    result = np.stack([np.interp(at, _GRID, of_game[unit] - of_game[_POINTS]) for unit in names])
    return np.where(np.isnan(scores), 0.0, np.where(scores == 0, ZERO, result))
