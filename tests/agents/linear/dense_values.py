"""The reference implementation: SARSA(λ)'s linear values with all traces in one dense array."""

from __future__ import annotations

import numpy as np


class DenseValues:
    """A `LinearValues` on dense vectors of features."""

    def __init__(self, num_features, num_actions, decay, threshold):
        self.weights = np.zeros((num_features, num_actions))
        self.traces = np.zeros((num_features, num_actions))
        self.x = np.zeros(num_features)
        self.decay, self.threshold = decay, threshold

    @property
    def values(self):
        return self.x @ self.weights

    @property
    def num_active(self):
        return round(self.x @ self.x)

    def begin(self, x):
        self.traces[:] = 0
        self.x = np.array(x, float)

    def take(self, action):
        self.traces *= self.decay
        self.traces[abs(self.traces) < self.threshold * (1 - 1e-9)] = 0
        self.traces[self.x != 0, action] = self.x[self.x != 0]

    def see(self, x):
        self.x = np.array(x, float)

    def update(self, amount):
        self.weights += amount * self.traces

    def end(self):
        self.traces[:] = 0
