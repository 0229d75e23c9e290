"""The training score: the average of k consecutive episodes, as training went.

Conventions
-----------
* Episodes are given in the order in which they ended, each with the training frame at which it did.
* A window is k consecutive episodes. Window i holds episodes i to i + k − 1 and ends with the last of them.
* The review asks for scores averaged over k consecutive episodes across the whole training, and against reporting the
  best policy (Fan 2021, "Evaluation Procedures" and "Reporting performance", after Machado et al. 2018). The score at
  the end is therefore *the* training score.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arcademark.errors import ArcadeMarkError
from arcademark.metrics.uncertainty.intervals import LEVEL, student


@dataclass(frozen=True, eq=False)
class TrainingScore:
    """Scores of an agent while it learned.

    `end` is the mean of the last `episodes` episodes: k, or all there are if fewer. `curve`, shape (windows,), are the
    means of all windows of as many, which end at `end_frames`.
    """

    episodes: int
    end: float
    curve: NDArray[np.float64]
    end_frames: NDArray[np.int64]


def training_score(scores: ArrayLike, end_frames: ArrayLike, k: int) -> TrainingScore:
    """Average every k consecutive episodes of training (review, "Evaluation Procedures"); all where they are fewer.

    Parameters
    ----------
    scores : float array, shape (episodes,)
        Episode scores in the order in which the episodes ended.
    end_frames : int array, shape (episodes,)
        The training frame at which each ended; it never decreases (episodes played side by side may end together).
    k : int
        Episodes to a window, 1 or more.

    Raises
    ------
    ArcadeMarkError
        If there are no episodes.
    """
    values, frames = np.asarray(scores, dtype=np.float64), np.asarray(end_frames, dtype=np.int64)
    if k < 1 or not values.size:
        raise ArcadeMarkError(f"{values.size} episodes of training, {k} to average; at least one of both is needed")
    width = min(k, values.size)
    curve = np.lib.stride_tricks.sliding_window_view(values, width).mean(axis=1)
    return TrainingScore(width, float(curve[-1]), curve, frames[width - 1 :])


@dataclass(frozen=True, eq=False)
class MeanCurve:
    """Curves of several seeds as one: float arrays of shape (points,), empty where the seeds share no stretch.

    Parameters
    ----------
    frames, mean : float array
    low, high : float array or None
        Ends of the interval of each mean; None of a single seed, which says nothing of others.
    """

    frames: NDArray[np.float64]
    mean: NDArray[np.float64]
    low: NDArray[np.float64] | None
    high: NDArray[np.float64] | None


class CommonCurves(NamedTuple):
    """Curves of several seeds at the same frames; nothing where the seeds share no stretch.

    Parameters
    ----------
    frames : float array, shape (points,)
        Ascending.
    scores : float array, shape (seeds, points)
    """

    frames: NDArray[np.float64]
    scores: NDArray[np.float64]


def common_curves(curves: Sequence[tuple[ArrayLike, ArrayLike]], points: int) -> CommonCurves:
    """Return curves where all of them are, straight between their points.

    Parameters
    ----------
    curves : sequence of (float array, float array), shape (points of the seed,) both
        One a seed: ascending frames, and scores there.
    points : int
        Number of frames, evenly spaced from the latest first point to the earliest last one.
    """
    frames = [np.asarray(across, dtype=np.float64) for across, _ in curves]
    begin, end = max(across[0] for across in frames), min(across[-1] for across in frames)
    if begin > end:
        return CommonCurves(np.empty(0), np.empty((len(curves), 0)))
    common = np.linspace(begin, end, points)
    each = zip(frames, (np.asarray(up, dtype=np.float64) for _, up in curves), strict=True)
    return CommonCurves(common, np.stack([np.interp(common, across, up) for across, up in each]))


def mean_curve(curves: Sequence[tuple[ArrayLike, ArrayLike]], points: int) -> MeanCurve:
    """Average curves at common frames, with Student's t over seeds at each frame.

    Parameters
    ----------
    curves, points
        As of `common_curves`.
    """
    common, scores = common_curves(curves, points)
    mean, seeds = scores.mean(axis=0), len(scores)
    if seeds == 1 or not common.size:
        return MeanCurve(common, mean, None, None)
    reach = student(seeds - 1, LEVEL) * scores.std(axis=0, ddof=1) / np.sqrt(seeds)
    return MeanCurve(common, mean, mean - reach, mean + reach)
