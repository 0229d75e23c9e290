"""All pairs of different base features: a pair is active while both of its features are.

Features 0 to n - 1 are the base features themselves, then comes a triangle of pairs, a row for each greater feature::

    (i, j), j < i   ─→   n + i (i - 1) / 2 + j          rows: 1-0 | 2-0 2-1 | 3-0 3-1 3-2 | …

What changed is given in ascending order, which is the order of a table of weights in memory: a learner walks through it
once, forwards. In real play (memory of Freeway, Asterix and Seaquest) reading the weights of the changed pairs in
random order took 1.3 to 2 times as long; a cyclic layout, or squares of 8 or 16 features, were no better than this.

Only pairs of a feature that became active with another that is are formed: with a features active of which c came, that
is c a - c (c + 1) / 2 pairs instead of a (a - 1) / 2.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isqrt

import numpy as np

from arcademark.classic.features.base import Change
from arcademark.compiled import njit

ABSENT, GONE, CAME, KEPT = 0, 1, 2, 3
"""What a base feature is during an update: active before (1), after (2), or both."""


class Pairs:
    """Base features and all pairs of different ones (Bellemare et al. 2013, Section 3.1.1 and Appendices A.1, A.5).

    There are `num_base` n base features, 1 to 65,535, so that the ``n + n (n - 1) / 2`` in all are int32.
    """

    def __init__(self, num_base: int) -> None:
        self.num_base = num_base
        self.num_features = num_base + num_base * (num_base - 1) // 2
        self._states = np.zeros(num_base, np.uint8)
        self._on = np.empty(self.num_features, np.int32)
        self._off = np.empty(self.num_features, np.int32)

    def begin(self) -> None:
        """Forget the episode: nothing is active."""
        self._states[:] = ABSENT

    def update(self, change: Change) -> Change:
        """Return which base features and pairs changed, both ascending, given which base ones did."""
        states = self._states
        states[change.on], states[change.off] = CAME, GONE
        came, gone = list_pairs(states, CAME, self._on), list_pairs(states, GONE, self._off)
        states[change.on], states[change.off] = KEPT, ABSENT
        return Change(self._on[:came], self._off[:gone])

    def describe(self, feature: int, describe_base: Callable[[int], str]) -> str:
        """Say what a feature means, given what a base feature does: two such joined by "and" for a pair."""
        if feature < self.num_base:
            return describe_base(feature)
        place = feature - self.num_base
        high = (1 + isqrt(1 + 8 * place)) // 2
        return f"{describe_base(place - high * (high - 1) // 2)} and {describe_base(high)}"


@njit(cache=True)
def list_pairs(states, changed_state, out):  # type: ignore[no-untyped-def]
    """List the base features in `changed_state`, and all pairs of them and others, ascending; return how many.

    `states`, uint8 (n,), has what happens to each base feature; others are those that are active as these are.
    """
    active = np.flatnonzero(states & changed_state).astype(np.int32)
    changed = np.flatnonzero(states == changed_state).astype(np.int32)
    count = changed.shape[0]
    out[:count] = changed
    below = 0
    for a in range(active.shape[0] if count else 0):
        i = np.int64(active[a])
        row = states.shape[0] + i * (i - 1) // 2
        if states[i] == changed_state:
            for b in range(a):
                out[count + b] = row + active[b]
            count += a
            below += 1
        else:
            for b in range(below):
                out[count + b] = row + changed[b]
            count += below
    return count
