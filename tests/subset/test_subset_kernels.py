from __future__ import annotations

import itertools

import numpy as np
import pytest
from numba import njit
from scipy.optimize import nnls

from arcademark.subset.least_squares import make_room, nonnegative_least_squares
from arcademark.subset.search.bounds import count_pairs, eliminate, explained_by_pair


@njit
def solve_nonnegative(gram, y, allowed, active):
    _, factor, solution, _, small, trial = make_room(y)
    rest = nonnegative_least_squares(gram, y, allowed, -1.0, factor, solution, active, (small, trial))
    return rest, solution[:y]


@njit
def explain_pairs(gram, chosen, cut):
    q = gram.shape[0] - 1
    squares = np.diag(gram).copy()
    for k in range(chosen):
        eliminate(gram, k, q, squares, gram)
    scale, beta, out = np.zeros(q), np.zeros(q), np.full((q, q), np.nan)
    for j in range(chosen, q):
        scale[j] = 1.0 / np.sqrt(gram[j, j])
        beta[j] = gram[j, q] * scale[j]
    many = np.zeros(q, np.int64)
    for i in range(chosen, q):
        for j in range(i + 1, q):
            out[i, j] = explained_by_pair(gram[i], i, j, scale, beta, gram[q, q])
        many[i] = count_pairs(gram[i], i, q, scale, beta, cut)
    return gram[q, q], out, many


@pytest.mark.parametrize("seed", range(20))
def test_nonnegative_least_squares_agrees_with_scipy(seed):
    rng = np.random.default_rng(seed)
    rows, tasks = rng.integers(4, 40), rng.integers(1, 30)
    x = rng.uniform(0, 1, (rows, 1)) + rng.normal(0, 0.4, (rows, tasks))
    x[:, 0] = x[:, -1]
    y = x @ np.maximum(0, rng.normal(size=tasks)) + rng.normal(0, 0.5, rows)
    allowed = rng.random(tasks) < 0.8
    z = np.column_stack([x, y])
    for active in (np.zeros(tasks, bool), allowed & (rng.random(tasks) < 0.5)):
        rest, solution = solve_nonnegative(z.T @ z, tasks, allowed, active)
        expected = nnls(x[:, allowed], y)[1] ** 2 if allowed.any() else y @ y
        assert rest == pytest.approx(expected, rel=1e-7, abs=1e-9)
        assert (solution >= 0).all()
        assert not solution[~allowed].any()
        assert np.sum((y - x @ solution) ** 2) == pytest.approx(rest, rel=1e-7, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_pairs_explain_as_much_as_least_squares_with_the_last_two_not_negative(seed):
    rng = np.random.default_rng(seed)
    chosen, tasks, rows = 3, 9, 25
    x = rng.uniform(0, 1, (rows, 1)) + rng.normal(0, 0.6, (rows, tasks))
    y = x @ rng.normal(0.2, 1, tasks) + rng.normal(0, 0.5, rows)
    z = np.column_stack([x, y])
    corner, explained, _ = explain_pairs(z.T @ z, chosen, 0.0)
    cut = float(np.nanmedian(explained))
    many = explain_pairs(z.T @ z, chosen, cut)[2]
    assert many.tolist() == (np.nan_to_num(explained) >= cut).sum(axis=1).tolist()
    assert 0 < many.sum() < 15
    for i, j in itertools.combinations(range(chosen, tasks), 2):
        free = x[:, :chosen]  # coefficients of any sign, as differences of two that are not negative
        rest = nnls(np.column_stack([free, -free, x[:, [i, j]]]), y, maxiter=1000)[1] ** 2
        assert corner - explained[i, j] == pytest.approx(rest, rel=1e-8)
