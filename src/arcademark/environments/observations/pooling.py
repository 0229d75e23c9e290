"""The usual observation as `kernels` describes it, for screens that a console of ours does not observe itself.

Imported when it is first needed, since numba takes longer to load than a short game to play.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from arcademark.environments.observations.kernels import (
    COLUMNS,
    FIRST,
    GROUP_ROWS,
    GROUP_WORDS,
    GROUPS,
    LAST,
    LEFT,
    ROW_WORDS,
    ROWS,
    SCREEN,
    WEIGHTS,
)


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
                shrink(a.view(np.uint8), b.view(np.uint8), table, sums, image, group, FIRST[begin], LAST[end])
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
    for x in range(LEFT[first], LEFT[last - 1] + 3):
        middle = pooled(a, b, table, 2, x)
        sums[0, x] = 2 * (pooled(a, b, table, 0, x) + pooled(a, b, table, 1, x)) + middle
        sums[1, x] = 2 * (pooled(a, b, table, 3, x) + pooled(a, b, table, 4, x)) + middle
    for i in range(2):
        row = 2 * group + i
        for j in range(first, last):
            x = LEFT[j]
            total = np.uint32(
                WEIGHTS[j, 0] * sums[i, x] + WEIGHTS[j, 1] * sums[i, x + 1] + WEIGHTS[j, 2] * sums[i, x + 2]
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
    for m in range(ROWS.begin[row], ROWS.begin[row + 1]):
        y = ROWS.source[m] % GROUP_ROWS
        s = np.float32(0.0)
        for n in range(COLUMNS.begin[column], COLUMNS.begin[column + 1]):
            s += np.float32(pooled(a, b, table, y, COLUMNS.source[n])) * COLUMNS.weight[n]
        mean += ROWS.weight[m] * s
    return np.uint8(np.rint(mean))
