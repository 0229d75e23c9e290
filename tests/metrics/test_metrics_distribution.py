import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from arcademark.errors import ArcadeMarkError
from arcademark.metrics.distribution import performance_profile, score_distribution

NAN = np.nan

SCORE = st.integers(-5, 5).map(float)  # so that scores meet thresholds
THRESHOLDS = st.lists(st.integers(-6, 6), min_size=1, max_size=6)


def test_score_distribution_counts_tasks_at_or_above():
    assert score_distribution([0.0, 1, 1, 3], [-1, 0, 1, 2, 3, 4]).tolist() == [1, 1, 0.75, 0.25, 0.25, 0]


def test_performance_profile_counts_runs_above_and_averages_over_tasks():
    scores = [[0.0, 1, 1, 3], [1.0, 2, 3, 4]]
    assert performance_profile(scores, [0, 1, 2, 4]).tolist() == [
        (0.75 + 1) / 2,
        (0.25 + 0.75) / 2,
        (0.25 + 0.5) / 2,
        0,
    ]


def test_ragged_runs_leave_tasks_their_weight():
    scores = [[1.0, NAN, NAN], [0.0, 0, 1], [NAN, NAN, NAN]]
    assert performance_profile(scores, [0], missing="omit").tolist() == [(1 + 1 / 3) / 2]
    assert score_distribution([NAN, 0, 1], [1], missing="omit").tolist() == [0.5]


@pytest.mark.parametrize("function", [score_distribution, performance_profile])
def test_missing_scores_and_bad_thresholds_are_refused(function):
    with pytest.raises(ArcadeMarkError, match="1 of 2 scores are missing"):
        function([[1.0, NAN]], [0])
    with pytest.raises(ArcadeMarkError, match="no scores"):
        function([[NAN, NAN]], [0], missing="omit")
    for thresholds in ([], 1.0, [NAN]):
        with pytest.raises(ArcadeMarkError, match="thresholds"):
            function([[1.0, 2.0]], thresholds)


@settings(max_examples=40)
@given(st.lists(SCORE, min_size=1, max_size=20), THRESHOLDS)
def test_score_distribution_is_scipys_survival_function_where_no_score_is_met(scores, thresholds):
    between = np.array(thresholds) + 0.5
    survival = stats.ecdf(scores).sf
    np.testing.assert_allclose(score_distribution(scores, between), survival.evaluate(between))
    np.testing.assert_allclose(
        performance_profile(np.array(scores)[:, None], thresholds), survival.evaluate(thresholds)
    )
