"""Tile coding: several grids of tiles over a space, each shifted, of which a point lies in one tile each.

Each of T tilings has G tiles along an axis. So that shifted tilings cover all of the axis with G tiles too, a tile is
as wide as the axis divided by G - (T - 1) / T, and the axis begins up to (T - 1) / T of a tile within the first tile::

    tiling 0   |----|----|----|----|      G = 4 tiles; the axis is between the two arrows
    tiling 1  |----|----|----|----|
    tiling 2 |----|----|----|----|
               ↑             ↑

Tiling t is shifted along the axes by t, 3t, 5t, 7t … of T-th tiles, modulo T: odd steps, as is usual, so that a step in
any direction changes tiles of some tilings only. All is done in whole numbers: an axis of N values has T-th tiles
``value · (G T - T + 1) // N``.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def tile_tables(sizes: Sequence[int], tilings: int, grid: int) -> list[NDArray[np.int32]]:
    """Return what each value on each axis adds to the number of a tile, int32 (tilings, size) for each axis.

    A point's tile in tiling t is number ``sum(table[t, value] for table, value in zip(tables, point))``, where the
    first table holds the number of the tiling too, ``t * grid ** len(sizes)``.
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
    """Return the least and greatest value of an axis that lie in a tile of it (the first greater: none do)."""
    shift = tiling * (2 * axis + 1) % tilings
    units = grid * tilings - tilings + 1
    low, high = tile * tilings - shift, (tile + 1) * tilings - shift
    return max(-(-low * size // units), 0), min(-(-high * size // units), size) - 1
