"""Random problems with missing cells and ties, and a search as slow and plain as can be."""

import itertools

import numpy as np
from scipy.optimize import nnls

from arcademark.subset.problem import Problem


def random_problem(seed, algorithms=24, tasks=8, missing=0.08, twins=1):
    """The last ``twins`` tasks have the scores of the first ones, so that subsets tie."""
    rng = np.random.default_rng(seed)
    skill = rng.uniform(0.0, 3.0, algorithms)
    scores = np.maximum(0.0, skill[:, None] * rng.uniform(0.3, 1.3, tasks) + rng.normal(0.0, 0.5, (algorithms, tasks)))
    scores[rng.random(scores.shape) < missing * rng.choice([0, 2], tasks)] = np.nan
    for twin in range(twins):
        scores[:, tasks - 1 - twin] = scores[:, twin]
    target = skill + rng.normal(0.0, 0.1, algorithms)
    names = tuple(f"algorithm {row:02d}" for row in range(algorithms))
    return Problem(scores, target, names, tuple(f"task {column}" for column in range(tasks)))


def folds_of(n, folds, seed):
    order = np.arange(n)
    np.random.RandomState(seed).shuffle(order)
    return np.array_split(order, folds)


def error_of(problem, subset, folds, seed, nonnegative):
    """Cross-validated squared error; None where the subset is dropped or has too few complete cases."""
    rows = np.isfinite(problem.X[:, subset]).all(axis=1)
    x, y = problem.X[rows][:, subset], problem.y[rows]
    n = len(y)
    if n < folds or n - max(map(len, folds_of(n, folds, seed))) < len(subset):
        return None

    def fit(inputs, targets):
        return nnls(inputs, targets)[0] if nonnegative == "nnls" else np.linalg.lstsq(inputs, targets, rcond=None)[0]

    if nonnegative != "any" and fit(x, y).min() < -1e-10:
        return None
    errors = []
    for held in folds_of(n, folds, seed):
        rest = np.setdiff1d(np.arange(n), held)
        errors.append(np.mean((y[held] - x[held] @ fit(x[rest], y[rest])) ** 2))
    return float(np.mean(errors))


def slow_search(problem, size, folds, seed, nonnegative, allowed=None, include=(), charge=False):
    """(error, subset) of every subset that is not dropped, best first; of ties the subset that comes first.

    If incomplete cases are charged, each counts with the variance of the target.
    """
    free = [task for task in (range(len(problem.tasks)) if allowed is None else allowed) if task not in include]
    found = []
    for chosen in itertools.combinations(free, size - len(include)):
        subset = tuple(sorted((*include, *chosen)))
        error = error_of(problem, subset, folds, seed, nonnegative)
        if error is not None and charge:
            complete = np.isfinite(problem.X[:, subset]).all(axis=1)
            error = float(np.mean(np.where(complete, error, np.var(problem.y))))
        if error is not None:
            found.append((error, subset))
    return sorted(found, key=lambda item: (float(f"{item[0]:.8e}"), item[1]))
