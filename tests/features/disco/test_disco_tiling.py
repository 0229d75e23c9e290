from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arcademark.features.disco.tiling import tile_range, tile_tables


@given(st.data(), st.integers(1, 9), st.integers(1, 9), st.lists(st.integers(1, 60), min_size=1, max_size=4))
def test_every_point_is_in_one_tile_of_each_tiling(data, tilings, grid, sizes):
    tables = tile_tables(sizes, tilings, grid)
    point = [data.draw(st.integers(0, size - 1)) for size in sizes]
    for t in range(tilings):
        number = sum(int(table[t, value]) for table, value in zip(tables, point, strict=True))
        tiling, tile = divmod(number, grid ** len(sizes))
        assert tiling == t
        for axis in reversed(range(len(sizes))):
            tile, place = divmod(tile, grid)
            units = Fraction(point[axis] * (grid * tilings - tilings + 1), sizes[axis])
            assert place == (int(units) + t * (2 * axis + 1) % tilings) // tilings
            low, high = tile_range(place, axis, t, sizes[axis], tilings, grid)
            assert low <= point[axis] <= high


@pytest.mark.parametrize(("size", "tilings", "grid"), [(210, 8, 8), (33, 8, 8), (7, 3, 5), (1, 4, 2)])
def test_the_ranges_of_tiles_cover_an_axis_without_overlap(size, tilings, grid):
    for axis in range(4):
        for t in range(tilings):
            ranges = [tile_range(tile, axis, t, size, tilings, grid) for tile in range(grid)]
            assert [value for low, high in ranges for value in range(low, high + 1)] == list(range(size))
