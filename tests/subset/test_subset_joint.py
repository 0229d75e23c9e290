"""The distribution of all tasks: by hand, beside a general optimiser, and never the worse for a better score."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from arcademark.subset.predict.joint import Joint, fit_joint
from arcademark.subset.predict.spread import NOISE
from arcademark.subset.predict.totally_positive import fit_covariance

TASKS = tuple("abcdef")


def made(seed, algorithms=40, tasks=6, missing=0.15):
    rng = np.random.default_rng(seed)
    level = rng.normal(2, 0.7, size=(algorithms, 1))
    scores = level * rng.uniform(-0.2, 1, size=tasks) + rng.normal(scale=0.4, size=(algorithms, tasks))
    scores[rng.random(scores.shape) < missing] = np.nan
    return scores


def likelihood(precision, sample):
    return float(np.linalg.slogdet(precision)[1] - np.sum(sample * precision))


def test_conditioning_by_hand():
    covariance = np.array([[4.0, 2.0], [2.0, 3.0]])
    joint = Joint(("a", "b"), np.array([1.0, 2.0]), covariance, np.linalg.inv(covariance), 10)
    told = joint.conditional([True, False])
    assert told.weights == pytest.approx(np.array([[0.5]]))
    assert joint.expected(told, np.array([5.0, np.nan])) == pytest.approx([2.0 + 0.5 * 4.0])
    assert told.spread**2 == pytest.approx(np.array([[3.0 - 2.0 * 2.0 / 4.0]]))
    assert joint.extrapolation([True, False], np.array([1.0, np.nan])) == 1.0
    assert joint.extrapolation([True, False], np.array([7.0, np.nan])) == pytest.approx(np.sqrt((4 + 9) / (4 + 1)))


@pytest.mark.parametrize("seed", range(4))
def test_no_general_optimiser_finds_a_likelier_covariance(seed):
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(12, 4)) @ rng.normal(size=(4, 4)) + rng.normal(size=(12, 1))
    sample = np.cov(table.T, bias=True)
    _, precision = fit_covariance(sample)
    wanted = sample + NOISE * np.diag(np.diag(sample))
    lower = np.tril_indices(4, -1)

    def assembled(free):
        found = np.zeros((4, 4))
        found[lower] = -(free[4:] ** 2)
        return found + found.T + np.diag(np.exp(free[:4]))

    def loss(free):
        found = assembled(free)
        return -likelihood(found, wanted) if np.linalg.eigvalsh(found)[0] > 1e-9 else 1e6

    starts = [np.concatenate([-np.log(np.diag(wanted)), np.full(6, value)]) for value in (0.01, 0.1)]
    best = -min(
        minimize(loss, start, method="Nelder-Mead", options={"maxiter": 6000, "maxfev": 6000}).fun for start in starts
    )
    assert likelihood(precision, wanted) >= best - 1e-4


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.integers(1, 63 - 1))
def test_a_better_score_never_makes_less_be_expected(seed, kinds):
    table = made(seed)
    joint = fit_joint(table, TASKS)
    assert np.all(joint.precision[~np.eye(6, dtype=bool)] <= 0)
    known = np.array([bool(kinds >> place & 1) for place in range(6)])
    told = joint.conditional(known)
    assert np.all(told.weights >= 0)
    # The same as conditioning with the covariance, where nothing has been cut off.
    rows, given_places = np.flatnonzero(~known), np.flatnonzero(known)
    block = joint.covariance[np.ix_(given_places, given_places)]
    slow = joint.covariance[np.ix_(rows, given_places)] @ np.linalg.inv(block)
    assert told.weights == pytest.approx(slow, abs=1e-8)
    left = joint.covariance[np.ix_(rows, rows)] - slow @ joint.covariance[np.ix_(given_places, rows)]
    assert told.spread @ told.spread.T == pytest.approx(left, abs=1e-8)


def test_what_is_missing_is_learnt_from_what_goes_with_it():
    rng = np.random.default_rng(1)
    level = rng.normal(size=400)
    table = np.column_stack([level, level + rng.normal(scale=0.1, size=400)])
    table[level > 0, 1] = np.nan  # the mean of what is there is far off
    joint = fit_joint(table, ("a", "b"))
    assert abs(joint.mean[1] - level.mean()) < 0.05
    assert np.nanmean(table[:, 1]) < -0.6
