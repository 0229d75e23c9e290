"""What feature sets are, and what they see, as JSON values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from arcademark.agents import docstrings
from arcademark.agents.parameters import declared
from arcademark.features.registry import FeatureSet
from arcademark.reports import wording
from arcademark.reports.features.seen import Seen

LISTING, SCHEMA = "arcademark.feature-sets/1", "arcademark.features/1"


def length(item: FeatureSet) -> str:
    """Say how many features a set has."""
    return "by game" if item.features is None else wording.count(item.features)


def listing_document(sets: Sequence[FeatureSet]) -> dict[str, Any]:
    """Return the feature sets with their parameters as JSON values."""
    return {"schema": LISTING, "sets": [set_document(item) for item in sets]}


def set_document(item: FeatureSet) -> dict[str, Any]:
    """Return a feature set with its parameters as JSON values."""
    notes = docstrings.parameter_notes(item.factory)
    return {
        "name": item.name,
        "features": item.features,
        "summary": item.summary,
        "observed": item.observed,
        "citation": item.citation,
        "parameters": {
            parameter.name: {
                "default": parameter.default,
                "type": parameter.expected,
                "meaning": notes.get(parameter.name, ""),
            }
            for parameter in declared(item.factory)[0]
        },
    }


def document(found: Sequence[Seen]) -> dict[str, Any]:
    """Return what was found as JSON values, every active feature described."""
    return {"schema": SCHEMA, "seen": [_seen(item) for item in found]}


def _seen(item: Seen) -> dict[str, Any]:
    return {
        "set": item.name,
        "parameters": dict(item.parameters),
        "game": item.game,
        "source": item.source,
        "frames": item.frames,
        "steps": item.steps,
        "features": item.features,
        "active": len(item.active),
        "mean_active": item.mean_active,
        "newly_active": item.newly_active,
        "microseconds": item.microseconds,
        "active_features": [
            {"feature": active.feature, "value": active.value, "meaning": active.meaning} for active in item.active
        ],
    }
