"""Aggregates of scores of shape (runs, tasks, …) by rliable's names; further axes, such as frames, are kept.

NaN is a missing run: it is left out, with an `ArcadeMarkWarning`. An `ArcadeMarkError` is raised if scores are not
numbers with at least two axes, or there is none. Agarwal et al. 2021, "Deep Reinforcement Learning at the Edge of the
Statistical Precipice".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from arcademark.metrics import aggregate, compare, distribution
from arcademark.metrics.uncertainty.resampling import Floats, Resamples, admit

Scores: TypeAlias = ArrayLike | Resamples


def aggregate_mean(scores: Scores) -> Any:
    """Return the mean over tasks of each task's mean over runs, shape (…), for scores (runs, tasks, …)."""
    return _summed_up(lambda runs: aggregate.mean(aggregate.mean_over_runs(runs), missing="omit"), scores)


def aggregate_median(scores: Scores) -> Any:
    """Return the median over tasks of each task's mean over runs, shape (…), for scores (runs, tasks, …)."""
    return _summed_up(lambda runs: aggregate.median(aggregate.mean_over_runs(runs), missing="omit"), scores)


def aggregate_iqm(scores: Scores) -> Any:
    """Return the mean of the middle half of all runs of all tasks, shape (…), for scores (runs, tasks, …)."""
    return _summed_up(lambda runs: aggregate.iqm(runs, missing="omit"), scores)


def aggregate_optimality_gap(scores: Scores, gamma: float = 1) -> Any:
    """Return the mean shortfall of runs from `gamma`, shape (…), for scores (runs, tasks, …)."""
    return _summed_up(lambda runs: aggregate.optimality_gap(runs, gamma, missing="omit"), scores)


def probability_of_improvement(scores_x: Scores, scores_y: Scores) -> Any:
    """Return P(a run of X beats one of Y), averaged over tasks, shape (…), for scores (runs, tasks, …); ties are ½."""
    return _summed_up(compare.probability_of_improvement, scores_x, scores_y)


def profile(scores: Scores, thresholds: ArrayLike, *, average: bool) -> Any:
    """Return the fraction of all runs, or of tasks' means over runs, above each threshold, in their shape."""

    def above(runs: Floats) -> Floats:
        by_task = runs.reshape(*runs.shape[: isinstance(scores, Resamples)], -1, runs.shape[-1])
        values = aggregate.mean_over_runs(by_task)[..., np.newaxis] if average else by_task
        return distribution.performance_profile(values, np.ravel(thresholds), missing="omit")

    found = _summed_up(above, scores)
    return found.reshape(np.shape(thresholds) + found.shape[1:])[()]


def _summed_up(statistic: Callable[..., Any], *scores: Scores) -> Any:
    """Apply a statistic of scores (…, tasks, runs); its results for many resamples have a last axis of resamples."""
    resamples = [one.scores for one in scores if isinstance(one, Resamples)]
    if len(resamples) == len(scores):
        return np.moveaxis(statistic(*(np.moveaxis(one, (1, 2), (-1, -2)) for one in resamples)), 0, -1)
    return statistic(*(np.moveaxis(admit(one), (0, 1), (-1, -2)) for one in scores))
