from __future__ import annotations

import numpy as np
import pytest
from hypothesis import strategies as st

from arcademark.errors import ArcadeMarkError
from arcademark.metrics.training import training_score

SCORES = [1.0, 5, 9, 4, 2]
FRAMES = [10, 20, 40, 40, 100]

EPISODES = st.lists(st.tuples(st.floats(-1e6, 1e6), st.integers(0, 100)), min_size=1, max_size=30)


def test_every_window_by_hand() -> None:
    found = training_score(SCORES, FRAMES, 2)
    assert found.curve.tolist() == [3, 7, 6.5, 3]
    assert found.end_frames.tolist() == [20, 40, 40, 100]
    assert (found.episodes, found.end) == (2, 3)
    fewer = training_score(SCORES, FRAMES, 100)
    assert (fewer.episodes, fewer.end, fewer.end_frames.tolist()) == (5, 4.2, [100])


@pytest.mark.parametrize(
    ("scores", "frames", "k", "message"),
    [
        ([1.0], [1], 0, "0 to average"),
        ([], [], 1, "0 episodes of training"),
        ([1.0, np.nan], [1, 2], 1, "missing or infinite"),
        ([1.0, 2.0], [2, 1], 1, "never decrease"),
        ([1.0, 2.0], [1.5, 2.0], 1, "whole numbers of frames"),
        ([1.0], [-1], 1, "never decrease"),
        ([1.0, 2.0], [1], 1, "one end frame for each episode"),
        ([[1.0]], [[1]], 1, "one end frame for each episode"),
    ],
)
def test_bad_episodes_are_refused(scores: object, frames: object, k: int, message: str) -> None:
    with pytest.raises(ArcadeMarkError, match=message):
        training_score(scores, frames, k)  # type: ignore[arg-type]
