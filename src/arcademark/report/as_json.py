"""Documents as JSON: field by field, under a schema with a version.

``templates/*.schema.json`` are the contracts (JSON Schema 2020-12), ``docs/report-json.md`` their description. Within
``arcademark.report/2`` fields may be added; one that goes, or changes its meaning, makes it ``/3``; so for the others.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

from arcademark.report.record import Run

MAPPINGS = ("versions", "machine", "roms", "emulators")
"""Fields of a run whose pairs become an object."""


def document(shown: Any, schema: str) -> dict[str, Any]:
    """Return any document as JSON values: objects, lists, strings, finite numbers, booleans and null.

    Parameters
    ----------
    shown : frozen dataclass
    schema : str
        Name and version of its schema.

    Raises
    ------
    ValueError
        If a number is NaN or infinite; a missing one is null.
    """
    return {"schema": schema, **_object(shown)}


def _object(item: Any) -> dict[str, Any]:
    fields = {field.name: _value(getattr(item, field.name)) for field in dataclasses.fields(item)}
    if isinstance(item, Run):
        fields |= {name: _value(dict(getattr(item, name))) for name in MAPPINGS}
    return fields


def _value(value: Any) -> Any:
    if dataclasses.is_dataclass(value):
        return _object(value)
    if isinstance(value, Mapping):
        return {str(name): _value(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_value(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"a report holds {value}, which JSON does not have; what is missing is null")
    return value
