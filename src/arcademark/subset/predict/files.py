"""Model files: a subset model as JSON, to be stored, shared and used again.

Conventions
-----------
* A file is one object; ``schema`` is `SCHEMA`. Fields are those of `SubsetModel` under the same names, ``references``
  is an object of pairs: the scores that are 0 % and 100 %. Unknown, such as misspelt, fields raise an error.
* Fields with a default in `SubsetModel`, ``intercept`` (0) and ``max_frames_per_episode`` (null) may be left out.
* The typical error is ``log_error`` where the transform is log10, else ``absolute_error``, in ``unit``.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from arcademark.errors import ArcadeMarkError, one_line
from arcademark.files import parse_json, read_as
from arcademark.scores.readers.base import refuse_improper
from arcademark.subset.predict.model import SubsetModel

SCHEMA = "arcademark.subset-model/2"

OPTIONAL: Mapping[str, Any] = {"intercept": 0.0, "log_error": None, "max_frames_per_episode": None}
"""Optional fields besides those for which `SubsetModel` has a default."""

_REMEDY = "name a file that 'subset search --out' wrote"


def dumps(model: SubsetModel) -> str:
    """Return a model as JSON text that ends with a line break; `loads` returns the same model."""
    fields = msgspec.to_builtins(model, enc_hook=dict)
    if model.r_squared is not None and not math.isfinite(model.r_squared):
        fields["r_squared"] = None
    return json.dumps({"schema": SCHEMA, **fields}, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def loads(text: str, place: str = "the model") -> SubsetModel:
    """Read a model from JSON; errors name its ``place``.

    Raises
    ------
    ArcadeMarkError
        If it is not JSON, has another schema, or an unknown, missing or mistyped field; and as `SubsetModel`.
    """
    result = parse_json(text, place, _REMEDY, finite=True)
    schema = result.pop("schema", None) if isinstance(result, dict) else None
    if schema != SCHEMA:
        raise ArcadeMarkError(f"{place}: the schema is {one_line(repr(schema), 60)}, expected {SCHEMA!r}; {_REMEDY}")
    tasks = result.get("tasks")
    texts = [*result.values(), *(tasks if isinstance(tasks, list) else ())]
    refuse_improper(place, (text for text in texts if isinstance(text, str)))
    model = read_as(SubsetModel, {**OPTIONAL, **result}, place, _REMEDY)
    if unknown := sorted(_unknown(result, model)):
        raise ArcadeMarkError(
            f"{place}: unknown field {', '.join(map(repr, unknown))}; leave it out, or correct its name"
        )
    return model


def _unknown(result: Mapping[str, Any], model: Any) -> Iterator[str]:
    """Yield the names of fields that a dataclass, or one within it, does not have."""
    known = {field.name: getattr(model, field.name) for field in dataclasses.fields(model)}
    for name, value in result.items():
        if name not in known:
            yield name
        elif dataclasses.is_dataclass(known[name]):
            yield from (f"{name}.{inner}" for inner in _unknown(value, known[name]))
