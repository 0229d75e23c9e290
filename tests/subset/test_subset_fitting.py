"""Least squares by hand, and against leaving each algorithm out in turn."""

import numpy as np
import pytest

from arcademark.subset.fitting import fit, fold_means, held_out, without_negative


def test_a_line_by_hand():
    inputs, targets = np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 3.0, 4.0])
    found = fit(inputs, targets, intercept=True)
    assert (found.coefficients, found.intercept) == (pytest.approx((1.5,)), pytest.approx(7 / 6))
    assert (found.residual, found.total, found.n) == (pytest.approx(1 / 6), pytest.approx(14 / 3), 3)
    assert found.r2 == pytest.approx(1 - 1 / 28)
    assert found.predict([4.0]) == pytest.approx(7 / 6 + 6)
    without = fit(inputs, targets)
    assert (without.coefficients, without.intercept) == (pytest.approx((11 / 5,)), 0.0)


def test_who_is_held_out_is_predicted_by_the_others_alone():
    inputs, targets = np.array([[1.0], [2.0], [3.0], [4.0]]), np.array([2.0, 4.0, 9.0, 8.0])
    fold_of = np.array([0, 1, 0, 1])
    # Of the second and fourth: (2·4 + 4·8) / (4 + 16) = 2; of the first and third: (1·2 + 3·9) / (1 + 9) = 2.9.
    assert held_out(inputs, targets, fold_of) == pytest.approx([2.0, 5.8, 6.0, 11.6])
    assert fold_means(np.array([1.0, 2.0, 3.0, 6.0]), fold_of) == pytest.approx([2.0, 4.0])
    falling = -targets
    assert held_out(inputs, falling, fold_of, without_negative) == pytest.approx([0.0] * 4)
