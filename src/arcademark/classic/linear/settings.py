"""The learning parameters of SARSA(λ); `arcademark.suite.learners` has their values for each feature set."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Annotated, Any, Literal

from msgspec import Meta

from arcademark.agents.parameters import AboveZero, Share, declared
from arcademark.classic.features.registry import feature_set
from arcademark.errors import ArcadeMarkError
from arcademark.suite.learners import FEATURES, NAME, defaults

Schedule = Literal["constant", "linear"]


@dataclass(frozen=True, kw_only=True)
class LearningSettings:
    """Parameters of learning, for any features; see `arcademark.classic.sarsa.Sarsa`."""

    features: str = FEATURES
    alpha: AboveZero | None = None
    alpha_schedule: Schedule | None = None
    lambda_: Share | None = None
    gamma: Share | None = None
    epsilon: Share | None = None
    evaluation_epsilon: Share | None = None
    trace_threshold: Annotated[float, Meta(gt=0, le=1)] = 0.01


def read_settings(**parameters: Any) -> tuple[Any, dict[str, Any]]:
    """Return the `LearningSettings`, with defaults for parameters that are None, and the feature set's parameters.

    ArcadeMarkError if the feature set or one of its parameters is unknown.
    """
    given = {name: value for name, value in parameters.items() if value is not None}
    chosen = {field.name: given.pop(field.name) for field in fields(LearningSettings) if field.name in given}
    features = chosen.get("features", LearningSettings.features)
    known = [parameter.name for parameter in declared(feature_set(features).factory)[0]]
    if unknown := [name for name in given if name not in known]:
        has = f"it has {', '.join(known)}" if known else "it has none"
        raise ArcadeMarkError(f"agent {NAME}: features {features!r} have no parameter '{unknown[0]}'; {has}")
    chosen = defaults(features) | chosen
    return LearningSettings(**{"evaluation_epsilon": chosen["epsilon"]} | chosen), given
