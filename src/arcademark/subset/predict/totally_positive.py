"""Covariances of totally positive normal distributions, under which a higher score never lowers a prediction.

Conventions
-----------
* A multivariate normal distribution is totally positive of order 2 if its precision matrix (the inverse of its
  covariance) has no entry above 0 off the diagonal. Then expectations of unknown tasks never fall as a known score
  rises, for any known tasks (Karlin and Rinott 1983; Fallat et al. 2017, "Total positivity in Markov structures").
* The maximum-likelihood covariance W of this kind for a sample covariance S has W ≥ S, with an equal diagonal. It is
  computed by block coordinate descent, one column at a time by non-negative least squares (Slawski and Hein 2015;
  Lauritzen, Uhler and Zwiernik 2019, "Maximum likelihood estimation in Gaussian models under total positivity"), and
  has no parameters to tune.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dposv
from scipy.optimize import nnls

from arcademark.errors import ArcadeMarkError
from arcademark.subset.predict.spread import NOISE, positive_definite
from arcademark.subset.problem import Floats

TOLERANCE = 1e-6
MAX_SWEEPS = 500

SLOPE = 1e-10
"""Least normalised slope of the error, as a share of both norms, at which a task enters."""

MAX_EXCHANGES = 10
"""Maximum number of exchanges of tasks, after which SciPy's solver, which always terminates, is used."""


def sweep(sample: Floats, covariance: Floats, active: NDArray[np.bool_]) -> float:
    """Improve every column of the covariance once, in place; return the largest change.

    All arrays have shape (d, d); the covariance is positive definite, nowhere below the sample's, with an equal
    diagonal. Row j of ``active`` marks the tasks with a coefficient above 0 in column j: an initial guess on entry, the
    result on return.
    """
    change = 0.0
    for j, column in enumerate(sample.T):
        values = _nonnegative(covariance, column, j, active[j])
        values[j] = column[j]
        change = max(change, float(np.abs(values - covariance[j]).max()))
        covariance[j, :] = covariance[:, j] = values
    return change


def _nonnegative(gram: Floats, target: Floats, j: int, active: NDArray[np.bool_]) -> Floats:
    """Solve non-negative least squares of column j on the others; return the fitted column, shape (d,).

    ``active``, bool of shape (d,), marks coefficients above 0. Those of the previous sweep are tried first; otherwise,
    block principal pivoting (Portugal, Júdice and Vicente 1994, "A comparison of block pivoting and interior-point
    algorithms for linear least squares problems with nonnegative variables") usually needs one or two exchanges.
    """
    small = SLOPE * np.sqrt(gram.diagonal() * target[j])
    for _ in range(MAX_EXCHANGES):
        places = active.nonzero()[0]
        rows = gram[places]
        _, solution, failed = dposv(rows[:, places], target[places]) if places.size else (None, np.empty(0), 0)
        if failed:
            break
        values = solution @ rows
        slope = target - values
        slope[places], slope[j] = 0.0, 0.0
        entering, positive = slope > small, solution > 0.0
        if positive.all() and not entering.any():
            return np.asarray(values)
        active[places] = positive
        active |= entering
    root = np.linalg.cholesky(gram)
    others = np.arange(len(gram)) != j
    found = np.zeros(len(gram))
    found[others] = nnls(root.T[:, others], solve_triangular(root, target, lower=True))[0]
    active[:] = found > 0.0
    return np.asarray(gram @ found)


def improve(sample: Floats, start: Floats | None = None, *, most_sweeps: int = MAX_SWEEPS) -> Floats:
    """Approximate the maximum-likelihood totally positive covariance, shape (tasks, tasks).

    ``sample`` is a covariance with a positive diagonal, to which `NOISE` is added; ``start`` is an initial value, such
    as the result for a similar sample. Sweeps end when no entry changes by more than `TOLERANCE` of a typical variance.
    The result is positive definite; it is exactly totally positive only in the limit, see `fit_covariance`.
    """
    wanted = sample + NOISE * np.diag(np.diag(sample))
    results = _feasible(wanted, start)
    small = TOLERANCE * float(np.mean(np.diag(wanted)))
    active = np.linalg.inv(results) < 0.0  # coefficients above 0
    for _ in range(most_sweeps):
        if sweep(wanted, results, active) <= small:
            break
    return results


def fit_covariance(sample: Floats, start: Floats | None = None) -> tuple[Floats, Floats]:
    """Return the maximum-likelihood totally positive covariance, and its inverse, the precision.

    No entry of the precision is above 0 off its diagonal: rounding errors above 0 are set to 0. Parameters are those of
    `improve`.

    Raises
    ------
    ArcadeMarkError
        If the sweeps do not converge.
    """
    for begin in (start, None):
        precision = np.linalg.inv(improve(sample, begin))
        precision = 0.5 * (precision + precision.T)
        off = ~np.eye(len(precision), dtype=bool)
        precision[off] = np.minimum(precision[off], 0.0)
        if positive_definite(precision):
            return np.asarray(np.linalg.inv(precision)), np.asarray(precision)
    raise ArcadeMarkError(
        "no covariance of these scores could be computed; leave out tasks that hardly differ from others"
    )


def _feasible(wanted: Floats, start: Floats | None) -> Floats:
    """Return a positive definite matrix that is nowhere below the given one, with an equal diagonal."""
    scale = np.sqrt(np.diag(wanted))
    outer = np.outer(scale, scale)
    if start is not None:
        root = np.sqrt(np.diag(start))
        near = np.maximum(wanted, start / np.outer(root, root) * outer)
        np.fill_diagonal(near, scale**2)
        if positive_definite(near):
            return np.asarray(near)
    correlation = wanted / outer
    np.fill_diagonal(correlation, 0.0)
    same = outer * max(0.0, float(correlation.max(initial=0.0)))
    np.fill_diagonal(same, scale**2)
    return np.asarray(same)
