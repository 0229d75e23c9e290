"""Blobs, against a search from pixel to pixel."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from arcademark.features.sets.blobs import UNSEEN, BlobFinder


def find(screen, proximity=1) -> list[tuple[int, ...]]:
    """Return (colour, top, bottom, left, right) of each blob."""
    screen = np.array(screen, np.uint8)
    blobs = BlobFinder(*screen.shape, proximity).find(screen)
    return list(zip(*(part.tolist() for part in blobs), strict=True))


def slow_find(screen, proximity) -> list[tuple[int, ...]]:
    left_over = {tuple(pixel) for pixel in np.argwhere(screen != UNSEEN).tolist()}
    found = []
    for pixel in sorted(left_over):
        if pixel not in left_over:
            continue
        blob, waiting = [], [pixel]
        left_over.discard(pixel)
        while waiting:
            y, x = waiting.pop()
            blob.append((y, x))
            for near in [(a, b) for a, b in left_over if max(abs(a - y), abs(b - x)) <= proximity]:
                if screen[near] == screen[y, x]:
                    left_over.discard(near)
                    waiting.append(near)
        rows, columns = zip(*blob, strict=True)
        found.append((int(screen[pixel]), min(rows), max(rows), min(columns), max(columns)))
    return found


def test_blobs_in_the_order_of_their_first_pixels():
    screen = [
        [7, 7, 0, 9],
        [0, 0, 0, 9],
        [7, 0, 9, 0],
    ]
    assert find(screen) == [(7, 0, 0, 0, 1), (0, 0, 2, 0, 3), (9, 0, 2, 2, 3), (7, 2, 2, 0, 0)]


def screens(height, width):
    colours = st.sampled_from([0, 1, 2, UNSEEN])
    rows = arrays.arrays(np.uint8, (height, width), elements=colours, fill=st.nothing())
    repeats = st.lists(st.integers(0, height - 1), min_size=height, max_size=height).map(sorted)
    return st.builds(lambda screen, rows: screen[rows], rows, repeats)


@settings(deadline=None)
@given(screen=screens(9, 8), proximity=st.integers(1, 4))
def test_blobs_are_those_of_a_search(screen, proximity):
    assert find(screen, proximity) == slow_find(screen, proximity)


@settings(deadline=None)
@given(screen=screens(7, 5), other=screens(7, 5))
def test_a_finder_remembers_nothing(screen, other):
    finder = BlobFinder(7, 5, 2)
    finder.find(other)
    again = [part.tolist() for part in finder.find(screen)]
    assert list(zip(*again, strict=True)) == slow_find(screen, 2)
