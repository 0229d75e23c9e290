"""How odd scores are beside those that were learnt from, by hand, and how much wider that makes intervals."""

import dataclasses
import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arcademark.errors import ArcadeMarkError
from arcademark.subset.predict import files
from arcademark.subset.predict.model import SubsetModel
from arcademark.subset.predict.spread import Spread, conformal_half_width, spread
from arcademark.subset.problem import Problem
from arcademark.subset.studies.validate import HeldOut, coverage, validation
from arcademark.suite import subsets

ONE = Spread((1.0, 2.0), ((4.0, 0.0), (0.0, 1.0)), ((0.1,),) * 9)


def model(**changes):
    told = subsets.Nested(mean=0.1, median=0.1, worst=0.2, n=9, errors=((0.3,),) * 9)
    made = SubsetModel("m", ("a", "b"), (0.5, 0.5), 0.0, 0.1, "median", None, "here", nested=told, spread=ONE)
    return dataclasses.replace(made, **changes)


def test_scores_that_go_against_each_other_are_odd():
    rng = np.random.default_rng(1)
    skill = rng.uniform(0, 2, 200)
    X = np.column_stack([skill, skill]) + rng.normal(0, 0.1, (200, 2))
    X[:50, 1] = np.nan
    problem = Problem(X, skill, tuple(f"a{row:03}" for row in range(200)), ("a", "b"))
    found = spread(problem, ("a", "b"))
    assert found.mean == pytest.approx(X[50:].mean(axis=0))
    expected = np.cov(X[50:].T)
    assert np.array(found.covariance) == pytest.approx(expected + np.diag(1e-3 * np.diag(expected)))
    assert found.extrapolation([1.8, 1.8]) < 1.2 < 2 < found.extrapolation([1.4, 0.6])


def test_usual_residuals_are_divided_by_the_oddness():
    held = [
        HeldOut(f"a{n}", f"s{n}", ("t",), size, 0.0, odd)
        for n, (size, odd) in enumerate([(0.1, 1), (-0.6, 3), (0.4, 1)])
    ]
    found = validation(held, {}, ())
    usual = found.errors(usual=True)
    assert [size for sizes in usual for size in sizes] == pytest.approx([0.1, 0.2, 0.4])
    assert (found.intervals[0].half_width, conformal_half_width(usual, 0.5)) == pytest.approx((0.4, 0.2))
    # Without the first: 0.2 at 1/3, 0.4 at 2/3; without the second: 0.1, 0.4; without the third: 0.1, 0.2.
    assert coverage(usual, 0.6).inside == 2


@given(st.floats(0, 1e5), st.floats(0, 1e5))
def test_intervals_are_as_many_times_as_wide_as_scores_are_odd(a, b):
    found = model().estimate({"a": a, "b": b}, max_frames_per_episode=None)
    logs = np.log10([1 + a, 1 + b])
    times = ONE.extrapolation(logs)
    middle = math.log10(1 + found.value)
    assert found.high == pytest.approx(10 ** (middle + 0.1 * times) - 1)
    assert found.low == pytest.approx(max(0.0, 10 ** (middle - 0.1 * times) - 1), abs=1e-9)
    assert any("times as wide as usual" in note for note in found.notes) == (times >= 1.05)


def test_without_a_spread_intervals_are_as_wide_for_all():
    found = model(spread=None).estimate({"a": 1e5, "b": 0.0}, max_frames_per_episode=None)
    assert math.log10(1 + found.high) - math.log10(1 + found.value) == pytest.approx(0.3)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"mean": [1.0], "covariance": [[1.0]]}, "has 1 numbers, expected 2"),
        ({"mean": 1.0}, r"got `float` - at `\$.spread.mean`"),
        ({"covariance": [[1.0, 2.0], [2.0, 1.0]]}, "positive definite"),
        ({"errors": [[-1]]}, "errors of 0 or more"),
    ],
)
def test_files_with_another_are_refused(changes, told):
    document = json.loads(files.dumps(model()))
    document["spread"] |= changes
    with pytest.raises(ArcadeMarkError, match=told) as error:
        files.loads(json.dumps(document), "m.json")
    assert str(error.value).count("m.json") == 1
