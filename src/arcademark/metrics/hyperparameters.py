"""Dependence of performance on per-task tuning of parameters (Adkins, Bowling and White 2024).

"A Method for Evaluating Hyperparameter Sensitivity in Reinforcement Learning", NeurIPS 2024. Scores have shape
(settings, tasks) or (settings, tasks, runs), none missing; settings' values, shape (settings, parameters), are codes
that are equal if a parameter's values are. A maximum over settings is biased upwards, and more so over more settings;
`held_out` chooses settings on some runs and scores them on others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

PERCENTILES = (5, 95)
"""Percentiles of a task's scores that are normalised to 0 and 1."""

SHARE = 0.95
"""Share of the performance with all parameters tuned that few parameters should reach."""

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class TunedPerTask:
    """The best result of tuning some parameters for each task; the others are as in the best fixed setting.

    tuned: Indices of the tuned parameters, ascending.
    score: Mean over tasks of the normalised scores.
    settings: Index of each task's setting, shape (tasks,).
    """

    tuned: tuple[int, ...]
    score: float
    settings: Ints


def limits(scores: Floats) -> Floats:
    """Return for each task the raw scores that are normalised to 0 and 1, shape (2, tasks)."""
    return np.asarray(np.percentile(scores, PERCENTILES, axis=(0, 2)))


def choices(scores: Floats, values: Ints) -> tuple[TunedPerTask, ...]:
    """Return the best choice of parameters and settings for each number of tuned parameters.

    Scores are normalised, shape (settings, tasks). Numbers range from 0 to that of parameters that vary; among equally
    good sets of parameters the first is chosen.
    """
    fixed = int(np.argmax(scores.mean(axis=1)))
    same = values == values[fixed]
    vary = np.flatnonzero(~same.all(axis=0)).tolist()
    return tuple(
        max((_tuned(scores, same, tuned, vary) for tuned in combinations(vary, count)), key=lambda choice: choice.score)
        for count in range(len(vary) + 1)
    )


def _tuned(scores: Floats, same: NDArray[np.bool_], tuned: tuple[int, ...], vary: Sequence[int]) -> TunedPerTask:
    allowed = same[:, [place for place in vary if place not in tuned]].all(axis=1)
    best = np.flatnonzero(allowed)[np.argmax(scores[allowed], axis=0)]
    return TunedPerTask(tuned, float(scores[best, np.arange(scores.shape[1])].mean()), best)


def sensitivity(choices: Sequence[TunedPerTask]) -> float:
    """Return the increase of the mean from the best fixed setting to all parameters tuned for each task."""
    return choices[-1].score - choices[0].score


def dimensionality(choices: Sequence[TunedPerTask]) -> int:
    """Return the least number of parameters that, tuned for each task, reach `SHARE` of the score with all tuned."""
    return next(count for count, choice in enumerate(choices) if choice.score >= SHARE * choices[-1].score)


def held_out(scores: Floats, values: Ints) -> Floats:
    """Score on each run the settings chosen on the other runs, from normalised scores (settings, tasks, runs ≥ 2).

    Returns
    -------
    float array, shape (runs, parameters + 1)
        For each held-out run and each number of tuned parameters, the mean over tasks of its scores with the settings
        that `choices` selects by the mean of the other runs.
    """
    total, runs, tasks = scores.sum(axis=2), scores.shape[2], np.arange(scores.shape[1])
    return np.array(
        [
            [
                scores[choice.settings, tasks, run].mean()
                for choice in choices((total - scores[:, :, run]) / (runs - 1), values)
            ]
            for run in range(runs)
        ]
    )
