import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, Optional

import numpy as np
import pytest

from arcademark.agents.parameters import (
    MISSING,
    AboveZero,
    Parameter,
    Positive,
    Share,
    coerce,
    declared,
    read_parameters,
)
from arcademark.environments.base import EnvironmentSpec
from arcademark.errors import ArcadeMarkError, UnknownNameError

ACCEPTED = [
    (int, "7", 7),
    (int, "2e6", 2_000_000),
    (float, "0.5", 0.5),
    (float, np.float64(0.1), 0.1),
    (bool, "true", True),
    (bool, "0", False),
    (str, "none", "none"),
    (Literal[1, 2], "2", 2),
    (Optional[int], "none", None),  # noqa: UP045
    (int | None, None, None),
    (str | int, "3", 3),
    (str | int, "three", "three"),
    (list[int], "1,2, 3", [1, 2, 3]),
    (tuple[int, str], "1,a", (1, "a")),
    (Sequence[float], "1,2", [1.0, 2.0]),
    (Path, "weights/a.zip", Path("weights/a.zip")),
    (dict[str, int], '{"a": 1}', {"a": 1}),
    (Positive, "3", 3),
    (Share | None, "none", None),
    (MISSING, "0.5", 0.5),
    (MISSING, "true", True),
    (MISSING, "text", "text"),
    (Any, "null", None),
]


@pytest.mark.parametrize(("annotation", "given", "expected"), ACCEPTED)
def test_a_value_is_read_by_its_annotation(annotation, given, expected):
    found = coerce(given, annotation)
    assert found == expected
    assert type(found) is type(expected)
    recorded = Parameter("x", annotation, MISSING).read(given)
    assert coerce(recorded, annotation) == expected
    assert Parameter("x", annotation, MISSING).read(recorded) == recorded


@pytest.mark.parametrize(
    ("annotation", "given", "expected"),
    [
        (int, "2.5", "int"),
        (int, True, "int"),
        (float, "inf", "a finite number"),
        (float | None, -math.inf, "a finite number"),
        (bool, "maybe", "true or false"),
        (bool, 1, "true or false"),
        (Literal["fast", "slow"], "medium", "one of 'fast', 'slow'"),
        (int | None, "x", "int or None"),
        (list[int], "1,x", "int values separated by commas"),
        (tuple[int, int], "1", "int, int separated by commas"),
        (dict, "{", "a JSON object"),
        (Share | None, "1.5", "float from 0 to 1 or None"),
        (list[AboveZero], "1,0", "float of more than 0 values separated by commas"),
        (np.ndarray, "1", "ndarray"),
    ],
)
def test_another_value_is_refused_saying_what_was_expected(annotation, given, expected):
    with pytest.raises(ArcadeMarkError, match=r"agent a: parameter 'x' is .*: expected ") as caught:
        read_parameters("agent a", [Parameter("x", annotation, MISSING)], {"x": given})
    assert str(caught.value).endswith(f"expected {expected}")


def annotated(where: EnvironmentSpec | None = None, depth: int = 2): ...


def unevaluated(where: "UnknownHere.EnvironmentSpec", depth: "int" = 2): ...  # noqa: F821


def typed(depth: int, width=3): ...


class Agent:
    def __init__(self, env, *, depth: int = 2, path: Path | None = None): ...


@pytest.mark.parametrize(
    ("factory", "parameters", "takes_environment"),
    [
        (lambda env: None, [], True),
        (lambda anything, *, a: None, [("a", MISSING, MISSING)], True),
        (lambda env=None: None, [], True),
        (lambda: None, [], False),
        (lambda **rest: None, [], False),
        (annotated, [("depth", int, 2)], True),
        (unevaluated, [("depth", int, 2)], True),
        (typed, [("depth", int, MISSING), ("width", int, 3)], False),
        (lambda depth=2: None, [("depth", int, 2)], False),
        (Agent, [("depth", int, 2), ("path", Path | None, None)], True),
    ],
)
def test_a_factory_declares_what_it_takes_besides_the_environment(factory, parameters, takes_environment):
    found, takes = declared(factory)
    assert ([(one.name, one.annotation, one.default) for one in found], takes) == (parameters, takes_environment)


def test_an_argument_that_can_only_be_passed_by_position_is_refused():
    def factory(env, depth, /): ...

    with pytest.raises(ArcadeMarkError, match="'depth' can be passed by position only"):
        declared(factory)


PARAMETERS = [Parameter("depth", int, 2), Parameter("path", Path, MISSING), Parameter("rate", float, 0.5)]


def test_what_equals_its_default_is_left_out_and_the_order_is_the_declared_one():
    read = read_parameters("agent a", PARAMETERS, {"rate": "0.25", "path": "x", "depth": "2"})
    assert read == {"path": "x", "rate": 0.25}
    assert list(read) == ["path", "rate"]


def test_an_undeclared_name_gets_the_closest():
    with pytest.raises(UnknownNameError, match="unknown parameter 'dept'; did you mean 'depth'"):
        read_parameters("agent a", PARAMETERS, {"dept": "2"})
    with pytest.raises(ArcadeMarkError, match="agent a has no parameters; remove depth"):
        read_parameters("agent a", [], {"depth": "2"})
    with pytest.raises(ArcadeMarkError, match=r"agent a needs --set path=… \(Path\)"):
        read_parameters("agent a", PARAMETERS, {})
