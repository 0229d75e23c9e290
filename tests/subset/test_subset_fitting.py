"""Least squares by hand, and every task from a few against leaving each algorithm out in turn."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arcademark.subset.fitting import fit, fold_means, held_out, without_negative
from arcademark.subset.predict.every_task import fit_every_task


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


def table(seed, algorithms=14, tasks=4):
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(algorithms, tasks)) + rng.normal(size=(algorithms, 1))
    scores[rng.random(scores.shape) < 0.1] = np.nan
    return scores


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000))
def test_every_task_is_fitted_to_whoever_has_it_and_the_chosen_ones(seed):
    scores = table(seed)
    names = ("a", "b", "c", "d")
    for task, model in fit_every_task(scores, names, ("a", "b")).items():
        column = names.index(task)
        rows = ~np.isnan(scores[:, [0, 1, column]]).any(axis=1)
        inputs, targets = scores[rows][:, :2], scores[rows, column]
        assert model.fit.n == len(targets)
        middle = inputs.mean(axis=0)
        assert model.fit.predict(middle) == pytest.approx(fit(inputs, targets, intercept=True).predict(middle))
        assert (model.low, model.high) == (tuple(inputs.min(axis=0)), tuple(inputs.max(axis=0)))
        assert model.extrapolates(middle) == ()
        assert model.extrapolates([middle[0], model.high[1] + 1]) == (1,)
