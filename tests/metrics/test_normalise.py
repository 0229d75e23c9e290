import numpy as np
import pytest

from arcademark.errors import ArcadeMarkError
from arcademark.metrics.normalise import hns, hwrns, normalise, reaching, saber

NAN = np.nan
TASKS = ("pong", "qbert", "skiing")
RANDOM = {"pong": -20.0, "qbert": 100.0, "skiing": -17000.0, "unused": 0.0}
HUMAN = {"pong": 15.0, "qbert": 1100.0, "skiing": -5000.0}
RECORD = {"pong": 20.0, "qbert": 10100.0, "skiing": -3000.0}
SCORES = [1.0, 2100.0, -23000.0]


def test_hand_computed_values():
    np.testing.assert_allclose(normalise(SCORES, RANDOM, HUMAN, TASKS), [21 / 35, 2.0, -0.5])
    np.testing.assert_allclose(hns(SCORES, RANDOM, HUMAN, TASKS), [60, 200, -50])
    np.testing.assert_allclose(hwrns(SCORES, RANDOM, RECORD, TASKS), [52.5, 20, -6000 / 140])
    assert hwrns([RECORD[task] for task in TASKS], RANDOM, RECORD, TASKS).tolist() == [100.0] * 3
    np.testing.assert_allclose(saber([21.0, 30100.0, -23000.0], RANDOM, RECORD, TASKS), [102.5, 200, 0])


def test_missing_scores_stay_missing_and_touch_no_other():
    np.testing.assert_allclose(hns([1.0, NAN, -23000.0], RANDOM, HUMAN, TASKS), [60, NAN, -50])
    assert np.isnan(saber([NAN], RANDOM, RECORD, ("pong",))[0])


def test_equal_references_are_refused_and_the_task_named():
    with pytest.raises(ArcadeMarkError, match=r"both references are equal on qbert \(100\)"):
        hns(SCORES, RANDOM, HUMAN | {"qbert": 100.0}, TASKS)


def test_equal_references_give_nan_on_their_tasks_alone_where_that_is_asked_for():
    high = {**HUMAN, "qbert": 100.0}
    found = normalise(SCORES, RANDOM, high, TASKS, zero_range="omit")
    np.testing.assert_allclose(found, [0.6, NAN, -0.5])
    several = normalise([SCORES, SCORES], RANDOM, high, TASKS, zero_range="omit")
    np.testing.assert_array_equal(several, [found, found])


def test_absent_references_are_refused_and_the_tasks_named():
    with pytest.raises(ArcadeMarkError, match="no high reference score for qbert, skiing"):
        hns(SCORES, RANDOM, {"pong": 1.0, "skiing": NAN}, TASKS)
    with pytest.raises(ArcadeMarkError, match="no low reference score for pong"):
        hns(SCORES, {**RANDOM, "pong": np.inf}, HUMAN, TASKS)


@pytest.mark.parametrize("scores", [1.0, [1.0, 2.0], np.zeros((3, 2))])
def test_tasks_that_do_not_fit_the_axis_are_refused(scores):
    with pytest.raises(ArcadeMarkError, match="the tasks last"):
        hns(scores, RANDOM, HUMAN, TASKS)


def test_breakthroughs_are_counted_from_100_percent():
    assert reaching([100.0, np.nextafter(100, 0), NAN], TASKS) == ("pong",)
    with pytest.raises(ArcadeMarkError, match=r"a score for each of 3 tasks, not an array of shape \(2,\)"):
        reaching([1.0, 2.0], TASKS)
