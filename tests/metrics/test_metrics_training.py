from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
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
    assert (found.asked, found.episodes) == (2, 2)
    assert (found.end.score, found.end.first, found.end.last, found.end.end_frame) == (3, 3, 4, 100)
    assert (found.best.score, found.best.first, found.best.last, found.best.end_frame) == (7, 1, 2, 40)


def test_of_equally_good_windows_the_earliest_is_best() -> None:
    found = training_score([3.0, 1, 3, 1, 3], range(5), 2)
    assert (found.best.first, found.end.first) == (0, 3)


def test_one_window_of_all_episodes_is_end_and_best() -> None:
    found = training_score(SCORES, FRAMES, 5)
    assert found.end == found.best
    assert found.end.score == 4.2
    assert found.curve.shape == (1,)


def test_fewer_episodes_than_asked_for_are_refused_or_said() -> None:
    with pytest.raises(ArcadeMarkError, match="5 episodes of training are fewer than the 100 to average"):
        training_score(SCORES, FRAMES, 100)
    found = training_score(SCORES, FRAMES, 100, fewer="shorten")
    assert (found.asked, found.episodes, found.end.score, found.end.first) == (100, 5, 4.2, 0)
    with pytest.raises(ArcadeMarkError, match="0 episodes of training"):
        training_score([], [], 1, fewer="shorten")


@pytest.mark.parametrize(
    ("scores", "frames", "k", "message"),
    [
        ([1.0], [1], 0, "k = 0: a window needs at least one episode"),
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


@settings(deadline=None)
@given(EPISODES, st.data())
def test_windows_agree_with_a_slow_oracle(episodes: list[tuple[float, int]], data: st.DataObject) -> None:
    k = data.draw(st.integers(1, len(episodes)))
    scores = [score for score, _ in episodes]
    frames = np.cumsum([step for _, step in episodes]).tolist()
    found = training_score(scores, frames, k)
    slow = [sum(scores[first : first + k]) / k for first in range(len(scores) - k + 1)]
    np.testing.assert_allclose(found.curve, slow, rtol=1e-9, atol=1e-6)
    assert found.end_frames.tolist() == frames[k - 1 :]
    assert found.end.score == found.curve[-1]
    assert found.best.score == max(found.curve)
    assert found.best.last - found.best.first == found.end.last - found.end.first == k - 1


@settings(deadline=None)
@given(EPISODES, st.floats(0.01, 100), st.floats(-1000, 1000))
def test_training_scores_follow_a_change_of_unit(episodes: list[tuple[float, int]], scale: float, shift: float) -> None:
    scores = np.array([score for score, _ in episodes])
    frames = np.cumsum([step for _, step in episodes])
    found = training_score(scores, frames, 3, fewer="shorten")
    moved = training_score(scale * scores + shift, frames, 3, fewer="shorten")
    np.testing.assert_allclose(moved.curve, scale * found.curve + shift, rtol=1e-6, atol=1e-3)
