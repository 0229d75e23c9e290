"""What a table says, as JSON under schemas of its own: see `arcademark.report.as_json`."""

from __future__ import annotations

from typing import Any

from arcademark.report import as_json
from arcademark.report.tables.comparison import Comparison
from arcademark.report.tables.document import ScoreReport

SCORES = "arcademark.scores/2"
COMPARISON = "arcademark.comparison/1"


def render_scores(report: ScoreReport) -> dict[str, Any]:
    """Return the document as JSON values; errors are those of `arcademark.report.as_json.document`."""
    return as_json.document(report, SCORES)


def render_comparison(found: Comparison) -> dict[str, Any]:
    """Return the document as JSON values; errors are those of `arcademark.report.as_json.document`."""
    return as_json.document(found, COMPARISON)
