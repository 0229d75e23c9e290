"""All pairs of different base features: a pair is active while both of its features are.

Features 0 to n - 1 are the base features, followed by a triangle of pairs, a row for each greater feature::

    (i, j), j < i   ─→   n + i (i - 1) / 2 + j          rows: 1-0 | 2-0 2-1 | 3-0 3-1 3-2 | …

Changes are in ascending order, the order of weights in memory, so that a learner reads the weights sequentially. For
the memory of Freeway, Asterix and Seaquest, reading the weights of the changed pairs in random order took 1.3 to 2
times as long; a cyclic layout, or squares of 8 or 16 features, were not faster.

Only pairs with a newly active feature are computed: with a active features, c of them new, these are c a - c (c + 1) /
2 pairs instead of a (a - 1) / 2.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isqrt

import numpy as np

from arcademark.classic.features.base import Change
from arcademark.compiled import njit

ABSENT, GONE, CAME, KEPT = 0, 1, 2, 3
"""States of a base feature during an update: active before (1), after (2), or both."""


class Pairs:
    """Base features and all pairs of different ones (Bellemare et al. 2013, Section 3.1.1 and Appendices A.1, A.5).

    `num_base`, n, is 1 to 65,535, so that the numbers of all ``n + n (n - 1) / 2`` features are int32.
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
        """Return the changes of base features and pairs, both ascending, for changes of base features."""
        states = self._states
        states[change.on], states[change.off] = CAME, GONE
        came, gone = list_pairs(states, CAME, self._on), list_pairs(states, GONE, self._off)
        states[change.on], states[change.off] = KEPT, ABSENT
        return Change(self._on[:came], self._off[:gone])

    def describe(self, feature: int, describe_base: Callable[[int], str]) -> str:
        """Describe a feature by the description of a base feature: two joined by "and" for a pair."""
        if feature < self.num_base:
            return describe_base(feature)
        place = feature - self.num_base
        high = (1 + isqrt(1 + 8 * place)) // 2
        return f"{describe_base(place - high * (high - 1) // 2)} and {describe_base(high)}"


@njit(cache=True)
def list_pairs(states, changed_state, out):  # type: ignore[no-untyped-def]
    """List the base features in `changed_state`, and all their pairs, ascending; return their number.

    `states`, uint8 (n,), is the state of each base feature; pairs are with features active at the same time.
    """
    active = np.flatnonzero(states & changed_state).astype(np.int32)
    changed = np.flatnonzero(states == changed_state).astype(np.int32)
    count = changed.shape[0]
    for place in range(count):  # an assignment of arrays takes seconds to compile
        out[place] = changed[place]
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
