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
        self.block = (int(rows), int(columns)) if rows.is_integer() and columns.is_integer() else None
        self.rows, self.columns = (
            terms(area_weights(source, size)) for source, size in zip(source_shape, shape, strict=True)
        )

    def __call__(self, image: NDArray[np.uint8], out: NDArray[np.uint8]) -> None:
        """Shrink `image`, shape (H, W, channels), into `out`, shape (h, w, channels)."""
        if self.block is None:
            means = _weighted(_weighted(image.astype(np.float32), *self.columns, axis=1), *self.rows, axis=0)
            out[:] = np.rint(means, out=means)
        elif self.block == (1, 1):
            out[:] = image
        else:
            _block_means(image, *self.block, out)


def terms(weights: AreaWeights) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Return each pixel's source pixels and weights, shapes (terms, pixels); weights are 0 where it has fewer."""
    counts = np.diff(weights.begin)
    number = np.arange(counts.max())[:, None]
    index = weights.begin[:-1] + np.minimum(number, counts - 1)
    return weights.source[index], np.where(number < counts, weights.weight[index], np.float32(0))


def _weighted(
    image: NDArray[np.float32], source: NDArray[np.int64], weight: NDArray[np.float32], axis: int
) -> NDArray[np.float32]:
    """Return the weighted sums of an image's pixels along an axis, added in their order."""
    shape = (-1, 1, 1) if axis == 0 else (-1, 1)
    total: NDArray[np.float32] = image.take(source[0], axis) * weight[0].reshape(shape)
    for pixels, share in zip(source[1:], weight[1:], strict=True):
        total += image.take(pixels, axis) * share.reshape(shape)
    return total


def _block_means(image: NDArray[np.uint8], height: int, width: int, out: NDArray[np.uint8]) -> None:
    """Write the mean of each block of `height` × `width` pixels of an image into `out`.

    Half-way means are rounded to even, except for blocks of 2 × 2, which OpenCV rounds up.
    """
    total = np.zeros(out.shape, np.uint32)
    for y in range(height):
        for x in range(width):
            total += image[y::height, x::width]
    if height == width == 2:
        out[:] = (total + 2) >> 2
    else:
        out[:] = np.rint(total.astype(np.float32) * (np.float32(1.0) / np.float32(height * width)))
