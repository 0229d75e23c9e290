"""The joint distribution of all tasks' scores, which predicts any tasks from any others.

Conventions
-----------
* Transformed scores of an algorithm are one draw from a multivariate normal distribution, fitted by
  expectation-maximisation (EM) to tables with missing cells; no algorithm is left out.
* Its covariance is totally positive (`arcademark.subset.predict.totally_positive`): for any known tasks, a better score
  never lowers the expectation of any other task.
* The spread of unknown scores about their expectation depends on *which* tasks are known, not on their scores;
  `Joint.extrapolation` widens intervals for unusual combinations of scores.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arcademark.subset.predict.spread import extrapolation
from arcademark.subset.problem import Floats

MAX_ITERATIONS = 60
SWEEPS = 2
TOLERANCE = 3e-3
"""EM ends when no mean or covariance changes by more than this share of a typical spread or variance."""

Cases = list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]]


@dataclass(frozen=True, eq=False)
class Conditional:
    """Conditional distribution of tasks given the known ones.

    ``known``, shape (k,), and ``missing``, shape (m,), are the tasks' places. ``weights``, shape (m, k), none negative,
    are the derivatives of each missing task's expectation by each known score; ``spread``, shape (m, m), is the lower
    triangular root of the conditional covariance.
    """

    known: NDArray[np.int64]
    missing: NDArray[np.int64]
    weights: Floats
    spread: Floats


@dataclass(frozen=True, eq=False)
class Joint:
    """The distribution of n algorithms' transformed scores.

    The precision, inverse of the covariance, has no entry above 0 off its diagonal; both have shape (tasks, tasks).
    """

    tasks: tuple[str, ...]
    mean: Floats
    covariance: Floats
    precision: Floats
    n: int

    def conditional(self, known: ArrayLike) -> Conditional:
        """Return the distribution of the other tasks given the known ones, a bool array of shape (tasks,)."""
        mask = np.asarray(known, dtype=bool)
        missing, given = np.flatnonzero(~mask), np.flatnonzero(mask)
        inverse = np.linalg.inv(self.precision[np.ix_(missing, missing)])
        weights = np.maximum(0.0, -inverse @ self.precision[np.ix_(missing, given)])
        return Conditional(given, missing, weights, np.asarray(np.linalg.cholesky(0.5 * (inverse + inverse.T))))

    def expected(self, conditional: Conditional, values: Floats) -> Floats:
        """Return expectations of the missing tasks, shape (..., m), from transformed scores, shape (..., tasks)."""
        deviations = values[..., conditional.known] - self.mean[conditional.known]
        return np.asarray(self.mean[conditional.missing] + deviations @ conditional.weights.T)

    def extrapolation(self, known: ArrayLike, values: Floats) -> Floats:
        """Return the factor by which missing tasks spread more widely than usual for unusual known scores.

        See `arcademark.subset.predict.spread.extrapolation`: new kinds of algorithms have combinations of scores that
        none had before. ``known`` has shape (tasks,), ``values``, transformed scores, (..., tasks).
        """
        places = np.flatnonzero(known)
        deviations = values[..., places] - self.mean[places]
        solved = np.linalg.solve(self.covariance[np.ix_(places, places)], deviations.T).T
        distance = np.sum(deviations * solved, axis=-1)
        return extrapolation(distance, len(places))


def fit_joint(values: Floats, tasks: Sequence[str], start: Joint | None = None) -> Joint:
    """Fit the distribution to transformed scores, shape (algorithms, tasks), NaN where missing.

    Every task needs at least two different scores. ``start`` is an initial distribution, such as a fit to more
    algorithms, which saves iterations.
    """
    from arcademark.subset.predict.totally_positive import fit_covariance, improve  # SciPy's solvers load slowly

    mean, variances = np.nanmean(values, axis=0), np.nanvar(values, axis=0)
    covariance = 0.5 * np.sqrt(np.outer(variances, variances))
    np.fill_diagonal(covariance, variances)
    if start is not None:
        mean, covariance = start.mean, start.covariance
    cases = _patterns(np.isfinite(values))
    for _ in range(MAX_ITERATIONS):
        new, sample = _expect(values, cases, mean, np.asarray(np.linalg.inv(covariance)))
        before, covariance = covariance, improve(sample, covariance, most_sweeps=SWEEPS)
        moved = np.max(np.abs(new - mean) / np.sqrt(variances))
        turned = np.max(np.abs(covariance - before)) / np.mean(variances)
        mean = new
        if max(moved, turned) <= TOLERANCE:
            break
    return Joint(tuple(tasks), mean, *fit_covariance(sample, covariance), len(values))


def _patterns(known: NDArray[np.bool_]) -> Cases:
    """Return for every pattern of missing tasks its rows, and the indices of known and of missing tasks."""
    kinds, which = np.unique(known, axis=0, return_inverse=True)
    return [
        (np.flatnonzero(which.reshape(-1) == place), np.flatnonzero(kind), np.flatnonzero(~kind))
        for place, kind in enumerate(kinds)
        if not kind.all()
    ]


def _expect(table: Floats, cases: Cases, mean: Floats, precision: Floats) -> tuple[Floats, Floats]:
    """Impute missing cells by their expectations; return the new mean, and the covariance with the residual one."""
    filled, left = table.copy(), np.zeros_like(precision)
    for rows, known, missing in cases:
        inverse = np.linalg.inv(precision[np.ix_(missing, missing)])
        weights = -inverse @ precision[np.ix_(missing, known)]
        filled[np.ix_(rows, missing)] = mean[missing] + (table[np.ix_(rows, known)] - mean[known]) @ weights.T
        left[np.ix_(missing, missing)] += len(rows) * inverse
    new = filled.mean(axis=0)
    return new, ((filled - new).T @ (filled - new) + left) / len(table)
