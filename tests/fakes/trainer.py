"""A trainer without a library: it counts what it sees, and plays at random from generators of its own."""

import json
import os
import time

import numpy as np


class CountingTrainer:
    batch_size = 2

    def __init__(self, env, *, num_envs: int = 3, checkpoint_frames: int = 1000, chunk: int = 20, until: float = 1.0):
        self.num_actions = env.num_actions
        self.num_envs, self.checkpoint_frames, self.chunk, self.until = num_envs, checkpoint_frames, chunk, until
        self.own = np.random.default_rng(env.seed)
        self.rewards = self.ends = self.restarts = 0
        self.evaluating = False

    def fit(self, envs, frames):
        envs.reset()
        while envs.frames < frames * self.until:
            for _ in range(self.chunk):
                actions = self.own.integers(self.num_actions, size=self.num_envs)
                _, rewards, terminated, truncated, _ = envs.step(actions)
                self.rewards += float(rewards.sum())
                self.ends += int((terminated | truncated).sum())
            time.sleep(float(os.environ.get("PACE", "0")))
            yield

    def act(self, observations, first, rngs):
        return np.array([rng.integers(self.num_actions) for rng in rngs])

    def evaluate(self):
        self.evaluating = True

    def checkpoint(self):
        state = {"own": self.own.bit_generator.state, "rewards": self.rewards, "ends": self.ends}
        return json.dumps({**state, "restarts": self.restarts}).encode()

    def restore(self, checkpoint):
        state = json.loads(checkpoint)
        self.own.bit_generator.state = state["own"]
        self.rewards, self.ends, self.restarts = state["rewards"], state["ends"], state["restarts"] + 1
