"""Kernels of `features` for the novelty of pairs of atoms.

Depths have 16 bits; an atom that was never entered has 65,535. With `enter`, greater depths are replaced by the given
one; the result is whether there were any. Without it, the result is whether some depth is at least the given one.
"""

from __future__ import annotations

import numpy as np

from arcademark.compiled import njit

UNSEEN = np.uint16(65535)
"""Depth of an atom that was never entered, greater than all depths."""
ROWS, COLUMNS, COLOURS = 14, 16, 128
TILES = ROWS * COLUMNS
SPAN = 2 * COLUMNS - 1
"""Number of offsets along a row."""
NO_OFFSET = (ROWS - 1) * SPAN + COLUMNS - 1
"""Number of the zero offset."""


@njit(cache=True)
def meet_space(depths, used, atoms, old, depth, enter):  # type: ignore[no-untyped-def]
    """Enter or look up all pairs of atoms of one screen, including equal atoms, except pairs of old ones.

    A pair has the smaller colour first; for equal colours, the earlier tile. `depths`, uint16 (128, 128, 837), has a
    row for two colours and a column for the offset, rows · 31 + columns + 418; `used` marks the initialized rows.
    `atoms` are ascending. Without `enter` nothing is written, and the search ends at the first depth found.
    """
    return meet_pairs(depths, used, atoms[~old[atoms]], atoms, True, depth, enter)


@njit(cache=True)
def meet_time(depths, used, atoms, before, olds, depth, enter):  # type: ignore[no-untyped-def]
    """Enter or look up all pairs of an atom of the last screen and one of this screen, except pairs of old ones.

    `olds` are the old atoms of this screen and of the last one; the other parameters are as in `meet_space`.
    """
    old, old_before = olds[0][atoms], olds[1][before]
    novel = meet_pairs(depths, used, before[old_before], atoms[~old], False, depth, enter)
    if novel and not enter:
        return True
    return meet_pairs(depths, used, before[~old_before], atoms, False, depth, enter) or novel


@njit(cache=True)
def meet_pairs(depths, used, first, second, unordered, depth, enter):  # type: ignore[no-untyped-def]
    """Enter or look up all pairs of one of `first` and one of `second`, by colours."""
    first_at, second_at = places(first), places(second)
    novel = False
    i_end = 0
    while i_end < first.shape[0]:
        i = i_end
        k = first[i] // TILES
        i_end = end_of_colour(first, i, k)
        j_end = 0
        while j_end < second.shape[0]:
            j = j_end
            m = second[j] // TILES
            j_end = end_of_colour(second, j, m)
            swap = unordered and k > m
            low, high = (m, k) if swap else (k, m)
            if not used[low, high]:
                if not enter:
                    return True
                used[low, high] = True
                depths[low, high] = UNSEEN
            row = depths[low, high]
            for p in range(i, i_end):
                for q in range(j, j_end):
                    offset = second_at[q] - first_at[p]
                    if swap or (unordered and k == m and offset < 0):
                        offset = -offset
                    offset += NO_OFFSET
                    if not enter:
                        if row[offset] >= depth:
                            return True
                    elif row[offset] > depth:
                        row[offset] = depth
                        novel = True
    return novel


@njit(cache=True)
def places(atoms):  # type: ignore[no-untyped-def]
    """Return a number for the tile of each atom whose differences are offsets, shape (n,)."""
    at = np.empty(atoms.shape[0], np.int64)
    for i in range(atoms.shape[0]):
        tile = atoms[i] % TILES
        at[i] = tile // COLUMNS * SPAN + tile % COLUMNS
    return at


@njit(cache=True)
def end_of_colour(atoms, i, colour):  # type: ignore[no-untyped-def]
    """Return the end of the atoms of a colour that begin at i."""
    while i < atoms.shape[0] and atoms[i] // TILES == colour:
        i += 1
    return i
