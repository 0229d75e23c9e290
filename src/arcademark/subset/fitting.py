"""Least squares with or without a constant, and how much it explains.

Conventions
-----------
* ``inputs`` has shape (algorithms, tasks) and ``targets`` (algorithms,); both are transformed already (log space, on
  Atari) and complete: `complete_rows` says which rows are.
* What a model without a constant is worth on cases that it was not fitted to says `search.evaluate`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arcademark.errors import ArcadeMarkError
from arcademark.subset.problem import Floats


@dataclass(frozen=True)
class Fit:
    """A linear model and how much it explains of what it was fitted to.

    Parameters
    ----------
    coefficients : tuple of float
        One a task.
    intercept : float
        0 where none was asked for.
    residual, total : float
        Sums of squares: of the errors, and of the targets about their mean.
    n : int
        Algorithms it was fitted to.
    """

    coefficients: tuple[float, ...]
    intercept: float
    residual: float
    total: float
    n: int

    @property
    def r2(self) -> float:
        """Share of the targets' variance explained, in sample; NaN where the targets do not vary."""
        return 1.0 - self.residual / self.total if self.total else math.nan

    def predict(self, inputs: ArrayLike) -> Floats:
        """Apply the model to inputs of shape (..., tasks)."""
        return np.asarray(self.intercept + np.asarray(inputs, dtype=np.float64) @ np.array(self.coefficients))


def complete_rows(inputs: Floats, targets: Floats | None = None) -> NDArray[np.bool_]:
    """Tell which algorithms have a value on every task, and a target.

    Parameters
    ----------
    inputs : float array, shape (algorithms, tasks)
    targets : float array, shape (algorithms,), optional

    Returns
    -------
    bool array, shape (algorithms,)
    """
    there = ~np.isnan(inputs).any(axis=1)
    return np.asarray(there if targets is None else there & ~np.isnan(targets))


def fit(inputs: Floats, targets: Floats, *, intercept: bool = False) -> Fit:
    """Fit by ordinary least squares.

    Parameters
    ----------
    inputs : float array, shape (algorithms, tasks)
    targets : float array, shape (algorithms,)
    intercept : bool, optional
        Whether there is a constant. The published subset models have none (Atari-5, §4.3), those of single games do.

    Raises
    ------
    ArcadeMarkError
        Where there are fewer algorithms than unknowns, or a value is missing.
    """
    unknowns = inputs.shape[1] + intercept
    if len(targets) < unknowns:
        raise ArcadeMarkError(
            f"{len(targets)} algorithms have all scores, and the model has {unknowns} unknowns; choose fewer tasks"
        )
    if np.isnan(inputs).any() or np.isnan(targets).any():
        raise ArcadeMarkError("a score is missing among those to be fitted to; keep complete rows only")
    design = np.column_stack([np.ones(len(targets)), inputs]) if intercept else inputs
    found = np.linalg.lstsq(design, targets, rcond=None)[0]
    residual = float(np.sum((targets - design @ found) ** 2))
    constant, weights = (float(found[0]), found[1:]) if intercept else (0.0, found)
    total = float(np.sum((targets - targets.mean()) ** 2))
    return Fit(tuple(weights.tolist()), constant, residual, total, len(targets))
