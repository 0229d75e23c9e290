"""Learning parameters of each feature set, with their sources.

The 2013 paper tuned them on its training games and lists them in its Appendix C, whose table is missing from the copies
at hand. The evidence for them therefore differs:

==================  =======================  ===========================================================================
parameter           value                    evidence
==================  =======================  ===========================================================================
gamma               0.999                    secondary: two later programs for ALE, and the parameter files of ALE 0.1
epsilon             0.05                     secondary: later programs (ALE 0.1 has 0.1)
alpha, lambda       0.5, 0.5 (ram-bits)      our choice: tuned on Asterix and Seaquest
alpha, lambda       0.1 to 0, 0.9 (basic)    our choice: tuned by what frozen weights score (results/trials.py)
alpha, lambda       0.2 to 0, 0.9 (lsh)      our choice: likewise
alpha, lambda       1.0 to 0, 0.9 (disco)    our choice: likewise
alpha, lambda       1.0 to 0, 0.9 (ram)      our choice: likewise
alpha, lambda       1.0 to 0, 0.9 (bass)     our choice: likewise; three later programs use 0.5, 0.9
trace threshold     0.01                     secondary: the parameter files of ALE 0.1, and a later program
step size           alpha / most active      secondary: a later program, which ascribes it to the 2013 program
reward scale        first                    secondary: likewise; from weights of 0 no choice depends on it
initial weights     0                        our choice: the paper does not state it
evaluation epsilon  that of training         our choice: the paper does not state it
==================  =======================  ===========================================================================

The paper's values are reported as 0.2, 0.5 for ``ram``, 0.5, 0.5 for ``lsh`` and 0.1, 0.9 for ``disco``, without a
source that we could check. With them these sets learn little; docs/research/learning.md lists the scores of each. Runs
state the source of their values (`origin`).

The B-PROS family has those of Liang et al. 2016: alpha 0.5, lambda 0.9, gamma 0.99, epsilon 0.01.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

NAME = "sarsa"
FEATURES = "basic"
"""The default feature set."""

_USUAL = {"alpha": 0.5, "alpha_schedule": "constant", "lambda_": 0.9, "gamma": 0.999, "epsilon": 0.05}
_LIANG_2016 = {"gamma": 0.99, "epsilon": 0.01}
_OWN: Mapping[str, Mapping[str, Any]] = {
    "basic": {"alpha": 0.1, "alpha_schedule": "linear"},
    "bass": {"alpha": 1.0, "alpha_schedule": "linear"},
    "lsh": {"alpha": 0.2, "alpha_schedule": "linear"},
    "disco": {"alpha": 1.0, "alpha_schedule": "linear"},
    "ram": {"alpha": 1.0, "alpha_schedule": "linear"},
    "ram-bits": {"lambda_": 0.5},
    "b-pros": _LIANG_2016,
    "b-prost": _LIANG_2016,
    "blob-prost": _LIANG_2016,
}

_TUNED_FROZEN = "ours, tuned by frozen evaluation on Asterix, Freeway and Space Invaders"
_ORIGINS: Mapping[str, tuple[str, tuple[float, float] | None]] = {
    "basic": (_TUNED_FROZEN, None),
    "bass": (_TUNED_FROZEN, None),
    "lsh": (_TUNED_FROZEN, (0.5, 0.5)),
    "ram": (_TUNED_FROZEN, (0.2, 0.5)),
    "ram-bits": ("ours, tuned on Asterix and Seaquest", (0.2, 0.5)),
    "disco": (_TUNED_FROZEN, (0.1, 0.9)),
}
"""By feature set of the 2013 paper: the origin of alpha and lambda, and the values that are reported for the paper."""


def defaults(features: str) -> dict[str, Any]:
    """Return the learning parameters of a feature set that differ between sets."""
    return {**_USUAL, **_OWN.get(features, {})}


def origin(parameters: Mapping[str, Any]) -> str:
    """Return a remark on the origin of these parameters' alpha and lambda; "" if they are the user's."""
    features = str(parameters.get("features", FEATURES))
    usual = {name: defaults(features)[name] for name in ("alpha", "lambda_")}
    given = {name for name, value in parameters.items() if value is not None}
    kept = [name for name in usual if name not in given]
    if features not in _ORIGINS or not kept:
        return ""
    whose, hearsay = _ORIGINS[features]
    linear = given.isdisjoint(("alpha", "alpha_schedule")) and defaults(features)["alpha_schedule"] == "linear"
    falling = {"alpha": ", which decreases to 0 over training,"} if linear else {}
    values = " and ".join(f"{name.rstrip('_')} {usual[name]:g}{falling.get(name, '')}" for name in kept)
    text = (
        f"{values} of {features} {'is' if len(kept) == 1 else 'are'} {whose}: the paper's table "
        "(Bellemare et al. 2013, Appendix C) is not available."
    )
    if hearsay is None:
        return text
    others = " ".join(f"--set {name}={value:g}" for name, value in zip(usual, hearsay, strict=True) if name in kept)
    others += " --set alpha_schedule=constant" if linear else ""
    return f"{text} Unconfirmed values of the paper: {others}."
