"""Shapes of objects: detection on a screen, mirror images, and differences.

A shape is a blob's silhouette, regardless of colour: the rows of its box, each a word of 64 bits with the leftmost
pixel in the lowest bit. Mirror images are the same shape.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from arcademark.classic.features.blobs import BLOB, BOTTOM, END, LEFT, RIGHT, ROW, START, TOP, BlobFinder
from arcademark.compiled import njit

MAX_RUNS = 4096
"""Maximum number of runs read from the top of a screen: more are noise or an unsuitable background."""
MAX_BLOBS = 256
"""Maximum number of blobs per screen, the first in reading order."""
MIN_PIXELS = 3
"""Minimum number of pixels of an object: smaller blobs are fragments, as of overlapping sprites."""
MAX_SIDE = 64
"""Maximum height and width of an object."""

Rows = NDArray[np.uint64]

_ALL, _1, _2, _4, _56 = (np.uint64(number) for number in (0xFFFFFFFFFFFFFFFF, 1, 2, 4, 56))
_FIVES, _THREES = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333)
_FS, _ONES = np.uint64(0x0F0F0F0F0F0F0F0F), np.uint64(0x0101010101010101)


class ShapeFinder:
    """Finds possible objects in front of a background, uint8 (height, width)."""

    def __init__(self, background: NDArray[np.uint8]) -> None:
        self._finder = BlobFinder(background, most_runs=MAX_RUNS)

    def find(self, screen: NDArray[np.uint8]) -> tuple[NDArray[np.int32], list[Rows]]:
        """Return the objects' boxes, (n, 4) of top, left, height and width, and their shapes, in reading order."""
        runs, blobs = self._finder.find(screen)
        boxes, rows = _draw(runs, blobs)
        return boxes, [shape[:height] for shape, height in zip(rows, boxes[:, 2].tolist(), strict=True)]


@njit(cache=True)
def _draw(runs, blobs):  # type: ignore[no-untyped-def]
    """Return the boxes of blobs that may be objects, and their rows as words."""
    pixels, place = np.zeros(len(blobs), np.int64), np.full(len(blobs), -1)
    for i in range(len(runs)):
        pixels[runs[i, BLOB]] += runs[i, END] - runs[i, START]
    most, count = min(len(blobs), MAX_BLOBS), 0
    boxes, rows = np.empty((most, 4), np.int32), np.zeros((most, MAX_SIDE), np.uint64)
    for i in range(len(blobs)):
        top, left = blobs[i, TOP], blobs[i, LEFT]
        height, width = blobs[i, BOTTOM] - top + 1, blobs[i, RIGHT] - left + 1
        if pixels[i] >= MIN_PIXELS and max(height, width) <= MAX_SIDE and count < most:
            boxes[count, 0], boxes[count, 1], boxes[count, 2], boxes[count, 3] = top, left, height, width
            place[i] = count
            count += 1
    for i in range(len(runs)):
        at = place[runs[i, BLOB]]
        if at >= 0:
            start = runs[i, START]
            word = (_ALL >> np.uint64(64 - runs[i, END] + start)) << np.uint64(start - boxes[at, 1])
            row = runs[i, ROW] - boxes[at, 0]
            rows[at, row] = rows[at, row] | word
    return boxes[:count], rows[:count]


def pixels_of(shape: Rows, width: int) -> NDArray[np.bool_]:
    """Return the pixels of a shape, bool (height, width)."""
    pixels: NDArray[np.bool_] = (shape[:, None] >> np.arange(width, dtype=np.uint64)) & _1 > 0
    return pixels


def images(shape: Rows, width: int) -> Rows:
    """Return a shape, its mirror images left to right and top to bottom, and both at once: uint64 (4, height)."""
    mirrored = pixels_of(shape, width)[:, ::-1].astype(np.uint64) << np.arange(width, dtype=np.uint64)
    across = mirrored.sum(axis=1, dtype=np.uint64)
    return np.stack([shape, across, shape[::-1], across[::-1]])


@njit(cache=True)
def ones(word):  # type: ignore[no-untyped-def]
    """Count the bits that are set in a word."""
    word -= (word >> _1) & _FIVES
    word = (word & _THREES) + ((word >> _2) & _THREES)
    word = (word + (word >> _4)) & _FS
    return np.int64((word * _ONES) >> _56)


@njit(cache=True)
def difference(a, a_width, b, b_width, max_area_ratio, limit):  # type: ignore[no-untyped-def]
    """Return the least difference of two shapes in any mirror image: 0 to `limit`, or 2 if it is greater or undefined.

    `a` and `b` are their `images`. The box of one must fit into that of the other, and the larger be at most
    `max_area_ratio` times the smaller. The smaller shape is shifted over the larger one; the difference is the number
    of pixels in its box that are in only one of the shapes, divided by the area of both boxes.
    """
    a_height, b_height = a.shape[1], b.shape[1]
    if a_height * a_width > b_height * b_width:
        return difference(b, b_width, a, a_width, max_area_ratio, limit)
    area = a_height * a_width + b_height * b_width
    if a_height > b_height or a_width > b_width or b_height * b_width > max_area_ratio * (a_height * a_width):
        return 2.0
    least = int(limit * area) + 1
    box = _ALL >> np.uint64(64 - a_width)
    for turn in range(4):
        for down in range(b_height - a_height + 1):
            for right in range(b_width - a_width + 1):
                count = 0
                for y in range(a_height):
                    count += ones(a[turn, y] ^ ((b[0, down + y] >> np.uint64(right)) & box))
                    if count >= least:
                        break
                least = min(least, count)
    return least / area if least / area <= limit else 2.0
