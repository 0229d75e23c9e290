"""Every task's score from a few: a linear model with a constant for each (Atari-5, §4.4).

Unlike models of a summary these keep negative coefficients and are not monotone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from arcademark.subset.fitting import Fit, fit
from arcademark.subset.problem import Floats, complete_rows


@dataclass(frozen=True)
class TaskModel:
    """A model of one task's transformed score.

    ``low`` and ``high`` are the range of each input in the algorithms that it was fitted to.
    """

    task: str
    fit: Fit
    low: tuple[float, ...]
    high: tuple[float, ...]

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
        Where a task has fewer algorithms than its model unknowns.
    """
    columns = [list(tasks).index(name) for name in chosen]
    result = {}
    for place, task in enumerate(tasks):
        targets = scores[:, place]
        rows = complete_rows(scores[:, columns], targets)
        inputs = scores[:, columns][rows]
        result[task] = TaskModel(
            task,
            fit(inputs, targets[rows], intercept=True),
            tuple(inputs.min(axis=0).tolist()),
            tuple(inputs.max(axis=0).tolist()),
        )
    return result
