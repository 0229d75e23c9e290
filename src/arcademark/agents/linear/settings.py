"""The learning parameters of each feature set, with where they come from.

The 2013 paper says that they were searched on its training games and sums them up in its Appendix C, whose table its
text does not carry. So their standing differs:

==================  =======================  ===========================================================================
parameter           value                    standing
==================  =======================  ===========================================================================
gamma               0.999                    secondary: two later programs for ALE, and the parameter files of ALE 0.1
epsilon             0.05                     secondary: later programs (ALE 0.1 has 0.1)
alpha, lambda       0.5, 0.9 (basic, bass)   secondary: three later programs
alpha, lambda       0.5, 0.9 (lsh, disco)    our choice: tuned on Asterix, Seaquest and Space Invaders, see below
alpha, lambda       0.5, 0.5 (ram)           our choice: likewise; for ram-bits too
trace threshold     0.01                     secondary: the parameter files of ALE 0.1, and a later program
step size           alpha / most active      secondary: a later program, which says that the 2013 one did so
reward scale        first                    secondary: likewise
weights at first    0                        our choice: the paper is silent
evaluation epsilon  that of training         our choice: the paper is silent
==================  =======================  ===========================================================================

For ``ram`` 0.2, 0.5, for ``lsh`` 0.5, 0.5 and for ``disco`` 0.1, 0.9 are said to be the paper's, by no source at hand.
With them these sets learn little; docs/learning.md has what each scored. Runs say whose values they use (`origin`).

Those of the B-PROS family are of Liang et al. 2016: alpha 0.5, lambda 0.9, gamma 0.99, epsilon 0.01.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from msgspec import Meta

from arcademark.agents.parameters import AboveZero, Share, declared
from arcademark.errors import ArcadeMarkError
from arcademark.features.registry import feature_set

RewardScale = Literal["first", "none"]

NAME = "sarsa"


@dataclass(frozen=True)
class Defaults:
    """Defaults that differ between feature sets."""

    lambda_: float = 0.9
    gamma: float = 0.999
    epsilon: float = 0.05


_LIANG_2016 = Defaults(gamma=0.99, epsilon=0.01)
_RAM = Defaults(lambda_=0.5)
_DEFAULTS = {"ram": _RAM, "ram-bits": _RAM, "b-pros": _LIANG_2016, "b-prost": _LIANG_2016, "blob-prost": _LIANG_2016}


_TUNED = "ours, tuned on Asterix, Seaquest and Space Invaders"
_LATER = "those of later programs"
_ORIGINS: Mapping[str, tuple[str, tuple[float, float] | None]] = {
    "basic": (_LATER, None),
    "bass": (_LATER, None),
    "lsh": (_TUNED, (0.5, 0.5)),
    "ram": (_TUNED, (0.2, 0.5)),
    "ram-bits": (_TUNED, (0.2, 0.5)),
    "disco": (_TUNED, (0.1, 0.9)),
}
"""Of the 2013 paper's feature sets: whose alpha and lambda are, and which no source says to be the paper's."""


@dataclass(frozen=True, kw_only=True)
class Learning:
    """The parameters of learning, whatever the features; see `arcademark.agents.sarsa.Sarsa`."""

    features: str = "basic"
    alpha: AboveZero = 0.5
    lambda_: Share | None = None
    gamma: Share | None = None
    epsilon: Share | None = None
    evaluation_epsilon: Share | None = None
    trace_threshold: Annotated[float, Meta(gt=0, le=1)] = 0.01
    reward_scale: RewardScale = "first"


@dataclass(frozen=True)
class Settings:
    """How to learn: `Learning` with defaults filled in, and the parameters that are set of the feature set."""

    features: str
    feature_parameters: Mapping[str, Any]
    alpha: float
    lambda_: float
    gamma: float
    epsilon: float
    evaluation_epsilon: float
    trace_threshold: float
    reward_scale: RewardScale


def defaults(features: str) -> Defaults:
    """Return the learning parameters of a feature set."""
    return _DEFAULTS.get(features, Defaults())


def origin(parameters: Mapping[str, Any]) -> str:
    """Say whose alpha and lambda an agent with these parameters has, where they are not the user's; "" otherwise."""
    features = str(parameters.get("features", Learning.features))
    usual = {"alpha": Learning.alpha, "lambda_": defaults(features).lambda_}
    kept = [name for name in usual if parameters.get(name) is None]
    if features not in _ORIGINS or not kept:
        return ""
    whose, hearsay = _ORIGINS[features]
    values = " and ".join(f"{name.rstrip('_')} {usual[name]:g}" for name in kept)
    said = (
        f"{values} of {features} {'is' if len(kept) == 1 else 'are'} {whose}: the table with the paper's own "
        "(Bellemare et al. 2013, Appendix C) is lost."
    )
    if hearsay is None:
        return said
    others = " ".join(f"--set {name}={value:g}" for name, value in zip(usual, hearsay, strict=True) if name in kept)
    return f"{said} It is said, by no source, to have {others}."


def read_settings(**parameters: Any) -> Settings:
    """Check parameters of `Learning` and of the feature set, and fill in defaults for those that are None.

    ArcadeMarkError if there is no such feature set, or a parameter is none of the set's.
    """
    given = {name: value for name, value in parameters.items() if value is not None}
    names = [field.name for field in dataclasses.fields(Learning)]
    chosen = {name: given.pop(name) for name in names if name in given}
    features = chosen.get("features", Learning.features)
    learning = dataclasses.asdict(Learning()) | dataclasses.asdict(defaults(features)) | chosen
    if learning["evaluation_epsilon"] is None:
        learning["evaluation_epsilon"] = learning["epsilon"]
    _check_names(features, given)
    return Settings(feature_parameters=given, **learning)


def _check_names(features: str, given: Iterable[str]) -> None:
    """Refuse parameters that the feature set does not have."""
    known = [parameter.name for parameter in declared(feature_set(features).factory)[0]]
    for name in given:
        if name not in known:
            has = f"it has {', '.join(known)}" if known else "it has none"
            raise ArcadeMarkError(f"agent {NAME}: features {features!r} have no parameter '{name}'; {has}")
