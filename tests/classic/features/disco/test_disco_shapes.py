import itertools

import numpy as np
import pytest

from arcademark.classic.features.disco.shapes import MAX_BLOBS, ShapeFinder, pixels_of

pytestmark = pytest.mark.slow  # to compile


def slow_difference(a, b, max_area_ratio, limit):
    """Lay the smaller box over the larger one everywhere, in any mirror image."""
    if a.size > b.size:
        return slow_difference(b, a, max_area_ratio, limit)
    (height, width), room = a.shape, np.subtract(b.shape, a.shape)
    if (room < 0).any() or b.size > max_area_ratio * a.size:
        return 2
    least = min(
        int((image != b[down : down + height, right : right + width]).sum())
        for image in (a, a[:, ::-1], a[::-1], a[::-1, ::-1])
        for down, right in itertools.product(range(room[0] + 1), range(room[1] + 1))
    ) / (a.size + b.size)
    return least if least <= limit else 2


def test_what_is_of_the_size_of_an_object_is_found_as_it_looks():
    screen = np.zeros((70, 160), np.uint8)
    screen[0, :2] = screen[2, 4:7] = screen[3, 5] = 1  # two pixels are a splinter
    screen[2:66, 10:74] = 2
    screen[2:67, 80:84] = screen[68, :65] = 3  # more than 64 are no object
    boxes, found = ShapeFinder(np.zeros_like(screen)).find(screen)
    assert boxes.tolist() == [[2, 4, 2, 3], [2, 10, 64, 64]]
    assert pixels_of(found[0], 3).tolist() == [[True, True, True], [False, True, False]]
    screen = np.tile(np.repeat([5, 0], [3, 5]).astype(np.uint8), (210, 20))
    screen[1::2] = 0
    assert len(ShapeFinder(np.zeros_like(screen)).find(screen)[0]) == MAX_BLOBS
