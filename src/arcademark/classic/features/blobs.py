"""Blobs: pixels of one colour that are close to each other, though they need not touch, in front of a background.

Two pixels of a colour are neighbours if their rows and their columns differ by at most `proximity`; a blob is a
connected component of neighbours (Liang et al. 2016). With a proximity of 1, neighbours touch, at least at a corner. A
screen is divided into runs, the longest stretches of one colour along a row; neighbouring runs belong to one blob::

    row 0   . A A . . B B        runs A, B; below them C and D
    row 1   . . . C C . . D      C touches A and B at corners; D touches B
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from arcademark.compiled import njit

UNSEEN = 255
"""Colour of a background that matches no pixel."""
ROW, START, END, BLOB, COLOUR = range(5)
"""Columns of a run: `END` is one past its last column; `BLOB` is the number of its blob."""
TOP, LEFT, BOTTOM, RIGHT = range(4)
"""Columns of a blob, whose box includes its last row and column; the fifth column is its `COLOUR`."""


class BlobFinder:
    """Finds the blobs of screens of one size, in preallocated arrays.

    Pixels of the same colour as `background`, uint8 (height, width), belong to no blob. A screen is read from the top
    up to `most_runs` runs, completely by default.
    """

    def __init__(self, background: NDArray[np.uint8], proximity: int = 1, most_runs: int | None = None) -> None:
        self._background, self._proximity = np.ascontiguousarray(background), proximity
        room = background.size if most_runs is None else most_runs
        self._starts = np.zeros(len(background) + 1, np.int32)
        self._runs, self._blobs = np.zeros((2, room, 5), np.int32)

    def find(self, screen: NDArray[np.uint8]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return the runs of a screen and its blobs in the order of their first pixels, valid until the next `find`."""
        screen = np.array(screen, np.uint8)
        runs = find_runs(screen, self._background, self._starts, self._runs)
        join_runs(self._runs, self._starts, self._proximity)
        return self._runs[:runs], self._blobs[: find_boxes(self._runs[:runs], self._blobs)]


@njit(cache=True)
def find_runs(screen, background, starts, runs):  # type: ignore[no-untyped-def]
    """Find the runs of a screen in reading order, each as a blob of its own; return their number.

    In a row that equals the one above, each run has the blob of the run above, and so is joined with all its
    neighbours. `starts`, int32 (height + 1,), receives the first run of each row, and the number of runs.
    """
    count = 0
    for y in range(screen.shape[0]):
        if y > 0 and equal(screen[y], screen[y - 1]) and equal(background[y], background[y - 1]):
            for run in range(starts[y - 1], min(starts[y], starts[y - 1] + runs.shape[0] - count)):
                runs[count] = runs[run]
                runs[count, ROW], runs[count, BLOB] = y, run
                count += 1
            starts[y + 1] = count
            continue
        row, back, x = screen[y], background[y], 0
        words, others = row[: 8 * (row.size // 8)].view(np.uint64), back[: 8 * (row.size // 8)].view(np.uint64)
        while x < row.size and count < runs.shape[0]:
            if x % 8 == 0 and x // 8 < words.size and words[x // 8] == others[x // 8]:
                x += 8
                continue
            start, colour = x, row[x]
            x += 1
            if colour == back[start]:
                continue
            while x < row.size and row[x] == colour and back[x] != colour:
                x += 1
            runs[count, ROW], runs[count, START], runs[count, END] = y, start, x
            runs[count, COLOUR], runs[count, BLOB] = colour, count
            count += 1
        starts[y + 1] = count
    return count


@njit(cache=True)
def equal(a, b):  # type: ignore[no-untyped-def]
    """Return True if two rows, uint8 (n,), are equal."""
    difference = np.uint8(0)
    for i in range(a.size):
        difference |= a[i] ^ b[i]
    return difference == 0


@njit(cache=True)
def join_runs(runs, starts, proximity):  # type: ignore[no-untyped-def]
    """Join the runs of the same blob: `BLOB` becomes an earlier run of the blob, or remains the run itself."""
    for y in range(starts.shape[0] - 1):
        if starts[y] < starts[y + 1] and runs[starts[y], BLOB] < starts[y]:
            continue
        for above in range(max(0, y - proximity), y + 1):
            low = starts[above]
            for run in range(starts[y], starts[y + 1]):
                while low < starts[above + 1] and runs[low, END] <= runs[run, START] - proximity:
                    low += 1
                other = low
                while other < starts[above + 1] and runs[other, START] < runs[run, END] + proximity:
                    if runs[other, COLOUR] == runs[run, COLOUR]:
                        a, b = root_of(runs, other), root_of(runs, run)
                        runs[max(a, b), BLOB] = min(a, b)
                    other += 1


@njit(cache=True)
def root_of(runs, run):  # type: ignore[no-untyped-def]
    """Return the first run of a blob, with path halving."""
    while runs[run, BLOB] != run:
        runs[run, BLOB] = runs[runs[run, BLOB], BLOB]
        run = runs[run, BLOB]
    return run


@njit(cache=True)
def find_boxes(runs, blobs):  # type: ignore[no-untyped-def]
    """Number the blobs of joined runs and write their boxes; return the number of blobs."""
    number = 0
    for i in range(runs.shape[0]):
        row, left, right = runs[i, ROW], runs[i, START], runs[i, END] - 1
        if runs[i, BLOB] == i:
            runs[i, BLOB] = blob = number
            blobs[blob, TOP], blobs[blob, LEFT], blobs[blob, RIGHT] = row, left, right
            blobs[blob, COLOUR] = runs[i, COLOUR]
            number += 1
        else:
            runs[i, BLOB] = blob = runs[runs[i, BLOB], BLOB]
        blobs[blob, BOTTOM] = row
        blobs[blob, LEFT] = min(blobs[blob, LEFT], left)
        blobs[blob, RIGHT] = max(blobs[blob, RIGHT], right)
    return number
