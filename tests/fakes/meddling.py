"""Does at call number `after` what an agent should not do to its process, then plays on.

`what` is "daemon" (leaves a process of its own session that holds all that is open, and dies), "garbage" (writes to
every socket), "begun" (the same, the beginning of a message that never ends) or "fork" (goes on twice). With `once`, a
path, only while that file does not exist.
"""

import contextlib
import os
import signal
import stat
import time
from pathlib import Path

import numpy as np

HEADER = b"\x93ArcMark" + (100).to_bytes(8, "little")


def sockets():
    for number in range(3, 256):
        with contextlib.suppress(OSError):
            if stat.S_ISSOCK(os.fstat(number).st_mode):
                yield number


class Meddling:
    def __init__(self, env, *, what: str = "daemon", after: int = 3, once: str = ""):
        self.what, self.left, self.once = what, after, once
        self.num_actions = env.num_actions

    def act(self, observations, first, rngs):
        if self.left == 0 and not (self.once and Path(self.once).exists()):
            if self.once:
                Path(self.once).touch()
            self.meddle()
        self.left -= 1
        return np.array([rng.integers(self.num_actions) for rng in rngs])

    def meddle(self):
        if self.what == "daemon":
            if (daemon := os.fork()) == 0:
                os.setsid()
                time.sleep(60)
                os._exit(0)
            Path(self.once).write_text(str(daemon))
            time.sleep(0.1)
            os.kill(os.getpid(), signal.SIGKILL)
        elif self.what == "fork":
            os.fork()
        else:
            for number in sockets():
                os.write(number, HEADER if self.what == "begun" else b"noise" * 100)


make_agent = Meddling
