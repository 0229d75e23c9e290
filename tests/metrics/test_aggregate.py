import statistics

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from arcademark.errors import ArcadeMarkError
from arcademark.metrics.aggregate import iqm, mean, median, optimality_gap

NAN = np.nan
SKEWED = np.array([0.0, 1, 2, 3, 10, 100, 1000, 5000])

VALUES = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=23)


def one_run(values):
    return np.asarray(values, dtype=np.float64)[:, np.newaxis]


def test_hand_computed_values_differ_between_statistics():
    assert mean(SKEWED) == 764.5
    assert median(SKEWED) == 6.5
    assert iqm(one_run(SKEWED)) == (2 + 3 + 10 + 100) / 4


def test_iqm_pools_runs_which_is_not_the_iqm_of_means():
    scores = np.array([[0.0, 8], [1, 1], [2, 2], [3, 9]])
    assert iqm(scores) == 2.0
    assert iqm(one_run(scores.mean(axis=1))) == 3.0


@settings(max_examples=40)
@given(VALUES)
def test_statistics_agree_with_python_and_scipy(values):
    assert mean(values) == pytest.approx(statistics.fmean(values), rel=1e-9, abs=1e-6)
    assert median(values) == pytest.approx(statistics.median(values), rel=1e-9, abs=1e-6)
    assert iqm(one_run(values)) == pytest.approx(stats.trim_mean(values, 0.25), rel=1e-9, abs=1e-6)


@pytest.mark.parametrize("statistic", [mean, median, iqm])
def test_missing_scores_are_refused_unless_asked_for(statistic):
    with pytest.raises(ArcadeMarkError, match="1 of 3 scores are missing"):
        statistic(one_run([1.0, NAN, 3.0]).T if statistic is not iqm else one_run([1.0, NAN, 3.0]))


@pytest.mark.parametrize("statistic", [mean, median])
@pytest.mark.parametrize("scores", [[], 3.0, np.zeros((2, 0))])
def test_no_scores_have_no_summary(statistic, scores):
    with pytest.raises(ArcadeMarkError, match="no scores"):
        statistic(scores)


def test_iqm_wants_an_axis_of_runs():
    with pytest.raises(ArcadeMarkError, match=r"shape \(\.\.\., tasks, runs\), not \(2,\)"):
        iqm([1.0, 2.0])
    with pytest.raises(ArcadeMarkError, match="no scores"):
        iqm(np.zeros((2, 0)))


def test_leading_axes_are_carried_through():
    scores = np.random.default_rng(1).normal(size=(5, 7, 3))
    scores[2, 1, 0] = NAN
    pooled = iqm(scores, missing="omit")
    assert np.shape(pooled) == (5,)
    for algorithm in range(5):
        there = [x for x in scores[algorithm].ravel().tolist() if not np.isnan(x)]
        assert np.asarray(pooled)[algorithm] == pytest.approx(stats.trim_mean(there, 0.25))
    np.testing.assert_allclose(mean(scores[..., 1]), [statistics.fmean(row) for row in scores[..., 1]])
    np.testing.assert_allclose(median(scores[..., 1]), [statistics.median(row) for row in scores[..., 1]])


def test_optimality_gap_by_hand():
    scores = np.array([[0.0, 300], [90, 70], [100, 100]])
    assert optimality_gap(scores) == (50 + 20 + 0) / 3
    assert optimality_gap(scores, 200) == (100 + 120 + 100) / 3
    assert optimality_gap([[0.25, 1.5]], 1.0) == 0.375
    assert optimality_gap([[100.0, 250.0]]) == 0


def test_optimality_gap_weighs_tasks_alike_when_runs_are_ragged():
    scores = np.array([[0.0, NAN], [40, 60], [NAN, NAN]])
    assert optimality_gap(scores, missing="omit") == (100 + 50) / 2
    with pytest.raises(ArcadeMarkError, match="3 of 6 scores are missing"):
        optimality_gap(scores)
    with pytest.raises(ArcadeMarkError, match=r"optimality_gap: expected scores of shape \(\.\.\., tasks, runs\)"):
        optimality_gap([1.0])
    with pytest.raises(ArcadeMarkError, match="no scores"):
        optimality_gap([[NAN]], missing="omit")
