"""The training score: the average of k consecutive episodes during training.

Conventions
-----------
* Episodes are in the order in which they ended, each with the training frame at which it ended.
* A window is k consecutive episodes. Window i contains episodes i to i + k − 1 and ends with the last of them.
* The review recommends averages over k consecutive episodes across the whole training, and advises against reporting
  the best policy (Fan 2021, "Evaluation Procedures" and "Reporting performance", after Machado et al. 2018). Therefore
  the training score is the average at the end.
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

    `end` is the mean of the last `episodes` episodes: k, or all if there are fewer. `curve`, shape (windows,), contains
    the means of all windows of this size, which end at `end_frames`.
    """

    episodes: int
    end: float
    curve: NDArray[np.float64]
    end_frames: NDArray[np.int64]


def training_score(scores: ArrayLike, end_frames: ArrayLike, k: int) -> TrainingScore:
    """Average every k consecutive episodes of training, or all if there are fewer (review, "Evaluation Procedures").

    Parameters
    ----------
    scores : float array, shape (episodes,)
        Episode scores in the order in which the episodes ended.
    end_frames : int array, shape (episodes,)
        The training frame at which each ended, not decreasing; parallel episodes may end at the same frame.
    k : int
        Episodes per window, at least 1.

    Raises
    ------
    ArcadeMarkError
        If there are no episodes, or ``k`` is below 1.
    """
    values, frames = np.asarray(scores, dtype=np.float64), np.asarray(end_frames, dtype=np.int64)
    if k < 1 or not values.size:
        raise ArcadeMarkError(f"{values.size} episodes of training, {k} to average; each must be at least 1")
    width = min(k, values.size)
    curve = np.lib.stride_tricks.sliding_window_view(values, width).mean(axis=1)
    return TrainingScore(width, float(curve[-1]), curve, frames[width - 1 :])


@dataclass(frozen=True, eq=False)
class MeanCurve:
    """Mean curve of several seeds: float arrays of shape (points,), empty if the seeds share no frames.

    Parameters
    ----------
    frames, mean : float array
    low, high : float array or None
        Ends of the interval of each mean; None for a single seed.
    """

    frames: NDArray[np.float64]
    mean: NDArray[np.float64]
    low: NDArray[np.float64] | None
    high: NDArray[np.float64] | None


class CommonCurves(NamedTuple):
    """Curves of several seeds at the same frames; empty if the seeds share no frames.

    Parameters
    ----------
    frames : float array, shape (points,)
        Ascending.
    scores : float array, shape (seeds, points)
    """

    frames: NDArray[np.float64]
    scores: NDArray[np.float64]


def common_curves(curves: Sequence[tuple[ArrayLike, ArrayLike]], points: int) -> CommonCurves:
    """Return curves over the frames that all of them cover, interpolated linearly.

    Parameters
    ----------
    curves : sequence of (float array, float array), shape (points of the seed,) both
        One per seed: ascending frames, and the scores at these.
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
        As for `common_curves`.
    """
    common, scores = common_curves(curves, points)
    mean, seeds = scores.mean(axis=0), len(scores)
    if seeds == 1 or not common.size:
        return MeanCurve(common, mean, None, None)
    reach = student(seeds - 1, LEVEL) * scores.std(axis=0, ddof=1) / np.sqrt(seeds)
    return MeanCurve(common, mean, mean - reach, mean + reach)
