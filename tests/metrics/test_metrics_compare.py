import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from arcademark.errors import ArcadeMarkError
from arcademark.metrics.compare import (
    holm,
    paired_tests,
    probabilities_of_improvement,
    probability_of_improvement,
)

NAN = np.nan
TASKS = ("alien", "pong", "qbert", "tennis", "venture", "zaxxon")
FIRST = [
    [10.0, 12, 14, 16],  # clearly more
    [10.0, 12, 14, NAN],  # less, with fewer runs
    [10.0, 12, 14, 16],  # not to be told apart
    [5.0, NAN, NAN, NAN],  # one run
    [0.0, 0, 0, 0],  # never varies
    [NAN, NAN, NAN, NAN],  # not played
]
SECOND = [[1.0, 2, 3], [31.0, 32, 33], [11.0, 13, 16], [1.0, 2, 3], [0.0, 0, 0], [1.0, 2, 3]]

INTEGER = st.integers(-6, 6).map(float)  # so that runs tie
SIDE = st.lists(st.lists(INTEGER | st.just(NAN), min_size=4, max_size=4), min_size=2, max_size=2)


def there(runs):
    return [score for score in runs if not np.isnan(score)]


def test_verdicts_and_reasons():
    found = paired_tests(FIRST, SECOND, TASKS)
    assert [test.verdict for test in found] == [
        "better", "worse", "undecided", "untested", "untested", "untested",
    ]  # fmt: skip
    assert [test.why for test in found[3:]] == [
        "the first has one run",
        "neither varies from run to run, and both score the same",
        "the first has no score",
    ]
    assert all((test.t, test.degrees_of_freedom, test.p) == (None, None, None) for test in found[3:])
    assert all(test.why == "" for test in found[:3])


def test_without_any_variance_a_difference_is_told_but_not_tested():
    """0.1 three times has a mean that is not 0.1: rounding is no variance."""
    found = paired_tests([[0.1, 0.1, 0.1]], [[0.3, 0.3, 0.3]], ["pong"])[0]
    assert (found.verdict, found.why) == ("untested", "neither varies from run to run")


def test_a_level_decides():
    strict, lax = (paired_tests([[4.0, 5, 6]], [[1.0, 2, 3]], ["pong"], alpha=alpha) for alpha in (0.01, 0.05))
    assert strict[0].p == pytest.approx(0.0213, abs=1e-4)
    assert (strict[0].verdict, lax[0].verdict) == ("undecided", "better")


@settings(max_examples=40)
@given(SIDE, SIDE)
def test_tests_agree_with_scipy(a, b):
    for test, mine, theirs in zip(paired_tests(a, b, ["x", "y"]), map(there, a), map(there, b), strict=True):
        if min(len(mine), len(theirs)) < 2 or len(set(mine)) == len(set(theirs)) == 1:
            assert test.verdict == "untested"
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # SciPy warns where one side never varies
            expected = stats.ttest_ind(mine, theirs, equal_var=False)
        assert test.t == pytest.approx(expected.statistic, abs=1e-12)
        assert test.degrees_of_freedom == pytest.approx(expected.df)
        assert test.p == pytest.approx(expected.pvalue)
        assert (test.verdict == "undecided") == (expected.pvalue >= 0.01)


def test_bad_tests_are_refused():
    for alpha in (0, 1, 5):
        with pytest.raises(ArcadeMarkError, match="alpha"):
            paired_tests(FIRST, SECOND, TASKS, alpha=alpha)
    with pytest.raises(ArcadeMarkError, match=r"\(2, runs\), not \(6, "):
        paired_tests(FIRST, SECOND, TASKS[:2])


def test_probability_of_improvement_by_hand():
    x, y = [[1.0, 3], [5, 5]], [[2.0, 2], [5, 9]]
    assert probabilities_of_improvement(x, y).tolist() == [0.5, 0.25]
    assert probability_of_improvement(x, y) == 0.375
    assert probability_of_improvement([[1.0]], [[0.0, 1.0, 2.0, 0.5]]) == 0.625


def test_probability_of_improvement_with_ragged_runs_and_tasks_that_only_one_played():
    x = [[1.0, NAN], [4, 2], [1, 1]]
    y = [[0.0, 2, NAN], [1, 3, 3], [NAN, NAN, NAN]]
    np.testing.assert_allclose(probabilities_of_improvement(x, y), [0.5, 4 / 6, NAN])
    assert probability_of_improvement(x, y) == pytest.approx((0.5 + 4 / 6) / 2)
    with pytest.raises(ArcadeMarkError, match="no task has runs of both"):
        probability_of_improvement([[NAN]], [[1.0]])


@settings(max_examples=40)
@given(SIDE, SIDE)
def test_probabilities_agree_with_scipy(a, b):
    for found, mine, theirs in zip(probabilities_of_improvement(a, b), map(there, a), map(there, b), strict=True):
        if not mine or not theirs:
            assert np.isnan(found)
            continue
        wins = 0.5 * len(mine) * len(theirs)
        if len({*mine, *theirs}) > 1:
            wins = stats.mannwhitneyu(mine, theirs, method="asymptotic").statistic
        assert found == pytest.approx(wins / (len(mine) * len(theirs)))


def test_holms_correction_by_hand():
    assert holm([0.01, 0.04, NAN, 0.03, 0.005]) == pytest.approx([0.03, 0.06, NAN, 0.06, 0.02], nan_ok=True)
    assert holm([0.5, 0.9]).tolist() == [1.0, 1.0]
    assert holm([]).tolist() == []
