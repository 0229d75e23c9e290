"""Every task's score from a few: a linear model with a constant for each (Atari-5, §4.4), with prediction intervals.

Unlike models of a summary these keep negative coefficients and are not monotone. Intervals are those of leave-one-out
residuals: they reach as far as the ⌈(n + 1)·level⌉-th smallest of n errors. An algorithm like those of the training
table then falls inside with about that probability; one of another kind need not.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from arcademark.errors import ArcadeMarkError
from arcademark.subset.fitting import Fit, fit
from arcademark.subset.problem import Floats, complete_rows
from arcademark.suite.subsets import LEVEL


@dataclass(frozen=True)
class TaskModel:
    """A model of one task's transformed score.

    ``errors`` are the leave-one-out residuals' sizes, ascending; ``low`` and ``high`` the range of each input in the
    algorithms that it was fitted to.
    """

    task: str
    fit: Fit
    errors: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]

    def half_width(self, level: float = LEVEL) -> float:
        """Return an interval's half-width in transformed units; infinite if n is too small for the level."""
        if not 0 < level < 1:
            raise ArcadeMarkError(f"level {level:g}, expected a fraction between 0 and 1")
        place = math.ceil((len(self.errors) + 1) * level)
        return self.errors[place - 1] if place <= len(self.errors) else math.inf

    def extrapolates(self, inputs: Sequence[float]) -> tuple[int, ...]:
        """Return the places of inputs outside the range of those that the model was fitted to."""
        ranges = zip(inputs, self.low, self.high, strict=True)
        return tuple(place for place, (value, low, high) in enumerate(ranges) if not low <= value <= high)


def fit_every_task(scores: Floats, tasks: Sequence[str], chosen: Sequence[str]) -> Mapping[str, TaskModel]:
    """Fit a model of every task, the chosen ones too, to transformed scores, shape (algorithms, tasks).

    Each model is fitted to the algorithms that have its task and the chosen ones, from which it predicts; NaN is
    missing.

    Raises
    ------
    ArcadeMarkError
        Where a chosen task is not among them, or a task has fewer algorithms than its model unknowns.
    """
    strangers = [name for name in chosen if name not in tasks]
    if strangers or not chosen:
        raise ArcadeMarkError(f"no scores of {', '.join(strangers) or 'any chosen task'} to predict others from")
    columns = [list(tasks).index(name) for name in chosen]
    found = {}
    for place, task in enumerate(tasks):
        targets = scores[:, place]
        rows = complete_rows(scores[:, columns], targets)
        inputs = scores[rows][:, columns]
        found[task] = TaskModel(
            task,
            fit(inputs, targets[rows], intercept=True),
            _left_out(inputs, targets[rows]),
            tuple(inputs.min(axis=0).tolist()),
            tuple(inputs.max(axis=0).tolist()),
        )
    return found


def _left_out(inputs: Floats, targets: Floats) -> tuple[float, ...]:
    """Return the sizes of leave-one-out residuals, ascending: residual / (1 - leverage)."""
    design = np.column_stack([np.ones(len(targets)), inputs])
    q, r = np.linalg.qr(design)
    if np.any(np.abs(np.diag(r)) < 1e-10 * max(1.0, float(np.abs(r).max()))):
        raise ArcadeMarkError("tasks to predict from say the same of all algorithms; leave one of them out")
    residuals = targets - q @ (q.T @ targets)
    leverage = np.sum(q**2, axis=1)
    sizes = np.abs(residuals) / np.maximum(1.0 - leverage, 1e-12)
    return tuple(np.sort(sizes).tolist())
