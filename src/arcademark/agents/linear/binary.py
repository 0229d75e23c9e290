"""Action values on binary features: a step costs what changed, not what is active.

The conventions are those of `histories`. A feature's weights are a row of `LANES`, whatever the number of actions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from arcademark.agents.linear import histories
from arcademark.agents.linear.base import LinearValues, Reader, horizon
from arcademark.agents.linear.histories import ACTIVE, COLUMNS, FREE, MOVED, NEVER, STEP, Episode, Groups
from arcademark.agents.linear.rows import LANES, read_rows
from arcademark.features.base import Change

GROUPS = 4096
STEPS = 4096
"""Room at first, doubled when needed."""


class BinaryValues(LinearValues[Change]):
    """A `base.LinearValues` on features that are 0 or 1, for at most `LANES` actions.

    `decay` is γλ; traces below `threshold` are dropped; weights are of `dtype`.
    """

    def __init__(
        self, num_features: int, num_actions: int, decay: float, threshold: float, dtype: DTypeLike = np.float32
    ) -> None:
        self.weights: NDArray[Any] = np.zeros((num_features, LANES), dtype)
        steps = horizon(decay, threshold)
        self._groups = _groups(num_features, GROUPS, dtype)
        self._episode = _episode(STEPS, steps, decay)
        self._forget()
        self.values = self._episode.values[:num_actions]

    @property
    def num_active(self) -> int:
        """Features of the state last seen that are active."""
        return int(self._episode.counters[ACTIVE])

    def take(self, action: int) -> None:
        """Take an action in the state last seen."""
        if self._episode.counters[STEP] + 2 > len(self._episode.sums):
            self._episode = _longer(self._episode)
        histories.take(self._episode, action)

    def see(self, seen: Change) -> None:
        """See the state that followed."""
        self._make_room(len(seen.on) + len(seen.off))
        histories.see(self.weights, self._groups, self._episode, seen.on, seen.off)

    def update(self, amount: float) -> None:
        """Change each weight by `amount` times its trace."""
        histories.update(self._episode, amount)

    def end(self) -> None:
        """End the episode: settle the weights and forget the traces."""
        histories.settle(self.weights, self._groups, self._episode, False)
        self._forget()

    def reader(self) -> BinaryReader:
        """Return a reader for other episodes, between `end` and `begin`."""
        return BinaryReader(self)

    def recall(self, seen: Change) -> Change:
        """Return a change in rows of weights."""
        return seen

    def _make_room(self, moving: int) -> None:
        """Make places for all groups that `moving` features can need."""
        counters, places = self._episode.counters, len(self._groups.free) - 1
        if counters[FREE] >= min(moving, places - counters[FREE] + 1):
            return
        histories.settle(self.weights, self._groups, self._episode, True)
        if 2 * counters[FREE] < places:
            more = _groups(len(self._groups.of), 2 * (places + 1), self.weights.dtype)
            for old, new in zip(self._groups, more, strict=True):
                if old is not self._groups.by_hash:
                    new[: len(old)] = old
            free = counters[FREE]
            more.free[free : free + places + 1] = np.arange(places + 1, 2 * (places + 1))
            counters[FREE] += places + 1
            self._groups = more._replace(of=self._groups.of)

    def _forget(self) -> None:
        episode, groups = self._episode, self._groups
        places = len(groups.free)
        groups.table[:] = NEVER
        groups.table[0, MOVED] = 0
        groups.by_hash[:] = NEVER
        groups.free[: places - 1] = np.arange(places - 1, 0, -1)
        episode.counters[:] = 0
        episode.counters[FREE] = places - 1
        episode.last[:] = NEVER
        for array in (episode.on_since, episode.trace_sums, episode.values):
            array[:] = 0


class BinaryReader(Reader[Change]):
    """A `base.Reader` on features that are 0 or 1."""

    def __init__(self, learnt: BinaryValues) -> None:
        self._learnt = learnt
        self.values = np.zeros(len(learnt.values))

    def begin(self, seen: Change) -> None:
        """Begin an episode in a state."""
        self.values[:] = 0.0
        self.see(seen)

    def see(self, seen: Change) -> None:
        """See the state that followed."""
        rows = self._learnt.recall(seen)
        read_rows(self._learnt.weights, rows.on, rows.off, self.values)


def _groups(num_features: int, places: int, dtype: DTypeLike) -> Groups:
    return Groups(
        of=np.zeros(num_features, np.int32),
        table=np.full((places, COLUMNS), NEVER, np.int32),
        gain=np.zeros((places, LANES), dtype),
        leaving=np.zeros(places, np.int32),
        free=np.zeros(places, np.int32),
        by_hash=np.full((2 * places, 2), NEVER, np.int32),
    )


def _episode(steps: int, most: int, decay: float) -> Episode:
    return Episode(
        counters=np.zeros(5, np.int64),
        last=np.full(LANES, NEVER, np.int32),
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
        sums=twice(episode.sums),
        gains=twice(episode.gains),
        next_taken=twice(episode.next_taken),
    )
