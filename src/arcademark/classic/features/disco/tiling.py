"""Tile coding: several shifted grids over a space, in each of which a point is in one tile.

Each of T tilings has G tiles along an axis. The width of a tile is the axis divided by G - (T - 1) / T, so that the G
tiles of each shifted tiling cover the whole axis; the axis begins up to (T - 1) / T of a tile within the first tile::

    tiling 0   |----|----|----|----|      G = 4 tiles; the axis is between the two arrows
    tiling 1  |----|----|----|----|
    tiling 2 |----|----|----|----|
               ↑             ↑

Tiling t is shifted along the axes by t, 3t, 5t, 7t … of T-th tiles, modulo T: odd steps, as usual, so that a step in
any direction changes the tiles of only some tilings. All computations are in integers: an axis of N values has the T-th
tiles ``value · (G T - T + 1) // N``.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def tile_tables(sizes: Sequence[int], tilings: int, grid: int) -> list[NDArray[np.int32]]:
    """Return tables of each value's contribution to the number of a tile, int32 (tilings, size) for each axis.

    A point's tile in tiling t is number ``sum(table[t, value] for table, value in zip(tables, point))``; the first
    table includes the number of the tiling, ``t * grid ** len(sizes)``.
    """
    tables = []
    for axis, size in enumerate(sizes):
        fine = np.arange(size) * (grid * tilings - tilings + 1) // size
        shifts = np.arange(tilings) * (2 * axis + 1) % tilings
        stride = grid ** (len(sizes) - 1 - axis)
        tables.append((fine + shifts[:, None]) // tilings * stride)
    tables[0] += np.arange(tilings)[:, None] * grid ** len(sizes)
    return [table.astype(np.int32) for table in tables]


def tile_range(tile: int, axis: int, tiling: int, size: int, tilings: int, grid: int) -> tuple[int, int]:
    """Return the least and greatest value of an axis in a tile of it; if there are none, the first is greater."""
    shift = tiling * (2 * axis + 1) % tilings
    units = grid * tilings - tilings + 1
    low, high = tile * tilings - shift, (tile + 1) * tilings - shift
    return max(-(-low * size // units), 0), min(-(-high * size // units), size) - 1
