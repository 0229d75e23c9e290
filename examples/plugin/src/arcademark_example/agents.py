"""An agent that repeats each of its random actions for some steps."""

import numpy as np

from arcademark.agents.base import Actions, Flags, Generators, Observations
from arcademark.environments.base import EnvironmentSpec


class Sticky:
    """Agent that draws an action and repeats it.

    Parameters
    ----------
    hold : int
        Number of steps for which an action is repeated.
    """

    draws = True

    def __init__(self, env: EnvironmentSpec, *, hold: int = 4) -> None:
        self.num_actions, self.hold = env.num_actions, hold
        self.actions, self.left = np.zeros((2, 0), np.int64)

    def act(self, observations: Observations, first: Flags, rngs: Generators) -> Actions:
        new = np.zeros((2, len(first) - len(self.left)), np.int64)
        self.actions, self.left = np.concatenate([[self.actions, self.left], new], axis=1)
        for row in np.flatnonzero(first | (self.left[: len(first)] == 0)).tolist():
            self.actions[row] = rngs[row].integers(self.num_actions)
            self.left[row] = self.hold
        self.left[: len(first)] -= 1
        return self.actions[: len(first)].copy()
