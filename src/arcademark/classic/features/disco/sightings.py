"""Shapes on sample screens, with their frequencies and positions."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from arcademark.classic.features.disco.shapes import Rows, ShapeFinder, images

MAX_SHAPES = 1 << 16
"""Maximum number of different shapes; later ones are ignored."""
MAX_ROWS = 1 << 20
"""Maximum number of rows of all shapes together."""


@dataclass(frozen=True)
class Sightings:
    """The shapes on screens, where mirror images are the same shape, and their occurrences.

    Each of the s shapes has `heights`, `widths` and rows of pixels in `images`, uint64 (4, r), beginning at `first`.
    Each of the n occurrences, in order, has `screen` and `shape`; `centre`, int32 (n, 2), is the centre of its box, row
    and column, in half pixels (top + bottom, left + right); `part` is true if the box touches a larger one, including
    its corners.
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
    """Record every shape on some screens; the iterator may overwrite each with the next."""
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
    """Return for each box whether it touches a larger one, including corners."""
    begin, size = boxes[:, None, :2], boxes[:, None, 2:]
    touch = (begin <= (begin + size).swapaxes(0, 1)).all(axis=2)
    areas = boxes[:, 2] * boxes[:, 3]
    larger: NDArray[np.bool_] = touch & touch.T & (areas > areas[:, None])
    return [bool(row.any()) for row in larger]
