"""Nested errors against a search as slow and plain as can be; intervals against hand counts."""

import math

import numpy as np
import pytest
from made_up_scores import random_problem, slow_search

from arcademark.subset.predict.spread import conformal_half_width
from arcademark.subset.problem import Problem
from arcademark.subset.search.search import search
from arcademark.subset.studies.validate import HeldOut, copies, coverage, nested, validation

FOLDS, SEED = 4, 7


def sources_of(problem, papers=6):
    return {name: f"paper {row % papers}" for row, name in enumerate(problem.algorithms)}


def choose(size, seed=SEED):
    return lambda problem: {"best": search(problem, size, folds=FOLDS, fold_seed=seed, top=1).best}


def slow_choice(problem, size):
    return slow_search(problem, size, FOLDS, SEED, "drop")[0][1]


def slow_nested(problem, sources, size):
    """Predictions by algorithm, and the subsets chosen, one a source."""
    found, chosen = {}, []
    names = np.array([sources[name] for name in problem.algorithms])
    for source in dict.fromkeys(names.tolist()):
        rest = np.flatnonzero(names != source)
        left = Problem(problem.X[rest], problem.y[rest], tuple(problem.algorithms[r] for r in rest), problem.tasks)
        subset = slow_choice(left, size)
        chosen.append(subset)
        rows = np.isfinite(left.X[:, subset]).all(axis=1)
        weights = np.linalg.lstsq(left.X[rows][:, subset], left.y[rows], rcond=None)[0]
        for row in np.flatnonzero(names == source):
            guess = float(problem.X[row, list(subset)] @ weights)
            if math.isfinite(guess):
                found[problem.algorithms[row]] = guess
    return found, chosen


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_agrees_with_searching_slowly_without_each_source(seed, size):
    problem = random_problem(seed, missing=0.1 * seed)
    sources = sources_of(problem)
    expected, chosen = slow_nested(problem, sources, size)
    found = nested(problem, sources, choose(size))["best"]
    assert [item.algorithm for item in found.held_out] == [name for name in problem.algorithms if name in expected]
    assert [item.predicted for item in found.held_out] == pytest.approx(
        [expected[item.algorithm] for item in found.held_out]
    )
    truth = dict(zip(problem.algorithms, problem.y, strict=True))
    assert [item.true for item in found.held_out] == [truth[item.algorithm] for item in found.held_out]
    assert found.unpredicted.keys() == set(problem.algorithms) - expected.keys()
    errors = [math.log(10) * abs(truth[name] - guess) for name, guess in expected.items()]
    assert (found.mean, found.median, found.worst) == pytest.approx((np.mean(errors), np.median(errors), max(errors)))
    assert {problem.positions(win.tasks): win.times for win in found.winners} == {
        subset: chosen.count(subset) for subset in chosen
    }


def test_a_copy_under_another_source_is_dropped_and_the_fuller_one_stays():
    rng = np.random.default_rng(1)
    X = rng.uniform(1, 2, (12, 11))
    X[3] = X[7]
    X[3, 0] = np.nan
    X[5] = X[6]
    problem = Problem(X, X.mean(axis=1, where=np.isfinite(X)), tuple("abcdefghijkl"), tuple(map(str, range(11))))
    sources = {name: name for name in problem.algorithms} | {"f": "same", "g": "same"}
    assert copies(problem, sources) == {"d": "h"}
    found = nested(problem, sources, choose(1))["best"]
    assert found.unpredicted == {"d": "a copy of h"}
    assert len(found.held_out) == 11


def made(residuals):
    items = [
        HeldOut(f"{source}{place}", source, ("t",), value, 0.0)
        for source, values in residuals.items()
        for place, value in enumerate(values)
    ]
    return validation(items, {}, ())


def test_intervals_count_each_source_once():
    found = made({"a": [0.1, 0.1, 0.1, 0.1], "b": [-0.2], "c": [0.3], "d": [-0.4, 0.5]})
    # Weights: a 4 × 1/20, b 1/5, c 1/5, d 2 × 1/10, infinity 1/5.
    assert [conformal_half_width(found.errors(), level) for level in (0.15, 0.2, 0.4, 0.5, 0.7, 0.75, 0.8, 0.81)] == [
        *(0.1, 0.1, 0.2, 0.3, 0.4, 0.5, 0.5, math.inf)
    ]
    assert found.mean_of_papers == pytest.approx(math.log(10) * (0.1 + 0.2 + 0.3 + 0.45) / 4)
    measured = coverage(found.errors(), 0.5)
    # Without a: b, c, d at 1/4 each, so 0.3; without b or c: a, and c or b; without d: a, b.
    assert (measured.inside, measured.of, measured.of_papers) == (5, 8, 0.5)
    assert measured.factor == pytest.approx(10**0.3)


def test_intervals_hold_what_they_promise_for_sources_that_can_be_exchanged():
    rng = np.random.default_rng(11)
    inside = []
    for _ in range(400):
        spread = rng.exponential(size=16)
        groups = {str(place): (scale * rng.normal(size=3)).tolist() for place, scale in enumerate(spread)}
        new = groups.pop("15")
        inside.append(np.mean(np.abs(new) <= conformal_half_width(made(groups).errors(), 0.8)))
    assert 0.77 <= np.mean(inside) <= 0.88
