"""Values on counts: computed by hand, and equal to the dense reference implementation's."""

from __future__ import annotations

import numpy as np
import pytest
from dense_values import DenseValues
from hypothesis import given, settings
from hypothesis import strategies as st

from arcademark.agents.linear.counted import CountedValues
from arcademark.features.base import Counts


def counts(x):
    (features,) = np.nonzero(x)
    return Counts(features.astype(np.int32), np.asarray(x)[features].astype(np.float32))


def test_two_steps_by_hand():
    values = CountedValues(3, 2, decay=0.5, threshold=0.6, dtype=np.float64)
    values.begin(counts([2, 1, 0]))
    assert values.num_active == 5  # 2² + 1²
    values.take(1)
    values.see(counts([1, 0, 4]))
    values.update(0.1)  # traces for action 1: 2, 1, 0
    assert values.weights.tolist() == [[0, 0.2], [0, 0.1], [0, 0]]
    assert values.values.tolist() == [0, 0.2]
    values.take(0)  # for action 1: 1, and 0.5 that is dropped; for action 0: 1, 0, 4
    values.update(-0.1)
    np.testing.assert_allclose(values.weights, [[-0.1, 0.1], [0, 0.1], [-0.4, 0]])
    np.testing.assert_allclose(values.values, [-0.1 - 1.6, 0.1])
    values.end()
    values.begin(counts([0, 3, 0]))
    np.testing.assert_allclose(values.values, [0, 0.3])
    values.take(0)
    values.update(1.0)
    np.testing.assert_allclose(values.weights, [[-0.1, 0.1], [3, 0.1], [-0.4, 0]])


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    decay=st.sampled_from([0.0, 0.3, 0.8991, 1.0]),
    threshold=st.sampled_from([0.01, 0.3, 1.0]),
    num_features=st.integers(1, 30),
    num_actions=st.integers(1, 20),
)
def test_whatever_happens_the_values_are_those_of_the_dense_reference(
    seed, decay, threshold, num_features, num_actions
):
    rng = np.random.default_rng(seed)
    listed = CountedValues(num_features, num_actions, decay, threshold, np.float64)
    dense = DenseValues(num_features, num_actions, decay, threshold)

    def state():
        return rng.integers(-1, 4, num_features) * (rng.random(num_features) < 0.4)

    for _ in range(2):
        x = state()
        listed.begin(counts(x))
        dense.begin(x)
        for _ in range(40):
            action, amount, x = int(rng.integers(num_actions)), float(rng.normal()), state()
            for values, seen in ((listed, counts(x)), (dense, x)):
                values.take(action)
                values.see(seen)
                values.update(amount)
            np.testing.assert_allclose(listed.values, dense.values, rtol=0, atol=1e-9)
            assert listed.num_active == dense.num_active
        listed.end()
        dense.end()
        np.testing.assert_allclose(listed.weights, dense.weights, rtol=0, atol=1e-9)


def test_reading_does_not_learn():
    values = CountedValues(3, 2, 0.5, 0.01)
    values.weights[:] = [[1, 2], [3, 4], [5, 6]]
    reader = values.reader()
    reader.begin(counts([0, 2, 0]))
    assert reader.values.tolist() == [6, 8]
    reader.see(counts([1, 0, 3]))
    assert reader.values.tolist() == [16, 20]
    assert values.num_active == 0


def test_what_is_seen_is_kept():
    seen = counts([1, 2, 0])
    values = CountedValues(3, 1, 0.5, 0.01)
    values.begin(seen)
    seen.features[:] = 2
    values.take(0)
    values.update(1.0)
    assert values.weights[:, 0].tolist() == pytest.approx([1, 2, 0])
