from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from made_up_scores import error_of, random_problem, slow_search

from arcademark.errors import ArcadeMarkError
from arcademark.subset.search import search
from arcademark.subset.standing import by_size, over_seeds, standing

FOLDS, SEED = 4, 7


@pytest.mark.parametrize("size", [1, 3, 6])
def test_rank_is_the_place_among_all(size):
    problem = random_problem(2, algorithms=30, missing=0.08, tasks=9, twins=0)
    every = slow_search(problem, size, FOLDS, SEED, "drop")
    for rank in (1, 2, len(every) // 2, len(every)):
        error, subset = every[rank - 1]
        found = standing(problem, [problem.tasks[j] for j in subset], folds=FOLDS, fold_seed=SEED, list_ahead=3)
        assert found.rank == rank
        assert found.loss == pytest.approx(error / every[0][0] - 1, abs=1e-9)
        assert [problem.positions(c.tasks) for c in found.ahead] == [s for _, s in every[: min(3, rank - 1)]]
        assert found.certificate.holds


def test_constraints_hold_for_those_ahead():
    problem = random_problem(2, algorithms=30, missing=0.08, tasks=9, twins=0)
    every = slow_search(problem, 3, FOLDS, SEED, "drop", include=(2,))
    names = [problem.tasks[j] for j in every[-1][1]]
    found = standing(problem, names, include=[problem.tasks[2]], folds=FOLDS, fold_seed=SEED)
    assert found.rank == len(every)


def test_a_subset_that_is_not_searched_has_no_rank():
    problem = random_problem(2)
    with pytest.raises(ArcadeMarkError, match="not among those searched"):
        standing(problem, ["task 0", "task 1"], exclude=["task 0"], folds=FOLDS)


def test_sizes_are_searched_one_by_one():
    problem = random_problem(6, tasks=7)
    found = dict(by_size(problem, (1, 3, 2), folds=FOLDS, top=1))
    assert list(found) == [1, 3, 2]
    assert found[3].best == search(problem, 3, folds=FOLDS, top=1).best


def test_seeds_are_searched_one_by_one():
    problem = random_problem(9, algorithms=20, tasks=7, twins=0)
    seeds = (1, 2, 3, 4, 5, 6)
    found = over_seeds(problem, 2, seeds, folds=FOLDS)
    wins = Counter(slow_search(problem, 2, FOLDS, seed, "drop")[0][1] for seed in seeds)
    assert {problem.positions(tasks): times for tasks, times in found.wins} == wins
    assert sum(times for _, times in found.chosen) == 2 * len(seeds)
    for candidate, average in found.average:
        errors = [error_of(problem, problem.positions(candidate.tasks), FOLDS, seed, "any") for seed in seeds]
        assert average == pytest.approx(np.mean(errors))
    with pytest.raises(ArcadeMarkError, match="none given"):
        over_seeds(problem, 2, ())
