"""Documents as JSON, field by field, and their schemas (JSON Schema 2020-12), made from the same dataclasses.

Fields may be added to ``arcademark.report/6``; removing one, or changing its meaning, makes it ``/7``. The same rule
applies to the other documents.
"""

from __future__ import annotations

import dataclasses
import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any, get_args, get_type_hints

import msgspec

from arcademark import docstrings
from arcademark.errors import escaped


def render(shown: Any) -> dict[str, Any]:
    """Return a dataclass as JSON values; the ``SCHEMA`` of its class, or of a part's, becomes a field."""
    heading = {"schema": shown.SCHEMA} if hasattr(shown, "SCHEMA") else {}
    return heading | {field.name: _value(getattr(shown, field.name)) for field in dataclasses.fields(shown)}


def schema(kind: type[Any]) -> dict[str, Any]:
    """Return the schema of a document, with descriptions from its docstrings.

    All fields are required, including those with defaults, and no others are allowed.
    """
    _, found = msgspec.json.schema_components([kind], ref_template="#/$defs/{name}")
    several = list(_dataclasses(kind, set()))
    classes = {name: item for item in several for name in (item.__name__, f"{item.__module__}.{item.__name__}")}
    text = json.dumps({_snake(name): _described(entry, classes[name]) for name, entry in found.items()})
    definitions = json.loads(re.sub(r"(?<=#/\$defs/)[\w.]+", lambda name: _snake(name[0]), text))
    whole = definitions.pop(_snake(kind.__name__))
    heading = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": kind.SCHEMA}
    return {**heading, **whole, "$defs": definitions}


def text(document: Any) -> str:
    """Return JSON values without NaN as text; invisible characters are escaped."""
    written = json.dumps(document, indent=2, allow_nan=False, ensure_ascii=False)
    unseen = {char for char in set(written) if char != "\n" and escaped(char) != char}
    return written.translate({ord(char): json.dumps(char)[1:-1] for char in unseen}) + "\n"


def _value(value: Any) -> Any:
    if dataclasses.is_dataclass(value):
        return render(value)
    if isinstance(value, Mapping):
        return {str(name): _value(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_value(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"a report contains {value}, which JSON does not have; missing values are null")
    return value


def _described(entry: dict[str, Any], kind: type[Any]) -> dict[str, Any]:
    """Complete msgspec's schema of a dataclass: require all fields, forbid others, and add descriptions."""
    notes = docstrings.parameter_notes(kind)
    known = {"schema": {"const": kind.SCHEMA}} if hasattr(kind, "SCHEMA") else {}
    properties = known | {
        name: {key: value for key, value in field.items() if key != "default"}
        | ({"description": notes[name]} if name in notes else {})
        for name, field in entry["properties"].items()
    }
    described = {"description": docstrings.summary(kind), "properties": properties}
    return entry | described | {"required": list(properties), "additionalProperties": False}


def _dataclasses(kind: Any, seen: set[Any]) -> Iterator[type[Any]]:
    """Yield the dataclasses that a type contains, each once."""
    if dataclasses.is_dataclass(kind) and kind not in seen:
        assert isinstance(kind, type)
        seen.add(kind)
        yield kind
        for part in get_type_hints(kind).values():
            yield from _dataclasses(part, seen)
    for part in get_args(kind):
        yield from _dataclasses(part, seen)


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
