from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arcademark.classic.features.disco.instances import count_features, find_velocities
from arcademark.classic.features.disco.tiling import tile_tables

pytestmark = pytest.mark.slow  # to compile


def rows_of(instances):
    return np.array(instances, np.int32).reshape(-1, 5)


def velocities(now, before, most):
    """Return the velocities of (class, row, column) on a screen after another."""
    now, before = (rows_of([(*instance, 99, 99) for instance in some]) for some in (now, before))
    find_velocities(now, len(now), before, len(before), most)
    return [tuple(row) for row in now[:, 3:].tolist()]


places = st.tuples(st.integers(0, 2), st.integers(0, 12), st.integers(0, 12))


@given(st.lists(places, max_size=9), st.lists(places, max_size=9), st.integers(0, 9))
def test_velocities_are_those_of_a_reference_implementation(now, before, most):
    expected = []
    for kind, y, x in now:
        near = [(y - b[1], x - b[2]) for b in before if b[0] == kind]
        near = [step for step in near if max(map(abs, step)) <= most]
        expected.append(min(near, key=lambda step: step[0] ** 2 + step[1] ** 2, default=(0, 0)))
    assert velocities(now, before, most) == expected


HEIGHT, WIDTH = 13, 17


def slow_count(instances, number, tilings, grid, most):
    """Count features by their definition, tile by tile."""

    def tiles(point, sizes):
        for t in range(tilings):
            tile = 0
            for axis, (value, length) in enumerate(zip(point, sizes, strict=True)):
                unit = value * (grid * tilings - tilings + 1) // length
                tile = tile * grid + (unit + t * (2 * axis + 1) % tilings) // tilings
            yield t * grid ** len(sizes) + tile

    found = Counter(kind for kind in range(number) if all(kind != i[0] for i in instances))
    begin = number
    for kind in range(number):
        for i in instances:
            if i[0] == kind:
                found.update(begin + tile for tile in tiles(i[1:3], (HEIGHT, WIDTH)))
        begin += tilings * grid**2
    sizes = 2 * HEIGHT - 1, 2 * WIDTH - 1, 4 * most + 1, 4 * most + 1
    for a in range(number):
        for b in range(a + 1, number):
            for i in instances:
                for j in instances:
                    if (i[0], j[0]) == (a, b):
                        point = [i[k + 1] - j[k + 1] + sizes[k] // 2 for k in range(4)]
                        found.update(begin + tile for tile in tiles(point, sizes))
            begin += tilings * grid**4
    return found, begin


@given(st.data(), st.integers(1, 4), st.integers(1, 5), st.integers(1, 4), st.integers(0, 5))
def test_counts_are_those_of_a_reference_implementation(data, number, tilings, grid, most):
    bounds = ((0, number - 1), (0, HEIGHT - 1), (0, WIDTH - 1), (-most, most), (-most, most))
    instances = data.draw(st.lists(st.tuples(*[st.integers(*bound) for bound in bounds]), max_size=7))
    expected, length = slow_count(instances, number, tilings, grid, most)
    speeds = 4 * most + 1
    tables = (
        *tile_tables((HEIGHT, WIDTH), tilings, grid),
        *tile_tables((2 * HEIGHT - 1, 2 * WIDTH - 1, speeds, speeds), tilings, grid),
    )
    tally = np.zeros(length, np.int32)
    room = number + tilings * (7 + 7 * 7 // 2)
    features, counts = np.zeros(room, np.int32), np.zeros(room, np.float32)
    used = count_features(rows_of(instances), len(instances), number, grid, *tables, tally, features, counts)
    assert dict(zip(features[:used].tolist(), counts[:used].tolist(), strict=True)) == expected
    assert used == len(expected)
    assert not tally.any()
