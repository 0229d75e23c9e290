"""Action values on binary features, with the cost of a step proportional to the changed features.

The conventions are those of `histories`. A feature's weights are a row of `LANES`, regardless of the number of actions.
Large feature sets have few features that occur: B-PROST has 20.6 million and Blob-PROST 114.7 million, and rows for all
of them would take gigabytes. Features of large sets are therefore numbered at their first occurrence (see
`features.numbering`), and have the rows of their numbers; results do not depend on the order of rows.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from arcademark.classic.features.base import Change
from arcademark.classic.features.numbering import Numbering
from arcademark.classic.linear import histories
from arcademark.classic.linear.histories import (
    ACTIVE,
    AHEAD,
    COLUMNS,
    FREE,
    HASH_BITS,
    MOVED,
    NEVER,
    STEP,
    TRACES,
    Episode,
    Groups,
)
from arcademark.classic.linear.rows import LANES, read_rows

GROUPS = 4096
STEPS = 4096
"""Initial capacities, doubled when needed."""
MANY = 1 << 22
"""Minimum number of features to be numbered."""
ROWS = 1 << 16
"""Initial rows of numbered features; when they do not suffice, twice the required number."""
MAX_STEPS = 65_535
"""Number of steps after which a trace is dropped even if it decays slowly."""


class BinaryValues:
    """Values, as in `arcademark.classic.linear`, of binary features, for at most `LANES` actions.

    `decay` is γλ; traces below `threshold` are dropped; weights have type `dtype`; `many` or more features are
    numbered.
    """

    def __init__(
        self,
        num_features: int,
        num_actions: int,
        decay: float,
        threshold: float,
        dtype: DTypeLike = np.float32,
        many: int = MANY,
    ) -> None:
        self._numbering = None if num_features < many else Numbering(num_features)
        rows = num_features if self._numbering is None else ROWS
        self.weights: NDArray[Any] = np.zeros((rows, LANES), dtype)
        self._groups = _groups(rows, GROUPS, dtype)
        self._episode = _episode(STEPS, horizon(decay, threshold), decay)
        self._forget()
        self.values = self._episode.values[:num_actions]

    @property
    def features(self) -> NDArray[np.int32] | None:
        """The feature of each row in use, shape (n,); None if each has the row of its number."""
        return None if self._numbering is None else self._numbering.features

    @property
    def num_active(self) -> int:
        """The number of active features of the last state."""
        return int(self._episode.counters[ACTIVE])

    def take(self, action: int) -> None:
        """Take an action in the last state."""
        if self._episode.counters[STEP] + 2 > len(self._episode.sums):
            self._episode = _longer(self._episode)
        histories.take(self._episode, action)

    def see(self, seen: Change) -> None:
        """Observe the first or the next state of an episode."""
        if self._numbering is not None:
            seen = self._numbering.meet(seen)
            self._make_rows(self._numbering.known)
        self._make_room(len(seen.on) + len(seen.off))
        histories.see(self.weights, self._groups, self._episode, seen.on, seen.off)

    def update(self, amount: float) -> None:
        """Change each weight by `amount` times its trace."""
        histories.update(self._episode, amount)

    def end(self) -> None:
        """End the episode: settle the weights and forget the traces."""
        histories.settle(self.weights, self._groups, self._episode, False)
        self._forget()

    def read(self, seen: Change, values: NDArray[np.float64]) -> None:
        """Change values to those of the next state; features that did not occur in training have weights of 0."""
        rows = seen if self._numbering is None else self._numbering.recall(seen)
        read_rows(self.weights, rows.on, rows.off, values)

    def restore(self, features: NDArray[np.int32], weights: NDArray[Any]) -> None:
        """Restore weights of features between episodes; those of all others are 0.

        ValueError if a numbered feature is repeated or out of range.
        """
        if self._numbering is not None:
            self._numbering.restore(features)
            features = np.arange(len(features), dtype=np.int32)
            self._make_rows(len(features))
        self.weights[np.flatnonzero(self.weights.any(axis=1))] = 0
        self.weights[features] = weights

    def _make_rows(self, known: int) -> None:
        if (rows := len(self.weights)) < known:
            weights, of = np.zeros((2 * known, LANES), self.weights.dtype), np.zeros(2 * known, np.int32)
            weights[:rows], of[:rows] = self.weights, self._groups.of
            self.weights, self._groups = weights, self._groups._replace(of=of)

    def _make_room(self, moving: int) -> None:
        """Make places for all groups that `moving` features may need."""
        counters, places = self._episode.counters, len(self._groups.free) - 1
        if counters[FREE] >= min(moving, places - counters[FREE] + 1):
            return
        histories.settle(self.weights, self._groups, self._episode, True)
        if 2 * counters[FREE] < places:
            more = _groups(len(self._groups.of), 2 * (places + 1), self.weights.dtype)
            arrays: Any = zip(self._groups, more, strict=True)
            for old, new in arrays:
                new[: len(old)] = old
            free = counters[FREE]
            more.free[free : free + places + 1] = np.arange(places + 1, 2 * (places + 1))
            counters[FREE] += places + 1
            self._groups = more._replace(of=self._groups.of)

    def _forget(self) -> None:
        episode, groups = self._episode, self._groups
        places = len(groups.free)
        groups.table[:] = NEVER
        groups.table[0, MOVED] = groups.table[0, TRACES] = 0
        groups.by_hash[:] = NEVER
        groups.free[: places - 1] = np.arange(places - 1, 0, -1)
        episode.counters[:] = 0
        episode.counters[FREE] = places - 1
        episode.last[:] = NEVER
        for array in (episode.on_since, episode.trace_sums, episode.values):
            array[:] = 0


def horizon(decay: float, threshold: float) -> int:
    """Return the number of steps for which a trace of 1 remains at least `threshold`, in (0, 1]; `decay` is γλ."""
    if decay <= 0.0 or threshold >= 1.0:
        return 0 if decay < 1.0 else MAX_STEPS
    if decay >= 1.0 or math.log(threshold) <= MAX_STEPS * math.log(decay):
        return MAX_STEPS
    steps = int(math.log(threshold) / math.log(decay))
    while decay ** (steps + 1) >= threshold:
        steps += 1
    while decay**steps < threshold:
        steps -= 1
    return min(steps, MAX_STEPS)


def _groups(num_features: int, places: int, dtype: DTypeLike) -> Groups:
    return Groups(
        of=np.zeros(num_features, np.int32),
        table=np.full((places, COLUMNS), NEVER, np.int32),
        gain=np.zeros((places, LANES), dtype),
        leaving=np.zeros(places, np.int32),
        free=np.zeros(places, np.int32),
        by_hash=np.full((1 << HASH_BITS, 2), NEVER, np.int32),
        gained=np.zeros(LANES),
        taken=np.zeros(LANES, np.int32),
        old=np.zeros((2, AHEAD), np.int32),
        total=np.zeros(LANES),
    )


def _episode(steps: int, most: int, decay: float) -> Episode:
    return Episode(
        counters=np.zeros(5, np.int64),
        last=np.full(LANES, NEVER, np.int32),
        recent=np.arange(LANES, dtype=np.int32),
        actions=np.zeros(steps, np.int32),
        blocks=_blocks(steps, most),
        sums=np.zeros(steps),
        gains=np.zeros((steps, LANES)),
        next_taken=np.zeros((steps, LANES), np.int32),
        on_since=np.zeros((LANES, most + 1), np.int64),
        trace_sums=np.zeros(LANES),
        powers=np.ones(1) if most == 0 else decay ** np.arange(-most, most + 1.0),
        values=np.zeros(LANES),
    )


def _blocks(steps: int, most: int) -> NDArray[np.int32]:
    numbers = np.arange(steps, dtype=np.int32)
    return numbers - numbers % np.int32(most + 1)


def _longer(episode: Episode) -> Episode:
    def twice(array: NDArray[Any]) -> NDArray[Any]:
        return np.concatenate([array, np.zeros_like(array)])

    return episode._replace(
        blocks=_blocks(2 * len(episode.blocks), len(episode.powers) // 2),
        actions=twice(episode.actions),
        sums=twice(episode.sums),
        gains=twice(episode.gains),
        next_taken=twice(episode.next_taken),
    )
