"""Kills its own process at call number `after`; with `once`, a path, only while that file does not exist.

With `child` it has started a process that outlives it and inherits all that it had open.
"""

import os
import signal
import time
from pathlib import Path

import numpy as np


class Crashing:
    def __init__(self, env, *, after: int = 3, once: str = "", child: bool = False):
        self.left = after
        self.once = once
        self.num_actions = env.num_actions
        if child and os.fork() == 0:
            time.sleep(60)
            os._exit(0)

    def act(self, observations, first, rngs):
        if self.left == 0 and not (self.once and Path(self.once).exists()):
            if self.once:
                Path(self.once).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        self.left -= 1
        return np.array([rng.integers(self.num_actions) for rng in rngs])


make_agent = Crashing
