"""What an agent says it was made for, beside the game: a model of another game may play on, its score alone shows it.

``action_space`` and ``observation_space`` are what Gymnasium's and Stable-Baselines3's agents have: a number of actions
`n`; a `shape` and a `dtype` of observations. Nothing of these packages is needed to read them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from numbers import Integral
from typing import Any

import numpy as np

from arcademark.agents.importing import said
from arcademark.environments.base import EnvironmentSpec
from arcademark.environments.registry import environment_spec
from arcademark.errors import ArcadeMarkError
from arcademark.suite.protocols import AtariProtocol
from arcademark.suite.settings import format_setting

MOST_STACKED = 16
"""Screens in an observation that anyone stacks."""


def check_spaces(agent: object, where: str, env: EnvironmentSpec) -> None:
    """Refuse an agent, as its factory returned it, whose spaces are not the game's; one without is taken as it is.

    ArcadeMarkError if it is for another number of actions, or observations of another shape or type. `where` names the
    agent and the game, for messages; `env` is what it is shown.
    """
    if isinstance(env.protocol, AtariProtocol):
        _check_actions(getattr(agent, "action_space", None), where, env)
        _check_observations(getattr(agent, "observation_space", None), where, env)
        return
    arrays = env.array_actions
    given = getattr(agent, "action_space", None)
    count, shape = getattr(given, "n", None), getattr(given, "shape", None)
    fits = count in (None, env.num_actions) and shape in (None, ()) if arrays is None else shape in (None, arrays.shape)
    if not fits:
        made_for = f"{count} actions" if shape in (None, ()) else f"arrays of shape {shape}"
        expected = f"{env.num_actions} actions" if arrays is None else f"arrays of shape {arrays.shape}"
        raise ArcadeMarkError(f"{where}: it was made for {made_for} (its action_space); expected {expected}")
    shape = getattr(getattr(agent, "observation_space", None), "shape", None)
    if shape is not None and tuple(shape) != env.observation_shape:
        raise ArcadeMarkError(
            f"{where}: it was made for observations of shape {tuple(shape)}; the task gives {env.observation_shape}"
        )


def _check_actions(space: object, where: str, env: EnvironmentSpec) -> None:
    count, start = getattr(space, "n", None), getattr(space, "start", 0)
    if not isinstance(count, Integral) or getattr(space, "shape", ()) != () or start != 0:
        if _is_space(space):
            raise ArcadeMarkError(
                f"{where}: its action_space is {said(repr, space)}; expected a discrete one, of actions from 0 to "
                f"{env.num_actions - 1}"
            )
        return
    if count != env.num_actions:
        other = "minimal" if env.atari.action_set == "full" else "full"
        fits = environment_spec(env.game, env.atari.override({"action_set": other})).num_actions == count
        remedy = f"try --override action_set={other}, which has {count}" if fits else "load the model for this game"
        if fits and other == "minimal":
            remedy += ", or the protocol of its training, such as sb3-atari for Stable-Baselines3's wrappers"
        raise ArcadeMarkError(
            f"{where}: it was made for {count} actions (its action_space); the game has {env.num_actions} under "
            f"{env.protocol.label}; {remedy}"
        )


def _check_observations(space: object, where: str, env: EnvironmentSpec) -> None:
    shape, dtype = getattr(space, "shape", None), getattr(space, "dtype", None)
    if shape is None or dtype is None:
        if _is_space(space):
            raise ArcadeMarkError(
                f"{where}: its observation_space is {said(repr, space)}; expected one of arrays of shape "
                f"{env.observation_shape}"
            )
        return
    made_for = f"{where}: it was made for observations of shape {tuple(shape)} and type {dtype} (its observation_space)"
    given = f"the game gives {env.observation_shape} and {env.observation_dtype} under {env.protocol.label}"
    colours_first = env.observation_shape[-1:] + env.observation_shape[:-1]
    transposes = env.atari.observation == "rgb" and tuple(shape) == colours_first  # as Stable-Baselines3 itself does
    if tuple(shape) != env.observation_shape and not transposes:
        raise ArcadeMarkError(f"{made_for}; {given}; {_remedy(tuple(shape), env)}")
    if np.dtype(dtype) != np.dtype(env.observation_dtype):
        raise ArcadeMarkError(f"{made_for}; {given}; wrap it in an agent that converts them, as in its training")


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
    stacked = {"frame_stack": shape[0]} if shape and shape[0] <= MOST_STACKED else {}
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


def _is_space(thing: object) -> bool:
    return callable(getattr(thing, "sample", None)) and callable(getattr(thing, "contains", None))
