"""Sums of rows as vectors: those of plain loops."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit

from arcademark.agents.linear.rows import LANES, add_rows, expect_row


@njit
def both(weights, features, gains, groups, sign, values):
    for feature in features:
        expect_row(weights, feature)
    add_rows(weights, features, gains, groups, sign, values)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_rows_are_changed_and_summed(dtype, sign):
    rng = np.random.default_rng(0)
    weights, gains = rng.normal(size=(50, LANES)).astype(dtype), rng.normal(size=(7, LANES)).astype(dtype)
    features, groups = rng.permutation(50)[:20].astype(np.int32), rng.integers(0, 7, 20).astype(np.int32)
    values = rng.normal(size=LANES)
    expected, total = weights.copy(), values.copy()
    for feature, group in zip(features, groups, strict=True):
        expected[feature] += gains[group]
        total += sign * expected[feature].astype(float)
    both(weights, features, gains, groups, sign, values)
    assert weights.tolist() == expected.tolist()
    np.testing.assert_allclose(values, total, rtol=1e-12)


def test_nothing_is_changed_by_no_features():
    weights, values, none = np.ones((3, LANES), np.float32), np.arange(float(LANES)), np.zeros(0, np.int32)
    both(weights, none, weights, none, 1.0, values)
    assert weights.tolist() == np.ones((3, LANES)).tolist()
    assert values.tolist() == list(range(LANES))
