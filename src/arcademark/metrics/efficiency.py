"""Cost of a score: learning efficiency and game time.

Conventions
-----------
* Frames are emulated frames, 60 per second.
* Equations are those of Fan, "A Review for Deep Reinforcement Learning in Atari: Benchmarks, Challenges, and
  Solutions", 2021, "Learning Efficiency".
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arcademark.errors import ArcadeMarkError

FRAMES_PER_SECOND = 60
FRAMES_PER_DAY = FRAMES_PER_SECOND * 60 * 60 * 24
REVIEW_FRAMES_PER_DAY = 100_000 * 2 * 24
DAYS_PER_YEAR = 365.25


def learning_efficiency(value: ArrayLike, frames: ArrayLike) -> np.float64 | NDArray[np.float64]:
    """Return a score per training frame (review, Eq. 7).

    `value` is a summary, such as the mean human-normalised score, as a *fraction*: pass ``percent / 100``. The review's
    mean HNS of 873.97 % after 200 million frames is 8.7397 / 2E+8 = 4.37E-08 per frame. NaN stays NaN. ArcadeMarkError:
    0 training frames; an agent that does not learn (random play, a human, a planner) has no efficiency.
    """
    spent = _frames(frames)
    if (spent == 0).any():
        raise ArcadeMarkError("0 training frames: learning efficiency is undefined without training; leave it out")
    return np.asarray(np.asarray(value, dtype=np.float64) / spent)[()]


def game_time_days(frames: ArrayLike) -> np.float64 | NDArray[np.float64]:
    """Return the duration of emulated frames in days of real time: frames / (60 · 60 · 60 · 24).

    200 million frames are 38.58 days, 100 billion 52.8 years. ArcadeMarkError if frames are negative or not finite.
    """
    return np.asarray(_frames(frames) / FRAMES_PER_DAY)[()]


def game_time_days_review(frames: ArrayLike) -> np.float64 | NDArray[np.float64]:
    """Return the review's game time in days: frames / (100000 · 2 · 24) (review, Eq. 6).

    The review assumes that half an hour is 100,000 frames; at 60 per second it is 108,000. So this is 8 % more than
    `game_time_days`: 200 million frames are 41.67 days (42 and 41 in the review's text) instead of 38.58, 100 billion
    are 20,833 days (57.0 years) instead of 19,290 (52.8 years). ArcadeMarkError: as for `game_time_days`.
    """
    return np.asarray(_frames(frames) / REVIEW_FRAMES_PER_DAY)[()]


def _frames(frames: ArrayLike) -> NDArray[np.float64]:
    spent = np.asarray(frames, dtype=np.float64)
    if not (np.isfinite(spent) & (spent >= 0)).all():
        raise ArcadeMarkError("frames: expected a number of emulated frames, 0 or more; leave out unknown numbers")
    return spent
