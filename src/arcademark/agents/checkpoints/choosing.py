"""Choice of actions from a network's outputs: the best ones, or samples of its distribution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arcademark.environments.base import ArrayActions, EnvironmentSpec
from arcademark.errors import ArcadeMarkError

Generators = Sequence[np.random.Generator]


class Chooser:
    """Chooses actions of a task by a network's outputs.

    For numbered actions the outputs are a value or logit each; for several whole numbers, a logit for each value of
    each, or one per switch; for real numbers, the mean of each, optionally followed by the logarithms of their standard
    deviations.

    Parameters
    ----------
    env : EnvironmentSpec
    squashed : bool
        Whether real numbers are the hyperbolic tangents of the outputs, scaled to the bounds; otherwise the outputs are
        clipped there.
    """

    def __init__(self, env: EnvironmentSpec, squashed: bool = False) -> None:
        self._arrays, self._squashed = env.array_actions, squashed
        self._count = len(env.action_meanings)
        if self._arrays is not None:
            self._low, self._high = np.array(self._arrays.low), np.array(self._arrays.high)
            self._count = self._low.size

    def fits(self, count: int, continuous: bool | None = None) -> bool:
        """Return True if this number of outputs fits the task's actions; `continuous` is None if unknown."""
        if self._arrays is None:
            return count == self._count and not continuous
        if self._arrays.integer:
            return count in (self._switches(), sum(self._values())) and not continuous
        return count in (self._count, 2 * self._count) and continuous is not False

    def choose(self, values: NDArray[np.float32], rngs: Generators | None = None) -> NDArray[Any]:
        """Choose an action for each row of `values`, shape (rows, outputs); with `rngs`, draw it.

        ArcadeMarkError: real numbers are to be drawn, but have no standard deviations.
        """
        if self._arrays is None:
            return _one(values, rngs)
        chosen = self._whole(values, rngs) if self._arrays.integer else self._real(values, rngs, self._arrays)
        return chosen.astype(self._arrays.dtype).reshape(-1, *self._arrays.shape)

    def _switches(self) -> int | None:
        """Return the number of switches; None for other actions."""
        return self._count if not self._low.any() and (self._high == 1).all() else None

    def _values(self) -> list[int]:
        """Return the number of values of each whole number."""
        return [int(high) - int(low) + 1 for low, high in zip(self._low, self._high, strict=True)]

    def _whole(self, values: NDArray[np.float32], rngs: Generators | None) -> NDArray[Any]:
        if values.shape[1] == self._switches():
            if rngs is None:
                return values > 0
            return np.array([rng.logistic(size=self._count) for rng in rngs]) < values
        parts = np.split(values, np.cumsum(self._values())[:-1], axis=1)
        return self._low + np.stack([_one(part, rngs) for part in parts], axis=1)

    def _real(self, values: NDArray[np.float32], rngs: Generators | None, arrays: ArrayActions) -> NDArray[Any]:
        mean, spread = values[:, : self._count], values[:, self._count :]
        if rngs is not None and not spread.size:
            raise ArcadeMarkError(
                "--set deterministic=false changes nothing: its network outputs actions, no distribution; leave it out"
            )
        if rngs is not None:
            mean = mean + np.exp(spread) * np.array([rng.standard_normal(self._count) for rng in rngs], np.float32)
        low, high = self._low.astype(arrays.dtype), self._high.astype(arrays.dtype)
        if self._squashed:
            mean = low + 0.5 * (np.tanh(mean) + 1) * (high - low)
        return np.clip(mean.astype(arrays.dtype), low, high)


def _one(values: NDArray[np.float32], rngs: Generators | None) -> NDArray[np.int64]:
    """Return the index of each row's greatest value, or draw one from the softmax of the row's logits."""
    if rngs is None:
        return values.argmax(axis=1)
    weights = np.exp(values.astype(np.float64) - values.max(axis=1, keepdims=True))
    bounds = np.cumsum(weights, axis=1)
    drawn = np.array([rng.random() for rng in rngs]) * bounds[:, -1]
    return np.minimum((bounds <= drawn[:, None]).sum(axis=1), values.shape[1] - 1)
