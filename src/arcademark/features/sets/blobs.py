"""Blobs: pixels of one colour that are close to each other, though they need not touch.

Two pixels of a colour are neighbours if their rows and their columns differ by at most `proximity`; a blob is all that
can be reached from a pixel over neighbours (Liang et al. 2016). So an object drawn with gaps is one blob. What is kept
of a blob is its colour and its box.

A row is cut into runs of one colour; equal rows in succession form a band, whose runs are those of its first row. Only
runs of bands at most `proximity` rows apart need be compared::

    row 0   aaaabbbb   ─┐ band 0: a 0-3, b 4-7
    row 1   aaaabbbb   ─┘
    row 2   aaaaaaaa   ── band 1: a 0-7          joined with a of band 0
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

UNSEEN = 255
"""A pixel of this colour belongs to no blob."""


class Blobs(NamedTuple):
    """The blobs of a screen in the order of their first pixels; boxes include their last row and column."""

    colour: NDArray[np.uint8]
    top: NDArray[np.int16]
    bottom: NDArray[np.int16]
    left: NDArray[np.int16]
    right: NDArray[np.int16]


class BlobFinder:
    """Finds the blobs of screens of one size, in room that it keeps.

    `proximity` is how many rows and columns neighbours may differ by, at least 1: that of pixels that touch.
    """

    def __init__(self, height: int, width: int, proximity: int) -> None:
        self._proximity = proximity
        self._bands = np.empty((height + 1, 2), np.int32)
        self._colours = np.empty(height * width, np.uint8)
        self._ends = np.empty((height * width, 2), np.int16)
        self._parents = np.empty(height * width, np.int32)
        self._boxes = np.empty((height * width, 4), np.int16)
        self._blob_colours = np.empty(height * width, np.uint8)

    def find(self, screen: NDArray[np.uint8]) -> Blobs:
        """Find the blobs of a screen; `UNSEEN` pixels belong to none. Valid until the next `find`."""
        screen = np.ascontiguousarray(screen)
        words = screen.view(np.uint64) if screen.shape[1] % 8 == 0 else screen
        bands = find_runs(screen, words, self._bands, self._colours, self._ends)
        join(self._bands[: bands + 1], self._colours, self._ends, self._parents, self._proximity)
        n = find_boxes(
            self._bands[: bands + 1], self._colours, self._ends, self._parents, self._blob_colours, self._boxes
        )
        top, bottom, left, right = self._boxes[:n].T
        return Blobs(self._blob_colours[:n], top, bottom, left, right)


@njit(cache=True)
def find_runs(screen, words, bands, colours, ends):  # type: ignore[no-untyped-def]
    """Cut a screen into bands of equal rows and these into runs of one colour but `UNSEEN`; return how many bands.

    `words` is the same memory, in wider words if possible. `bands`, int32 (height + 1, 2), receives the first row and
    the first run of each band, and after the last, height and the number of runs; `colours` and `ends` each run's
    colour, first and last column.
    """
    height, width = screen.shape
    num_bands = num_runs = 0
    for y in range(height):
        if y > 0 and not differ(words[y - 1], words[y]):
            continue
        bands[num_bands, 0], bands[num_bands, 1] = y, num_runs
        num_bands += 1
        row = screen[y]
        first = 0
        for x in range(1, width + 1):
            if x == width or row[x] != row[first]:
                colours[num_runs] = row[first]
                ends[num_runs, 0], ends[num_runs, 1] = first, x - 1
                num_runs += row[first] != UNSEEN
                first = x
    bands[num_bands, 0], bands[num_bands, 1] = height, num_runs
    return num_bands


@njit(cache=True)
def differ(a, b):  # type: ignore[no-untyped-def]
    """Say whether two rows differ."""
    for i in range(a.shape[0]):  # noqa: SIM110
        if a[i] != b[i]:
            return True
    return False


@njit(cache=True)
def join(bands, colours, ends, parents, proximity):  # type: ignore[no-untyped-def]
    """Join the runs that belong to the same blob: `parents` receives an earlier run of it, or the run itself."""
    for run in range(bands[-1, 1]):
        parents[run] = run
    for band in range(bands.shape[0] - 1):
        start, stop = bands[band, 1], bands[band + 1, 1]
        for run in range(start, stop):
            other = run - 1
            while other >= start and ends[run, 0] - ends[other, 1] <= proximity:
                if colours[other] == colours[run]:
                    unite(parents, other, run)
                other -= 1
        above = band - 1
        while above >= 0 and bands[band, 0] - (bands[above + 1, 0] - 1) <= proximity:
            join_bands(bands[above, 1], bands[above + 1, 1], start, stop, colours, ends, parents, proximity)
            above -= 1


@njit(cache=True)
def join_bands(low, high, start, stop, colours, ends, parents, proximity):  # type: ignore[no-untyped-def]
    """Join runs low to high - 1 of one band with runs start to stop - 1 of another."""
    for run in range(start, stop):
        while low < high and ends[low, 1] < ends[run, 0] - proximity:
            low += 1
        other = low
        while other < high and ends[other, 0] <= ends[run, 1] + proximity:
            if colours[other] == colours[run]:
                unite(parents, other, run)
            other += 1


@njit(cache=True)
def unite(parents, a, b):  # type: ignore[no-untyped-def]
    """Make the first run of both blobs the same; paths to it are halved on the way."""
    while parents[a] != a:
        parents[a] = parents[parents[a]]
        a = parents[a]
    while parents[b] != b:
        parents[b] = parents[parents[b]]
        b = parents[b]
    parents[max(a, b)] = min(a, b)


@njit(cache=True)
def find_boxes(bands, colours, ends, parents, blob_colours, boxes):  # type: ignore[no-untyped-def]
    """Number the blobs in `parents` as `join` left it, write their colours and boxes, and return how many there are."""
    num = 0
    for band in range(bands.shape[0] - 1):
        top, bottom = bands[band, 0], bands[band + 1, 0] - 1
        for run in range(bands[band, 1], bands[band + 1, 1]):
            left, right = ends[run, 0], ends[run, 1]
            if parents[run] == run:
                parents[run] = blob = num
                blob_colours[blob] = colours[run]
                boxes[blob, 0], boxes[blob, 1], boxes[blob, 2], boxes[blob, 3] = top, bottom, left, right
                num += 1
                continue
            parents[run] = blob = parents[parents[run]]
            boxes[blob, 1] = bottom
            boxes[blob, 2] = min(boxes[blob, 2], left)
            boxes[blob, 3] = max(boxes[blob, 3], right)
    return num
