"""The schemas of documents, and that documents of every kind fit theirs; `tests/cli` holds what is printed to them."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

import pytest

from arcademark.operations.info import documents
from arcademark.pages.render import json
from json_schema import problems


@dataclass(frozen=True)
class Base:
    """What both have.

    name: What it is called.
    """

    name: str


@dataclass(frozen=True)
class InnerPart(Base):
    """A part."""

    ends: tuple[float, float] | None = None


@dataclass(frozen=True)
class Whole:
    """A document
    of two lines.

    Not told.
    """

    SCHEMA: ClassVar[str] = "test.whole/1"

    kind: Literal["a", "b"]
    parts: tuple[InnerPart, ...]
    counts: Mapping[str, int]


WHOLE = Whole("a", (InnerPart("x"), InnerPart("y", (0.5, 2))), {"z": 3})


def test_a_document_fits_its_schema():
    document = json.render(WHOLE)
    assert document == {
        "schema": "test.whole/1",
        "kind": "a",
        "parts": [{"name": "x", "ends": None}, {"name": "y", "ends": [0.5, 2]}],
        "counts": {"z": 3},
    }
    schema = json.schema(Whole)
    assert problems(document, schema, schema) == []


@pytest.mark.parametrize(
    ("changes", "where"),
    [
        ({"schema": "test.whole/2"}, "$.schema"),
        ({"kind": "c"}, "$.kind"),
        ({"parts": [{"name": "x"}]}, "$.parts[0].ends: is missing"),
        ({"parts": [{"name": "x", "ends": [1]}]}, "$.parts[0].ends"),
        ({"counts": {"z": 0.5}}, "$.counts.z"),
        ({"more": 1}, "$.more"),
    ],
)
def test_a_schema_refuses_what_does_not_fit(changes, where):
    schema = json.schema(Whole)
    (found,) = problems(json.render(WHOLE) | changes, schema, schema)
    assert where in found or where == "$.schema"


def test_numbers_are_finite():
    with pytest.raises(ValueError, match="null"):
        json.render(InnerPart("x", (0, math.nan)))


@pytest.mark.parametrize("name", documents())
def test_every_document_has_a_schema(name):
    schema = json.schema(documents()[name])
    assert schema["$id"] == schema["properties"]["schema"]["const"] == name
    for part in (schema, *schema["$defs"].values()):
        assert part["description"].endswith(".")
        assert list(part["properties"]) == part["required"]
        assert all(field for field in part["properties"].values()), "a field may hold anything"
