"""Go-Explore's archive: cells, the best trajectory to each, and the selection of the next cell.

A trajectory is a linked list of experiences, each an action and the index of the previous experience; trajectories
share common beginnings. Experience 0 is the start. Only experiences on trajectories in the archive are stored.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from arcademark.classic.planning.planner import as_state

if TYPE_CHECKING:
    from arcademark.environments.generative import State

START = 0
"""The cell, and the experience, of the state where exploration begins."""


class Trajectory(NamedTuple):
    """A trajectory from the start: the sum of its rewards, its number of actions, and its last experience."""

    score: float
    length: int
    last: int

    def beats(self, other: Trajectory) -> bool:
        """Return True if it has a higher score, or the same with fewer actions."""
        return (self.score, -self.length) > (other.score, -other.length)


class Archive:
    """Cells with the best trajectory to each, from the state where exploration begins.

    The weight of a cell is ``1 / √(count + 1)``; its count is the number of explorations that visited it since its
    trajectory last changed (Ecoffet et al. 2021, Methods).
    """

    def __init__(self, state: State) -> None:
        self._index: dict[bytes, int] = {}
        self._states: list[State] = []
        self._ways: list[Trajectory] = []
        self._counts = np.zeros(1024, np.int64)
        self._before, self._actions = array("q", [-1]), array("H", [0])
        self.best = Trajectory(0.0, 0, START)
        self._add(b"", state, self.best)

    def memory(self) -> Any:
        """Return the whole state, for `planner.pack`."""
        counts = self._counts[: len(self)]
        before, actions = np.frombuffer(self._before, np.int64), np.frombuffer(self._actions, np.uint16)
        return list(self._index), self._states, self._ways, counts, before, actions, self.best

    @classmethod
    def remembered(cls, memory: Any) -> Self:
        """Return the archive with the given `memory`; ValueError if that is invalid."""
        keys, states, ways, counts, before, actions, best = memory
        archive = cls(as_state(states[0]))
        archive._index = {key: cell for cell, key in enumerate(keys)}
        archive._states = [as_state(state) for state in states]
        archive._ways = [Trajectory(*way) for way in ways]
        archive._counts = np.array(counts, np.int64)
        archive._before, archive._actions = array("q", before.tobytes()), array("H", actions.tobytes())
        archive.best = Trajectory(*best)
        in_order = (before < np.arange(len(before))).all() and (before[1:] >= START).all()
        last = max(way.last for way in (*archive._ways, archive.best))
        if not (in_order and last < len(before) == len(actions) and len(keys) == len(states) == len(ways)):
            raise ValueError("its trajectories lead nowhere")
        return archive

    def __len__(self) -> int:
        return len(self._states)

    def _add(self, key: bytes, state: State, way: Trajectory) -> int:
        if len(self) == len(self._counts):
            self._counts = np.concatenate([self._counts, np.zeros_like(self._counts)])
        self._index[key] = len(self)
        self._states.append(state)
        self._ways.append(way)
        return len(self) - 1

    def choose(self, rng: np.random.Generator) -> int:
        """Draw a cell with probability proportional to its weight."""
        totals = np.cumsum(1 / np.sqrt(self._counts[: len(self)] + 1))
        return int(np.searchsorted(totals, rng.random() * totals[-1], side="right"))

    def at(self, cell: int) -> tuple[State, Trajectory]:
        """Return the state at the end of a cell's best trajectory, and the trajectory."""
        return self._states[cell], self._ways[cell]

    def find(self, key: bytes) -> int | None:
        """Return the cell of a key, or None."""
        return self._index.get(key)

    def see(self, cells: set[int]) -> None:
        """Count a visit of an exploration to each of these cells."""
        self._counts[list(cells)] += 1

    def improves(self, cell: int | None, score: float, length: int) -> bool:
        """Return True if a trajectory of this score and length is new or better for a cell."""
        return cell is None or Trajectory(score, length, START).beats(self._ways[cell])

    def put(self, key: bytes, state: State, way: Trajectory) -> int:
        """Set the trajectory of the key's cell and reset its count; return the cell."""
        cell = self._index.get(key)
        if cell is None:
            return self._add(key, state, way)
        self._states[cell], self._ways[cell] = state, way
        self._counts[cell] = 0
        return cell

    def write(self, last: int, actions: list[int]) -> int:
        """Store actions after an experience; return the last of their experiences."""
        for action in actions:
            self._before.append(last)
            self._actions.append(action)
            last = len(self._before) - 1
        return last

    def actions_to(self, way: Trajectory) -> list[int]:
        """Return the actions of a trajectory in order."""
        actions, experience = [], way.last
        while experience != START:
            actions.append(self._actions[experience])
            experience = self._before[experience]
        return actions[::-1]
