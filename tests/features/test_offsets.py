"""Offsets of spots, against all pairs of spots written out."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arcademark.errors import ArcadeMarkError
from arcademark.features.base import Change
from arcademark.features.sets.offsets import COLOURS, Offsets

pytestmark = pytest.mark.slow  # to compile

NAMES = [f"c{colour}" for colour in range(COLOURS)]
HERE, NORTH, SOUTH, WEST, EAST = "in the same tile", "row{} above", "row{} below", "column{} left", "column{} right"


def direction(down, right):
    words = []
    for steps, (back, forth) in ((down, (NORTH, SOUTH)), (right, (WEST, EAST))):
        if steps:
            words.append(f"{abs(steps)} " + (forth if steps > 0 else back).format("s" if abs(steps) > 1 else ""))
    return " and ".join(words) or HERE


def slow(now, before, time):
    """Describe every feature of sets of (colour, row, column)."""
    found = {f"c{k} in the tile of row {r}, column {c}" for k, r, c in now}
    for k, r, c in now:
        for m, row, column in now:
            offset = (row - r, column - c)
            if k < m or (k == m and offset >= (0, 0)):
                found.add(f"c{k}, and c{m} {direction(*offset)}")
    for k, r, c in before if time else ():
        found |= {f"c{k} on the screen before, and c{m} now {direction(row - r, col - c)}" for m, row, col in now}
    return found


def follow(offsets, screens):
    """Return what is active after each screen, checking that nothing comes or goes twice."""
    offsets.begin()
    active = set()
    now = set()
    seen = []
    for screen in screens:
        spots = {(row * offsets.columns + column) * COLOURS + colour for colour, row, column in screen}
        changes = (np.array(sorted(part), np.int32) for part in (spots - now, now - spots))
        on, off = (part.tolist() for part in offsets.update(Change(*changes)))
        assert len({*on, *off}) == len(on) + len(off)
        assert active.isdisjoint(on)
        assert active.issuperset(off)
        active, now = (active - set(off)) | set(on), spots
        described = {offsets.describe(feature, NAMES) for feature in active}
        assert len(described) == len(active)
        seen.append(described)
    return seen


def spots(rows, columns):
    one = st.tuples(st.sampled_from([0, 3, 90, 127]), st.integers(0, rows - 1), st.integers(0, columns - 1))
    return st.lists(st.frozensets(one, max_size=10), max_size=5)


@pytest.fixture(scope="module")
def small():
    return {time: Offsets(3, 4, time) for time in (False, True)}


@pytest.mark.parametrize("time", [False, True])
@settings(deadline=None)
@given(episodes=st.lists(spots(3, 4), min_size=1, max_size=3))
def test_features_are_those_of_all_pairs(small, time, episodes):
    for screens in episodes:
        befores = [(), *screens]
        expected = [slow(now, before, time) for now, before in zip(screens, befores, strict=False)]
        assert follow(small[time], screens) == expected


def test_many_spots_make_room():
    """Far more features at once than there is room for at first; all of every colour's offsets are active."""
    offsets = Offsets(6, 5, True)
    everywhere = [(colour, row, column) for colour in range(4) for row in range(6) for column in range(5)]
    first, second, third = follow(offsets, [everywhere, everywhere, []])
    number = 11 * 9
    assert len(first) == 4 * 30 + 4 * (number + 1) // 2 + 6 * number
    assert len(second) == len(first) + 16 * number
    assert third == set()


@pytest.mark.parametrize(("rows", "columns"), [(210, 160), (250, 131)])
def test_too_many_tiles_are_refused(rows, columns):
    with pytest.raises(ArcadeMarkError, match="features are too many; take fewer rows"):
        Offsets(rows, columns, True)
