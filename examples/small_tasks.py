"""An agent for tasks of three packages, with one rule for each: beyond Atari, only an agent's observations differ.

    arcademark run examples/small_tasks.py:make_agent --suite examples/small_tasks.toml --set turns=0.1 --out runs/rules

docs/tutorials/other_tasks.md continues from there.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arcademark.environments.base import EnvironmentSpec

Flags = NDArray[np.bool_]
Generators = Sequence[np.random.Generator]


class Balance:
    """Pushes CartPole's cart to where the pole falls; observes place, speed, angle and angular speed (n, 4)."""

    def act(self, observations: NDArray[np.float32], first: Flags, rngs: Generators) -> NDArray[np.int64]:
        """Choose 0 (left) or 1 (right)."""
        return (3 * observations[:, 2] + observations[:, 3] > 0).astype(np.int64)


class Catch:
    """Moves the paddle of MinAtar's Breakout to the ball; observes grids of paddle, ball and trail (n, 10, 10, 4)."""

    def act(self, observations: NDArray[np.bool_], first: Flags, rngs: Generators) -> NDArray[np.int64]:
        """Choose 0 (nothing), 1 (left) or 2 (right)."""
        return np.array([self._aim(*(np.argwhere(grid[:, :, i])[0] for i in range(3))) for grid in observations])

    @staticmethod
    def _aim(paddle: NDArray[np.int64], ball: NDArray[np.int64], trail: NDArray[np.int64]) -> int:
        steps = 8 - ball[0] if ball[0] > trail[0] else 0
        way = (ball[1] + (ball[1] - trail[1]) * steps) % 20  # as if walls were mirrors
        aim = min(way, 19 - way)
        return 0 if aim == paddle[1] else 1 if aim < paddle[1] else 2


class Wander:
    """Walks on in MiniGrid; turns at random at an obstacle and, with probability `turns`, elsewhere.

    Observations have the parts ``image``, the content of each cell ahead, ``direction`` and the text ``mission``.
    """

    def __init__(self, turns: float) -> None:
        self.turns = turns

    def act(self, observations: NDArray[Any], first: Flags, rngs: Generators) -> NDArray[np.int64]:
        """Choose 0 (turn left), 1 (turn right) or 2 (walk on)."""
        free = np.isin(observations["image"][:, 3, 5, 0], (1, 8))  # nothing, or the goal
        turning = np.array([rng.random() < self.turns for rng in rngs])
        return np.where(free & ~turning, 2, [rng.integers(2) for rng in rngs])


def make_agent(env: EnvironmentSpec, *, turns: float = 0.2) -> Balance | Catch | Wander:
    """Return the rule for a task."""
    return Balance() if env.game == "cart_pole" else Catch() if env.game == "minatar_breakout" else Wander(turns)
