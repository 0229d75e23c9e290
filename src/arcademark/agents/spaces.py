"""Check of an agent's spaces against the game's: otherwise a model of another game could play unnoticed.

``action_space`` and ``observation_space`` are what Gymnasium's and Stable-Baselines3's agents have: a number of actions
`n`; a `shape` and a `dtype` of observations. Nothing of these packages is needed to read them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from numbers import Integral
from types import SimpleNamespace
from typing import Any

import numpy as np

from arcademark.environments.base import EnvironmentSpec
from arcademark.environments.registry import environment_spec
from arcademark.errors import ArcadeMarkError
from arcademark.importing import said
from arcademark.suite.protocols import AtariProtocol
from arcademark.suite.settings import format_setting

MAX_STACKED = 16
"""Maximum number of stacked screens that is considered."""


def check_spaces(agent: object, where: str, env: EnvironmentSpec) -> None:
    """Refuse an agent, as its factory returned it, whose spaces differ from the game's; accept one without spaces.

    ArcadeMarkError: it is for another number of actions, or observations of another shape or type. `where` names the
    agent and the game, for messages; `env` describes its observations.
    """
    for name, check in (("action_space", _wrong_actions), ("observation_space", _wrong_observations)):
        space = getattr(agent, name, None)
        if reason := check(space, env):
            raise ArcadeMarkError(f"{where}: it was made for {_described(space)} (its {name}); {reason}")


def _described(space: object) -> str:
    if isinstance(count := getattr(space, "n", None), Integral) and not getattr(space, "shape", ()):
        return f"{count} actions"
    return f"arrays of shape {space.shape}" if isinstance(space, SimpleNamespace) else said(repr, space)


def _wrong_actions(space: object, env: EnvironmentSpec) -> str:
    """Return the error of a space of actions, "" if it fits, or is not a space."""
    count, shape, arrays = getattr(space, "n", None), getattr(space, "shape", ()), env.array_actions
    if not callable(getattr(space, "contains", None)) and not isinstance(space, SimpleNamespace) and count is None:
        return ""
    if arrays is not None:
        return "" if shape in (None, arrays.shape) else f"expected arrays of shape {arrays.shape}"
    if not isinstance(count, Integral) or shape != () or getattr(space, "start", 0) != 0:
        return f"expected a discrete one, of actions from 0 to {env.num_actions - 1}"
    if count == env.num_actions:
        return ""
    if not isinstance(env.protocol, AtariProtocol):
        return f"expected {env.num_actions} actions"
    other = "minimal" if env.atari.action_set == "full" else "full"
    fits = environment_spec(env.game, env.atari.override({"action_set": other})).num_actions == count
    remedy = f"try --override action_set={other}, which has {count}" if fits else "load the model for this game"
    if fits and other == "minimal":
        remedy += ", or the protocol of its training, such as sb3-atari for Stable-Baselines3's wrappers"
    return f"the game has {env.num_actions} actions under {env.protocol.label}; {remedy}"


def _wrong_observations(space: object, env: EnvironmentSpec) -> str:
    """Return the error of a space of observations, "" if it fits, or is not a space."""
    shape, dtype = getattr(space, "shape", None), getattr(space, "dtype", None)
    if shape is None:
        return f"expected arrays of shape {env.observation_shape}" if callable(getattr(space, "contains", None)) else ""
    given = f"the game gives {env.observation_shape} and {env.observation_dtype} under {env.protocol.label}"
    if not isinstance(env.protocol, AtariProtocol):
        return "" if tuple(shape) == env.observation_shape else given
    colours_first = env.observation_shape[-1:] + env.observation_shape[:-1]
    transposes = env.atari.observation == "rgb" and tuple(shape) == colours_first  # as Stable-Baselines3 itself does
    if tuple(shape) != env.observation_shape and not transposes:
        return f"{given}; {_remedy(tuple(shape), env)}"
    if dtype is not None and np.dtype(dtype) != np.dtype(env.observation_dtype):
        return f"{given}; wrap it in an agent that converts them, as in its training"
    return ""


def _remedy(shape: tuple[int, ...], env: EnvironmentSpec) -> str:
    given = env.observation_shape
    if len(shape) > 2 and shape == (*given[1:], given[0]):
        return "wrap it in an agent that puts the screens last: np.moveaxis(observation, 0, -1)"
    fitting = [changes for changes in _changes(shape) if _shape(env, changes) == shape]
    if not fitting:
        return "wrap it in an agent that reshapes them"
    fewest = min(fitting, key=len)
    return "try " + " ".join(f"--override {name}={format_setting(value)}" for name, value in fewest.items())


def _changes(shape: tuple[int, ...]) -> Iterator[Mapping[str, Any]]:
    """Yield changes of the protocol that may lead to a shape."""
    stacked = {"frame_stack": shape[0]} if shape and shape[0] <= MAX_STACKED else {}
    kinds = ({}, *({"observation": kind} for kind in ("grayscale", "rgb", "ram")))
    stacks: tuple[Mapping[str, Any], ...] = ({}, {"frame_stack": 1}, stacked)
    sizes = ({}, *({"screen_size": size} for size in (None, shape[-2:], shape[-3:-1])))
    for kind, stack, size in product(kinds, stacks, sizes):
        yield {**kind, **stack, **size}


def _shape(env: EnvironmentSpec, changes: Mapping[str, Any]) -> tuple[int, ...] | None:
    try:
        return environment_spec(env.game, env.atari.override(changes)).observation_shape
    except ArcadeMarkError:
        return None
