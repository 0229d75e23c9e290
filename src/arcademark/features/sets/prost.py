"""B-PROS, B-PROST and Blob-PROST: colours, and how far they are from each other (Liang et al. 2016).

========== ================================================================ ============ ===========
B-PROS     colours of tiles, and pairwise relative offsets in space         14 × 16      6,885,440
B-PROST    … and in time: from the screen before                            14 × 16      20,598,848
Blob-PROST the same of blobs instead of pixels, in smaller tiles            30 × 40      114,702,400
========== ================================================================ ============ ===========

The screen before is the one of the agent's last step, so five frames ago under the paper's protocol. On the first
screen of an episode there is none, and no feature of time is active.

What the number of features does not settle is taken from the authors' program (mcmachado/b-pro): the background is
taken away before B-PROS and B-PROST, as in Basic (its configuration asks for it), and not before Blob-PROST; a blob
stands in the tile of the middle of its box, rounded towards the top left; its pixels may be 3 rows and columns apart.
On the same screens the same features of offsets are active as in that program. It differs in its numbers (both signs of
an offset between equal colours have one, though only one is used), has one more feature that is always active, and its
Blob-PROST tells which tiles hold blobs regardless of colour, which the paper's number of features does not allow for.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numba import njit
from numpy.typing import NDArray

from arcademark.environments.emulation import facts
from arcademark.errors import ArcadeMarkError
from arcademark.features.base import Change, Observed, Stages, check_feature
from arcademark.features.colours import NumColours, game_colours
from arcademark.features.sets.basic import Basic, Hiding, Tiled
from arcademark.features.sets.blobs import UNSEEN, BlobFinder
from arcademark.features.sets.offsets import COLOURS, Offsets
from arcademark.features.sets.tiles import NOTHING

BLOB_ROWS, BLOB_COLUMNS = 30, 40
"""Tiles for blobs, of 7 rows and 4 columns of pixels."""

PROXIMITY = 3
"""How many rows and columns pixels of a blob may be apart: the default of the authors' program."""

MOST_PROXIMITY = 250
"""On no screen are pixels farther apart."""


@dataclass(eq=False, repr=False)
class BProst(Basic):
    """Colours in tiles, and their offsets in space and in time; a `base.BinaryFeatures`.

    Parameters, attributes and errors are those of `basic.Basic`, but for the colours: all are told apart.
    """

    colours: NumColours = field(default=128, init=False)

    time = True
    """Whether there are offsets in time."""

    def __post_init__(self) -> None:
        Tiled.__post_init__(self)
        self._offsets = make_offsets(self.rows, self.columns, self.time)
        super().__post_init__()
        self._connect(self._tiles, self._offsets)

    def describe(self, feature: int) -> str:
        """Say what a feature means: "colour 3 (#…), and colour 26 (#…) 2 rows below and 1 column left"."""
        check_feature(feature, self.num_features)
        return self._offsets.describe(feature, self._tiles.colours.names)


class BPros(BProst):
    """Colours in tiles, and their offsets in space; parameters as of `BProst`."""

    time = False


@dataclass(eq=False, repr=False, kw_only=True)
class _Neighbouring:
    """Which pixels make a blob.

    Parameters
    ----------
    proximity : int
        How many rows and columns neighbouring pixels of a blob may be apart; 1 if they must touch.
    """

    proximity: int = PROXIMITY


@dataclass(eq=False, repr=False)
class BlobProst(Stages, Hiding, _Neighbouring, Tiled):
    """Colours of the tiles in which blobs are, and their offsets in space and in time; a `base.BinaryFeatures`.

    Parameters, `hidden` and errors are those of `basic.Basic`, but for

    Parameters
    ----------
    rows, columns : int
        Tiles of the screen. A blob is in the tile of the middle of its box.
    background : bool
        Whether to take away the background; else its parts are blobs too.
    """

    rows: int = field(default=BLOB_ROWS, kw_only=True)
    columns: int = field(default=BLOB_COLUMNS, kw_only=True)
    background: bool = field(default=False, kw_only=True)
    observed: Observed = field(default="palette", init=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._offsets = make_offsets(self.rows, self.columns, True)
        if not 1 <= self.proximity <= MOST_PROXIMITY:
            raise ArcadeMarkError(f"proximity is {self.proximity}; expected 1 to {MOST_PROXIMITY} pixels")
        self.hidden = self.hide(self.env)
        self._colours = game_colours(self.env.game)
        shape = facts.screen_shape(self.env.game)
        self._spots = BlobSpots(shape, self.rows, self.columns, self.proximity, self.hidden)
        self._connect(self._spots, self._offsets)

    def describe(self, feature: int) -> str:
        """Say what a feature means: "a blob of colour 3 (#…), and one of colour 26 (#…) 2 rows below"."""
        check_feature(feature, self.num_features)
        return self._offsets.describe(feature, [f"a blob of {name}" for name in self._colours.names])

    def picture(self, observation: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Draw the box of each blob in its colour over grey, and over all the tiles in which they count."""
        return self._spots.picture(observation, self._colours.rgb)


class BlobSpots:
    """Which tiles hold the middle of a blob of which colour, given as changes.

    Pixels fall into tiles as in `tiles`; `background` holds the colour of each pixel that is not seen, None to see all.
    """

    def __init__(
        self, shape: tuple[int, int], rows: int, columns: int, proximity: int, background: NDArray[np.uint8] | None
    ) -> None:
        self._columns = columns
        self._row, self._column = (np.arange(n) * k // n for n, k in zip(shape, (rows, columns), strict=True))
        self._shape, self._proximity = shape, proximity
        self._finder = BlobFinder(*shape, proximity)
        self._hidden = np.full(shape, UNSEEN, np.uint8) if background is None else background
        self._screen = np.empty(shape, np.uint8)
        self._states = np.zeros(rows * columns * COLOURS, np.uint8)
        self._lists = np.empty((4, min(shape[0] * shape[1], len(self._states))), np.int32)
        self._active = 0

    def begin(self) -> None:
        """Forget the last screen: there is no blob."""
        self._states[:] = 0
        self._active = 0

    def update(self, observation: NDArray[np.uint8]) -> Change:
        """Return which spots, ``128 · tile + colour``, came and went with the next screen."""
        self._screen[...] = observation
        hide(self._screen.ravel(), self._hidden.ravel())
        blobs = self._finder.find(self._screen)
        self._active, on, off = change_spots(
            *(blobs, self._row, self._column, self._columns, self._states, self._active, self._lists)
        )
        return Change(self._lists[2, :on], self._lists[3, :off])

    def picture(self, observation: NDArray[np.uint8], rgb: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Draw the boxes and tiles of the blobs of a screen, in colours of shape (128, 3)."""
        image = np.full((*self._shape, 3), NOTHING, np.uint8)
        shown = np.where(observation == self._hidden, UNSEEN, observation & 127).astype(np.uint8)
        found = BlobFinder(*self._shape, self._proximity).find(shown)
        blobs = list(zip(*(part.tolist() for part in found), strict=True))
        for colour, top, bottom, left, right in blobs:
            image[[top, bottom], left : right + 1] = rgb[colour]
            image[top : bottom + 1, [left, right]] = rgb[colour]
        for colour, top, bottom, left, right in blobs:
            y = np.flatnonzero(self._row == self._row[(top + bottom) // 2])
            x = np.flatnonzero(self._column == self._column[(left + right) // 2])
            image[np.ix_(y, x)] = rgb[colour]
        return image


def make_offsets(rows: int, columns: int, time: bool) -> Offsets:
    """Return the features of tiles; ArcadeMarkError if there are too many tiles."""
    try:
        return Offsets(rows, columns, time)
    except ValueError as error:
        raise ArcadeMarkError(f"{error}; take fewer rows or columns") from None


@njit(cache=True)
def hide(screen, hidden):  # type: ignore[no-untyped-def]
    """Set a screen's pixels, uint8 (n,), to `UNSEEN` where they have the colour of the background, uint8 (n,)."""
    for i in range(screen.shape[0]):
        screen[i] = np.uint8(UNSEEN) if screen[i] == hidden[i] else np.uint8(screen[i] & 127)


@njit(cache=True)
def change_spots(blobs, row, column, columns, states, num_active, lists):  # type: ignore[no-untyped-def]
    """Find the spots of blobs; return how many are active, came and went.

    `row` and `column` are those of tiles for each of pixels; `states`, uint8 (spots,), is 1 where a spot is active;
    `lists`, int32 (4, ·), holds the `num_active` active spots, room for work, and the spots that came and that went.
    """
    colour, top, bottom, left, right = blobs
    num_now = num_on = num_off = 0
    for i in range(colour.shape[0]):
        tile = row[(top[i] + bottom[i]) // 2] * columns + column[(left[i] + right[i]) // 2]
        spot = tile * COLOURS + colour[i]
        if states[spot] < 2:
            lists[1, num_now] = spot
            num_now += 1
            if states[spot] == 0:
                lists[2, num_on] = spot
                num_on += 1
            states[spot] += 2
    for i in range(num_active):
        spot = lists[0, i]
        if states[spot] == 1:
            states[spot] = 0
            lists[3, num_off] = spot
            num_off += 1
    for i in range(num_now):
        lists[0, i] = lists[1, i]
        states[lists[1, i]] = 1
    return num_now, num_on, num_off
