"""Values on binary features: equal to the dense reference implementation's, whatever happens."""

from __future__ import annotations

import numpy as np
import pytest
from dense_values import DenseValues
from hypothesis import given, settings
from hypothesis import strategies as st

from arcademark.agents.linear import binary
from arcademark.agents.linear.base import MOST_STEPS, horizon
from arcademark.agents.linear.binary import BinaryValues
from arcademark.features.base import Change


def on(*features):
    return Change(np.array(features, np.int32), np.zeros(0, np.int32))


class Pair:
    """The same things done to both."""

    tolerance = 1e-9

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
        np.testing.assert_allclose(
            self.lazy.weights[:, : self.num_actions], self.dense.weights, rtol=0, atol=self.tolerance
        )
        assert not self.lazy.weights[:, self.num_actions :].any()

    def agree(self):
        np.testing.assert_allclose(self.lazy.values, self.dense.values, rtol=0, atol=self.tolerance)
        assert self.lazy.num_active == self.dense.num_active


def random_episode(pair, rng, steps, flips, num_features, num_actions):
    x = rng.random(num_features) < 0.5
    pair.begin(x)
    for _ in range(steps):
        x = x ^ (rng.random(num_features) < flips)
        pair.step(int(rng.integers(num_actions)), x, float(rng.normal()))
    pair.step(int(rng.integers(num_actions)), None, float(rng.normal()))
    pair.end()


@pytest.mark.slow
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
def test_whatever_happens_the_values_are_those_of_the_dense_reference(
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


def test_three_steps_by_hand():
    values = BinaryValues(3, 2, decay=0.5, threshold=0.3, dtype=np.float64)
    weights = values.weights[:, :2]
    values.begin(on(0, 1))
    values.take(1)
    values.see(Change(on(2).on, on(0).on))
    values.update(0.1)  # traces for action 1: 1, 1, 0; seen now: 1 and 2
    assert values.values.tolist() == [0, 0.1]
    values.take(0)  # for action 1: 0.5, 0.5, 0; for action 0: 0, 1, 1
    values.see(Change(on(0).on, on(1).on))
    assert values.values.tolist() == [0, 0.1]
    values.update(0.2)  # seen now: 0 and 2
    np.testing.assert_allclose(values.values, [0.2, 0.1 + 0.1])
    values.take(1)  # for action 1: 1, none, 1 (0.25 is dropped); for action 0: 0, 0.5, 0.5
    values.update(-1.0)
    np.testing.assert_allclose(values.values, [0.2 - 0.5, 0.2 - 2])
    values.end()
    np.testing.assert_allclose(weights, [[0, 0.1 + 0.1 - 1], [0.2 - 0.5, 0.1 + 0.1], [0.2 - 0.5, -1]])
    assert not values.num_active
    assert not values.values.any()


def test_reading_does_not_learn():
    values = BinaryValues(3, 2, 0.5, 0.01)
    values.weights[:, :2] = [[1, 2], [3, 4], [5, 6]]
    reader = values.reader()
    reader.begin(on(0, 1))
    assert reader.values.tolist() == [4, 6]
    reader.see(Change(on(2).on, on(0).on))
    assert reader.values.tolist() == [8, 10]
    reader.begin(on(1))
    assert reader.values.tolist() == [3, 4]
    assert not values.num_active


@pytest.mark.parametrize(
    ("decay", "threshold", "steps"),
    [
        *((0.0, 0.01, 0), (0.5, 1.0, 0), (0.5, 0.5, 1), (0.4995, 0.01, 6), (0.8991, 0.01, 43), (0.9, 0.81, 2)),
        *((1.0, 1.0, MOST_STEPS), (1.0, 0.01, MOST_STEPS), (1 - 1e-9, 0.01, MOST_STEPS)),
    ],
)
def test_how_long_a_trace_lasts(decay, threshold, steps):
    assert horizon(decay, threshold) == steps


@pytest.mark.parametrize("groups", [4, 32])
def test_features_that_come_back_after_a_long_time_with_traces_of_their_own(monkeypatch, groups):
    """One feature turns on and off so often that its groups are all that the table of groups has seen of late."""
    monkeypatch.setattr(binary, "GROUPS", groups)
    pair = Pair(8, 4, 1.0, 0.01)
    x = np.zeros(8, bool)
    pair.begin(x.copy())
    for feature in range(1, 8):
        for on_now in (True, False):
            x[feature] = on_now
            pair.step(feature % 4, x.copy(), 0.1 * feature)
    for step in range(20 * groups + 1):
        x[0] = step % 2 == 0
        pair.step(step % 3, x.copy(), 0.01)
    pair.step(1, ~x, 0.5)
    pair.step(2, x, -0.5)
    pair.end()
