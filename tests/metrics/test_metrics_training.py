import pytest

from arcademark.errors import ArcadeMarkError
from arcademark.metrics.training import training_score

SCORES = [1.0, 5, 9, 4, 2]
FRAMES = [10, 20, 40, 40, 100]


def test_every_window_by_hand():
    found = training_score(SCORES, FRAMES, 2)
    assert found.curve.tolist() == [3, 7, 6.5, 3]
    assert found.end_frames.tolist() == [20, 40, 40, 100]
    assert (found.episodes, found.end) == (2, 3)
    fewer = training_score(SCORES, FRAMES, 100)
    assert (fewer.episodes, fewer.end, fewer.end_frames.tolist()) == (5, 4.2, [100])


@pytest.mark.parametrize(("scores", "frames", "k"), [([1.0], [1], 0), ([], [], 1)])
def test_nothing_to_average_is_refused(scores, frames, k):
    with pytest.raises(ArcadeMarkError, match="to average"):
        training_score(scores, frames, k)
