"""Least squares with or without an intercept, and its explained variance.

Conventions
-----------
* ``inputs`` has shape (algorithms, tasks) and ``targets`` (algorithms,); both are already transformed (on Atari to log
  space) and complete (see `arcademark.subset.problem.complete_rows`).
* A *solver* returns weights for inputs and targets, without an intercept: `ordinary` or `without_negative`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arcademark.errors import ArcadeMarkError
from arcademark.subset.problem import Floats

Solver: TypeAlias = Callable[[Floats, Floats], Floats]


@dataclass(frozen=True)
class Fit:
    """A linear model with the sums of squares of its errors, and of the n targets about their mean."""

    coefficients: tuple[float, ...]
    intercept: float
    residual: float
    total: float
    n: int

    @property
    def r2(self) -> float:
        """The share of the targets' variance explained, in sample; NaN if the targets do not vary."""
        return 1.0 - self.residual / self.total if self.total else math.nan

    def predict(self, inputs: ArrayLike) -> Floats:
        """Apply the model to inputs of shape (..., tasks)."""
        return np.asarray(self.intercept + np.asarray(inputs, dtype=np.float64) @ np.array(self.coefficients))


def ordinary(inputs: Floats, targets: Floats) -> Floats:
    """Return the weights of least squares, shape (tasks,)."""
    return np.asarray(np.linalg.lstsq(inputs, targets, rcond=None)[0])


def without_negative(inputs: Floats, targets: Floats) -> Floats:
    """Return the weights of least squares without negative ones, shape (tasks,)."""
    from scipy.optimize import nnls

    return np.asarray(nnls(inputs, targets)[0])


def held_out(inputs: Floats, targets: Floats, fold_of: NDArray[np.int64], solver: Solver = ordinary) -> Floats:
    """Predict every algorithm, shape (algorithms,), by a model fitted to all folds but its own.

    ``fold_of``, shape (algorithms,), is as `arcademark.subset.problem.fold_of_cases` returns it.
    """
    result = np.empty(len(targets))
    for fold in range(int(fold_of.max()) + 1):
        held = fold_of == fold
        result[held] = inputs[held] @ solver(inputs[~held], targets[~held])
    return result


def fold_means(values: Floats, fold_of: NDArray[np.int64]) -> Floats:
    """Return the mean of the values in each fold, shape (folds,)."""
    return np.array([np.mean(values[fold_of == fold]) for fold in range(int(fold_of.max()) + 1)])


def fit(inputs: Floats, targets: Floats, *, intercept: bool = False) -> Fit:
    """Fit by ordinary least squares.

    The published subset models have no intercept (Atari-5, §4.3), those of single games do.

    Raises
    ------
    ArcadeMarkError
        If there are fewer algorithms than unknowns, or a value is missing.
    """
    unknowns = inputs.shape[1] + intercept
    if len(targets) < unknowns:
        raise ArcadeMarkError(
            f"{len(targets)} algorithms have all scores, and the model has {unknowns} unknowns; choose fewer tasks"
        )
    if np.isnan(inputs).any() or np.isnan(targets).any():
        raise ArcadeMarkError("a score to be fitted to is missing; keep only complete rows")
    middle, target = (inputs.mean(axis=0), float(targets.mean())) if intercept else (np.zeros(inputs.shape[1]), 0.0)
    weights = ordinary(inputs - middle, targets - target)
    constant = target - float(middle @ weights)
    residual = float(np.sum((targets - inputs @ weights - constant) ** 2))
    total = float(np.sum((targets - targets.mean()) ** 2))
    return Fit(tuple(weights.tolist()), constant, residual, total, len(targets))
