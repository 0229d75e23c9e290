import numpy as np
import pytest

from arcademark.errors import ArcadeMarkError
from arcademark.metrics import aggregate
from arcademark.subset.problem import log10_score, make_problem

NAN = np.nan
TASKS = ("alpha", "beta", "gamma", "delta")
ALGORITHMS = ("one", "two", "three")
SCORES = np.array([[10.0, -5.0, 100.0, 40.0], [20.0, 3.0, NAN, 7.0], [NAN, NAN, NAN, 9.0]])


def made(**options):
    return make_problem(SCORES, ALGORITHMS, TASKS, **({"minimum_tasks": 3, "minimum_algorithms": 2} | options))


def test_filters_name_what_they_leave_out():
    problem = made()
    assert problem.algorithms == ("one", "two")
    assert problem.tasks == ("alpha", "beta", "delta")
    assert problem.left_out["three"] == "it has 1 tasks, fewer than 3"
    assert problem.left_out["gamma"] == "1 algorithms have it, fewer than 2"
    np.testing.assert_allclose(problem.X, log10_score([[10, -5, 40], [20, 3, 7]]))


def test_target_counts_tasks_that_are_left_out():
    assert made().y == pytest.approx(log10_score([25.0, 7.0]))  # of −5, 10, 40, 100 and of 3, 7, 20


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("mean", [36.25, 10.0]),
        ("iqm", [25.0, 10.0]),
        ("at human level", [1.0, 0.0]),
        (lambda scores: float(scores.max()), [100.0, 20.0]),
        ([1.0, 2.0, 3.0], [1.0, 2.0]),
    ],
)
def test_targets(target, expected):
    assert made(target=target, transform="none").y == pytest.approx(expected)
    assert aggregate.mean(SCORES[0]) == 36.25


def test_a_task_that_tells_nothing_apart_is_left_out():
    problem = make_problem(
        [[1.0, 5.0], [1.0, 7.0], [1.0, 9.0]], ALGORITHMS, ("same", "other"), minimum_tasks=1, minimum_algorithms=1
    )
    assert problem.tasks == ("other",)
    assert problem.left_out["same"] == "all algorithms have the same score on it"
    with pytest.raises(ArcadeMarkError, match="'same' is not part of the problem: all algorithms"):
        problem.positions(["same"])


def test_a_target_that_is_the_same_of_all_is_refused():
    # Every algorithm's median is 50, though no task tells none apart.
    scores = [[50.0, 10.0, 90.0], [40.0, 50.0, 60.0], [90.0, 20.0, 50.0]]
    with pytest.raises(ArcadeMarkError, match=r"the same for all 3 algorithms.*choose another"):
        make_problem(scores, ALGORITHMS, ("p", "q", "r"), minimum_tasks=1, minimum_algorithms=1)
    assert make_problem(
        scores, ALGORITHMS, ("p", "q", "r"), target="mean", minimum_tasks=1, minimum_algorithms=1
    ).y.shape == (3,)
    below = [[-1.0, 1.0, -9.0], [-2.0, 5.0, -2.0], [-3.0, 2.0, -5.0]]
    with pytest.raises(ArcadeMarkError, match="the transformed target is the same for all 3 algorithms, 0, so"):
        make_problem(below, ALGORITHMS, ("p", "q", "r"), minimum_tasks=1, minimum_algorithms=1)


@pytest.mark.parametrize(
    ("scores", "algorithms", "tasks", "says"),
    [
        (np.full((3, 4), NAN), ALGORITHMS, TASKS, "0 of 3 algorithms"),
        (np.ones((3, 4)), ALGORITHMS, TASKS, "0 of 4 tasks"),
        (SCORES, ("one", "two", "one"), TASKS, "algorithm 'one' is named twice"),
        (SCORES, ALGORITHMS, ("alpha", "beta", "alpha", "delta"), "task 'alpha' is named twice"),
        (SCORES, ALGORITHMS, TASKS[:3], "shape"),
        (np.full((3, 4), np.inf), ALGORITHMS, TASKS, "infinite"),
    ],
)
def test_bad_tables_are_refused(scores, algorithms, tasks, says):
    with pytest.raises(ArcadeMarkError, match=says):
        make_problem(scores, algorithms, tasks, minimum_tasks=1, minimum_algorithms=1)
