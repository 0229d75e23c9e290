from __future__ import annotations

import pytest
from made_up_scores import random_problem, slow_search

from arcademark.errors import ArcadeMarkError
from arcademark.subset.standing import standing

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
