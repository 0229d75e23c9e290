"""Least squares by hand, and every task from a few against leaving each algorithm out in turn."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arcademark.errors import ArcadeMarkError
from arcademark.subset.every_task import fit_every_task
from arcademark.subset.fitting import fit, fold_means, held_out, without_negative
from arcademark.subset.problem import complete_rows


def test_a_line_by_hand():
    inputs, targets = np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 3.0, 4.0])
    found = fit(inputs, targets, intercept=True)
    assert (found.coefficients, found.intercept) == (pytest.approx((1.5,)), pytest.approx(7 / 6))
    assert (found.residual, found.total, found.n) == (pytest.approx(1 / 6), pytest.approx(14 / 3), 3)
    assert found.r2 == pytest.approx(1 - 1 / 28)
    assert found.predict([4.0]) == pytest.approx(7 / 6 + 6)
    without = fit(inputs, targets)
    assert (without.coefficients, without.intercept) == (pytest.approx((11 / 5,)), 0.0)


def test_targets_that_do_not_vary_have_no_r2():
    assert math.isnan(fit(np.array([[1.0], [2.0]]), np.array([3.0, 3.0])).r2)


@pytest.mark.parametrize(
    ("inputs", "targets", "told"),
    [
        ([[1.0, 2.0]], [1.0], "1 algorithms have all scores, and the model has 2 unknowns"),
        ([[1.0], [np.nan]], [1.0, 2.0], "a score is missing"),
    ],
)
def test_what_cannot_be_fitted(inputs, targets, told):
    with pytest.raises(ArcadeMarkError, match=told):
        fit(np.array(inputs), np.array(targets))


def test_complete_rows():
    inputs = np.array([[1.0, np.nan], [1.0, 2.0], [3.0, 4.0]])
    assert complete_rows(inputs).tolist() == [False, True, True]
    assert complete_rows(inputs, np.array([1.0, 1.0, np.nan])).tolist() == [False, True, False]


def test_who_is_held_out_is_predicted_by_the_others_alone():
    inputs, targets = np.array([[1.0], [2.0], [3.0], [4.0]]), np.array([2.0, 4.0, 9.0, 8.0])
    fold_of = np.array([0, 1, 0, 1])
    # Of the second and fourth: (2·4 + 4·8) / (4 + 16) = 2; of the first and third: (1·2 + 3·9) / (1 + 9) = 2.9.
    assert held_out(inputs, targets, fold_of) == pytest.approx([2.0, 5.8, 6.0, 11.6])
    assert fold_means(np.array([1.0, 2.0, 3.0, 6.0]), fold_of) == pytest.approx([2.0, 4.0])
    # With a constant: through (2, 4) and (4, 8), and through (1, 2) and (3, 9).
    assert held_out(inputs, targets, fold_of, constant=True) == pytest.approx([2.0, 5.5, 6.0, 12.5])
    falling = -targets
    assert held_out(inputs, falling, fold_of, without_negative) == pytest.approx([0.0] * 4)


def table(seed: int, algorithms: int = 14, tasks: int = 4) -> np.ndarray:
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(algorithms, tasks)) + rng.normal(size=(algorithms, 1))
    scores[rng.random(scores.shape) < 0.1] = np.nan
    return scores


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000))
def test_errors_are_those_of_leaving_each_algorithm_out(seed):
    scores = table(seed)
    names = ("a", "b", "c", "d")
    for task, model in fit_every_task(scores, names, ("a", "b")).items():
        if task in ("a", "b"):
            assert model.errors == pytest.approx([0.0] * model.fit.n, abs=1e-9)
            continue
        column = names.index(task)
        rows = ~np.isnan(scores[:, [0, 1, column]]).any(axis=1)
        inputs, targets = scores[rows][:, :2], scores[rows, column]
        slow = []
        for out in range(len(targets)):
            rest = np.arange(len(targets)) != out
            slow.append(
                abs(float(targets[out] - fit(inputs[rest], targets[rest], intercept=True).predict(inputs[out])))
            )
        assert model.errors == pytest.approx(sorted(slow))
        assert (model.low, model.high) == (tuple(inputs.min(axis=0)), tuple(inputs.max(axis=0)))


def test_how_far_intervals_reach_and_when_they_cannot():
    scores = np.column_stack([np.arange(9.0), [0, 1, 2, 3, 4, 5, 6, 7, 20.0]])
    model = fit_every_task(scores, ("a", "b"), ("a",))["b"]
    assert len(model.errors) == 9
    assert model.half_width(0.5) == model.errors[4]
    assert model.half_width(0.9) == model.errors[8]
    assert model.half_width(0.95) == math.inf
    assert model.extrapolates([3.0]) == ()
    assert model.extrapolates([8.5]) == (0,)
    with pytest.raises(ArcadeMarkError, match="between 0 and 1"):
        model.half_width(1.0)


def test_intervals_hold_what_they_promise_where_algorithms_are_alike():
    rng = np.random.default_rng(5)
    inside = 0
    for _ in range(400):
        x = rng.normal(size=31)
        y = 2 * x + rng.standard_t(3, size=31)
        model = fit_every_task(np.column_stack([x, y])[:30], ("x", "y"), ("x",))["y"]
        inside += abs(y[30] - float(model.fit.predict([x[30]]))) <= model.half_width(0.8)
    assert 0.74 < inside / 400 < 0.88


@pytest.mark.parametrize(
    ("scores", "chosen", "told"),
    [
        (np.ones((5, 2)), ("z",), "no scores of z"),
        (np.ones((5, 2)), (), "any chosen task"),
        (np.ones((5, 2)), ("a",), "say the same of all algorithms"),
    ],
)
def test_what_tasks_cannot_be_predicted_from(scores, chosen, told):
    with pytest.raises(ArcadeMarkError, match=told):
        fit_every_task(scores, ("a", "b"), chosen)
