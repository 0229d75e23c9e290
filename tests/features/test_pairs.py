"""Pairs of features against all pairs of a set, formed anew at every step."""

from itertools import combinations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from arcademark.features.base import Change
from arcademark.features.sets.pairs import Pairs


def numbers(values) -> np.ndarray:
    return np.array(list(values), np.int32)


def change(on=(), off=()) -> Change:
    return Change(numbers(on), numbers(off))


def slow_active(pairs: Pairs, base: set[int]) -> set[int]:
    """Number every pair of the active base features by counting rows."""
    starts = {i: pairs.num_base + sum(range(i)) for i in range(pairs.num_base)}
    return base | {starts[high] + low for low, high in combinations(sorted(base), 2)}


@given(st.integers(1, 40), st.data())
@settings(deadline=None)
def test_changes_are_those_of_all_pairs(num_base, data):
    pairs = Pairs(num_base)
    pairs.begin()
    base: set[int] = set()
    active: set[int] = set()
    for flips in data.draw(st.lists(st.lists(st.integers(0, num_base - 1), unique=True), max_size=6)):
        on, off = [i for i in flips if i not in base], [i for i in flips if i in base]
        came, gone = pairs.update(change(on, off))
        base ^= set(flips)
        now = slow_active(pairs, base)
        assert came.tolist() == sorted(now - active)
        assert gone.tolist() == sorted(active - now)
        active = now


@given(st.integers(2, 65_535), st.data())
def test_pairs_have_numbers_and_back(num_base, data):
    pairs = Pairs.__new__(Pairs)  # without the room that updates need
    pairs.num_base, pairs.num_features = num_base, num_base + num_base * (num_base - 1) // 2
    low, high = sorted(data.draw(st.lists(st.integers(0, num_base - 1), min_size=2, max_size=2, unique=True)))
    feature = num_base + high * (high - 1) // 2 + low
    assert pairs.describe(feature, str) == f"{low} and {high}"
