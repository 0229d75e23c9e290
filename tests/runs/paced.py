"""Agents that play for real but no faster than PACE seconds an action, so that a test can interfere in time."""

import json
import os
import time

import numpy as np

STALL_AFTER = int(os.environ.get("STALL_AFTER", "-1"))


def pause():
    """Wait, if PACE is set now: another test may have set it when this module was loaded.

    Sleeping for 0 s would give a busy processor away, for up to 10 ms.
    """
    if pace := float(os.environ.get("PACE", "0")):
        time.sleep(pace)


class Paced:
    """Random, for as many episodes at once as it is told."""

    def __init__(self, env, *, batch_size: int = 1):
        self.batch_size = batch_size
        self.num_actions = env.num_actions

    def act(self, observations, first, rngs):
        pause()
        return np.array([rng.integers(self.num_actions) for rng in rngs])


class Remembering(Paced):
    """Its action depends on all that the episode has shown, so that a memory which is mixed up shows in the score."""

    def __init__(self, env, *, batch_size: int = 1):
        super().__init__(env, batch_size=batch_size)
        self.memory = np.zeros(batch_size, dtype=np.int64)

    def act(self, observations, first, rngs):
        seen = observations.reshape(len(first), -1).astype(np.int64).sum(axis=1)
        self.memory = np.where(first, 0, 3 * self.memory) + seen
        return (self.memory + [rng.integers(2) for rng in rngs]) % self.num_actions


class Learner:
    """Prefers the actions that paid, with everything that it is in its checkpoint."""

    def __init__(self, env, *, checkpoint_frames: int = 150):
        self.checkpoint_frames = checkpoint_frames
        self.values = [0.0] * env.num_actions
        self.own = np.random.default_rng(5)
        self.training = False

    def act(self, observations, first, rngs):
        pause()
        noise = 0.1 if self.training else 0.01
        return np.array([np.argmax(self.values + noise * rng.random(len(self.values))) for rng in rngs])

    def train(self):
        self.training = True

    def evaluate(self):
        self.training = False

    def learn(self, transition, rng):
        error = transition.reward + 0.01 * self.own.random() - self.values[transition.action]
        self.values[transition.action] += 0.1 * error

    def checkpoint(self):
        return json.dumps([self.values, self.own.bit_generator.state]).encode()

    def restore(self, checkpoint):
        self.values, self.own.bit_generator.state = json.loads(checkpoint)


class Stalling(Learner):
    """Never ends the training episode after the first STALL_AFTER ones, if that is set."""

    def __init__(self, env, *, checkpoint_frames: int = 1_000_000):
        super().__init__(env, checkpoint_frames=checkpoint_frames)
        self.begun = 0

    def act(self, observations, first, rngs):
        self.begun += int(self.training and first[0])
        while self.begun == STALL_AFTER + 1:
            time.sleep(1)
        return super().act(observations, first, rngs)
