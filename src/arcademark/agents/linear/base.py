"""What SARSA(λ) asks of linear action values.

One step, with s the state, a the action taken there and s' the state that follows (Sutton and Barto 1998, §8.4)::

    take(a)      every trace of the episode decays by γλ and is dropped below the threshold;
                 the traces of the features of s, for a, become what the features are (1 if binary)
    see(s')      `values` become those of s'
    update(u)    every weight changes by u times its trace, and `values` with them

    begin(s) ─→ take ─→ see ─→ update ─→ take ─→ … ─→ take ─→ update ─→ end()

Between `end` and `begin` the weights are exact and there are no traces.
"""

from __future__ import annotations

import math
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

MOST_STEPS = 65_535
"""A trace is dropped after so many steps, however slowly it decays."""

Seen = TypeVar("Seen", contravariant=True)


class Reader(Protocol[Seen]):
    """Action values of the states of an episode; `values`, shape (num_actions,), are those of the state last seen."""

    values: NDArray[np.float64]

    def begin(self, seen: Seen) -> None:
        """Begin an episode in a state."""
        self.see(seen)

    def see(self, seen: Seen) -> None:
        """See the state that followed."""


class LinearValues(Reader[Seen], Protocol[Seen]):
    """Action values that are linear in features, with their traces.

    `weights`, shape (rows, at least num_actions), has a row a feature; only the first `num_actions` columns are used.
    """

    weights: NDArray[Any]

    @property
    def features(self) -> NDArray[np.int32] | None:
        """The feature of each row, of those in use; None if each feature has the row of its number."""
        return None

    @property
    def num_active(self) -> int:
        """Features of the state last seen that are active; of counts, the sum of their squares, rounded up."""

    def take(self, action: int) -> None:
        """Take an action in the state last seen."""

    def update(self, amount: float) -> None:
        """Change each weight by `amount` times its trace."""

    def end(self) -> None:
        """End the episode: settle the weights and forget the traces."""

    def reader(self) -> Reader[Seen]:
        """Return a reader for other episodes, between `end` and `begin`."""

    def restore(self, features: NDArray[np.int32], weights: NDArray[Any]) -> None:
        """Take up weights of features, each there once, between `end` and `begin`; those of all others are 0."""
        self.weights[np.flatnonzero(self.weights.any(axis=1))] = 0
        self.weights[features] = weights


def horizon(decay: float, threshold: float) -> int:
    """Return after how many steps a trace that was 1 is last at least `threshold`, in (0, 1]; `decay` is γλ."""
    if decay <= 0.0 or threshold >= 1.0:
        return 0 if decay < 1.0 else MOST_STEPS
    if decay >= 1.0 or math.log(threshold) <= MOST_STEPS * math.log(decay):
        return MOST_STEPS
    steps = int(math.log(threshold) / math.log(decay))
    while decay ** (steps + 1) >= threshold:
        steps += 1
    while decay**steps < threshold:
        steps -= 1
    return min(steps, MOST_STEPS)
