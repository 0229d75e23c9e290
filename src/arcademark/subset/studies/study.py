"""Estimates beside true values, for any table (Atari-5, §§5.3, 7 and 8).

Conventions
-----------
* Scores are normalised, in the models' unit (on Atari percent of the average human); NaN where missing.
* A true value is the summary that the models predict, usually the median, over all tasks that an algorithm has.
* Unknown values are None: an estimate without all of a model's tasks, a true value over too few tasks.
* A relative error is (estimate - true) / true, with its sign: below 0 the estimate is too low.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from arcademark.errors import ArcadeMarkError, UnknownNameError
from arcademark.metrics.ranking import inversions
from arcademark.subset.predict.model import SubsetModel
from arcademark.subset.problem import Floats, Summary, summaries

MINIMUM_TASKS = 40
"""Least number of tasks whose median is a fair estimate of that of all (Atari-5, §4.1)."""


@dataclass(frozen=True)
class ModelComparison:
    """A model's estimate for one algorithm.

    Parameters
    ----------
    value : float or None
        The estimate; None if a task of the model has no score.
    error : float or None
        Relative error, a fraction; None without an estimate, or without a true value other than 0.
    relative : float or None
        The estimate as a multiple of the baseline's estimate.
    relative_error : float or None
        Relative error of `relative`.
    """

    value: float | None
    error: float | None
    relative: float | None
    relative_error: float | None


@dataclass(frozen=True)
class StudyRow:
    """One algorithm.

    Parameters
    ----------
    tasks : int
        Number of tasks with a score.
    true : float or None
        The summary over these; None if there are too few.
    relative : float or None
        The summary as a multiple of the baseline's.
    estimates : tuple of ModelComparison
        One per model.
    """

    algorithm: str
    tasks: int
    true: float | None
    relative: float | None
    estimates: tuple[ModelComparison, ...]


@dataclass(frozen=True)
class Agreement:
    """Agreement of one model's estimates with the true values.

    Parameters
    ----------
    compared : int
        Number of algorithms with both.
    mean_error, worst_error : float or None
        Mean and largest absolute relative error; None if there is none.
    bias : float or None
        Mean of the signed relative error.
    relative_mean_error : float or None
        Mean absolute relative error of the values relative to the baseline, without the baseline itself.
    inversions : tuple of (str, str)
        Pairs that the estimates order wrongly, the truly better one first.
    pairs : int
        Number of compared pairs.
    """

    compared: int
    mean_error: float | None
    worst_error: float | None
    bias: float | None
    relative_mean_error: float | None
    inversions: tuple[tuple[str, str], ...]
    pairs: int


@dataclass(frozen=True)
class Study:
    """Rows from the highest true value, those without one last, by name; and one agreement per model."""

    rows: tuple[StudyRow, ...]
    agreements: tuple[Agreement, ...]


def study(
    scores: ArrayLike,
    algorithms: Sequence[str],
    tasks: Sequence[str],
    models: Sequence[SubsetModel],
    *,
    target: str | Summary | ArrayLike = "median",
    minimum_tasks: int = MINIMUM_TASKS,
    relative_to: str | None = None,
    beside: Collection[str] = (),
) -> Study:
    """Estimate every algorithm by every model, and compare the estimates with true values.

    Parameters
    ----------
    scores : float array, shape (algorithms, tasks)
        Normalised scores, in percent for the published models.
    models : sequence of SubsetModel
        Models of the same summary, ``target``, which is as for `arcademark.subset.problem.make_problem`.
    minimum_tasks : int, optional
        Number of tasks that an algorithm needs for its summary to count as true.
    relative_to : str, optional
        The baseline, an algorithm whose values are 1 (Atari-5, Table 5).
    beside : collection of str, optional
        Algorithms that have a row, but are not part of the agreement.

    Raises
    ------
    ArcadeMarkError
        If the summary is unknown, or the baseline is missing or has no true value above 0.
    """
    values = np.asarray(scores, dtype=np.float64)
    counts = np.isfinite(values).sum(axis=1)
    true = np.where(counts >= max(1, minimum_tasks), summaries(values, target), np.nan)
    base = _baseline(relative_to, algorithms, true)
    relative = _relative(true, base)
    columns = []
    for model in models:
        guesses = _estimates(model, values, tasks)
        guessed = _relative(guesses, base)
        known = (guesses, _errors(true, guesses), guessed, _errors(relative, guessed))
        columns.append(list(map(ModelComparison, *map(_known, known))))
    of_each = zip(algorithms, counts.tolist(), _known(true), _known(relative), strict=True)
    rows = [StudyRow(*known, tuple(column[place] for column in columns)) for place, known in enumerate(of_each)]
    ordered = sorted(rows, key=lambda row: (row.true is None, -(row.true or 0.0), row.algorithm))
    counted = [row for row in ordered if row.algorithm not in beside]
    return Study(tuple(ordered), tuple(_agreement(counted, place, relative_to) for place in range(len(models))))


def _estimates(model: SubsetModel, values: Floats, tasks: Sequence[str]) -> Floats:
    if not set(model.tasks) <= set(tasks):
        return np.full(len(values), np.nan)
    return model.predict(values[:, [tasks.index(task) for task in model.tasks]])


def _baseline(name: str | None, algorithms: Sequence[str], true: Floats) -> int | None:
    if name is None:
        return None
    if name not in algorithms:
        raise UnknownNameError("algorithm", name, algorithms)
    place = list(algorithms).index(name)
    if np.isnan(true[place]) or true[place] == 0:
        raise ArcadeMarkError(f"{name} has no true value above 0, so values cannot be relative to it; name another")
    return place


def _relative(values: Floats, base: int | None) -> Floats:
    """Return values as multiples of the baseline's."""
    whole = np.nan if base is None or values[base] == 0 else values[base]
    return np.asarray(values / whole)


def _errors(true: Floats, guesses: Floats) -> Floats:
    return np.asarray((guesses - true) / np.where(true == 0, np.nan, true))


def _known(values: Floats) -> list[float | None]:
    return [value if np.isfinite(value) else None for value in values.tolist()]


def _agreement(rows: Sequence[StudyRow], place: int, relative_to: str | None) -> Agreement:
    both = [row for row in rows if row.true is not None and row.estimates[place].value is not None]
    signed = [error for row in both if (error := row.estimates[place].error) is not None]
    sizes = [abs(error) for error in signed]
    relative = [
        abs(error)
        for row in both
        if row.algorithm != relative_to and (error := row.estimates[place].relative_error) is not None
    ]
    estimates = {row.algorithm: row.estimates[place].value or 0.0 for row in both}
    return Agreement(
        compared=len(both),
        mean_error=float(np.mean(sizes)) if sizes else None,
        worst_error=max(sizes, default=None),
        bias=float(np.mean(signed)) if signed else None,
        relative_mean_error=float(np.mean(relative)) if relative else None,
        inversions=inversions({row.algorithm: row.true or 0.0 for row in both}, estimates),
        pairs=len(both) * (len(both) - 1) // 2,
    )
