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


def test_pixels_that_are_apart_are_one_blob_if_they_are_close():
    screen = [[7, 0, 0, 7, 0, 0, 0, 7]]
    assert [blob for blob in find(screen, 3) if blob[0] == 7] == [(7, 0, 0, 0, 3), (7, 0, 0, 7, 7)]
    assert [blob for blob in find(screen, 4) if blob[0] == 7] == [(7, 0, 0, 0, 7)]
    assert [len(find(np.transpose(screen), proximity)) for proximity in (2, 3, 4)] == [4, 3, 2]


def test_rows_and_columns_may_both_be_apart():
    screen = np.full((4, 4), UNSEEN)
    screen[0, 0] = screen[3, 3] = 5
    assert find(screen, 2) == [(5, 0, 0, 0, 0), (5, 3, 3, 3, 3)]
    assert find(screen, 3) == [(5, 0, 3, 0, 3)]


def test_what_is_unseen_is_no_blob():
    assert find([[UNSEEN, UNSEEN], [UNSEEN, UNSEEN]]) == []
    assert find([[UNSEEN, 4], [UNSEEN, UNSEEN]]) == [(4, 0, 0, 1, 1)]


def test_a_blob_may_come_together_late():
    screen = [
        [1, 0, 1, 0, 1],
        [1, 0, 1, 0, 1],
        [1, 1, 1, 1, 1],
    ]
    assert find(screen) == [(1, 0, 2, 0, 4), (0, 0, 1, 1, 1), (0, 0, 1, 3, 3)]


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
