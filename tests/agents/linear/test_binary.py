"""Values on binary features: equal to the dense twin's, whatever happens."""

from __future__ import annotations

import numpy as np
import pytest
from dense_values import DenseValues
from hypothesis import given, settings
from hypothesis import strategies as st

from arcademark.agents.linear import binary
from arcademark.agents.linear.binary import BinaryValues
from arcademark.features.base import Change


class Pair:
    """The same things done to both."""

    def __init__(self, num_features, num_actions, decay, threshold, dtype=np.float64):
        self.lazy = BinaryValues(num_features, num_actions, decay, threshold, dtype)
        self.dense = DenseValues(num_features, num_actions, decay, threshold)
        self.num_actions = num_actions

    def change(self, x):
        x = np.asarray(x, bool)
        return Change(*(np.flatnonzero(a).astype(np.int32) for a in (x & ~self.x, self.x & ~x)))

    def begin(self, x):
        self.x = np.zeros(len(x), bool)
        self.lazy.begin(self.change(x))
        self.dense.begin(x)
        self.x = np.asarray(x, bool)
        self.agree()

    def step(self, action, x, amount):
        for values in (self.lazy, self.dense):
            values.take(action)
        if x is not None:
            self.lazy.see(self.change(x))
            self.dense.see(x)
            self.x = np.asarray(x, bool)
            self.agree()
        for values in (self.lazy, self.dense):
            values.update(amount)
        self.agree()

    def end(self):
        self.lazy.end()
        self.dense.end()
        np.testing.assert_allclose(self.lazy.weights[:, : self.num_actions], self.dense.weights, rtol=0, atol=1e-9)
        assert not self.lazy.weights[:, self.num_actions :].any()

    def agree(self):
        np.testing.assert_allclose(self.lazy.values, self.dense.values, rtol=0, atol=1e-9)
        assert self.lazy.num_active == self.dense.num_active


def random_episode(pair, rng, steps, flips, num_features, num_actions):
    x = rng.random(num_features) < 0.5
    pair.begin(x)
    for _ in range(steps):
        x = x ^ (rng.random(num_features) < flips)
        pair.step(int(rng.integers(num_actions)), x, float(rng.normal()))
    pair.step(int(rng.integers(num_actions)), None, float(rng.normal()))
    pair.end()


@settings(max_examples=150, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    decay=st.sampled_from([0.0, 0.3, 0.4995, 0.8991, 0.99, 1.0]),
    threshold=st.sampled_from([0.01, 0.2, 0.5, 1.0]),
    num_features=st.integers(1, 40),
    num_actions=st.integers(1, 18),
    flips=st.sampled_from([0.0, 0.02, 0.2, 0.7]),
    steps=st.lists(st.integers(0, 60), min_size=1, max_size=3),
)
def test_whatever_happens_the_values_are_those_of_the_dense_twin(
    seed, decay, threshold, num_features, num_actions, flips, steps
):
    rng = np.random.default_rng(seed)
    pair = Pair(num_features, num_actions, decay, threshold)
    for length in steps:
        random_episode(pair, rng, length, flips, num_features, num_actions)


@pytest.mark.parametrize("decay", [0.4995, 0.8991])
def test_room_is_made_when_it_is_needed(monkeypatch, decay):
    monkeypatch.setattr(binary, "GROUPS", 4)
    monkeypatch.setattr(binary, "STEPS", 4)
    rng = np.random.default_rng(0)
    pair = Pair(200, 3, decay, 0.01)
    for _ in range(2):
        random_episode(pair, rng, 200, 0.1, 200, 3)
