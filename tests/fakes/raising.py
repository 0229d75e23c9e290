"""Raises at call number `after` (0 is the first), or while it is made."""

import numpy as np


class Raising:
    def __init__(self, env, *, after: int = 3, at_once: bool = False):
        if at_once:
            raise RuntimeError("no weights found")
        self.left = after

    def act(self, observations, first, rngs):
        if self.left == 0:
            raise ZeroDivisionError("the agent divided by zero")
        self.left -= 1
        return np.zeros(len(first), dtype=np.int64)


make_agent = Raising
