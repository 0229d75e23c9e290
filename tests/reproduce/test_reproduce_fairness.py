import numpy as np
import pytest
from scipy import stats

from arcademark.reproduce.atari5.results import fairness


def test_tertiles_by_hand():
    true = np.array([400.0, 100.0, 200.0, 10.0, 20.0, 1000.0, 50.0])
    predicted = np.array([440.0, 90.0, 200.0, 12.0, 20.0, 1000.0, 40.0])
    found = fairness(true, predicted)
    assert [group.size for group in found.groups] == [3, 2, 2]
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
