import numpy as np
import pytest
from scipy import stats

from arcademark.errors import ArcadeMarkError
from arcademark.metrics.uncertainty.tolerance import held_share, runs_needed, tolerance_interval


@pytest.mark.parametrize(("share", "one", "both"), [(0.90, 29, 46), (0.95, 59, 93), (0.99, 299, 473)])
def test_sample_sizes_of_wilks_at_confidence_95_percent(share, one, both):
    assert runs_needed(share, ends=1) == one
    assert runs_needed(share) == both


@pytest.mark.parametrize("ends", [1, 2])
@pytest.mark.parametrize("runs", [29, 46, 93, 120, 500])
def test_as_many_runs_are_left_out_as_the_beta_distribution_allows(runs, ends):
    found = tolerance_interval(np.arange(1.0, runs + 1), 0.9)
    ranks = [
        rank for rank in range(1, runs // ends + 1) if stats.beta.sf(0.9, runs + 1 - ends * rank, ends * rank) >= 0.95
    ]
    if ends == 1:
        assert found.at_least == max(ranks)
    else:
        assert (found.low, found.high) == ((max(ranks), runs + 1 - max(ranks)) if ranks else (1, runs))


@pytest.mark.parametrize("runs", [5, 46, 150])
def test_intervals_hold_the_share_as_often_as_they_say(runs):
    draws = np.random.default_rng(0).random((4000, runs))
    found = [tolerance_interval(row, 0.9) for row in draws]
    held = np.mean([item.high - item.low >= item.share for item in found])
    assert held == pytest.approx(0.95, abs=3 * np.sqrt(0.95 * 0.05 / 4000))
    if runs >= 46:
        assert all(item.share >= 0.9 for item in found)
        assert np.mean([1 - item.at_least >= 0.9 for item in found if item.at_least is not None]) > 0.94


def test_too_few_runs_give_their_range_and_the_share_that_it_holds():
    found = tolerance_interval([3.0, 1.0, 2.0, 5.0, 4.0], 0.9)
    assert (found.low, found.high, found.at_least) == (1.0, 5.0, None)
    p = found.share  # P(less than p within the range of five) is 5 p⁴ − 4 p⁵
    assert 5 * p**4 - 4 * p**5 == pytest.approx(0.05)
    assert held_share(5) == p


def test_what_cannot_be_asked():
    for scores in ([1.0], [1.0, np.nan], [[1.0, 2.0]]):
        with pytest.raises(ArcadeMarkError, match="two runs"):
            tolerance_interval(scores, 0.9)
    with pytest.raises(ArcadeMarkError, match="share of runs 1"):
        tolerance_interval([1.0, 2.0], 1.0)
    with pytest.raises(ArcadeMarkError, match="not enough"):
        runs_needed(1 - 1e-12)
