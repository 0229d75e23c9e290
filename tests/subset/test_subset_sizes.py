import numpy as np
import pytest
from made_up_scores import random_problem

from arcademark.subset.search.search import evaluate, r2_of_all, search

FOLDS, SEED = 4, 7


def test_r2_of_all_ranks_as_the_charging_search_does():
    problem = random_problem(31, algorithms=30, tasks=9, missing=0.12)
    found = search(problem, 3, folds=FOLDS, fold_seed=SEED, incomplete="charge", top=20)
    shares = [r2_of_all(problem, item) for item in (found.best, *found.runners_up)]
    assert (np.diff(shares) <= 1e-9).all()  # twins tie, up to rounding
    whole = found.best
    expected = 1 - (whole.n * whole.cv_mse + (30 - whole.n) * np.var(problem.y)) / (30 * np.var(problem.y))
    assert shares[0] == pytest.approx(expected)


def test_the_standard_error_is_that_of_a_mean_over_folds():
    problem = random_problem(5, missing=0.0)
    found = evaluate(problem, problem.tasks[:2], folds=2, fold_seed=None)
    half = len(problem.y) // 2
    x, y = problem.X[:, :2], problem.y
    means = []
    for held, fitted in ((slice(0, half), slice(half, None)), (slice(half, None), slice(0, half))):
        weights = np.linalg.lstsq(x[fitted], y[fitted], rcond=None)[0]
        means.append(np.mean(np.abs(y[held] - x[held] @ weights)))
    assert len(y) % 2 == 0
    assert found.standard_error == pytest.approx(abs(means[0] - means[1]) / 2)
