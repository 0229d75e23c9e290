"""Chooses an action that does not exist, or one of a wrong type, at call number `after`."""

from typing import Literal

import numpy as np


class WrongAction:
    def __init__(self, env, *, kind: Literal["high", "negative", "float", "bool"] = "high", after: int = 3):
        self.left = after
        self.wrong = {
            "high": np.int64(env.num_actions),
            "negative": np.int64(-1),
            "float": np.float32(0),
            "bool": np.bool_(0),
        }[kind]

    def act(self, observations, first, rngs):
        self.left -= 1
        return np.full(len(first), self.wrong if self.left < 0 else np.int64(0))


make_agent = WrongAction
