"""Shapes seen on sample screens, with their frequencies and positions."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from arcademark.classic.features.disco.shapes import Rows, ShapeFinder, images

MAX_SHAPES = 1 << 16
"""So many shapes are told apart; what is first seen later than these is not counted."""
MAX_ROWS = 1 << 20
"""They have so many rows of pixels in all."""


@dataclass(frozen=True)
class Sightings:
    """The shapes seen on screens, mirror images taken for one shape.

    Each of the s shapes has `heights`, `widths` and, from `first` on, rows of pixels in its `images`, uint64 (4, r). Of
    each of the n sightings, in order, `screen` and `shape` say where and what was seen; `centre`, int32 (n, 2), is the
    middle of its box, row and column, in half pixels (top + bottom, left + right); `part` says whether the box touches
    a larger one, corners included.
    """

    screens: int
    images: Rows
    first: NDArray[np.int64]
    heights: NDArray[np.int32]
    widths: NDArray[np.int32]
    screen: NDArray[np.int32]
    shape: NDArray[np.int32]
    centre: NDArray[np.int32]
    part: NDArray[np.bool_]


def sight(screens: Iterable[NDArray[np.uint8]], background: NDArray[np.uint8]) -> Sightings:
    """Note every shape of some screens, each of which may be overwritten when the next is asked for."""
    finder = ShapeFinder(background)
    known: dict[bytes, int] = {}
    shapes, sizes, rows, number = [np.zeros((4, 0), np.uint64)], array("i"), 0, 0
    notes = array("i")
    for number, screen in enumerate(screens, 1):
        boxes, seen = finder.find(screen)
        for (top, left, height, width), shape, part in zip(boxes.tolist(), seen, _parts(boxes), strict=True):
            if (name := known.get(shape.tobytes())) is None:
                if len(shapes) > MAX_SHAPES or rows + height > MAX_ROWS:
                    continue
                name = len(shapes) - 1
                shapes.append(images(shape, width))
                sizes.extend((rows, height, width))
                rows += height
                for image in shapes[-1]:
                    known.setdefault(image.tobytes(), name)
            notes.extend((number - 1, name, 2 * top + height - 1, 2 * left + width - 1, part))
    first, heights, widths = np.array(sizes, np.int32).reshape(-1, 3).T
    screen_of, shape_of, *centre, part_of = np.array(notes, np.int32).reshape(-1, 5).T
    return Sightings(
        *(number, np.concatenate(shapes, axis=1), first.astype(np.int64), heights, widths),
        *(screen_of, shape_of, np.stack(centre, axis=1), part_of != 0),
    )


def _parts(boxes: NDArray[np.int32]) -> list[bool]:
    """Return whether each box touches a larger one, corners included."""
    begin, size = boxes[:, None, :2], boxes[:, None, 2:]
    touch = (begin <= (begin + size).swapaxes(0, 1)).all(axis=2)
    areas = boxes[:, 2] * boxes[:, 3]
    larger: NDArray[np.bool_] = touch & touch.T & (areas > areas[:, None])
    return [bool(row.any()) for row in larger]
