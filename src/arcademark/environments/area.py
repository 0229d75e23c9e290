"""Area resizing of images, equal to OpenCV's ``INTER_AREA`` bit for bit when it shrinks.

A pixel is the mean of the source's rectangle that it covers, edges weighted by the part covered. Means half-way between
two integers are rounded by the last bit, so OpenCV's order of single-precision operations is kept: weighted sums along
each row, then the weighted sum of rows. Verified against opencv-python-headless 4.10 to 5.0 on x86-64; an OpenCV built
to fuse multiplication and addition (some ARM builds) may differ by 1 in half-way cases.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray


class AreaWeights(NamedTuple):
    """Source pixels of each pixel along an axis: pixel i's are entries ``begin[i]:begin[i + 1]`` of the others."""

    begin: NDArray[np.int64]
    source: NDArray[np.int64]
    weight: NDArray[np.float32]


def area_weights(source_size: int, size: int) -> AreaWeights:
    """Return the weights that shrink an axis; parts thinner than a thousandth of a pixel are left out, as in OpenCV."""
    scale = 1.0 / (size / source_size)
    begin, source, weight = [0], list[int](), list[float]()
    for i in range(size):
        left = i * scale
        right = left + scale
        width = min(scale, source_size - left)
        last = min(math.floor(right), source_size - 1)
        first = min(math.ceil(left), last)
        if first - left > 1e-3:
            source.append(first - 1)
            weight.append((first - left) / width)
        source.extend(range(first, last))
        weight.extend([1.0 / width] * (last - first))
        if right - last > 1e-3:
            source.append(last)
            weight.append(min(right - last, 1.0, width) / width)
        begin.append(len(source))
    return AreaWeights(np.array(begin), np.array(source), np.array(weight, np.float32))


class AreaResize:
    """Shrinks images from one (height, width) to another; neither side may grow."""

    def __init__(self, source_shape: tuple[int, int], shape: tuple[int, int]) -> None:
        self.source_shape, self.shape = source_shape, shape
        rows, columns = (source / size for source, size in zip(source_shape, shape, strict=True))
        self._block = (int(rows), int(columns)) if rows.is_integer() and columns.is_integer() else None
        self._rows = area_weights(source_shape[0], shape[0])
        self._columns = area_weights(source_shape[1], shape[1])

    def __call__(self, image: NDArray[np.uint8], out: NDArray[np.uint8]) -> None:
        """Shrink `image`, shape (H, W, channels), into `out`, shape (h, w, channels)."""
        if self._block is None:
            weighted_area(image, self._rows, self._columns, out)
        elif self._block == (1, 1):
            out[:] = image
        else:
            block_area(image, self._block[0], self._block[1], out)


@njit(cache=True)
def weighted_area(image, rows, columns, out):  # type: ignore[no-untyped-def]
    """Write the area-weighted means of `image`, uint8 (H, W, C), into `out`, uint8 (h, w, C)."""
    height, width, channels = out.shape
    row_sum = np.empty((width, channels), np.float32)
    total = np.empty((width, channels), np.float32)
    for i in range(height):
        for entry in range(rows.begin[i], rows.begin[i + 1]):
            y, beta = rows.source[entry], rows.weight[entry]
            for j in range(width):
                for c in range(channels):
                    s = np.float32(0.0)
                    for k in range(columns.begin[j], columns.begin[j + 1]):
                        s += np.float32(image[y, columns.source[k], c]) * columns.weight[k]
                    row_sum[j, c] = s
            if entry == rows.begin[i]:
                total[:] = beta * row_sum
            else:
                total += beta * row_sum
        for j in range(width):
            for c in range(channels):
                out[i, j, c] = np.uint8(np.rint(total[j, c]))


@njit(cache=True)
def block_area(image, block_height, block_width, out):  # type: ignore[no-untyped-def]
    """Write the mean of each whole block of `image`, uint8 (H, W, C), into `out`, uint8 (h, w, C).

    Half-way means round to even, but for blocks of 2 × 2, where OpenCV rounds them up.
    """
    height, width, channels = out.shape
    reciprocal = np.float32(1.0) / np.float32(block_height * block_width)
    for i in range(height):
        for j in range(width):
            for c in range(channels):
                s = 0
                for y in range(i * block_height, (i + 1) * block_height):
                    for x in range(j * block_width, (j + 1) * block_width):
                        s += image[y, x, c]
                if block_height == 2 and block_width == 2:
                    out[i, j, c] = np.uint8((s + 2) >> 2)
                else:
                    out[i, j, c] = np.uint8(np.rint(np.float32(s) * reciprocal))
