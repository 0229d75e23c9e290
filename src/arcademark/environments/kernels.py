"""The fast path to the usual observation: 210 × 160 screens, pooled, in luminance, resized to 84 × 84, stacked.

It equals looking up luminances, taking the maximum and resizing with `area`, bit for bit:

* Five rows of the screen make two of the image, so the screen falls apart into 42 groups of five rows. Bytes are
  compared with the step before's, eight at a time: groups first, then columns of words within a group. Only the pixels
  that a changed word touches are made anew.
* Weights are whole numbers: fifths along rows and fortieths along columns, 40 columns making 21 pixels. So a pixel is
  ``total / 200`` with an exact total, and is rounded exactly. Only half-way cases depend on the order of OpenCV's
  single-precision operations, which are repeated there.

::

    rows      0   1   2   3   4          columns   0   1   2   3 …  39
    weights   2   2   1                            21  19            │ of the first pixel
                      1   2   2                        2   21  17    │ of the second
    sum 5 each                                                       sum 40 each
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from arcademark.environments.area import AreaWeights, area_weights

SCREEN = (210, 160)
IMAGE = (84, 84)
GROUPS = 42
GROUP_ROWS = 5
ROW_WORDS = SCREEN[1] // 8
GROUP_WORDS = GROUP_ROWS * ROW_WORDS

_COLUMN, _PIXEL = 21, 40
"""Widths of a column of the screen and of a pixel of the image, in a unit that divides both."""

_LEFT = np.minimum(np.arange(IMAGE[1]) * _PIXEL // _COLUMN, SCREEN[1] - 3)
"""First of the three columns from which each pixel is made."""

_EDGES = np.arange(SCREEN[1] + 1) * _COLUMN
_WEIGHTS = np.array(
    [
        [max(0, min(_EDGES[x + 1], (j + 1) * _PIXEL) - max(_EDGES[x], j * _PIXEL)) for x in range(left, left + 3)]
        for j, left in enumerate(_LEFT)
    ],
    np.uint32,
)
"""Weights of those columns, in fortieths; shape (84, 3)."""

_WORD_EDGES = np.arange(ROW_WORDS + 1) * 8 * _COLUMN
_FIRST = _WORD_EDGES // _PIXEL
_LAST = -(-_WORD_EDGES // _PIXEL)
"""Words [m, n) touch the pixels ``[_FIRST[m], _LAST[n])``."""

_ROWS = area_weights(SCREEN[0], IMAGE[0])
_COLUMNS = area_weights(SCREEN[1], IMAGE[1])


def _threes(weights: AreaWeights) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return three source pixels of each pixel and the bits of their weights, 0 where there are fewer."""
    counts = np.diff(weights.begin)
    index = weights.begin[:-1, None] + np.minimum(np.arange(3), counts[:, None] - 1)
    weight = np.where(np.arange(3) < counts[:, None], weights.weight[index], np.float32(0))
    return weights.source[index].astype(np.int32), weight.view(np.int32)


def _tables() -> NDArray[np.int32]:
    (row, row_weight), (column, column_weight) = _threes(_ROWS), _threes(_COLUMNS)
    parts = (_LEFT, _WEIGHTS, _FIRST, _LAST, row, column, row_weight, column_weight)
    return np.concatenate([part.astype(np.int32, copy=False).ravel() for part in parts])


TABLES = _tables()
"""All this as ``console/native/steps.c`` reads it."""


@njit(cache=True)
def push_pooled(words, table, stack):  # type: ignore[no-untyped-def]
    """Append the image of a step's screens to `stack`, uint8 (k, 84, 84), oldest first, which moves on by one.

    `words`, uint64 (2, 1 or 2, 42, 100), are screens in groups of five rows: ``words[0]`` this step's one or two,
    ``words[1]`` those of which ``stack[-1]`` is the image, made equal to this step's. `table`, uint8 (128, 128), is the
    luminance of each pair of bytes, without their lowest bits.
    """
    for k in range(stack.shape[0] - 1):
        older, newer = stack[k].reshape(-1), stack[k + 1].reshape(-1)
        for i in range(older.shape[0]):
            older[i] = newer[i]
    image = stack[-1]
    second = words.shape[1] - 1
    changes = np.empty(ROW_WORDS, np.uint64)
    sums = np.empty((2, SCREEN[1]), np.uint32)
    for group in range(GROUPS):
        a, b = words[0, 0, group], words[0, second, group]
        old_a, old_b = words[1, 0, group], words[1, second, group]
        if not differs(a, b, old_a, old_b):
            continue
        find_changes(a, b, old_a, old_b, changes)
        end = 0
        while end < ROW_WORDS:
            begin = end
            while end < ROW_WORDS and changes[end] != 0:
                end += 1
            if begin < end:
                shrink(a.view(np.uint8), b.view(np.uint8), table, sums, image, group, _FIRST[begin], _LAST[end])
            end += 1
        old_a[:], old_b[:] = a, b


@njit(cache=True)
def differs(a, b, old_a, old_b):  # type: ignore[no-untyped-def]
    """Return whether either pair of groups, uint64 (100,) each, differs."""
    difference = np.uint64(0)
    for i in range(GROUP_WORDS):
        difference |= (a[i] ^ old_a[i]) | (b[i] ^ old_b[i])
    return difference != 0


@njit(cache=True)
def find_changes(a, b, old_a, old_b, changes):  # type: ignore[no-untyped-def]
    """Write into `changes`, uint64 (20,), a number other than 0 for each column of words that differs."""
    changes[:] = 0
    for y in range(GROUP_ROWS):
        for x in range(ROW_WORDS):
            i = y * ROW_WORDS + x
            changes[x] |= (a[i] ^ old_a[i]) | (b[i] ^ old_b[i])


@njit(cache=True)
def shrink(a, b, table, sums, image, group, first, last):  # type: ignore[no-untyped-def]
    """Make pixels [first, last) of the two rows of `image` from a group of five screen rows: `a` and `b`, uint8 (800,).

    `sums`, uint32 (2, 160), is room for the weighted sums of each column.
    """
    for x in range(_LEFT[first], _LEFT[last - 1] + 3):
        middle = pooled(a, b, table, 2, x)
        sums[0, x] = 2 * (pooled(a, b, table, 0, x) + pooled(a, b, table, 1, x)) + middle
        sums[1, x] = 2 * (pooled(a, b, table, 3, x) + pooled(a, b, table, 4, x)) + middle
    for i in range(2):
        row = 2 * group + i
        for j in range(first, last):
            x = _LEFT[j]
            total = np.uint32(
                _WEIGHTS[j, 0] * sums[i, x] + _WEIGHTS[j, 1] * sums[i, x + 1] + _WEIGHTS[j, 2] * sums[i, x + 2]
            )
            rounded = (total + np.uint32(100)) // np.uint32(200)
            if rounded * np.uint32(200) == total + np.uint32(100):
                rounded = half_way(a, b, table, row, j)
            image[row, j] = rounded


@njit(cache=True, inline="always")
def pooled(a, b, table, y, x):  # type: ignore[no-untyped-def]
    """Return the luminance of two screens' groups together, uint8 (800,), in row y and column x."""
    i = np.uint32(y * SCREEN[1] + x)
    return np.uint32(table[a[i] >> 1, b[i] >> 1])


@njit(cache=True)
def half_way(a, b, table, row, column):  # type: ignore[no-untyped-def]
    """Return the mean of an image's pixel, half-way between two integers, as `area.weighted_area` rounds it."""
    mean = np.float32(0.0)
    for m in range(_ROWS.begin[row], _ROWS.begin[row + 1]):
        y = _ROWS.source[m] % GROUP_ROWS
        s = np.float32(0.0)
        for n in range(_COLUMNS.begin[column], _COLUMNS.begin[column + 1]):
            s += np.float32(pooled(a, b, table, y, _COLUMNS.source[n])) * _COLUMNS.weight[n]
        mean += _ROWS.weight[m] * s
    return np.uint8(np.rint(mean))
