"""Blobs, against a search from pixel to pixel."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from arcademark.classic.features.blobs import BLOB, END, ROW, START, BlobFinder


def slow_find(screen, background, proximity):
    """Return the pixels of each blob, in reading order of their first."""
    left_over = {tuple(pixel) for pixel in np.argwhere(screen != background).tolist()}
    blobs = []
    for pixel in sorted(left_over):
        if pixel not in left_over:
            continue
        blob, waiting = set(), [pixel]
        left_over.discard(pixel)
        while waiting:
            y, x = waiting.pop()
            blob.add((y, x))
            for near in [(a, b) for a, b in left_over if max(abs(a - y), abs(b - x)) <= proximity]:
                if screen[near] == screen[y, x]:
                    left_over.discard(near)
                    waiting.append(near)
        blobs.append(blob)
    return blobs


def screens(height, width):
    rows = arrays.arrays(np.uint8, (height, width), elements=st.sampled_from([0, 1, 2, 255]), fill=st.nothing())
    repeats = st.lists(st.integers(0, height - 1), min_size=height, max_size=height).map(sorted)
    return st.builds(lambda screen, rows: screen[rows], rows, repeats)


@settings(max_examples=50)
@given(screens(8, 9), screens(8, 9), screens(8, 9), st.integers(1, 4))
def test_blobs_are_those_of_a_search(screen, other, background, proximity):
    finder = BlobFinder(background, proximity)
    finder.find(other)  # of which nothing is remembered
    runs, blobs = finder.find(screen)
    expected = slow_find(screen, background, proximity)
    boxes = [(*np.min([*blob], axis=0), *np.max([*blob], axis=0), screen[min(blob)]) for blob in expected]
    assert blobs.tolist() == [list(map(int, box)) for box in boxes]
    pixels = [set() for _ in blobs]
    for run in runs.tolist():
        pixels[run[BLOB]] |= {(run[ROW], x) for x in range(run[START], run[END])}
    assert pixels == expected


def test_noise_is_read_until_there_are_too_many_runs():
    screen = np.arange(64, dtype=np.uint8).reshape(8, 8)
    runs, blobs = BlobFinder(np.full((8, 8), 255, np.uint8), most_runs=11).find(screen)
    assert (len(runs), len(blobs), runs[-1, [ROW, START]].tolist()) == (11, 11, [1, 2])
