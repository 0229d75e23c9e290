"""A report as JSON: the document, field by field, under a schema with a version.

``templates/report.schema.json`` is the contract (JSON Schema 2020-12), ``docs/report-json.md`` its description. Within
``arcademark.report/1`` fields may be added; one that goes, or changes its meaning, makes it ``/2``.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from arcademark.report.document import Report
from arcademark.report.record import Run

SCHEMA = "arcademark.report/1"

MAPPINGS = ("versions", "machine", "roms")
"""Fields of a run whose pairs become an object."""


def render(report: Report) -> dict[str, Any]:
    """Return the report as JSON values: objects, lists, strings, finite numbers, booleans and null.

    Raises
    ------
    ValueError
        If a number is NaN or infinite; a missing one is null.
    """
    return {"schema": SCHEMA, **_object(report)}


def _object(item: Any) -> dict[str, Any]:
    fields = {field.name: _value(getattr(item, field.name)) for field in dataclasses.fields(item)}
    if isinstance(item, Run):
        fields |= {name: dict(getattr(item, name)) for name in MAPPINGS}
    return fields


def _value(value: Any) -> Any:
    if dataclasses.is_dataclass(value):
        return _object(value)
    if isinstance(value, list | tuple):
        return [_value(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"a report holds {value}, which JSON does not have; what is missing is null")
    return value
