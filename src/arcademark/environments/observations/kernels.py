"""The usual observation, computed in C: 210 × 160 screens, pooled, in luminance, resized to 84 × 84, stacked.

It equals looking up luminances, taking the maximum and resizing with `area`, bit for bit:

* Five rows of the screen make two of the image, so the screen is divided into 42 groups of five rows. Bytes are
  compared with the step before's, eight at a time: groups first, then columns of words within a group. Only the pixels
  that a changed word touches are recomputed.
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

import ctypes

import numpy as np
from numpy.typing import NDArray

from arcademark.environments.observations.area import area_weights, terms

SCREEN = (210, 160)
IMAGE = (84, 84)
ROW_WORDS = SCREEN[1] // 8

_COLUMN, _PIXEL = 21, 40
"""Widths of a column of the screen and of a pixel of the image, in a unit that divides both."""

LEFT = np.minimum(np.arange(IMAGE[1]) * _PIXEL // _COLUMN, SCREEN[1] - 3)
"""First of the three columns from which each pixel is made."""

_EDGES = np.arange(SCREEN[1] + 1) * _COLUMN
WEIGHTS = np.array(
    [
        [max(0, min(_EDGES[x + 1], (j + 1) * _PIXEL) - max(_EDGES[x], j * _PIXEL)) for x in range(left, left + 3)]
        for j, left in enumerate(LEFT)
    ],
    np.uint32,
)
"""Weights of those columns, in fortieths; shape (84, 3)."""

_WORD_EDGES = np.arange(ROW_WORDS + 1) * 8 * _COLUMN
FIRST = _WORD_EDGES // _PIXEL
LAST = -(-_WORD_EDGES // _PIXEL)
"""Words [m, n) touch the pixels ``[FIRST[m], LAST[n])``."""

ROWS = area_weights(SCREEN[0], IMAGE[0])
COLUMNS = area_weights(SCREEN[1], IMAGE[1])


def _tables() -> NDArray[np.int32]:
    (row, row_weight), (column, column_weight) = terms(ROWS), terms(COLUMNS)
    weights = (weight.T.ravel().view(np.int32) for weight in (row_weight, column_weight))
    parts = (LEFT, WEIGHTS, FIRST, LAST, row.T, column.T, *weights)
    return np.concatenate([part.astype(np.int32, copy=False).ravel() for part in parts])


TABLES = _tables()
"""These tables in the layout of ``emulator/native/steps.c``."""


class Observation(ctypes.Structure):
    """Addresses of an observation's arrays, as in ``steps.c``."""

    _fields_ = (
        *((name, ctypes.c_size_t) for name in ("shrink", "pooled", "old", "stack")),
        *((name, ctypes.c_int32) for name in ("screens", "images")),
    )


def greatest(values: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return the greatest of each pair of screen bytes without their lowest bits, of luminances or of each colour.

    Parameters
    ----------
    values : uint8 array, shape (256,) or (256, 3)
        Value shown for each screen byte.

    Returns
    -------
    uint8 array, shape (128, 128) or (128, 128, 3)
    """
    pairs: NDArray[np.uint8] = np.maximum(values[::2, None], values[None, ::2])
    return pairs


def observation(table: NDArray[np.uint8], old: NDArray[np.uint8], stack: NDArray[np.uint8]) -> Observation:
    """Return the addresses of an observation's arrays, for C; the arrays must outlive it.

    Parameters
    ----------
    table : uint8 array, shape (128, 128)
        The luminance of each pair of screen bytes, without their lowest bits.
    old : uint8 array, shape (1 or 2, 210, 160)
        The screens of the newest image: the last, and the last but one if two are pooled.
    stack : uint8 array, shape (k, 84, 84)
        The images, oldest first.
    """
    where = (int(array.ctypes.data) for array in (TABLES, table, old, stack))
    return Observation(*where, screens=len(old), images=len(stack))
