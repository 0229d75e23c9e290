"""Planners that play for real, but no faster than PACE seconds a look ahead, so that a test can interfere in time."""

import json
import os
import signal
import time
from pathlib import Path

LOOKS = 4


class Remembering:
    """Looks ahead a few times a decision; all that it ever saw in the episode decides what it does next."""

    def __init__(self, env, *, checkpoint_seconds: float = 0.02, steps: int = 3):
        self.checkpoint_seconds = checkpoint_seconds
        self.steps = steps
        self.memory = self.looks = 0

    def plan(self, model, state, first, rng):
        if first:
            self.memory = self.looks = 0
        while self.looks < LOOKS:
            model.restore(state)
            for action in rng.integers(model.num_actions, size=self.steps).tolist():
                reward, terminated, truncated = model.step(action)
                self.memory = (31 * self.memory + 7 * action + int(reward)) % 1_000_003
                if terminated or truncated:
                    break
            self.looks += 1
            if pace := float(os.environ.get("PACE", "0")):
                time.sleep(pace)
            yield True if self.looks == 2 else None
        self.looks = 0
        return self.choose(model, rng)

    def choose(self, model, rng):
        return (self.memory + int(rng.integers(3))) % model.num_actions

    def checkpoint(self):
        return json.dumps([self.memory, self.looks]).encode()

    def restore(self, checkpoint):
        self.memory, self.looks = json.loads(checkpoint)


class Forgetful:
    """Keeps nothing, answers at once, and takes exactly two steps in the model for each of the real game."""

    checkpoint_seconds = 1e-9

    def __init__(self, env):
        self.num_actions = env.num_actions

    def plan(self, model, state, first, rng):
        for action in (0, self.num_actions - 1):
            model.restore(state)
            model.step(action)
        return int(rng.integers(self.num_actions))


class Dying(Remembering):
    """Kills its own process where an episode's memory reaches decision `at`; with `once` only while that file lacks."""

    def __init__(self, env, *, at: int = 10, once: str = ""):
        super().__init__(env, checkpoint_seconds=1e-9)
        self.at = at
        self.once = once
        self.decisions = 0

    def plan(self, model, state, first, rng):
        self.decisions = 0 if first else self.decisions
        if self.decisions == self.at and not (self.once and Path(self.once).exists()):
            if self.once:
                Path(self.once).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        chosen = yield from super().plan(model, state, first, rng)
        self.decisions += 1
        return chosen

    def checkpoint(self):
        return json.dumps([self.decisions, super().checkpoint().decode()]).encode()

    def restore(self, checkpoint):
        self.decisions, rest = json.loads(checkpoint)
        super().restore(rest.encode())


class Waking:
    """Looks ahead but once a decision until so many frames were played, then ten times, and much more at first."""

    def __init__(self, env, *, wakes: int = 0, first: int = 100, seconds: float = 0.0):
        self.looks = {"pong": 2, "freeway": 20}.get(env.game, 10)
        self.num_actions, self.wakes, self.first, self.seconds = env.num_actions, wakes, first, seconds

    def plan(self, model, state, first, rng):
        time.sleep(self.seconds)
        for _ in range((self.first if first else 0) + (self.looks if state.frames >= self.wakes else 1)):
            model.restore(state)
            model.step(0)
        return int(rng.integers(self.num_actions))
