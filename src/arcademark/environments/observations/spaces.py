"""Forms of observations for training libraries, and their spaces."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from arcademark.environments import tasks
from arcademark.environments.base import EnvironmentSpec
from arcademark.environments.observations.making import channels_first as as_channels_first
from arcademark.errors import ArcadeMarkError
from arcademark.suite.protocols import AtariProtocol


class ObservationView:
    """Form of a spec's observations.

    Observations are unchanged, those of tasks as in Gymnasium. With `channels_first` they are suitable for PyTorch's
    networks: screens as in `making.channels_first`; for tasks one array of numbers: a picture (bytes of 0 to 255 with
    three axes) with its colours first, others a vector of float32 in which each number of `Discrete` and
    `MultiDiscrete` spaces is one-hot, parts are concatenated, and texts are left out.

    Parameters
    ----------
    spec : EnvironmentSpec
    channels_first : bool

    Attributes
    ----------
    observation_space, action_space : gymnasium.spaces.Space
        Spaces of one such observation and of actions.

    Raises
    ------
    ArcadeMarkError
        If a task's observations are only text, and `channels_first` needs numbers.
    """

    def __init__(self, spec: EnvironmentSpec, channels_first: bool = False) -> None:
        self._first = channels_first
        self._task: spaces.Space[Any] | None = None
        self.observation_space, self.action_space = self._spaces(spec)

    def _spaces(self, spec: EnvironmentSpec) -> tuple[spaces.Space[Any], spaces.Space[Any]]:
        if isinstance(spec.protocol, AtariProtocol):
            most = 127 if spec.protocol.observation == "palette" else 255
            shape = self.rows(np.empty((1, *spec.observation_shape), np.uint8)).shape[1:]
            return spaces.Box(0, most, shape, np.uint8), spaces.Discrete(spec.num_actions)
        self._task, actions = tasks.spaces_of(spec)
        if not self._first:
            return self._task, actions
        seen = self.rows(np.zeros((1, *spec.observation_shape), spec.observation_dtype))
        if not seen.size:
            raise ArcadeMarkError(f"task {spec.game!r}: its observations are text, which networks cannot use")
        low, high = (0.0, 255.0) if seen.dtype == np.uint8 else (-math.inf, math.inf)
        return spaces.Box(low, high, seen.shape[1:], seen.dtype.type), actions

    def rows(self, observations: NDArray[Any]) -> Any:
        """Return rows of observations in this form; a view if possible."""
        if self._task is None:
            return as_channels_first(observations) if self._first else observations
        if not self._first:
            return tasks.unpacked(observations, self._task)
        if _is_picture(self._task):
            colours_last = int(np.argmin(observations.shape[1:])) == 2
            return np.moveaxis(observations, -1, 1) if colours_last else observations
        parts = [part.reshape(len(observations), -1) for part in _numbers(observations, self._task)]
        return np.concatenate([np.empty((len(observations), 0)), *parts], axis=1, dtype=np.float32)

    def one(self, observation: NDArray[Any]) -> Any:
        """Return one observation in this form."""
        return self.rows(np.asarray(observation)[None])[0] if self._first else self.rows(observation)


def _is_picture(space: spaces.Space[Any]) -> bool:
    """Return True if Stable-Baselines3 treats a space as pictures (its ``is_image_space``)."""
    return (
        isinstance(space, spaces.Box)
        and space.dtype == np.uint8
        and len(space.shape) == 3
        and not space.low.any()
        and bool((space.high == 255).all())
    )


def _numbers(observations: NDArray[Any], space: spaces.Space[Any]) -> Iterator[NDArray[Any]]:
    """Yield the numbers of rows of observations, part by part."""
    if (parts := tasks.parts(space)) is not None:
        for name, part in parts.items():
            yield from _numbers(observations[name], part)
    elif isinstance(space, spaces.Discrete):
        yield observations[:, None] - space.start == np.arange(space.n)
    elif isinstance(space, spaces.MultiDiscrete):
        given = (observations - space.start).reshape(len(observations), -1)
        for i, count in enumerate(space.nvec.ravel().tolist()):
            yield given[:, i, None] == np.arange(count)
    elif observations.dtype.kind != "U":
        yield observations
