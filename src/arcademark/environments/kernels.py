"""The fast path to the usual observation: 210 × 160 screens, pooled, in luminance, resized to 84 × 84, stacked.

The result is that of looking up luminances, taking the maximum and resizing with `area`, bit for bit, in far less time:

* Five rows of the screen make two of the image, and 40 columns make 21, so the screen falls apart into 42 × 4 tiles of
  5 × 40 pixels that make 2 × 21 pixels each. A tile whose bytes are those of the step before needs no work. Bytes are
  compared eight at a time, five whole rows first.
* Within a tile weights are whole numbers, in fifths and fortieths, so a pixel is ``total / 200`` with an exact total;
  rounding to the nearest integer is exact too. Only half-way cases depend on the order of OpenCV's single-precision
  operations; there, and only there, these are repeated.

::

    rows      0   1   2   3   4          columns   0   1   2   3 …  39
    weights   2   2   1                            21  19            │ of the first pixel
                      1   2   2                        2   21  17    │ of the second
    sum 5 each                                                       sum 40 each
"""

from __future__ import annotations

import numpy as np
from numba import njit

from arcademark.environments.area import area_weights

SCREEN = (210, 160)
IMAGE = (84, 84)
ROW_GROUPS = 42
TILES = 4
TILE_ROWS, TILE_COLUMNS = 5, 40
IMAGE_ROWS, IMAGE_COLUMNS = 2, 21
WORDS = TILE_ROWS * SCREEN[1] // 8
"""Words of eight bytes in a group of five rows."""

_LEFT = np.minimum(np.arange(IMAGE_COLUMNS) * TILE_COLUMNS // IMAGE_COLUMNS, TILE_COLUMNS - 3)
"""First of the three columns from which each pixel of a tile's image is made."""

_EDGES = np.arange(TILE_COLUMNS + 1) * IMAGE_COLUMNS
_WEIGHTS = np.array(
    [
        [
            max(0, min(_EDGES[x + 1], (j + 1) * TILE_COLUMNS) - max(_EDGES[x], j * TILE_COLUMNS))
            for x in range(_LEFT[j], _LEFT[j] + 3)
        ]
        for j in range(IMAGE_COLUMNS)
    ],
    np.uint32,
)
"""Weights of those columns, in fortieths; shape (21, 3)."""

_ROWS = area_weights(SCREEN[0], IMAGE[0])
_COLUMNS = area_weights(SCREEN[1], IMAGE[1])


@njit(cache=True)
def push_pooled(words, which, gray, stack):  # type: ignore[no-untyped-def]
    """Append the image of a step's screens to a stack of images.

    Parameters
    ----------
    words : uint64 array, shape (2, 1 or 2, 42, 100)
        Screens as words, in groups of five rows: ``words[which]`` are this step's one or two screens, and
        ``words[1 - which]`` those of which ``stack[-1]`` is the image.
    which : {0, 1}
    gray : uint8 array, shape (256,)
        Luminance of each screen byte.
    stack : uint8 array, shape (k, 84, 84)
        Images, oldest first; moved on by one.
    """
    for k in range(stack.shape[0] - 1):
        older, newer = stack[k].reshape(-1), stack[k + 1].reshape(-1)
        for i in range(older.shape[0]):
            older[i] = newer[i]
    image = stack[-1]
    second = words.shape[1] - 1
    pooled = np.empty((TILE_ROWS, TILE_COLUMNS), np.uint32)
    sums = np.empty((IMAGE_ROWS, TILE_COLUMNS), np.uint32)
    for group in range(ROW_GROUPS):
        a, b = words[which, 0, group], words[which, second, group]
        old_a, old_b = words[1 - which, 0, group], words[1 - which, second, group]
        if not differs(a, b, old_a, old_b, 0, WORDS):
            continue
        for tile in range(TILES):
            changed = False
            for begin in range(tile * WORDS // 20, WORDS, WORDS // TILE_ROWS):
                changed |= differs(a, b, old_a, old_b, begin, begin + TILE_COLUMNS // 8)
            if changed:
                pool(a.view(np.uint8), b.view(np.uint8), tile, gray, pooled)
                shrink(pooled, sums, image, group, tile)


@njit(cache=True)
def differs(a, b, old_a, old_b, begin, end):  # type: ignore[no-untyped-def]
    """Return whether either pair of arrays, shape (words,), differs in ``[begin, end)``."""
    difference = np.uint64(0)
    for i in range(begin, end):
        difference |= (a[i] ^ old_a[i]) | (b[i] ^ old_b[i])
    return difference != 0


@njit(cache=True)
def pool(a, b, tile, gray, pooled):  # type: ignore[no-untyped-def]
    """Write the greater luminance of a tile of two screens, uint8 (800,) each, into `pooled`, shape (5, 40)."""
    for y in range(TILE_ROWS):
        for x in range(TILE_COLUMNS):
            i = np.uint32(y * SCREEN[1] + tile * TILE_COLUMNS + x)
            pooled[y, x] = max(gray[a[i]], gray[b[i]])


@njit(cache=True)
def shrink(pooled, sums, image, group, tile):  # type: ignore[no-untyped-def]
    """Write the area means of a tile, shape (5, 40), into its 2 × 21 pixels of `image`, shape (84, 84)."""
    for x in range(TILE_COLUMNS):
        sums[0, x] = 2 * (pooled[0, x] + pooled[1, x]) + pooled[2, x]
        sums[1, x] = pooled[2, x] + 2 * (pooled[3, x] + pooled[4, x])
    for i in range(IMAGE_ROWS):
        for j in range(IMAGE_COLUMNS):
            x = _LEFT[j]
            total = np.uint32(
                _WEIGHTS[j, 0] * sums[i, x] + _WEIGHTS[j, 1] * sums[i, x + 1] + _WEIGHTS[j, 2] * sums[i, x + 2]
            )
            row, column = group * IMAGE_ROWS + i, tile * IMAGE_COLUMNS + j
            rounded = (total + np.uint32(100)) // np.uint32(200)
            if rounded * np.uint32(200) == total + np.uint32(100):
                rounded = half_way(pooled, row, column)
            image[row, column] = rounded


@njit(cache=True)
def half_way(pooled, row, column):  # type: ignore[no-untyped-def]
    """Return the mean of pixel (`row`, `column`), half-way between two integers, as `area.weighted_area` rounds it."""
    mean = np.float32(0.0)
    for m in range(_ROWS.begin[row], _ROWS.begin[row + 1]):
        y = _ROWS.source[m] % TILE_ROWS
        s = np.float32(0.0)
        for n in range(_COLUMNS.begin[column], _COLUMNS.begin[column + 1]):
            s += np.float32(pooled[y, _COLUMNS.source[n] % TILE_COLUMNS]) * _COLUMNS.weight[n]
        mean += _ROWS.weight[m] * s
    return np.uint8(np.rint(mean))
