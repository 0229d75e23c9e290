"""Linear action values: equal to a dense reference implementation's, whatever happens."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arcademark.classic.features.base import Change, Counts
from arcademark.classic.linear import binary
from arcademark.classic.linear.binary import MANY, BinaryValues
from arcademark.classic.linear.counted import CountedValues
from arcademark.classic.linear.rows import LANES


class DenseValues:
    """The reference implementation: all traces in one dense array, on dense vectors of features."""

    def __init__(self, num_features, num_actions, decay, threshold):
        self.weights, self.traces = np.zeros((2, num_features, num_actions))
        self.decay, self.threshold = decay, threshold

    @property
    def values(self):
        return self.x @ self.weights

    @property
    def num_active(self):
        return round(self.x @ self.x)

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


class Pair:
    """The same things done to both, on features that are 0 or 1."""

    def __init__(self, num_features, num_actions, decay, threshold, many=MANY, dtype=np.float64):
        self.lazy = BinaryValues(num_features, num_actions, decay, threshold, dtype, many)
        self.within = 1e-9 if dtype == np.float64 else 1e-4  # updates are of 0.01 and more
        self.dense = DenseValues(num_features, num_actions, decay, threshold)
        self.x = np.zeros(num_features, bool)

    def see(self, x):
        x = np.asarray(x, bool)
        self.lazy.see(Change(*(np.flatnonzero(a).astype(np.int32) for a in (x & ~self.x, self.x & ~x))))
        self.dense.see(x)
        self.x = x.copy()
        self.agree()

    def step(self, action, x, amount):
        for values in (self.lazy, self.dense):
            values.take(action)
        if x is not None:
            self.see(x)
        for values in (self.lazy, self.dense):
            values.update(amount)
        self.agree()

    def end(self):
        for values in (self.lazy, self.dense):
            values.end()
        self.x[:] = False
        features, weights = self.lazy.features, np.zeros((len(self.x), LANES))
        used = slice(None) if features is None else slice(len(features))
        weights[used if features is None else features] = self.lazy.weights[used]
        actions = self.dense.weights.shape[1]
        np.testing.assert_allclose(weights[:, :actions], self.dense.weights, rtol=0, atol=self.within)
        assert not self.lazy.weights[:, actions:].any()

    def agree(self):
        np.testing.assert_allclose(self.lazy.values, self.dense.values, rtol=0, atol=self.within)
        assert self.lazy.num_active == self.dense.num_active

    def episode(self, rng, steps, flips):
        features, actions = self.dense.weights.shape
        x = rng.random(features) < 0.5
        self.see(x)
        for _ in range(steps):
            x = x ^ (rng.random(features) < flips)
            self.step(int(rng.integers(actions)), x, float(rng.normal()))
        self.step(int(rng.integers(actions)), None, float(rng.normal()))
        self.end()


@pytest.mark.slow
@settings(max_examples=150)
@given(
    seed=st.integers(0, 2**32 - 1),
    decay=st.sampled_from([0.0, 0.3, 0.4995, 0.8991, 0.99, 1.0]),
    threshold=st.sampled_from([0.01, 0.2, 0.5, 1.0]),
    num_features=st.integers(1, 40),
    num_actions=st.integers(1, 18),
    flips=st.sampled_from([0.0, 0.02, 0.2, 0.7]),
    steps=st.lists(st.integers(0, 60), min_size=1, max_size=3),
    many=st.sampled_from([0, MANY]),
)
def test_binary_values_are_those_of_the_reference(
    seed, decay, threshold, num_features, num_actions, flips, steps, many
):
    rng, pair = np.random.default_rng(seed), Pair(num_features, num_actions, decay, threshold, many)
    for length in steps:
        pair.episode(rng, length, flips)


@pytest.mark.slow
@pytest.mark.parametrize(("decay", "many"), [(0.4995, MANY), (0.8991, MANY), (0.8991, 0)])
def test_room_is_made_when_it_is_needed(monkeypatch, decay, many):
    for name in ("GROUPS", "STEPS", "ROWS"):
        monkeypatch.setattr(binary, name, 4)
    rng, pair = np.random.default_rng(0), Pair(200, 3, decay, 0.01, many)
    for _ in range(2):
        pair.episode(rng, 200, 0.1)


@pytest.mark.parametrize("count", [0, 1, 15, 16, 17, 32, 255, 256, 257, 272, 273, 513])
def test_sums_of_weights_are_rounded_as_sums_of_256_features_in_their_order(count):
    rng, values = np.random.default_rng(count), BinaryValues(600, LANES, 0.5, 0.01)
    weights = np.ldexp(rng.normal(size=(600, LANES)), rng.integers(-40, 40, (600, LANES))).astype(np.float32)
    values.restore(np.arange(600, dtype=np.int32), weights)
    none, some = np.zeros(0, np.int32), rng.permutation(600)[:count].astype(np.int32)
    expected = np.zeros(LANES)

    def expect(sign):
        for start in range(0, count, 256):
            total = np.zeros(LANES)
            for feature in some[start : start + 256]:
                total += weights[feature]
            expected[:] += sign * total
        np.testing.assert_array_equal(values.values, expected)

    values.see(Change(some, none))
    expect(1.0)
    values.take(3)
    values.update(0.25)
    weights[some, 3] += np.float32(0.25)
    expected[3] += 0.25 * count
    values.see(Change(none, some))
    expect(-1.0)
    np.testing.assert_array_equal(values.weights, weights)


@pytest.mark.parametrize("groups", [4, 32])
@pytest.mark.parametrize("dtype", [np.float32, pytest.param(np.float64, marks=pytest.mark.slow)])  # to compile
def test_features_that_come_back_after_a_long_time_with_traces_of_their_own(monkeypatch, groups, dtype):
    """One feature turns on and off so often that its groups are all that the table of groups has seen of late."""
    monkeypatch.setattr(binary, "GROUPS", groups)
    pair = Pair(8, 4, 1.0, 0.01, dtype=dtype)
    x = np.zeros(8, bool)
    pair.see(x)
    for feature in range(1, 8):
        for x[feature] in (True, False):
            pair.step(feature % 4, x, 0.1 * feature)
    for step in range(20 * groups + 1):
        x[0] = step % 2 == 0
        pair.step(step % 3, x, 0.01)
    pair.step(1, ~x, 0.5)
    pair.step(2, x, -0.5)
    pair.end()


@pytest.mark.slow
@settings(max_examples=100)
@given(
    seed=st.integers(0, 2**32 - 1),
    decay=st.sampled_from([0.0, 0.3, 0.8991, 1.0]),
    threshold=st.sampled_from([0.01, 0.3, 1.0]),
    num_features=st.integers(1, 30),
    num_actions=st.integers(1, 20),
)
def test_values_of_counts_are_those_of_the_reference(seed, decay, threshold, num_features, num_actions):
    rng = np.random.default_rng(seed)
    listed = CountedValues(num_features, num_actions, decay, threshold, np.float64)
    dense = DenseValues(num_features, num_actions, decay, threshold)

    def see():
        dense.see(rng.integers(-1, 4, num_features) * (rng.random(num_features) < 0.4))
        (features,) = np.nonzero(dense.x)
        counts = Counts(features.astype(np.int32), dense.x[features].astype(np.float32))
        listed.see(counts)
        counts.counts[:] = 99  # valid during the call only

    for _ in range(2):
        see()
        for _ in range(40):
            action, amount = int(rng.integers(num_actions)), float(rng.normal())
            for values in (listed, dense):
                values.take(action)
            see()
            for values in (listed, dense):
                values.update(amount)
            np.testing.assert_allclose(listed.values, dense.values, rtol=0, atol=1e-9)
            assert listed.num_active == dense.num_active
        listed.end()
        dense.end()
        np.testing.assert_allclose(listed.weights, dense.weights, rtol=0, atol=1e-9)


def test_reading_learns_nothing_and_features_that_were_never_met_have_no_value():
    none = np.zeros(0, np.int32)
    for values in (BinaryValues(9, 2, 0.5, 0.01), BinaryValues(9, 2, 0.5, 0.01, many=0)):
        values.restore(np.array([4, 1, 7], np.int32), np.outer([1, 2, 4], np.ones(LANES, np.float32)))
        values.weights[-1] = 99  # of a feature that is not read
        weights, read = values.weights.copy(), np.zeros(2)
        values.read(Change(np.array([1, 4, 5], np.int32), none), read)
        assert read.tolist() == [3, 3]
        values.read(Change(np.array([7], np.int32), np.array([5, 1], np.int32)), read)
        assert read.tolist() == [5, 5]
        assert (values.weights == weights).all()
        assert not values.num_active


@pytest.mark.parametrize("features", [[1, 2, 1], [9], [-1], [[1, 2]]])
def test_what_is_no_numbering_is_refused(features):
    values = BinaryValues(9, 2, 0.5, 0.01, many=0)
    with pytest.raises(ValueError, match="numbered"):
        values.restore(np.array(features, np.int32), np.zeros((len(features), LANES), np.float32))
