import itertools
import math

import made_up_scores
import numpy as np
import pytest
from made_up_scores import random_problem, slow_search

from arcademark.subset.problem import Problem, fold_of_cases
from arcademark.subset.search import enumeration
from arcademark.subset.search.search import evaluate, search

FOLDS, SEED = 4, 7


def positions(problem, candidates):
    return [problem.positions(candidate.tasks) for candidate in candidates]


def check(problem, size, nonnegative, bounds, *, allowed=None, include=(), top=6):
    expected = slow_search(problem, size, FOLDS, SEED, nonnegative, allowed, include)
    result = search(
        problem,
        size,
        include=[problem.tasks[j] for j in include],
        within=None if allowed is None else [problem.tasks[j] for j in allowed],
        top=top,
        nonnegative=nonnegative,
        folds=FOLDS,
        fold_seed=SEED,
        bounds=bounds,
    )
    listed = (result.best, *result.runners_up)
    assert len(listed) == min(top, len(expected))
    assert positions(problem, listed) == [subset for _, subset in expected[: len(listed)]]
    assert [c.cv_mse for c in listed] == pytest.approx([error for error, _ in expected[: len(listed)]], rel=1e-9)
    assert result.certificate.holds
    return result


@pytest.mark.parametrize("bounds", [True, False])
@pytest.mark.parametrize("nonnegative", ["drop", "nnls"])
@pytest.mark.parametrize("size", [1, 2, 3, 4])
@pytest.mark.parametrize("seed", range(4))
def test_agrees_with_fitting_every_subset(seed, size, nonnegative, bounds):
    problem = random_problem(seed, missing=0.1 * (seed % 3))
    result = check(problem, size, nonnegative, bounds)
    certificate = result.certificate
    assert certificate.subsets == math.comb(8, size)
    assert certificate.evaluated + certificate.pruned + certificate.inadmissible == certificate.subsets
    assert certificate.pruned == 0 or bounds


@pytest.mark.parametrize("nonnegative", ["drop", "nnls"])
def test_constraints_narrow_the_choice(nonnegative):
    problem = random_problem(11, tasks=9, missing=0.1)
    check(problem, 4, nonnegative, True, allowed=[0, 2, 3, 4, 6, 7, 8], include=(3,))
    check(problem, 4, nonnegative, True, include=(1, 5))
    check(problem, 2, nonnegative, True, include=(1, 5))


@pytest.mark.parametrize("nonnegative", ["drop", "nnls"])
@pytest.mark.parametrize("size", [1, 3, 6])
@pytest.mark.parametrize("bounds", [True, False])
def test_incomplete_cases_may_be_charged(size, nonnegative, bounds):
    problem = random_problem(31, algorithms=30, tasks=9, missing=0.12)
    plain = slow_search(problem, size, FOLDS, SEED, nonnegative)
    charged = slow_search(problem, size, FOLDS, SEED, nonnegative, charge=True)
    options = {"nonnegative": nonnegative, "folds": FOLDS, "fold_seed": SEED, "bounds": bounds, "top": 8}
    found = search(problem, size, incomplete="charge", **options)
    assert positions(problem, (found.best, *found.runners_up)) == [subset for _, subset in charged[:8]]
    assert found.certificate.holds
    assert [subset for _, subset in plain[:8]] != [subset for _, subset in charged[:8]]


@pytest.mark.parametrize("include", [(), ("task 2", "task 9", "task 14")])
@pytest.mark.parametrize("incomplete", ["leave out", "charge"])
def test_large_subsets_of_many_tasks_agree_with_cross_validating_each(incomplete, include):
    problem = random_problem(12, algorithms=50, tasks=24, missing=0.02)
    options = {"top": 30, "incomplete": incomplete, "include": include}
    with_bounds, without = (
        search(problem, 6 + len(include) // 3, **options),
        search(problem, 6 + len(include) // 3, bounds=False, **options),
    )
    assert with_bounds.best == without.best
    assert with_bounds.runners_up == without.runners_up
    assert with_bounds.certificate.holds
    assert with_bounds.certificate.pruned > 0.4 * with_bounds.certificate.subsets


def test_a_corrupt_bound_fails_the_certificate(monkeypatch):
    problem = random_problem(4, algorithms=50, tasks=18, missing=0.05)
    honest = search(problem, 6)
    assert honest.certificate.holds
    assert honest.certificate.audited == 10
    monkeypatch.setattr(enumeration, "BOUND_MARGIN", 2.0)
    corrupt = search(problem, 6).certificate
    assert (corrupt.holds, corrupt.violations, corrupt.gap) == (False, 1, math.inf)


def test_candidate_by_hand():
    x, y = np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, 2.0, 4.0, 4.0])
    problem = Problem(x[:, None], y, ("a", "b", "c", "d"), ("t",))
    found = evaluate(problem, ["t"], folds=2, fold_seed=None)
    later, earlier = (3 * 4 + 4 * 4) / 25, (1 + 4) / 5  # slopes fitted to rows c, d and to rows a, b
    errors = [1 - later, 2 - 2 * later, 4 - 3 * earlier, 4 - 4 * earlier]
    assert found.cv_mse == pytest.approx(np.mean(np.square(errors)))
    assert found.cv_mae == pytest.approx(np.mean(np.abs(errors)))
    assert found.r2 == pytest.approx(1 - np.mean(np.square(errors)) / np.var(y))
    assert found.log_error == pytest.approx(math.log(10) * np.mean(np.abs(errors)))
    assert found.coefficients == pytest.approx([(1 + 4 + 12 + 16) / 30])
    assert found.n == 4


def test_folds_are_those_of_the_published_code():
    fold_of = fold_of_cases(44)
    for fold, held in enumerate(made_up_scores.folds_of(44, 10, 1982)):
        assert set(np.flatnonzero(fold_of == fold)) == set(held)
    assert fold_of_cases(5, 2, None).tolist() == [0, 0, 0, 1, 1]


@pytest.mark.slow
@pytest.mark.parametrize(("size", "tasks"), [(6, 30)])
def test_published_scores_are_searched_alike_with_bounds_and_without(size, tasks):
    from arcademark.reproduce.atari5.data import problem

    within = problem().tasks[:tasks]
    with_bounds = search(problem(), size, within=within)
    without = search(problem(), size, within=within, bounds=False)
    assert with_bounds.best == without.best
    assert with_bounds.runners_up == without.runners_up
    assert with_bounds.certificate.holds
    assert without.certificate.evaluated == without.certificate.subsets == with_bounds.certificate.subsets


def exact_problem(seed, tasks=7, algorithms=30, missing=0.0):
    """A target that is one of the tasks, or the mean of two: many subsets fit perfectly."""
    rng = np.random.default_rng(seed)
    x = np.abs(rng.normal(2, 1, (algorithms, tasks)))
    y = x[:, 2].copy() if seed % 2 else (x[:, 2] + x[:, 4]) / 2
    x[rng.random(algorithms) < missing, 0] = np.nan
    names = tuple(f"algorithm {i}" for i in range(algorithms))
    return Problem(x, y, names, tuple(f"task {j}" for j in range(tasks)))


@pytest.mark.parametrize("incomplete", ["leave out", "charge"])
@pytest.mark.parametrize("nonnegative", ["drop", "nnls"])
@pytest.mark.parametrize("size", [2, 6])
def test_perfect_fits_tie(size, nonnegative, incomplete):
    for seed in range(6):
        problem = exact_problem(seed, tasks=8 if size == 6 else 7, missing=0.3 * (seed > 2))
        options = {"nonnegative": nonnegative, "incomplete": incomplete, "folds": FOLDS, "top": 3}
        with_bounds, without = search(problem, size, **options), search(problem, size, bounds=False, **options)
        assert (with_bounds.best, with_bounds.runners_up) == (without.best, without.runners_up)
        assert with_bounds.certificate.holds
        assert with_bounds.best.cv_mse == 0.0
        assert min(with_bounds.best.coefficients) >= 0.0
        if incomplete == "leave out":
            needed = {2} if seed % 2 else {2, 4}
            perfect = [set(s) for s in itertools.combinations(range(len(problem.tasks)), size) if needed <= set(s)]
            assert set(problem.positions(with_bounds.best.tasks)) == perfect[0] or nonnegative == "drop"


@pytest.mark.parametrize("scale", [1e-9, 1e9])
def test_units_of_tasks_do_not_matter(scale):
    problem = random_problem(21, tasks=9, missing=0.0, twins=0)
    other = Problem(problem.X * scale, problem.y, problem.algorithms, problem.tasks)
    for size in (3, 6):
        first, second = search(problem, size, folds=FOLDS), search(other, size, folds=FOLDS)
        assert [c.tasks for c in (first.best, *first.runners_up)] == [
            c.tasks for c in (second.best, *second.runners_up)
        ]
