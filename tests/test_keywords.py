"""Values become what annotations name, or are one clear error."""

import os
from array import array
from collections.abc import Callable, Mapping, Sequence
from enum import Enum, IntEnum, StrEnum
from fractions import Fraction
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal

import numpy as np
import pytest

from arcademark.errors import ArcadeMarkError
from arcademark.keywords import Names, knowing, taken


class Game(Enum):
    PONG = "pong"


class Text(StrEnum):
    PONG = "pong"


class Number(IntEnum):
    TWO = 2


class Place:
    def __fspath__(self):
        return "runs/a"


class Unspeakable:
    def __repr__(self):
        raise RuntimeError


FILE = str | os.PathLike[str]


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        *((str, text, "pong") for text in ("pong", np.str_("pong"), np.array("pong"), Game.PONG, Text.PONG)),
        *((str, path, "runs/a") for path in (Path("runs/a"), Place())),
        *((FILE, path, Path("runs/a")) for path in (Path("runs/a"), PurePosixPath("runs/a"), Place())),
        (FILE, "runs/a", "runs/a"),
        *((Path, path, Path("runs/a")) for path in ("runs/a", Place())),
        *((int, two, 2) for two in (2, 2.0, np.int64(2), np.uint8(2), np.float32(2), np.array(2), Number.TWO)),
        *(
            (float, two, 2.0)
            for two in (2, 2.0, np.int64(2), np.float32(2), np.array(2.0), Fraction(2), np.longdouble(2))
        ),
        *((bool, one, True) for one in (True, 1, np.bool_(1), np.array(True))),
        *((int | None, none, None) for none in (None, np.array(None))),
        *((Names, one, ("pong",)) for one in ("pong", ["pong"], ("pong",), np.array(["pong"]), {"pong"}, Game.PONG)),
        *((Names, one, ("pong",)) for one in (iter(["pong"]), {"pong": 1}, np.array("pong"), {"pong": 1}.keys())),
        (Names, {"b", "c", "a"}, ("a", "b", "c")),
        *((int | Sequence[int], some, (1, 2)) for some in ([1, 2], np.array([1, 2]), range(1, 3), array("b", [1, 2]))),
        (tuple[int, int], np.array([1, 2]), (1, 2)),
        (Literal["a", "b"] | int, np.str_("a"), "a"),
        (Mapping[str, int], {np.str_("a"): np.int64(1)}, {"a": 1}),
        (Mapping[str, Any], {"a": [1]}, {"a": [1]}),
        (Callable[[int], int] | None, abs, abs),
        (Game | str, Game.PONG, Game.PONG),
    ],
)
def test_right_values_of_unusual_types_become_pythons(kind, value, expected):
    read = taken(value, kind, "x")
    assert read == expected
    assert type(read) is type(expected)


@pytest.mark.parametrize(
    ("kind", "value", "message"),
    [
        *((int, value, "x .*: expected a whole number") for value in (True, 2.5, "2", None, np.nan, 2**2000, [2])),
        *((float, value, "x .*: expected a number") for value in (True, "2", None, np.nan, 10**400, 1j)),
        *((bool, value, "x .*: expected True or False") for value in (2, 1.0, "true", None, [True])),
        *((str, value, "x .*: expected text") for value in (2, b"pong", None, ["pong"], "a\0", "\ud800", Number.TWO)),
        *((FILE | None, value, "x .*: expected text, a path or None") for value in (2, b"runs", ["runs"], "a\0")),
        *((Names, value, "x .*: expected a name, or several") for value in (2, b"pong", [None], [["pong"]], object())),
        *((tuple[int, int], value, "x .*: expected a sequence of 2, a whole number") for value in (1, [1], [1, 2, 3])),
        (Literal["a", "b"] | None, "c", "x 'c': expected 'a' or 'b' or None"),
        (Mapping[str, int], [1], r"x \[1\]: expected a dictionary"),
        (Mapping[str, int] | None, {"a": "b"}, r"x\['a'\] 'b': expected a whole number"),
        (Mapping[str, int], {1: 2}, "x, key 1: expected text"),
        (Annotated[int | str, "one of these"], Unspeakable(), "x of type|x <Unspeakable.*: expected one of these"),
        (Sequence[int], range(10**12), "x: expected at most 1,000,001"),
        (Callable[..., Any], 3, "x 3: expected a function"),
    ],
)
def test_other_values_are_one_error_with_place_and_expectation(kind, value, message):
    with pytest.raises(ArcadeMarkError, match=message):
        taken(value, kind, "x")


@knowing()
def added(first: int, *others: int, factor: float = 1.0, **more: object) -> float:
    """Add."""
    return (first + sum(others)) * factor + len(more)


def test_every_argument_is_read_wherever_it_stands():
    assert added(np.int64(1), 2.0, np.array(3), factor=np.float32(2), other=None) == 13.0
    for call in (lambda: added("1"), lambda: added(1, "2"), lambda: added(1, factor="2")):
        with pytest.raises(ArcadeMarkError, match=r"^(first|others|factor) '.': expected a (whole )?number"):
            call()
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'first'"):
        added()
