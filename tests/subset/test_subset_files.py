"""Model files: what is written is read again, and what is wrong is told."""

import dataclasses
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arcademark.errors import ArcadeMarkError
from arcademark.subset.predict import files
from arcademark.subset.predict.model import SubsetModel, from_candidate, from_subset
from arcademark.subset.predict.spread import Spread
from arcademark.subset.problem import make_problem
from arcademark.subset.search.search import evaluate
from arcademark.suite.subsets import Nested, subset

OWN = SubsetModel(
    name="own",
    tasks=("a", "b"),
    coefficients=(0.5, 0.25),
    intercept=0.0,
    log_error=None,
    target="mean of ours",
    max_frames_per_episode=None,
    citation="made up",
    transform="none",
    r_squared=0.75,
    n=12,
    references={"a": (0.0, 10.0), "b": (-1.0, 1.0)},
    absolute_error=7.5,
    summary="mean",
    unit="levels",
    nested=Nested(mean=0.2, median=0.1, worst=0.9, n=3, errors=((0.1,), (0.2, 0.3))),
    spread=Spread((1.0, 2.0), ((4.0, 0.0), (0.0, 1.0)), ((0.1,),) * 9),
)


@pytest.mark.parametrize("model", [OWN, *(from_subset(subset(name)) for name in ("atari-1", "atari-5", "atari-10"))])
def test_a_model_comes_back_as_it_was(model):
    assert files.loads(files.dumps(model)) == model


@given(st.lists(st.floats(0, 10), min_size=1, max_size=6))
def test_coefficients_lose_no_digit(weights):
    tasks = tuple(f"t{place}" for place in range(len(weights)))
    model = SubsetModel("m", tasks, tuple(weights), 0.0, 0.1, "median", 108_000, "c")
    assert files.loads(files.dumps(model)).coefficients == tuple(weights)


def test_what_may_be_left_out():
    optional = {field.name for field in dataclasses.fields(SubsetModel) if field.default is not dataclasses.MISSING}
    optional |= {"references", *files.OPTIONAL}
    short = {name: value for name, value in json.loads(files.dumps(OWN)).items() if name not in optional}
    found = files.loads(json.dumps({**short, "log_error": 0.1}))
    assert (found.intercept, found.transform, found.references, found.n) == (0.0, "log10", {}, None)
    assert (found.summary, found.unit, found.absolute_error) == (None, "%", None)


NESTED = {"mean": 0.2, "median": 0.1, "worst": 0.9, "n": 3, "errors": [[0.1], [0.2, 0.3]]}


def changed(**changes):
    return json.dumps({**json.loads(files.dumps(OWN)), **changes})


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{", "m.json, row 1, character 2: not JSON"),
        (changed(n="digits").replace('"digits"', "9" * 5000), "a number of 5,000 digits"),
        ("[" * 900 + "]" * 900, "nested in more than 64 levels"),
        (changed(tasks=["a\nb", "c"]), "'a\\\\nb' contains the control character U\\+000A"),
        (changed(target="\x1b[31m"), "contains the control character U\\+001B"),
        ("[]", "the schema is None"),
        (changed(schema="arcademark.subset-model/1"), "subset-model/1"),
        (json.dumps({"schema": files.SCHEMA}), "missing required field `name`"),
        (changed(coeficients=[1]), "unknown field 'coeficients'"),
        (changed(tasks=["a", "a"]), "expected a list of different names"),
        (changed(coefficients=[0.5, "x"]), "`float`, got `str` - at `$.coefficients[1]`"),
        (changed(coefficients=[0.5]), "1 coefficients, expected 2"),
        (changed(coefficients=[0.5, -0.1]), "is -0.1, expected 0 or more"),
        (changed(log_error=True), "got `bool` - at `$.log_error`"),
        (changed(log_error=0.1), "with transform 'none' the typical error is absolute_error, in the unit"),
        (changed(transform="log10"), "with transform 'log10' the typical error is log_error, a fraction"),
        (changed(absolute_error=-1), "`float` >= 0.0 - at `$.absolute_error`"),
        (changed(n=0), "`int` >= 1 - at `$.n`"),
        (changed(transform="ln"), "transform 'ln'"),
        (changed(references={"a": [0, 1]}), "no references of b"),
        (changed(references={"a": [0, 1], "b": [1, 1]}), "both references of 'b' are the same"),
        (changed(references={"a": [0, 1], "b": [1]}), "length 2, got 1 - at `$.references"),
        (changed(nested=NESTED | {"mode": 1}), "unknown field 'nested.mode'"),
        (changed(intercept=float("nan")), "m.json: contains NaN, expected a finite number"),
        (changed(nested=NESTED | {"mean": -0.1}), "expected errors of 0 or more"),
        (changed(nested=NESTED | {"n": 4}), "and n of them"),
        (changed(nested=NESTED | {"errors": [[0.1], []]}), "for each paper"),
        (changed(nested=NESTED | {"errors": [[0.1], 0.2, [0.3]]}), "got `float` - at `$.nested.errors[1]`"),
        (changed(nested=NESTED | {"errors": [[0.1], [-0.2, 0.3]]}), "expected errors of 0 or more"),
    ],
)
def test_what_is_wrong_is_told(text, told):
    with pytest.raises(ArcadeMarkError, match=told.replace("[", r"\[").replace("$", r"\$")):
        files.loads(text, "m.json")


def test_a_found_model_predicts_what_its_fit_says():
    rng = np.random.default_rng(3)
    percent = rng.uniform(0, 300, size=(30, 4))
    problem = make_problem(percent, [f"x{n:02}" for n in range(30)], "abcd", minimum_tasks=1, minimum_algorithms=1)
    best = evaluate(problem, ("b", "c"), nonnegative="nnls")
    model = from_candidate(
        best, "found", target="median", citation="here", references=dict.fromkeys("abcd", (0.0, 1.0))
    )
    logs = np.log10(1 + percent[:, [1, 2]]) @ np.array(best.coefficients)
    assert model.predict(percent[:, [1, 2]]) == pytest.approx(10**logs - 1)
    assert (model.n, model.log_error, set(model.references)) == (30, best.log_error, {"b", "c"})
