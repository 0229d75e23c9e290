"""What shapes were seen on sample screens, how often and where."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from arcademark.features.disco.blobs import HEIGHT, LEFT, MAX_SIDE, TOP, WIDTH, Workspace
from arcademark.features.disco.shapes import NONE, draw, look_up, put_images

MAX_SHAPES = 1 << 16
"""So many shapes are told apart; what is first seen later than these is not counted."""
MAX_ROWS = 1 << 20
"""They have so many rows of pixels in all."""


@dataclass(frozen=True)
class Sightings:
    """The shapes seen on screens, mirror images taken for one shape.

    Each of the s shapes has `heights`, `widths` and, from `first` on, `rows` of pixels. Of each of the n sightings, in
    order, `screen` and `shape` say where and what was seen; `centre`, int32 (n, 2), is the middle of its box, row and
    column, in half pixels (top + bottom, left + right); `part` says whether the box touches a larger one, corners
    included.
    """

    screens: int
    rows: NDArray[np.uint64]
    first: NDArray[np.int64]
    heights: NDArray[np.int32]
    widths: NDArray[np.int32]
    screen: NDArray[np.int32]
    shape: NDArray[np.int32]
    centre: NDArray[np.int32]
    part: NDArray[np.bool_]


def sight(screens: Iterable[NDArray[np.uint8]], background: NDArray[np.uint8]) -> Sightings:
    """Note every blob of some screens, each of which may be overwritten when the next is asked for."""
    found = Workspace(background)
    keys, values = np.zeros(8 * MAX_SHAPES, np.uint64), np.zeros(8 * MAX_SHAPES, np.int32)
    rows, sizes = np.zeros(MAX_ROWS + MAX_SIDE, np.uint64), np.zeros((MAX_SHAPES, 3), np.int32)
    used = np.zeros(2, np.int64)
    notes, noted, number = np.zeros((1 << 16, 5), np.int32), 0, 0
    for number, screen in enumerate(screens, 1):
        blobs = found.find(screen)
        if noted + blobs > len(notes):
            notes = np.concatenate([notes, np.zeros_like(notes)])
        new = note(found.runs, found.blobs, found.hashes, blobs, keys, values, rows, sizes, used, notes[noted:])
        notes[noted : noted + new, 4] = number - 1
        noted += new
    first, heights, widths = sizes[: used[0]].T.copy()
    shape, screen = notes[:noted, [0, 4]].T.copy()
    centre, part = notes[:noted, 1:3].copy(), notes[:noted, 3] != 0
    return Sightings(
        number, rows[: used[1]].copy(), first.astype(np.int64), heights, widths, screen, shape, centre, part
    )


@njit(cache=True)
def note(runs, blobs, hashes, count, keys, values, rows, sizes, used, notes):  # type: ignore[no-untyped-def]
    """Note the blobs of a screen, as `blobs.find_blobs` left them: their shapes, new ones too, and where they are.

    `keys` and `values` are the table of known shapes, `rows` their rows; `sizes`, int32 (s, 3), where the rows of each
    begin, its height and width; `used` how many shapes and rows there are. `notes`, int32 (n, 5), receives a shape,
    twice its centre's row and column, and whether it is a part (the last column is left alone). Returns the number of
    notes.
    """
    made = 0
    drawn = np.empty(64, np.uint64)
    for i in range(count):
        shape = look_up(keys, values, hashes[i])
        height, width = blobs[i, HEIGHT], blobs[i, WIDTH]
        if shape == NONE:
            if used[0] == sizes.shape[0] or used[1] + height > rows.size:
                continue
            shape = used[0]
            draw(runs, blobs[i], drawn)
            put_images(keys, values, drawn, height, width, shape)
            rows[used[1] : used[1] + height] = drawn[:height]
            sizes[shape, 0], sizes[shape, 1], sizes[shape, 2] = used[1], height, width
            used[0] += 1
            used[1] += height
        notes[made, 0] = shape
        notes[made, 1] = 2 * blobs[i, TOP] + height - 1
        notes[made, 2] = 2 * blobs[i, LEFT] + width - 1
        notes[made, 3] = touches_larger(blobs, count, i)
        made += 1
    return made


@njit(cache=True)
def touches_larger(blobs, count, i):  # type: ignore[no-untyped-def]
    """Return whether the box of blob i of `count` touches a larger one, corners included."""
    top, left, height, width = blobs[i, TOP], blobs[i, LEFT], blobs[i, HEIGHT], blobs[i, WIDTH]
    for j in range(count):
        near = (
            blobs[j, TOP] <= top + height
            and top <= blobs[j, TOP] + blobs[j, HEIGHT]
            and blobs[j, LEFT] <= left + width
            and left <= blobs[j, LEFT] + blobs[j, WIDTH]
        )
        if near and blobs[j, HEIGHT] * blobs[j, WIDTH] > height * width:
            return True
    return False
