"""Kills its own process at call number `after`; with `once`, a path, only while that file does not exist."""

import os
import signal
from pathlib import Path

import numpy as np


class Crashing:
    def __init__(self, env, *, after: int = 3, once: str = ""):
        self.left = after
        self.once = once
        self.num_actions = env.num_actions

    def act(self, observations, first, rngs):
        if self.left == 0 and not (self.once and Path(self.once).exists()):
            if self.once:
                Path(self.once).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        self.left -= 1
        return np.array([rng.integers(self.num_actions) for rng in rngs])


make_agent = Crashing
