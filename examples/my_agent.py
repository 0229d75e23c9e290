"""Example of your own agent: it repeats an action while that shows new screens, and draws another when bored.

    arcademark run examples/my_agent.py:make_agent --games pong --episodes 1 --set boredom=2 --out runs/mine

It may be any function or class that takes the game's `EnvironmentSpec` and returns an object with `act`. Its keyword
parameters, with their types and defaults, are the settings that `--set` accepts.
"""

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from arcademark.environments.base import EnvironmentSpec


class CuriousAgent:
    """Agent that repeats its action while screens are new to it, and otherwise draws another.

    Parameters
    ----------
    env : EnvironmentSpec
        The game: its actions and the shape of its observations.
    boredom : int
        Number of times a screen is seen before it is boring.
    pixels : int
        Approximate number of pixels compared; with fewer, more screens are alike.
    """

    def __init__(self, env: EnvironmentSpec, *, boredom: int = 3, pixels: int = 64) -> None:
        self.num_actions = env.num_actions
        self.boredom = boredom
        self.stride = max(1, int(np.prod(env.observation_shape)) // pixels)
        self.seen: list[Counter[bytes]] = []  # one per episode in play
        self.last: list[int] = []

    def act(
        self, observations: NDArray[np.uint8], first: NDArray[np.bool_], rngs: Sequence[np.random.Generator]
    ) -> NDArray[np.int64]:
        """Choose an action for each episode in play; row i is the same episode until `first[i]`."""
        for i in range(len(first)):
            if i == len(self.seen):
                self.seen.append(Counter())
                self.last.append(0)
            if first[i]:
                self.seen[i] = Counter()
                self.last[i] = 0
            screen = (observations[i].ravel()[:: self.stride] // 32).tobytes()
            self.seen[i][screen] += 1
            if self.seen[i][screen] > self.boredom or first[i]:
                self.last[i] = int(rngs[i].integers(self.num_actions))
        return np.array(self.last[: len(first)])


make_agent = CuriousAgent
