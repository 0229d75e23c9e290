"""Plans: what each step may choose from, against fitting every subset slowly."""

import itertools

import numpy as np
import pytest

from arcademark.errors import UnknownNameError
from arcademark.subset.problem import make_problem
from arcademark.subset.search.plan import ATARI_5, SearchStep, follow, plan
from arcademark.subset.search.search import evaluate

TASKS = tuple("abcdefghijklmn")
STEPS = (
    SearchStep("two", 2),
    SearchStep("one", 1, within="two"),
    SearchStep("val", 2, exclude="two"),
    SearchStep("four", 4, include="two", exclude="val"),
)


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(11)
    level = rng.uniform(0.5, 2.5, size=(40, 1))
    percent = 10 ** (level + rng.normal(scale=0.4, size=(40, len(TASKS)))) - 1
    names = [f"x{number:02}" for number in range(40)]
    return make_problem(percent, names, TASKS, minimum_tasks=1, minimum_algorithms=1)


def best(problem, size, chosen_from, include=()):
    found = []
    for more in itertools.combinations([task for task in chosen_from if task not in include], size - len(include)):
        item = evaluate(problem, (*include, *more))
        if min(item.coefficients) >= 0:
            found.append(item)
    return min(found, key=lambda item: item.cv_mse)


def test_each_step_is_the_best_of_what_the_earlier_ones_leave(problem):
    found = follow(problem, STEPS, top=2)
    two = best(problem, 2, TASKS).tasks
    assert found["two"].best.tasks == two
    assert found["one"].best.tasks == best(problem, 1, two).tasks
    rest = [task for task in TASKS if task not in two]
    val = best(problem, 2, rest).tasks
    assert found["val"].best.tasks == val
    assert found["four"].best.tasks == best(problem, 4, [t for t in TASKS if t not in val], two).tasks
    assert all(result.certificate.holds for result in found.values())


def test_the_papers_plan_nests_as_its_section_4_3_says():
    assert [(step.name, step.size) for step in ATARI_5] == [
        ("5", 5),
        ("3", 3),
        ("1", 1),
        ("3-val", 3),
        ("5-val", 5),
        ("10", 10),
    ]
    assert plan("atari-5") is ATARI_5
    with pytest.raises(UnknownNameError, match="atari-5"):
        plan("atari-6")
