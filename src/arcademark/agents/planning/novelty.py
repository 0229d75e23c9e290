"""Kernels of `features`: which atoms a screen holds, and whether they are novel.

Depths are 16 bits wide; an atom that was never met has 65,535. "Enter" writes the depth over greater ones and returns
whether it did; "hold" returns whether some depth is at least the given one, and writes nothing.
"""

from __future__ import annotations

import numpy as np
from numba import njit

UNSEEN = np.uint16(65535)
"""Depth of an atom that was never met: beyond all depths."""
ROWS, COLUMNS, COLOURS = 14, 16, 128
TILES = ROWS * COLUMNS
SPAN = 2 * COLUMNS - 1
"""Offsets along a row."""
NO_OFFSET = (ROWS - 1) * SPAN + COLUMNS - 1
"""Number of the offset of a tile from itself."""


@njit(cache=True)
def enter_numbers(depths, atoms, depth):  # type: ignore[no-untyped-def]
    """Enter atoms, uint16 (n,), into depths, uint16 (atoms there are,)."""
    novel = False
    for atom in atoms:
        if depths[atom] > depth:
            depths[atom] = depth
            novel = True
    return novel


@njit(cache=True)
def numbers_hold(depths, atoms, depth):  # type: ignore[no-untyped-def]
    """Return whether one of the atoms, uint16 (n,), was met at no smaller depth."""
    for atom in atoms:  # noqa: SIM110
        if depths[atom] >= depth:
            return True
    return False


@njit(cache=True)
def find_tiles(screen, rows, columns, out):  # type: ignore[no-untyped-def]
    """Write the numbers of the colours in each tile of a screen, ``colour · 224 + tile``, ascending; return how many.

    The screen, uint8, holds twice the colour; its lowest bit is none of the colour's. `rows` and `columns` are where
    tiles begin and end.
    """
    tiles = np.empty((COLOURS, TILES), np.uint8)
    counts = np.zeros(COLOURS, np.int64)
    for r in range(ROWS):
        for c in range(COLUMNS):
            tile = r * COLUMNS + c
            last = -1
            for y in range(rows[r], rows[r + 1]):
                for x in range(columns[c], columns[c + 1]):
                    colour = screen[y, x] >> 1
                    if colour == last:
                        continue
                    last = colour
                    n = counts[colour]
                    if n == 0 or tiles[colour, n - 1] != tile:
                        tiles[colour, n] = tile
                        counts[colour] = n + 1
    count = 0
    for colour in range(COLOURS):
        for i in range(counts[colour]):
            out[count] = colour * TILES + tiles[colour, i]
            count += 1
    return count


@njit(cache=True)
def meet_space(depths, used, atoms, old, depth, enter):  # type: ignore[no-untyped-def]
    """Meet all pairs of atoms of one screen, each with itself too, but for pairs of old ones.

    A pair has the smaller colour first; of equal colours, the earlier tile. `depths`, uint16 (128, 128, 837), has a row
    for two colours and a column for the offset, rows · 31 + columns + 418; `used` says which rows are filled. `atoms`
    ascend. Without `enter` nothing is written, and the first that holds ends the search.
    """
    return meet_pairs(depths, used, atoms[~old[atoms]], atoms, True, depth, enter)


@njit(cache=True)
def meet_time(depths, used, atoms, before, olds, depth, enter):  # type: ignore[no-untyped-def]
    """Meet all pairs of an atom of the screen before and one of this screen, in this order, but for pairs of old ones.

    `olds` are the old ones of this screen and of the one before; the others are as in `meet_space`.
    """
    old, old_before = olds[0][atoms], olds[1][before]
    novel = meet_pairs(depths, used, before[old_before], atoms[~old], False, depth, enter)
    if novel and not enter:
        return True
    return meet_pairs(depths, used, before[~old_before], atoms, False, depth, enter) or novel


@njit(cache=True)
def meet_pairs(depths, used, first, second, unordered, depth, enter):  # type: ignore[no-untyped-def]
    """Meet all pairs of one of `first` and one of `second`, colours by colours."""
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
    """Return a number for the tile of each atom such that differences are offsets, shape (n,)."""
    at = np.empty(atoms.shape[0], np.int64)
    for i in range(atoms.shape[0]):
        tile = atoms[i] % TILES
        at[i] = tile // COLUMNS * SPAN + tile % COLUMNS
    return at


@njit(cache=True)
def end_of_colour(atoms, i, colour):  # type: ignore[no-untyped-def]
    """Return where the atoms of a colour that begin at i end."""
    while i < atoms.shape[0] and atoms[i] // TILES == colour:
        i += 1
    return i


@njit(cache=True)
def shrink(screen, gray, levels, cell):  # type: ignore[no-untyped-def]
    """Shrink a screen to mean shades of grey, `gray` of each of its bytes, and cut these into levels, 1 to 256.

    Exact in whole numbers: a row of the screen is as wide as `cell` is high, in a unit that divides both.
    """
    big_h, big_w = screen.shape
    h, w = cell.shape
    sums = np.empty(big_w, np.int64)
    for i in range(h):
        top, bottom = i * big_h, (i + 1) * big_h
        sums[:] = 0
        for y in range(top // h, -(-bottom // h)):
            weight = min((y + 1) * h, bottom) - max(y * h, top)
            for x in range(big_w):
                sums[x] += weight * gray[screen[y, x]]
        for j in range(w):
            left, right = j * big_w, (j + 1) * big_w
            total = 0
            for x in range(left // w, -(-right // w)):
                total += (min((x + 1) * w, right) - max(x * w, left)) * sums[x]
            cell[i, j] = total * levels // (256 * big_h * big_w)
