"""Scores placed in a score range: of the game itself, of random play, of baselines, or of the algorithms compared.

Conventions
-----------
* Every method here is (score − lowest) / (highest − lowest) for some range [lowest, highest] of each task (Bellemare et
  al. 2013, "The Arcade Learning Environment: An Evaluation Platform for General Agents", §4.1). Results are fractions.
* Axes of ``scores`` and errors are as in `arcademark.metrics.normalise`: tasks last unless ``task_axis`` says
  otherwise. NaN in, NaN out, element by element.
* A range may be empty: random play scores 0 in a few games, or all algorithms score the same. ``zero_range="refuse"``
  raises and names the tasks; ``zero_range="omit"`` gives NaN there, and `zero_ranges` of the same limits names them.
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
    """Name the tasks whose range is empty, in the order of ``tasks``; those without limits are not among them."""
    return tuple(task for task in tasks if task in limits and limits[task][0] == limits[task][1])


def random_limits(random: Mapping[str, float], tasks: Sequence[str]) -> dict[str, tuple[float, float]]:
    """Return the ranges of `random_normalised`: from 0 to the magnitude of the random score."""
    _refuse("no random reference score for", [task for task in tasks if not np.isfinite(random.get(task, np.nan))])
    return {task: (0.0, abs(random[task])) for task in tasks}


def baseline_limits(baselines: Mapping[str, Sequence[float]], tasks: Sequence[str]) -> dict[str, tuple[float, float]]:
    """Return the ranges of `baseline_normalised`: from the lowest to the highest reference score, all finite."""
    _refuse("no baseline scores for", [task for task in tasks if not len(baselines.get(task, ()))])
    _refuse("a baseline score is not finite on", [task for task in tasks if not np.isfinite(baselines[task]).all()])
    return {task: (float(min(baselines[task])), float(max(baselines[task]))) for task in tasks}


def algorithm_limits(scores: ArrayLike, tasks: Sequence[str]) -> dict[str, tuple[float, float]]:
    """Return the ranges of `inter_algorithm`: from the lowest to the highest score there is.

    `scores`, shape (algorithms, tasks), are raw, NaN where missing; tasks on which none has a score are left out.
    """
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim != 2 or values.shape[1] != len(tasks) or not len(values):
        raise ArcadeMarkError(f"expected scores of shape (algorithms, {len(tasks)}), not {values.shape}")
    lows, highs = np.fmin.reduce(values, axis=0), np.fmax.reduce(values, axis=0)
    return {
        task: (float(low), float(high)) for task, low, high in zip(tasks, lows, highs, strict=True) if not np.isnan(low)
    }


def random_normalised(
    scores: ArrayLike,
    random: Mapping[str, float],
    tasks: Sequence[str],
    *,
    task_axis: int = -1,
    zero_range: ZeroRange = "refuse",
) -> NDArray[np.float64]:
    """Divide raw scores by the magnitude of random play's score (Bellemare et al. 2013, §4.1.1).

    Random play itself gives 1 or, where its score is negative, −1; a score of 0 stays 0. A random score of 0 leaves no
    range.
    """
    return _place(scores, random_limits(random, tasks), tasks, task_axis, zero_range)


def baseline_normalised(
    scores: ArrayLike,
    baselines: Mapping[str, Sequence[float]],
    tasks: Sequence[str],
    *,
    task_axis: int = -1,
    zero_range: ZeroRange = "refuse",
) -> NDArray[np.float64]:
    """Place raw scores in the range that each task's baselines span (Bellemare et al. 2013, §4.1.2).

    0 is the lowest baseline, 1 the highest; a score may lie outside. In 2013, the baselines were those of 37 agents.
    """
    return _place(scores, baseline_limits(baselines, tasks), tasks, task_axis, zero_range)


def inter_algorithm(
    scores: ArrayLike, tasks: Sequence[str], *, zero_range: ZeroRange = "refuse"
) -> NDArray[np.float64]:
    """Place scores between the worst and the best of the algorithms compared (Bellemare et al. 2013, §4.1.3).

    On every task the best algorithm has 1 and the worst 0, however good either is. Raw scores, shape (algorithms,
    tasks), are averaged over runs. Missing ones (NaN) stay missing, and the range is that of those that are there; it
    is empty where all score the same, or only one has a score.
    """
    values = np.asarray(scores, dtype=np.float64)
    limits = algorithm_limits(values, tasks)
    played = [place for place, task in enumerate(tasks) if task in limits]
    placed = np.full(values.shape, np.nan)
    placed[:, played] = _place(values[:, played], limits, [tasks[place] for place in played], -1, zero_range)
    return placed


def _place(
    scores: ArrayLike, limits: Limits, tasks: Sequence[str], task_axis: int, zero_range: ZeroRange
) -> NDArray[np.float64]:
    lows = {task: low for task, (low, _) in limits.items()}
    highs = {task: high for task, (_, high) in limits.items()}
    return normalise(scores, lows, highs, tasks, task_axis=task_axis, zero_range=zero_range)


def _refuse(problem: str, tasks: Sequence[str]) -> None:
    if tasks:
        raise ArcadeMarkError(f"{problem} {', '.join(tasks)}; correct that, or leave such tasks out")
