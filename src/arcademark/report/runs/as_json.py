"""What runs say, as JSON: see `arcademark.report.as_json`."""

from __future__ import annotations

from typing import Any

from arcademark.report import as_json
from arcademark.report.runs.document import Report

SCHEMA = "arcademark.report/2"


def render(report: Report) -> dict[str, Any]:
    """Return the report as JSON values; errors are those of `arcademark.report.as_json.document`."""
    return as_json.document(report, SCHEMA)
