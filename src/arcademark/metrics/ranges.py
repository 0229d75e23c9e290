"""Scores normalised by a range: of possible scores, of random play, of baselines, or of the compared algorithms.

Conventions
-----------
* Every method here is (score − lowest) / (highest − lowest) for some range [lowest, highest] of each task (Bellemare et
  al. 2013, "The Arcade Learning Environment: An Evaluation Platform for General Agents", §4.1). Results are fractions.
* Axes of ``scores`` and errors are as in `arcademark.metrics.normalise`: tasks last. NaN stays NaN.
* A range may be empty: random play scores 0 in a few games, or all algorithms score the same. ``zero_range="refuse"``
  raises and names the tasks; ``zero_range="omit"`` returns NaN for them, and `zero_ranges` names them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arcademark.errors import ArcadeMarkError
from arcademark.metrics.normalise import ZeroRange, normalise

Limits: TypeAlias = Mapping[str, tuple[float, float]]
"""Task → (lowest, highest), in the task's own unit."""


def zero_ranges(limits: Limits, tasks: Sequence[str]) -> tuple[str, ...]:
    """Return the tasks whose range is empty, in the order of ``tasks``; tasks without limits are not included."""
    return tuple(task for task in tasks if task in limits and limits[task][0] == limits[task][1])


def random_limits(random: Mapping[str, float], tasks: Sequence[str]) -> dict[str, tuple[float, float]]:
    """Return the ranges from 0 to the magnitude of the random score (Bellemare et al. 2013, §4.1.1).

    Random play itself is 1 or, if its score is negative, −1; a random score of 0 makes the range empty.
    """
    _refuse("no random reference score for", [task for task in tasks if not np.isfinite(random.get(task, np.nan))])
    return {task: (0.0, abs(random[task])) for task in tasks}


def baseline_limits(baselines: Mapping[str, Sequence[float]], tasks: Sequence[str]) -> dict[str, tuple[float, float]]:
    """Return the ranges from the lowest to the highest baseline score, all finite (Bellemare et al. 2013, §4.1.2).

    In 2013, the baselines were 37 agents. Scores may lie outside the range.
    """
    _refuse("no baseline scores for", [task for task in tasks if not len(baselines.get(task, ()))])
    _refuse("a baseline score is not finite on", [task for task in tasks if not np.isfinite(baselines[task]).all()])
    return {task: (float(min(baselines[task])), float(max(baselines[task]))) for task in tasks}


def algorithm_limits(scores: ArrayLike, tasks: Sequence[str]) -> dict[str, tuple[float, float]]:
    """Return the ranges of `inter_algorithm`: from the lowest to the highest score of each task.

    `scores`, shape (algorithms, tasks), are raw, NaN where missing; tasks without any score are left out.
    """
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim != 2 or values.shape[1] != len(tasks) or not len(values):
        raise ArcadeMarkError(f"expected scores of shape (algorithms, {len(tasks)}), not {values.shape}")
    lows, highs = np.fmin.reduce(values, axis=0), np.fmax.reduce(values, axis=0)
    return {
        task: (float(low), float(high)) for task, low, high in zip(tasks, lows, highs, strict=True) if not np.isnan(low)
    }


def placed(
    scores: ArrayLike, limits: Limits, tasks: Sequence[str], *, zero_range: ZeroRange = "refuse"
) -> NDArray[np.float64]:
    """Normalise raw scores, shape (..., tasks), by each task's range: 0 is its lowest end, 1 its highest."""
    lows, highs = ({task: ends[side] for task, ends in limits.items()} for side in (0, 1))
    return normalise(scores, lows, highs, tasks, zero_range=zero_range)


def inter_algorithm(
    scores: ArrayLike, tasks: Sequence[str], *, zero_range: ZeroRange = "refuse"
) -> NDArray[np.float64]:
    """Normalise scores by the worst and the best of the compared algorithms (Bellemare et al. 2013, §4.1.3).

    On every task the best algorithm has 1 and the worst 0, however good either is. Raw scores, shape (algorithms,
    tasks), are means over runs. Missing scores (NaN) stay missing and do not affect the range, which is empty if all
    score the same, or only one has a score.
    """
    values = np.asarray(scores, dtype=np.float64)
    limits = algorithm_limits(values, tasks)
    played = [place for place, task in enumerate(tasks) if task in limits]
    result = np.full(values.shape, np.nan)
    result[:, played] = placed(values[:, played], limits, [tasks[place] for place in played], zero_range=zero_range)
    return result


def _refuse(problem: str, tasks: Sequence[str]) -> None:
    if tasks:
        raise ArcadeMarkError(f"{problem} {', '.join(tasks)}; correct that, or leave such tasks out")
