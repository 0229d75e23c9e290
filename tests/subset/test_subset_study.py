"""Studies by hand: estimates, errors, what is relative to a baseline, and orders turned round."""

import numpy as np
import pytest

from arcademark.subset.predict.model import SubsetModel
from arcademark.subset.studies.study import study

TASKS = ("a", "b", "c")
FIRST = SubsetModel("first", ("a",), (1.0,), 0.0, None, "median", None, "made up", transform="none", absolute_error=3.0)
BOTH = SubsetModel(
    "both", ("c", "a"), (0.5, 0.5), 0.0, None, "median", None, "made up", transform="none", absolute_error=3.0
)
SCORES = np.array([[10.0, 20.0, 30.0], [40.0, 10.0, np.nan], [0.0, 5.0, 8.0], [np.nan, 1.0, np.nan]])
NAMES = ("low", "two", "least", "one")


def test_by_hand():
    found = study(SCORES, NAMES, TASKS, (FIRST, BOTH), minimum_tasks=2, relative_to="low")
    rows = {row.algorithm: row for row in found.rows}
    assert [row.algorithm for row in found.rows] == ["two", "low", "least", "one"]
    assert [(row.tasks, row.true) for row in found.rows] == [(2, 25.0), (3, 20.0), (3, 5.0), (1, None)]
    assert [item.value for item in rows["low"].estimates] == [10.0, 20.0]
    assert [item.error for item in rows["low"].estimates] == [-0.5, 0.0]
    assert [item.value for item in rows["two"].estimates] == [40.0, None]
    assert rows["two"].relative == 1.25
    assert rows["two"].estimates[0].relative == 4.0
    assert rows["two"].estimates[0].relative_error == pytest.approx(4.0 / 1.25 - 1)
    assert [item.value for item in rows["one"].estimates] == [None, None]
    first, both = found.agreements
    assert (first.compared, first.pairs, first.inversions) == (3, 3, ())
    assert first.mean_error == pytest.approx((0.6 + 0.5 + 1.0) / 3)
    assert (first.worst_error, first.bias) == (1.0, pytest.approx((0.6 - 0.5 - 1.0) / 3))
    assert first.relative_mean_error == pytest.approx((2.2 + 1.0) / 2)
    assert (both.compared, both.mean_error) == (2, pytest.approx(0.1))


def test_turned_orders_are_named_with_the_better_one_first():
    scores = np.array([[1.0, 9.0, 9.0], [2.0, 3.0, 3.0], [3.0, 3.0, 3.0]])
    (agreement,) = study(scores, ("best", "x", "y"), TASKS, (FIRST,), minimum_tasks=1).agreements
    assert agreement.inversions == (("best", "x"), ("best", "y"))
