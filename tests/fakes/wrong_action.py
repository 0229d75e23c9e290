"""Chooses an action that does not exist at call number 3."""

import numpy as np


class WrongAction:
    def __init__(self, env):
        self.left, self.wrong = 3, env.num_actions

    def act(self, observations, first, rngs):
        self.left -= 1
        return np.full(len(first), self.wrong if self.left < 0 else 0)


make_agent = WrongAction
