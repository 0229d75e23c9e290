"""What feature sets there are, as documents."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

from arcademark.agents import docstrings
from arcademark.agents.parameters import declared
from arcademark.features.registry import FeatureSet
from arcademark.reports.columns import Column

Default: TypeAlias = str | int | float | bool | list[Any] | dict[str, Any] | None


@dataclass(frozen=True)
class ParameterView:
    """A parameter of an agent or a feature set.

    default: None where it is required, too; as text where JSON has no such value.
    required: Whether it must be given.
    type: What is expected.
    meaning: As documented; "" where it is not.
    """

    default: Default
    required: bool
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
    parameters: Mapping[str, ParameterView]

    COLUMNS: ClassVar = (
        Column("set", "name"),
        Column("features", lambda item: item.features or "by game"),
        Column("what they are", "summary", kind="prose"),
    )


@dataclass(frozen=True)
class FeatureSets:
    """The feature sets of linear learners."""

    SCHEMA: ClassVar[str] = "arcademark.feature-sets/1"

    sets: tuple[SetView, ...]


def listing(sets: Sequence[FeatureSet]) -> FeatureSets:
    """Return feature sets with their parameters."""
    return FeatureSets(tuple(map(set_view, sets)))


def set_view(item: FeatureSet) -> SetView:
    """Return a feature set with its parameters."""
    parameters = parameters_of(item.factory)
    return SetView(item.name, item.features, item.summary, item.observed, item.citation, parameters)


def parameters_of(factory: Callable[..., object]) -> dict[str, ParameterView]:
    """Return what a factory declares, by name."""
    notes = docstrings.parameter_notes(factory)
    return {
        one.name: ParameterView(
            None if one.required else _default(one.default), one.required, one.expected, notes.get(one.name, "")
        )
        for one in declared(factory)[0]
    }


def _default(value: Any) -> Default:
    try:
        return json.loads(json.dumps(value, allow_nan=False))  # type: ignore[no-any-return]
    except (TypeError, ValueError):
        return str(value)
