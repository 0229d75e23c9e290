"""Action values on features that are counts: every live trace is touched at every step.

A trace is worth keeping while it is at least the threshold, so that the live ones are few beside all weights: a list of
them, and the traces themselves at their place in an array of the weights' shape.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import DTypeLike, NDArray

from arcademark.features.base import Counts


class CountedValues:
    """Values, as `arcademark.agents.linear` describes them, of features that are counts.

    `decay` is γλ; traces whose magnitude is below `threshold` are dropped; weights and traces are of `dtype`.
    """

    features = None

    def __init__(
        self, num_features: int, num_actions: int, decay: float, threshold: float, dtype: DTypeLike = np.float32
    ) -> None:
        self.weights: NDArray[Any] = np.zeros((num_features, num_actions), dtype)
        self.values = np.zeros(num_actions)
        self._decay, self._threshold = decay, threshold
        self._traces: NDArray[Any] = np.zeros((num_features, num_actions), dtype)
        self._live = np.zeros(1024, np.int64)
        self._num_live = 0
        self._features, self._counts = np.zeros(0, np.int32), np.zeros(0, np.float32)

    @property
    def num_active(self) -> int:
        """The sum of the squares of the counts last seen, rounded up."""
        return math.ceil(float(self._counts @ self._counts))

    def take(self, action: int) -> None:
        """Take an action in the state last seen."""
        needed = self._num_live + len(self._features)
        if needed > len(self._live):
            self._live = np.concatenate([self._live, np.zeros(needed, np.int64)])
        state, decaying = (self._features, self._counts), (self._decay, self._threshold)
        self._num_live = decay_and_replace(self._traces, self._live, self._num_live, *state, action, *decaying)

    def see(self, seen: Counts) -> None:
        """See the first state of an episode, or the one that followed."""
        self._features, self._counts = seen.features.copy(), seen.counts.copy()
        weigh(self.weights, self._features, self._counts, self.values)

    def update(self, amount: float) -> None:
        """Change each weight by `amount` times its trace."""
        add_traces(self.weights, self._traces, self._live, self._num_live, amount)
        weigh(self.weights, self._features, self._counts, self.values)

    def end(self) -> None:
        """End the episode: forget the traces."""
        self._traces.reshape(-1)[self._live[: self._num_live]] = 0
        self._num_live = 0

    def read(self, seen: Counts, values: NDArray[np.float64]) -> None:
        """Change values to those of a state."""
        weigh(self.weights, seen.features, seen.counts, values)

    def restore(self, features: NDArray[np.int32], weights: NDArray[Any]) -> None:
        """Take up weights of features between episodes; those of all others are 0."""
        self.weights[np.flatnonzero(self.weights.any(axis=1))] = 0
        self.weights[features] = weights


@njit(cache=True)
def weigh(weights, features, counts, values):  # type: ignore[no-untyped-def]
    """Write the values of the state with these counts of features."""
    values[:] = 0.0
    for i in range(len(features)):
        row = weights[features[i]]
        for action in range(len(values)):
            values[action] += row[action] * np.float64(counts[i])


@njit(cache=True)
def decay_and_replace(  # type: ignore[no-untyped-def]
    traces, live, num_live, features, counts, action, decay, threshold
):
    """Let traces decay, drop those below the threshold, set those of the action to the state's counts; count them.

    The first `num_live` entries of `live` are the flat indices of the traces that are not 0.
    """
    flat = traces.reshape(-1)
    kept = 0
    for i in range(num_live):
        decayed = flat[live[i]] * decay
        if abs(decayed) < threshold:
            flat[live[i]] = 0
        else:
            flat[live[i]] = decayed
            live[kept] = live[i]
            kept += 1
    for i in range(len(features)):
        place = np.int64(features[i]) * traces.shape[1] + action
        if flat[place] == 0:
            live[kept] = place
            kept += 1
        flat[place] = counts[i]
    return kept


@njit(cache=True)
def add_traces(weights, traces, live, num_live, amount):  # type: ignore[no-untyped-def]
    """Add `amount` times each live trace to its weight."""
    flat_weights, flat_traces = weights.reshape(-1), traces.reshape(-1)
    for i in range(num_live):
        flat_weights[live[i]] += amount * flat_traces[live[i]]
