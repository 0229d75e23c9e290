"""What the near-best subsets agree on: against a search as slow and plain as can be, and by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_up_scores import random_problem, slow_search
from scipy.optimize import nnls

from arcademark.errors import ArcadeMarkError
from arcademark.subset.consensus import APART, consensus, most_agreed
from arcademark.subset.model import from_candidate
from arcademark.subset.plan import Step, follow
from arcademark.subset.problem import Problem
from arcademark.subset.search import evaluate, search
from arcademark.subset.validate import nested

FOLDS, SEED = 4, 7


def choose(problem: Problem, size: int, **options):
    return consensus(problem, size, folds=FOLDS, fold_seed=SEED, threads=1, **options)


def slow_consensus(problem: Problem, size: int, listed: int, shuffles: int) -> tuple[int, ...]:
    lists = [
        [subset for _, subset in slow_search(problem, size, FOLDS, SEED + APART * place, "drop", charge=True)[:listed]]
        for place in range(shuffles)
    ]
    times = {task: sum(task in subset for each in lists for subset in each) for task in range(len(problem.tasks))}
    return max((subset for each in lists for subset in each), key=lambda subset: sum(times[task] for task in subset))


def slow_fit(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, float]:
    """Any constant, no negative coefficient: the constant's two signs are two columns."""
    ones = np.ones((len(y), 1))
    found = nnls(np.hstack([x, ones, -ones]), y)[0]
    return found[:-2], float(found[-2] - found[-1])


def test_tasks_count_as_often_as_they_are_listed():
    # Task 0: 1, 1: 3, 2: 2, 3: 2.
    assert most_agreed([[(0, 1), (1, 2)], [(2, 3), (1, 3)]], 4) == [(1, 2), (1, 3), (0, 1), (2, 3)]
    assert most_agreed([[], []], 4) == []


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(("tasks", "size", "near_best", "shuffles"), [(13, 4, 5, 2), (13, 4, 99, 1), (12, 5, 4, 3)])
def test_agrees_with_counting_slowly(seed, tasks, size, near_best, shuffles):
    problem = random_problem(seed, tasks=tasks, missing=0.08 * seed)
    found = choose(problem, size, near_best=near_best, shuffles=shuffles)
    subsets = math.comb(tasks, size)
    subset = slow_consensus(problem, size, min(near_best, subsets // 100), shuffles)
    assert problem.positions(found.best.tasks) == subset
    x, y = problem.sample(subset)
    weights, constant = slow_fit(x, y)
    assert found.best.coefficients == pytest.approx(weights.tolist(), abs=1e-9)
    assert found.best.intercept == pytest.approx(constant, abs=1e-9)
    assert found.best.n == len(y)
    assert found.certificate.holds
    assert found.certificate.subsets == subsets * shuffles


def test_of_few_subsets_it_is_the_best_with_a_constant():
    problem = random_problem(2, tasks=8)
    best = search(problem, 2, folds=FOLDS, fold_seed=SEED, incomplete="charge").best
    found = choose(problem, 2, shuffles=1)
    assert found.best.tasks == best.tasks
    assert found.runners_up == ()


def test_it_can_be_another_than_the_best():
    different = 0
    for seed in range(12):
        problem = random_problem(seed, tasks=13)
        best = search(problem, 4, folds=FOLDS, fold_seed=SEED, incomplete="charge", top=1).best
        found = choose(problem, 4, shuffles=1)
        different += found.best.tasks != best.tasks
        assert len(found.runners_up) == 715 // 100 - 1
    assert different


def test_an_error_with_a_constant_is_that_of_fits_without_the_fold():
    problem = random_problem(4, missing=0.0)
    tasks = problem.tasks[:3]
    x, y = problem.sample((0, 1, 2))
    order = np.arange(len(y))
    np.random.RandomState(SEED).shuffle(order)
    squares = []
    for held in np.array_split(order, FOLDS):
        rest = np.setdiff1d(order, held)
        weights, constant = slow_fit(x[rest], y[rest])
        squares.append(np.mean((y[held] - x[held] @ weights - constant) ** 2))
    found = evaluate(problem, tasks, nonnegative="nnls", folds=FOLDS, fold_seed=SEED, constant=True)
    assert found.cv_mse == pytest.approx(np.mean(squares))
    assert evaluate(problem, tasks, nonnegative="nnls", folds=FOLDS, fold_seed=SEED).intercept == 0.0


@settings(deadline=None, max_examples=15)
@given(st.integers(0, 50), st.lists(st.floats(0, 1e4), min_size=3, max_size=3), st.integers(0, 2), st.floats(0, 1e4))
def test_a_better_score_never_predicts_less(seed, scores, place, more):
    found = choose(random_problem(seed), 3, near_best=5, shuffles=2)
    model = from_candidate(found.best, "agreed", target="median", citation="here")
    assert model.intercept == found.best.intercept
    better = [score + more * (column == place) for column, score in enumerate(scores)]
    assert model.predict(better) >= model.predict(scores)


def test_nested_errors_are_of_models_with_their_constant():
    problem = random_problem(1, tasks=9, missing=0.0)
    sources = {name: f"paper {row % 5}" for row, name in enumerate(problem.algorithms)}
    found = nested(problem, sources, lambda sample: {"": choose(sample, 3, shuffles=2).best})[""]
    for item in found.held_out:
        rest = [row for row, name in enumerate(problem.algorithms) if sources[name] != item.source]
        left = problem.with_algorithms(rest)
        x, y = left.sample(left.positions(item.tasks))
        weights, constant = slow_fit(x, y)
        row = problem.algorithms.index(item.algorithm)
        assert item.predicted == pytest.approx(problem.X[row, list(problem.positions(item.tasks))] @ weights + constant)


def test_a_plan_can_be_followed_with_it():
    problem = random_problem(3, tasks=12)
    steps = (Step("4", 4), Step("2", 2, within="4"), Step("other", 3, exclude="4"))
    found = follow(problem, steps, choose=consensus, folds=FOLDS, fold_seed=SEED, shuffles=2, threads=1)
    assert found["4"].best == choose(problem, 4, shuffles=2).best
    assert set(found["2"].best.tasks) < set(found["4"].best.tasks)
    assert not set(found["other"].best.tasks) & set(found["4"].best.tasks)


def test_progress_goes_through_all_shuffles():
    told = []
    choose(random_problem(0, tasks=10), 3, shuffles=3, progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (360, 360)
    assert [done for done, _ in told] == sorted(done for done, _ in told)


@pytest.mark.parametrize("options", [{"near_best": 0}, {"shuffles": 0}])
def test_numbers_below_one_are_refused(options):
    with pytest.raises(ArcadeMarkError, match="expected 1 or more of each"):
        choose(random_problem(0), 3, **options)


def test_where_nothing_can_be_used_it_says_so():
    X = np.random.default_rng(5).uniform(1, 2, (20, 2))
    problem = Problem(X, 2 * X[:, 0] - X[:, 1], tuple(f"a{row:02}" for row in range(20)), ("a", "b"))
    with pytest.raises(ArcadeMarkError, match="--set nnls=yes"):
        choose(problem, 2)
    assert choose(problem, 2, nonnegative="nnls").best.coefficients[1] == 0.0
