"""Numbering, against a dictionary."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arcademark.features.base import Change
from arcademark.features.numbering import Numbering


def change(on=(), off=()) -> Change:
    return Change(np.array(on, np.int32), np.array(off, np.int32))


@pytest.mark.parametrize("features", [[1, 2, 1], [100], [-1], [[1, 2]]])
def test_what_is_no_numbering_is_refused(features):
    numbering = Numbering(100)
    numbering.meet(change([70, 3]))
    with pytest.raises(ValueError, match="numbered"):
        numbering.restore(np.array(features, np.int32))
    assert numbering.features.tolist() == [70, 3]
    assert numbering.recall(change([3, 1, 2])).on.tolist() == [1]


@settings(deadline=None)
@given(st.lists(st.sets(st.integers(0, 4999), max_size=30), max_size=8))
def test_numbers_are_those_of_a_dictionary(sets):
    numbering, numbers = Numbering(5000), {}
    now: set[int] = set()
    for features in sets:
        told = change(sorted(features - now), sorted(now - features))
        on, off = numbering.meet(told)
        for feature in told.on.tolist():
            numbers.setdefault(feature, len(numbers))
        assert on.tolist() == [numbers[feature] for feature in told.on.tolist()]
        assert off.tolist() == [numbers[feature] for feature in told.off.tolist()]
        now = features
    assert numbering.features.tolist() == list(numbers)
    other = Numbering(5000)
    other.meet(change([5, 3, 8]))
    other.restore(numbering.features)
    assert other.recall(change(range(5000))).on.tolist() == [numbers[i] for i in range(5000) if i in numbers]
