"""What feature sets there are, as documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from arcademark.agents import docstrings
from arcademark.agents.parameters import declared
from arcademark.features.registry import FeatureSet
from arcademark.reports import wording
from arcademark.reports.record import Value
from arcademark.reports.render import json


@dataclass(frozen=True)
class SetParameter:
    """A parameter of a feature set: its default, what is expected, and what it means."""

    default: Value
    type: str
    meaning: str


@dataclass(frozen=True)
class SetView:
    """A feature set.

    features: How many there are; None where it depends on the game.
    observed: What it is made of: "palette" or "ram".
    citation: Where it is published.
    """

    name: str
    features: int | None
    summary: str
    observed: str
    citation: str
    parameters: Mapping[str, SetParameter]


@dataclass(frozen=True)
class FeatureSets:
    """The feature sets of linear learners."""

    SCHEMA: ClassVar[str] = "arcademark.feature-sets/1"

    sets: tuple[SetView, ...]


def length(item: FeatureSet) -> str:
    """Say how many features a set has."""
    return "by game" if item.features is None else wording.count(item.features)


def listing(sets: Sequence[FeatureSet]) -> FeatureSets:
    """Return feature sets with their parameters."""
    return FeatureSets(tuple(map(_view, sets)))


def set_document(item: FeatureSet) -> dict[str, Any]:
    """Return a feature set with its parameters as JSON values."""
    return json.render(_view(item))


def _view(item: FeatureSet) -> SetView:
    notes = docstrings.parameter_notes(item.factory)
    parameters = {
        parameter.name: SetParameter(parameter.default, parameter.expected, notes.get(parameter.name, ""))
        for parameter in declared(item.factory)[0]
    }
    return SetView(item.name, item.features, item.summary, item.observed, item.citation, parameters)
