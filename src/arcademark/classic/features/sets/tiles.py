"""Changes of the colours in each tile of the screen.

A pixel's tile is in row ``y * rows // height``, and its column likewise, so tiles may differ in size, and on a screen
with fewer pixels than tiles some are empty. A pixel of its background's colour is ignored::

    feature = (row * columns + column) * colours + colour        active while a pixel of the tile shows the colour

The counts of each tile's pixels by colour are updated with the changed pixels. A feature changes when a count rises
from or falls to zero.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from arcademark.classic.features.base import Change, changed_pixels
from arcademark.classic.features.blobs import UNSEEN
from arcademark.classic.features.colours import Colours
from arcademark.compiled import njit

NOTHING = (40, 40, 40)
"""Colour of tiles without features in pictures, a grey that is not among the console's colours."""


class ColourTiles:
    """Binary features: a colour in a tile.

    `background` is the ignored colour of each pixel; None to ignore none.
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
        self._counts = np.zeros(self.num_features, np.int32)
        self._active = np.zeros(self.num_features, bool)
        self._on, self._off = np.empty((2, self.num_features), np.int32)
        self.begin()

    def begin(self) -> None:
        """Forget the last screen: nothing is active, as on a screen that shows only the background."""
        self._last = self._hidden.copy()
        self._counts[:] = 0
        self._active[:] = False

    def update(self, observation: NDArray[np.uint8]) -> Change:
        """Return the changes since the last screen, uint8 (height, width)."""
        on, off = see(
            *(observation.flatten(), self._last, self._hidden, self._codes, self._first),
            *(self._counts, self._active, self._on, self._off),
        )
        return Change(self._on[:on], self._off[:off])

    def seen(self, observation: NDArray[np.uint8]) -> NDArray[np.bool_]:
        """Return the colours in each tile of a screen, bool (rows, columns, colours), without changing any state."""
        seen = np.zeros(self.num_features, bool)
        visible = observation != self._background
        seen[self._first.reshape(self._shape)[visible] + self.colours.codes[observation[visible]]] = True
        return seen.reshape(self.rows, self.columns, len(self.colours))

    def describe(self, feature: int) -> str:
        """Describe a feature: "green in the tile of row 3, column 5" (from 0)."""
        tile, colour = divmod(feature, len(self.colours))
        row, column = divmod(tile, self.columns)
        return f"{self.colours.names[colour]} in the tile of row {row}, column {column}"

    def picture(self, observation: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Draw the colours of each tile in horizontal bands, the lowest colour at the top; grey if there are none."""
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
    """Update the counts of colours with a screen; return the numbers of features in `on` and `off`.

    `last` is set to `screen`; `hidden` is the background, `codes` the colour of each byte, `first` the first feature of
    each pixel's tile, `counts` the number of pixels of each feature, `active` whether it is positive; `on` and `off`
    receive the features. All pixels change in one pass, so a count falls to zero at most once, and then rises from it
    at most once; features without a net change are removed in the end.
    """
    rose = fell = 0
    for pixel in changed_pixels(screen, last):
        now, before = screen[pixel], last[pixel]
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
        off[num_off] = feature
        if counts[feature] == 0:
            active[feature] = False
            num_off += 1
    for feature in on[:rose]:
        on[num_on] = feature
        num_on += not active[feature]
        active[feature] = True
    return num_on, num_off
