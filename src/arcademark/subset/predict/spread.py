"""Spread of the transformed scores that a model was fitted to, and extrapolation beyond them.

Errors are larger for scores unlike the training algorithms', and intervals wider by the factor `extrapolation`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from arcademark.errors import ArcadeMarkError
from arcademark.metrics.power import check_share
from arcademark.subset.problem import Floats, Problem

FREEDOM = 4.0
"""Degrees of freedom; few, because new kinds of algorithms are expected."""

NOISE = 1e-3
"""Share of each task's variance added to the diagonal of covariances, which keeps them invertible."""
LEAST = 1e-9
"""The least variance."""


def extrapolation(distance: ArrayLike, tasks: int) -> Floats:
    """Return the factor, at least 1, by which errors are larger at a squared Mahalanobis distance from the mean.

    It is that of a t distribution with `FREEDOM` degrees of freedom, √((ν + d²) / (ν + k)) for k tasks' scores.
    """
    return np.maximum(1.0, np.sqrt((FREEDOM + np.asarray(distance)) / (FREEDOM + tasks)))


def conformal_half_width(errors: Sequence[Sequence[float]], level: float) -> float:
    """Return the half-width of an interval for an algorithm of a new group, from absolute errors by group.

    It is conformal over groups: each group has weight 1 / (groups + 1), shared equally by its algorithms, and the
    remaining weight is at infinity; the half-width is the least error at which the cumulative weight is the level. If
    groups are exchangeable, an algorithm of a new one is inside with at least that probability (Lee, Barber and Willett
    2023, "Distribution-free inference with hierarchical data").

    It is in the unit of the errors, and infinite if there are too few groups for the level, see `highest_level`.
    ArcadeMarkError: the level is not between 0 and 1.
    """
    check_share("level", level)
    share = 1.0 / (len(errors) + 1)
    reached = 0.0
    for size, weight in sorted((size, share / len(sizes)) for sizes in errors for size in sizes):
        reached += weight
        if reached >= level - 1e-12:
            return float(size)
    return math.inf


def highest_level(groups: int) -> float:
    """Return the highest level at which this number of groups has a finite interval."""
    return groups / (groups + 1)


@dataclass(frozen=True)
class Spread:
    """Mean and covariance of some tasks' scores.

    Parameters
    ----------
    mean : tuple of float
        One per task.
    covariance : tuple of tuple of float
        Positive definite, one row per task.
    errors : tuple of tuple of float
        Errors on held-out papers, scaled to scores that do not extrapolate, as in `arcademark.suite.subsets.Nested`: an
        interval from them is widened by the extrapolation factor.

    Raises
    ------
    ArcadeMarkError
        If shapes do not match, the covariance is not positive definite, a paper has no error, or one is below 0.
    """

    mean: tuple[float, ...]
    covariance: tuple[tuple[float, ...], ...]
    errors: tuple[tuple[float, ...], ...]

    def __post_init__(self) -> None:
        tasks = len(self.mean)
        sizes = all(sizes and min(sizes) >= 0 for sizes in self.errors)
        shaped = len(self.covariance) == tasks and all(len(row) == tasks for row in self.covariance)
        if not shaped or not positive_definite(np.array(self.covariance)) or not sizes:
            raise ArcadeMarkError(
                f"spread: expected {tasks} means, a symmetric positive definite covariance of as many rows, and "
                "errors of 0 or more for each paper"
            )

    def extrapolation(self, values: ArrayLike) -> float:
        """Return the factor by which intervals are wider for these transformed scores, shape (tasks,)."""
        deviations = np.asarray(values, dtype=np.float64) - np.array(self.mean)
        distance = deviations @ np.linalg.solve(np.array(self.covariance), deviations)
        return float(extrapolation(distance, len(deviations)))


def spread(problem: Problem, tasks: Sequence[str], errors: tuple[tuple[float, ...], ...] = ()) -> Spread:
    """Return the spread of the complete cases of some tasks, at least two cases. ``errors`` are as in `Spread`."""
    x, _ = problem.sample(problem.positions(tasks))
    if len(x) < 2:
        raise ArcadeMarkError(f"{len(x)} algorithms have scores on all of {', '.join(tasks)}, expected at least two")
    result = np.atleast_2d(np.cov(x, rowvar=False))
    result = result + np.diag(np.maximum(NOISE * np.diag(result), LEAST))
    return Spread(tuple(x.mean(axis=0).tolist()), tuple(map(tuple, result.tolist())), errors)


def positive_definite(matrix: Floats) -> bool:
    """Return True if a matrix is finite, symmetric and positive definite."""
    if not np.isfinite(matrix).all() or not np.allclose(matrix, matrix.T):
        return False
    try:
        np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        return False
    return True
