"""Kernels that take a screen apart into blobs: connected pixels of one colour in front of the background.

A blob is made of runs, the longest stretches of one colour along a row. Runs of the same colour that touch in
neighbouring rows, corners included, belong to one blob::

    row 0   . A A . . B B        runs A, B; below them C and D
    row 1   . . . C C . . D      A touches C at a corner, and so does C touch B; D touches B

The number of a shape (its *hash*) is the sum over its runs of 64 mixed bits, so that it does not depend on where on the
screen the blob is, nor on its colour.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

MAX_RUNS = 4096
"""A screen is read from the top until it has shown so many runs: more are noise, or a background that is not one."""
MAX_BLOBS = 256
"""So many blobs of a screen are looked at, the first in reading order."""
MIN_PIXELS = 3
"""Objects consist of at least so many pixels: fewer are splinters, as when two sprites overlap."""
MAX_SIDE = 64
"""Objects are at most so many pixels high and wide."""

ROW, START, END, COLOUR, PARENT, BLOB, NEXT = range(7)
"""Columns of `Workspace.runs`."""
TOP, LEFT, HEIGHT, WIDTH, FIRST = range(5)
"""Columns of a blob."""

_A, _B, _C = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_30, _27, _31, _16, _32 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(16), np.uint64(32)


class Workspace:
    """Room for the blobs of one screen.

    `background`, uint8 (height, width), holds the colours of what does not move; `width` is a multiple of 8. `blobs`,
    int32 (MAX_BLOBS, 5), has the blobs that were found, in reading order of their first pixels, and `hashes` the
    numbers of their shapes.
    """

    def __init__(self, background: NDArray[np.uint8]) -> None:
        self.background = np.ascontiguousarray(background)
        self._words = self.background.view(np.uint64)
        self.runs = np.zeros((MAX_RUNS, 7), np.int32)
        self._boxes = np.zeros((MAX_RUNS, 5), np.int32)
        self.blobs = np.zeros((MAX_BLOBS, 5), np.int32)
        self.hashes = np.zeros(MAX_BLOBS, np.uint64)

    def find(self, screen: NDArray[np.uint8]) -> int:
        """Find the blobs of a screen of the background's shape and return their number."""
        screen = np.ascontiguousarray(screen)
        words: Any = screen.view(np.uint64)
        return int(
            find_blobs(screen, words, self.background, self._words, self.runs, self._boxes, self.blobs, self.hashes)
        )


@njit(cache=True)
def find_blobs(screen, words, background, back, runs, boxes, blobs, hashes):  # type: ignore[no-untyped-def]
    """Find the blobs of a screen that may be objects, 3 pixels or more and at most 64 × 64; return how many.

    `words` and `back` are the bytes of screen and background in words of 8; the others are room for what is found.
    """
    count = find_runs(screen, words, background, back, runs)
    number = join_runs(runs, count, boxes)
    kept = 0
    for i in range(number):
        height, width = boxes[i, HEIGHT], boxes[i, WIDTH]
        if height > MAX_SIDE or width > MAX_SIDE:
            continue
        if height < MIN_PIXELS and width < MIN_PIXELS and count_pixels(runs, boxes[i]) < MIN_PIXELS:
            continue
        blobs[kept] = boxes[i]
        hashes[kept] = hash_runs(runs, boxes[i])
        kept += 1
        if kept == blobs.shape[0]:
            break
    return kept


@njit(cache=True)
def find_runs(screen, words, background, back, runs):  # type: ignore[no-untyped-def]
    """Find the runs of a screen's foreground in reading order, joined to those that they touch; return how many.

    Reading stops where `runs` is full. A run's parent is a run of the same blob with a smaller number, or itself.
    """
    height, width = screen.shape
    count = above = here = 0
    for y in range(height):
        above, here = here, count
        last = here
        x = 0
        while x < width:
            if x & 7 == 0 and words[y, x >> 3] == back[y, x >> 3]:
                x += 8
                continue
            colour = screen[y, x]
            if colour == background[y, x]:
                x += 1
                continue
            start = x
            x += 1
            while x < width and screen[y, x] == colour and background[y, x] != colour:
                x += 1
            if count == runs.shape[0]:
                return count
            runs[count, ROW], runs[count, START], runs[count, END] = y, start, x
            runs[count, COLOUR], runs[count, PARENT] = colour, count
            while above < last and runs[above, END] < start:
                above += 1
            other = above
            while other < last and runs[other, START] <= x:
                if runs[other, COLOUR] == colour:
                    join(runs, other, count)
                other += 1
            count += 1
    return count


@njit(cache=True)
def join(runs, a, b):  # type: ignore[no-untyped-def]
    """Join the blobs of two runs; the earlier of their roots is the root of both."""
    while runs[a, PARENT] != a:
        runs[a, PARENT] = runs[runs[a, PARENT], PARENT]
        a = runs[a, PARENT]
    while runs[b, PARENT] != b:
        runs[b, PARENT] = runs[runs[b, PARENT], PARENT]
        b = runs[b, PARENT]
    if a < b:
        runs[b, PARENT] = a
    else:
        runs[a, PARENT] = b


@njit(cache=True)
def join_runs(runs, count, boxes):  # type: ignore[no-untyped-def]
    """Number the blobs of the runs of `find_runs`, chain their runs, and measure their boxes; return how many blobs."""
    number = 0
    for i in range(count):
        runs[i, NEXT] = -1
        parent = runs[i, PARENT]
        if parent == i:
            blob = number
            number += 1
            boxes[blob, TOP], boxes[blob, FIRST] = runs[i, ROW], i
            boxes[blob, LEFT], boxes[blob, WIDTH] = runs[i, START], runs[i, END]
        else:
            blob = runs[parent, BLOB]
            runs[boxes[blob, HEIGHT], NEXT] = i
            boxes[blob, LEFT] = min(boxes[blob, LEFT], runs[i, START])
            boxes[blob, WIDTH] = max(boxes[blob, WIDTH], runs[i, END])
        boxes[blob, HEIGHT] = i  # its last run, until all are chained
        runs[i, BLOB] = blob
    for blob in range(number):
        boxes[blob, HEIGHT] = runs[boxes[blob, HEIGHT], ROW] - boxes[blob, TOP] + 1
        boxes[blob, WIDTH] -= boxes[blob, LEFT]
    return number


@njit(cache=True)
def count_pixels(runs, box):  # type: ignore[no-untyped-def]
    """Return how many pixels a blob has."""
    pixels = 0
    i = box[FIRST]
    while i >= 0:
        pixels += runs[i, END] - runs[i, START]
        i = runs[i, NEXT]
    return pixels


@njit(cache=True)
def mix(row, start, length):  # type: ignore[no-untyped-def]
    """Return 64 mixed bits of a run's place in its blob's box and its length."""
    bits = (np.uint64(row) << _32) | (np.uint64(start) << _16) | np.uint64(length)
    bits += _A
    bits = (bits ^ (bits >> _30)) * _B
    bits = (bits ^ (bits >> _27)) * _C
    return bits ^ (bits >> _31)


@njit(cache=True)
def hash_runs(runs, box):  # type: ignore[no-untyped-def]
    """Return the number of the shape of a blob, whose runs are chained."""
    total = np.uint64(0)
    i = box[FIRST]
    while i >= 0:
        total += mix(runs[i, ROW] - box[TOP], runs[i, START] - box[LEFT], runs[i, END] - runs[i, START])
        i = runs[i, NEXT]
    return total
