"""Action values on features that are counts, with an update of every live trace at every step.

Traces below the threshold are dropped, so live traces are few compared with the weights: they are in an unordered list,
and an array of the weights' shape contains their positions in it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from arcademark.classic.features.base import Counts
from arcademark.compiled import njit


class CountedValues:
    """Values, as in `arcademark.classic.linear`, of features that are counts.

    `decay` is γλ; traces of magnitude below `threshold` are dropped; weights and traces have type `dtype`.
    """

    features = None

    def __init__(
        self, num_features: int, num_actions: int, decay: float, threshold: float, dtype: DTypeLike = np.float32
    ) -> None:
        self.weights: NDArray[Any] = np.zeros((num_features, num_actions), dtype)
        self.values = np.zeros(num_actions)
        self._decay, self._threshold = decay, threshold
        self._listed = np.zeros((num_features, num_actions), np.int32)
        self._live, self._traces = np.zeros(1024, np.int64), np.zeros(1024, dtype)
        self._num_live = 0
        self._features, self._counts = np.zeros(0, np.int32), np.zeros(0, np.float32)

    @property
    def num_active(self) -> int:
        """The sum of squares of the last state's counts, rounded up."""
        return math.ceil(float(self._counts @ self._counts))

    def take(self, action: int) -> None:
        """Take an action in the last state."""
        needed = self._num_live + len(self._features)
        if needed > len(self._live):
            self._live = np.concatenate([self._live, np.zeros(needed, self._live.dtype)])
            self._traces = np.concatenate([self._traces, np.zeros(needed, self._traces.dtype)])
        live = self._listed, self._live, self._traces, self._num_live
        state, decaying = (self._features, self._counts), (self._decay, self._threshold)
        self._num_live = decay_and_replace(*live, *state, action, *decaying)

    def see(self, seen: Counts) -> None:
        """Observe the first or the next state of an episode."""
        self._features, self._counts = seen.features.copy(), seen.counts.copy()
        weigh(self.weights, self._features, self._counts, self.values)

    def update(self, amount: float) -> None:
        """Change each weight by `amount` times its trace."""
        add_traces(self.weights, self._live, self._traces, self._num_live, amount)
        weigh(self.weights, self._features, self._counts, self.values)

    def end(self) -> None:
        """End the episode: forget the traces."""
        self._listed.reshape(-1)[self._live[: self._num_live]] = 0
        self._num_live = 0

    def read(self, seen: Counts, values: NDArray[np.float64]) -> None:
        """Change values to those of a state."""
        weigh(self.weights, seen.features, seen.counts, values)

    def restore(self, features: NDArray[np.int32], weights: NDArray[Any]) -> None:
        """Restore weights of features between episodes; those of all others are 0."""
        self.weights[np.flatnonzero(self.weights.any(axis=1))] = 0
        self.weights[features] = weights


@njit(cache=True)
def weigh(weights, features, counts, values):  # type: ignore[no-untyped-def]
    """Write the values of a state with the given counts of features."""
    values[:] = 0.0
    for i in range(len(features)):
        row = weights[features[i]]
        for action in range(len(values)):
            values[action] += row[action] * np.float64(counts[i])


@njit(cache=True)
def decay_and_replace(  # type: ignore[no-untyped-def]
    listed, live, traces, num_live, features, counts, action, decay, threshold
):
    """Decay traces, drop those below the threshold, set those of the action to the state's counts; return their number.

    The first `num_live` of `traces` belong to the weights with the flat indices in `live`; `listed`, of the weights'
    shape, contains their positions in these lists, from 1 on, or 0.
    """
    flat = listed.reshape(-1)
    i = 0
    while i < num_live:
        decayed = traces[i] * decay
        if abs(decayed) < threshold:
            num_live -= 1
            flat[live[num_live]] = i + 1
            flat[live[i]] = 0
            live[i], traces[i] = live[num_live], traces[num_live]
        else:
            traces[i] = decayed
            i += 1
    for i in range(len(features)):
        weight = np.int64(features[i]) * listed.shape[1] + action
        if flat[weight] == 0:
            live[num_live] = weight
            num_live += 1
            flat[weight] = num_live
        traces[flat[weight] - 1] = counts[i]
    return num_live


@njit(cache=True)
def add_traces(weights, live, traces, num_live, amount):  # type: ignore[no-untyped-def]
    """Add `amount` times each live trace to its weight."""
    flat = weights.reshape(-1)
    for i in range(num_live):
        flat[live[i]] += amount * traces[i]
