"""Kernels that compare shapes, and the table that finds a shape by its number.

A shape is the rows of its box, a word of 64 bits each, the leftmost pixel the lowest bit. Shapes that are mirror images
of each other are one shape to all that is here.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from arcademark.features.disco.blobs import END, FIRST, HEIGHT, LEFT, NEXT, ROW, START, TOP, mix

_0, _1, _2, _4, _56 = np.uint64(0), np.uint64(1), np.uint64(2), np.uint64(4), np.uint64(56)
_ALL, _FIVES = np.uint64(0xFFFFFFFFFFFFFFFF), np.uint64(0x5555555555555555)
_THREES, _FS, _ONES = np.uint64(0x3333333333333333), np.uint64(0x0F0F0F0F0F0F0F0F), np.uint64(0x0101010101010101)
NONE = -1


@njit(cache=True)
def draw(runs, box, rows):  # type: ignore[no-untyped-def]
    """Draw a blob, of `blobs.find_blobs`, into the first rows of uint64 (64,)."""
    rows[: box[HEIGHT]] = 0
    i = box[FIRST]
    while i >= 0:
        bits = _ALL >> np.uint64(64 - (runs[i, END] - runs[i, START]))
        rows[runs[i, ROW] - box[TOP]] |= bits << np.uint64(runs[i, START] - box[LEFT])
        i = runs[i, NEXT]


@njit(cache=True)
def hash_rows(rows, height, width):  # type: ignore[no-untyped-def]
    """Return the number of a shape, the same as `blobs.hash_runs` gives a blob that looks like it."""
    total = _0
    for y in range(height):
        x = 0
        while x < width:
            if not (rows[y] >> np.uint64(x)) & _1:
                x += 1
                continue
            start = x
            while x < width and (rows[y] >> np.uint64(x)) & _1:
                x += 1
            total += mix(y, start, x - start)
    return total


@njit(cache=True)
def mirror(rows, height, width, across, down, out):  # type: ignore[no-untyped-def]
    """Write the mirror image of a shape, left to right if `across`, top to bottom if `down`, into out, uint64 (64,)."""
    for y in range(height):
        row = rows[height - 1 - y] if down else rows[y]
        if across:
            flipped = _0
            for x in range(width):
                flipped |= ((row >> np.uint64(x)) & _1) << np.uint64(width - 1 - x)
            row = flipped
        out[y] = row


@njit(cache=True)
def ones(word):  # type: ignore[no-untyped-def]
    """Count the bits that are set in a word."""
    word -= (word >> _1) & _FIVES
    word = (word & _THREES) + ((word >> _2) & _THREES)
    word = (word + (word >> _4)) & _FS
    return np.int64((word * _ONES) >> _56)


@njit(cache=True)
def difference(a, a_height, a_width, b, b_height, b_width, max_area_ratio, limit):  # type: ignore[no-untyped-def]
    """Return how different two shapes are, in any mirror image: 0 where equal, at most `limit`, or 2.

    The box of one must fit into that of the other, and the larger be at most `max_area_ratio` times the smaller. The
    smaller is laid over the larger wherever it fits; pixels in its box that only one of them has are counted, and
    divided by the area of both boxes.
    """
    if a_height * a_width > b_height * b_width:
        return difference(b, b_height, b_width, a, a_height, a_width, max_area_ratio, limit)
    area = a_height * a_width + b_height * b_width
    if a_height > b_height or a_width > b_width or b_height * b_width > max_area_ratio * (a_height * a_width):
        return 2.0
    image = np.empty(64, np.uint64)
    least = int(limit * area) + 1
    box = _ALL >> np.uint64(64 - a_width)
    for turn in range(4):
        mirror(a, a_height, a_width, turn & 1 != 0, turn & 2 != 0, image)
        for down in range(b_height - a_height + 1):
            for right in range(b_width - a_width + 1):
                count = 0
                for y in range(a_height):
                    count += ones(image[y] ^ ((b[down + y] >> np.uint64(right)) & box))
                    if count >= least:
                        break
                least = min(least, count)
    return least / area if least / area <= limit else 2.0


@njit(cache=True)
def look_up(keys, values, key):  # type: ignore[no-untyped-def]
    """Return the value of a key, -1 if there is none; `keys`, uint64 (a power of 2,), are 0 where a place is empty."""
    place = key & np.uint64(keys.size - 1)
    while keys[place] != _0:
        if keys[place] == key:
            return values[place]
        place = (place + _1) & np.uint64(keys.size - 1)
    return NONE


@njit(cache=True)
def put(keys, values, key, value):  # type: ignore[no-untyped-def]
    """Give a key that the table does not hold a value; at least two places must be empty."""
    place = key & np.uint64(keys.size - 1)
    while keys[place] != _0:
        place = (place + _1) & np.uint64(keys.size - 1)
    keys[place] = key
    values[place] = value


@njit(cache=True)
def put_images(keys, values, rows, height, width, value):  # type: ignore[no-untyped-def]
    """Give a shape and its mirror images a value, where the table does not hold them yet."""
    image = np.empty(64, np.uint64)
    for turn in range(4):
        mirror(rows, height, width, turn & 1 != 0, turn & 2 != 0, image)
        key = hash_rows(image, height, width)
        if look_up(keys, values, key) == NONE:
            put(keys, values, key, value)
