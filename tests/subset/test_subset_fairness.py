from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from arcademark.errors import ArcadeMarkError
from arcademark.subset.fairness import fairness


def test_tertiles_by_hand():
    true = [400.0, 100.0, 200.0, 10.0, 20.0, 1000.0, 50.0]
    predicted = [440.0, 90.0, 200.0, 12.0, 20.0, 1000.0, 40.0]
    found = fairness(true, predicted)
    assert [group.places for group in found.groups] == [(3, 4, 6), (1, 2), (0, 5)]
    low, middle, high = found.groups
    assert low.bias == pytest.approx((0.2 + 0 - 0.2) / 3)
    assert low.absolute == pytest.approx(0.4 / 3)
    assert low.rms == pytest.approx(np.sqrt(0.08 / 3))
    assert (middle.bias, high.bias) == (pytest.approx(-0.05), pytest.approx(0.05))
    errors = [np.array([0.2, 0.0, -0.2]), np.array([-0.1, 0.0]), np.array([0.1, 0.0])]
    for p, change in ((found.bias_p, np.asarray), (found.absolute_p, np.abs), (found.square_p, np.square)):
        welch = [
            stats.ttest_ind(change(errors[i]), change(errors[j]), equal_var=False).pvalue
            for i, j in ((0, 1), (0, 2), (1, 2))
        ]
        assert p == pytest.approx(welch)
    assert not found.differ()


def test_a_bias_is_found():
    true = np.linspace(10, 100, 30)
    noise = np.tile([0.01, -0.01, 0.0], 10)
    fair = true * (1 + noise)
    assert not fairness(true, fair).differ()
    unfair = np.where(true < 40, fair * 1.2, fair)
    found = fairness(true, unfair)
    assert found.differ()
    assert min(found.bias_p[:2]) < 1e-6 < found.bias_p[2]


def test_errors_that_do_not_vary():
    assert fairness([1, 2, 3, 4, 5, 6], [2, 4, 6, 8, 10, 12]).bias_p == (1.0, 1.0, 1.0)
    assert fairness([1, 2, 3, 4], [2, 4, 3, 4], groups=2).bias_p == (0.0,)


@pytest.mark.parametrize(
    ("true", "predicted", "told"),
    [
        ([1, 2], [1], "do not pair"),
        ([1, 2, 3, 4, 5], [1, 2, 3, 4, 5], "do not make 3 groups"),
        ([0, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5, 6], "above 0"),
        ([1, 2, 3, 4, 5, 6], [1, 2, np.nan, 4, 5, 6], "need a prediction"),
    ],
)
def test_bad_input(true, predicted, told):
    with pytest.raises(ArcadeMarkError, match=told):
        fairness(true, predicted)
