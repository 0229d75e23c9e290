"""A real, small learner: tabular Q-learning on the observation's checksum, ε-greedy with a decaying ε."""

import json
import zlib

import numpy as np


class TabularLearner:
    def __init__(self, env, *, learning_rate: float = 0.1, discount: float = 0.99, checkpoint_frames: int = 1000):
        self.num_actions = env.num_actions
        self.learning_rate = learning_rate
        self.discount = discount
        self.checkpoint_frames = checkpoint_frames
        self.training = True
        self.learned_steps = 0
        self.own = np.random.default_rng(0)
        self.values: dict[str, list[float]] = {}

    def act(self, observations, first, rngs):
        return np.array([self._choose(o, rng) for o, rng in zip(observations, rngs, strict=True)], dtype=np.int64)

    def train(self):
        self.training = True

    def evaluate(self):
        self.training = False

    def learn(self, transition, rng):
        row = self._row(transition.observation)
        future = 0.0 if transition.terminated else max(self._row(transition.next_observation))
        noise = 1 + 0.01 * self.own.standard_normal() + 0.01 * rng.random()
        error = transition.reward + self.discount * future - row[transition.action]
        row[transition.action] += self.learning_rate * noise * error
        self.learned_steps += 1

    def checkpoint(self):
        state = {"values": self.values, "learned_steps": self.learned_steps, "own": self.own.bit_generator.state}
        return json.dumps(state).encode()

    def restore(self, checkpoint):
        state = json.loads(checkpoint)
        self.values, self.learned_steps = state["values"], state["learned_steps"]
        self.own.bit_generator.state = state["own"]

    def _choose(self, observation, rng):
        epsilon = max(0.05, 1 - self.learned_steps / 500) if self.training else 0.0
        if rng.random() < epsilon:
            return rng.integers(self.num_actions)
        return int(np.argmax(self._row(observation, keep=False)))

    def _row(self, observation, keep=True):
        key = str(zlib.crc32(observation.tobytes()))
        row = self.values.get(key, [0.0] * self.num_actions)
        return self.values.setdefault(key, row) if keep else row


make_learner = TabularLearner
