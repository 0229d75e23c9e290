"""Which colours show in which tile of the screen, given as changes.

A pixel's tile is in row ``y * rows // height``, and its column likewise, so tiles need not be of one size, and on a
screen of fewer pixels than tiles some are empty. A pixel whose colour is its background's is not seen::

    feature = (row * columns + column) * colours + colour        active while a pixel of the tile shows the colour

The pixels of a tile that show a colour are counted once, then only those that changed, found by comparing the screen
with the last one in words of eight bytes. A feature changes where a count rises from or falls to nothing.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from arcademark.features.base import Change
from arcademark.features.colours import Colours

UNSEEN = 255
"""A byte that no screen of 7-bit colours holds: a background of it hides nothing."""

GROUP = 32
"""Words that are compared at once."""

NOTHING = (40, 40, 40)
"""What a tile without colours is drawn in, a grey that is none of the console's colours."""


class ColourTiles:
    """Binary features: a colour in a tile.

    `background` holds the colour of each pixel that is not seen; None to see everything.
    """

    def __init__(
        self,
        shape: tuple[int, int],
        rows: int,
        columns: int,
        colours: Colours,
        background: NDArray[np.uint8] | None = None,
    ) -> None:
        self.rows, self.columns, self.colours = rows, columns, colours
        self.num_features = rows * columns * len(colours)
        row, column = (np.arange(size) * tiles // size for size, tiles in zip(shape, (rows, columns), strict=True))
        first = (row[:, None] * columns + column) * len(colours)
        self._shape, self._row, self._column = shape, row, column
        self._codes = colours.codes
        self._first = first.astype(np.int32).ravel()
        self._background = np.full(shape, UNSEEN, np.uint8) if background is None else background
        self._hidden = self._background.ravel()
        groups = -(-self._hidden.size // (8 * GROUP))
        self._flat, self._last = np.zeros((2, groups * GROUP * 8), np.uint8)
        self._screen = self._flat[: self._hidden.size].reshape(shape)
        self._counts = np.zeros(self.num_features, np.int32)
        self._active = np.zeros(self.num_features, bool)
        self._on, self._off = np.empty((2, self.num_features), np.int32)
        self.begin()

    def begin(self) -> None:
        """Forget the last screen: nothing is seen, as on a screen that shows the background alone."""
        self._last[: self._hidden.size] = self._hidden
        self._counts[:] = 0
        self._active[:] = False

    def update(self, observation: NDArray[np.uint8]) -> Change:
        """Return what changed since the last screen, uint8 (height, width)."""
        self._screen[...] = observation
        on, off = self._on, self._off
        num_on, num_off = see(
            self._flat, self._last, self._hidden, self._codes, self._first, self._counts, self._active, on, off
        )
        return Change(on[:num_on], off[:num_off])

    def seen(self, observation: NDArray[np.uint8]) -> NDArray[np.bool_]:
        """Return which colours show in which tiles of a screen, bool (rows, columns, colours); changes nothing."""
        found = np.zeros(self.num_features, bool)
        shown = observation != self._background
        found[self._first.reshape(self._shape)[shown] + self.colours.codes[observation[shown]]] = True
        return found.reshape(self.rows, self.columns, len(self.colours))

    def describe(self, feature: int) -> str:
        """Say what a feature means: "green in the tile of row 3, column 5" (from 0)."""
        tile, colour = divmod(feature, len(self.colours))
        row, column = divmod(tile, self.columns)
        return f"{self.colours.names[colour]} in the tile of row {row}, column {column}"

    def picture(self, observation: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Draw each tile in the colours that show there, in bands from the lowest colour down, or in grey."""
        image = np.empty((*self._shape, 3), np.uint8)
        image[:] = NOTHING
        seen = self.seen(observation)
        for row, column in np.argwhere(seen.any(axis=2)).tolist():
            present = np.flatnonzero(seen[row, column])
            y, x = np.flatnonzero(self._row == row), np.flatnonzero(self._column == column)
            bands = present[np.arange(y.size) * present.size // y.size]
            image[np.ix_(y, x)] = self.colours.rgb[bands][:, None]
        return image


@njit(cache=True)
def see(screen, last, hidden, codes, first, counts, active, on, off):  # type: ignore[no-untyped-def]
    """Bring the counts of colours up to date with a screen; return how many features became and ceased to be active.

    `screen` and `last`, which becomes equal to it, are filled up to a whole group of words; `hidden` is the background,
    `codes` the colour of each byte, `first` the first feature of each pixel's tile, `counts` the pixels that show each
    feature, `active` where it is positive; `on` and `off` receive the features. Pixels lose their old colours and gain
    their new ones in one pass, so a count falls to nothing at most once, and rises from it at most once, after that.
    """
    rose = fell = 0
    words = changed_words(screen.view(np.uint64), last.view(np.uint64))
    for word in words:
        for pixel in range(8 * word, 8 * word + 8):
            now, before = screen[pixel], last[pixel]
            if now == before:
                continue
            last[pixel] = now
            if before != hidden[pixel]:
                feature = first[pixel] + codes[before]
                counts[feature] -= 1
                if counts[feature] == 0:
                    off[fell] = feature
                    fell += 1
            if now != hidden[pixel]:
                feature = first[pixel] + codes[now]
                counts[feature] += 1
                if counts[feature] == 1:
                    on[rose] = feature
                    rose += 1
    num_on = num_off = 0
    for feature in off[:fell]:
        if counts[feature] == 0:
            active[feature] = False
            off[num_off] = feature
            num_off += 1
    for feature in on[:rose]:
        if not active[feature]:
            active[feature] = True
            on[num_on] = feature
            num_on += 1
    return num_on, num_off


@njit(cache=True)
def changed_words(new, old):  # type: ignore[no-untyped-def]
    """Return where two arrays, uint64 (a multiple of 32,), differ, ascending; equal groups of 32 words cost little."""
    found = np.empty(new.size, np.int32)
    count = 0
    for begin in range(0, new.size, GROUP):
        group, old_group = new[begin : begin + GROUP], old[begin : begin + GROUP]
        difference = np.uint64(0)
        for i in range(GROUP):
            difference |= group[i] ^ old_group[i]
        if difference != 0:
            for i in range(GROUP):
                if group[i] != old_group[i]:
                    found[count] = begin + i
                    count += 1
    return found[:count]
