"""B-PROS, B-PROST and Blob-PROST: colours and their relative offsets (Liang et al. 2016).

========== ================================================================ ============ ===========
B-PROS     colours of tiles, and pairwise relative offsets in space         14 × 16      6,885,440
B-PROST    … and in time: from the last screen                              14 × 16      20,598,848
Blob-PROST the same of blobs instead of pixels, in smaller tiles            30 × 40      114,702,400
========== ================================================================ ============ ===========

The last screen is that of the agent's last step, so five frames ago under the paper's protocol. On the first screen of
an episode, no feature of time is active.

Details that the number of features does not determine are those of the authors' program (mcmachado/b-pro): the
background is subtracted for B-PROS and B-PROST, as in Basic (by its configuration), but not for Blob-PROST; a blob is
in the tile of the centre of its box, rounded towards the top left; its pixels may be 3 rows and columns apart. For the
same screens, the same features of offsets are active as in that program. The program differs in its numbering (both
signs of an offset between equal colours have a number, though only one is used), has one additional feature that is
always active, and its Blob-PROST has features for blobs in tiles regardless of colour, which the paper's number of
features excludes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from arcademark.classic.features.base import Change, check_feature
from arcademark.classic.features.blobs import BOTTOM, COLOUR, LEFT, RIGHT, TOP, UNSEEN, BlobFinder
from arcademark.classic.features.colours import NumColours, game_colours
from arcademark.classic.features.sets.basic import Basic, Columns, Rows
from arcademark.classic.features.sets.offsets import COLOURS, Offsets
from arcademark.classic.features.sets.tiles import NOTHING
from arcademark.environments.emulation import facts

BLOB_ROWS, BLOB_COLUMNS = 30, 40
"""Tiles of blobs, each 7 rows and 4 columns of pixels."""

PROXIMITY = 3
"""Maximum distance of neighbouring pixels of a blob in rows and columns: the default of the authors' program."""

MAX_PROXIMITY = 250
"""Maximum proximity: the height of the largest screen."""


@dataclass(eq=False, repr=False)
class BProst(Basic):
    """Colours in tiles, and their offsets in space and in time; a `base.BinaryFeatures`.

    Parameters, attributes and errors are those of `basic.Basic`, except that all colours are distinguished.
    """

    colours: NumColours = field(default=128, init=False)

    time = True
    """True if there are offsets in time."""

    def __post_init__(self) -> None:
        self._offsets = Offsets(self.rows, self.columns, self.time)
        super().__post_init__()
        self._connect(self._tiles, self._offsets)

    def describe(self, feature: int) -> str:
        """Describe a feature: "colour 3 (#…), and colour 26 (#…) 2 rows below and 1 column left"."""
        check_feature(feature, self.num_features)
        return self._offsets.describe(feature, self._tiles.colours.names)


class BPros(BProst):
    """Colours in tiles, and their offsets in space; parameters as in `BProst`."""

    time = False


@dataclass(eq=False, repr=False)
class BlobProst(BProst):
    """Colours of blobs in tiles, and their offsets in space and in time; a `base.BinaryFeatures`.

    Parameters, `hidden` and errors are those of `BProst`, except:

    Parameters
    ----------
    rows, columns : int
        Tiles of the screen. A blob is in the tile of the centre of its box.
    background : bool
        Whether to subtract the background; if not, its parts are blobs too.
    proximity : int
        Maximum distance of neighbouring pixels of a blob in rows and columns; 1 if they must touch.
    """

    rows: Rows = field(default=BLOB_ROWS, kw_only=True)
    columns: Columns = field(default=BLOB_COLUMNS, kw_only=True)
    background: bool = field(default=False, kw_only=True)
    proximity: Annotated[int, Meta(ge=1, le=MAX_PROXIMITY)] = field(default=PROXIMITY, kw_only=True)

    def __post_init__(self) -> None:
        self._offsets = Offsets(self.rows, self.columns, True)
        self._hide()
        self._colours = game_colours(self.env.game, suite=self.env.atari.suite)
        shape = facts.screen_shape(self.env.game, self.env.atari.suite)
        background = np.full(shape, UNSEEN, np.uint8) if self.hidden is None else self.hidden
        self._spots = BlobSpots(background, self.rows, self.columns, self.proximity)
        self._connect(self._spots, self._offsets)

    def describe(self, feature: int) -> str:
        """Describe a feature: "a blob of colour 3 (#…), and one of colour 26 (#…) 2 rows below"."""
        check_feature(feature, self.num_features)
        return self._offsets.describe(feature, [f"a blob of {name}" for name in self._colours.names])

    def picture(self, observation: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Draw the box of each blob in its colour on grey, and on top the tiles that contain their centres."""
        return self._spots.picture(observation, self._colours.rgb)


class BlobSpots:
    """Changes of the tiles with the centre of a blob, by colour; the tile of a pixel is that of `tiles`."""

    def __init__(self, background: NDArray[np.uint8], rows: int, columns: int, proximity: int) -> None:
        shape = background.shape
        self._row, self._column = (np.arange(n) * k // n for n, k in zip(shape, (rows, columns), strict=True))
        self._columns, self._num_spots = columns, rows * columns * COLOURS
        self._finder = BlobFinder(background, proximity)
        self.begin()

    def begin(self) -> None:
        """Forget the last screen: there are no blobs."""
        self._spots = np.empty(0, np.int32)
        self._active = np.zeros(self._num_spots, bool)

    def update(self, observation: NDArray[np.uint8]) -> Change:
        """Return the spots, ``128 · tile + colour``, that appeared and disappeared with the next screen."""
        _, blobs = self._finder.find(observation)
        spots = self._tiles(blobs) * COLOURS + blobs[:, COLOUR]
        spots = spots[np.sort(np.unique(spots, return_index=True)[1])].astype(np.int32)
        before, self._spots = self._spots, spots
        on = spots[~self._active[spots]]
        self._active[before], self._active[spots] = False, True
        return Change(on, before[~self._active[before]])

    def _tiles(self, blobs: NDArray[np.int32]) -> NDArray[np.int64]:
        """Return the tile of each blob's centre."""
        middle = (blobs[:, [TOP, LEFT]] + blobs[:, [BOTTOM, RIGHT]]) // 2
        tiles: NDArray[np.int64] = self._row[middle[:, 0]] * self._columns + self._column[middle[:, 1]]
        return tiles

    def picture(self, observation: NDArray[np.uint8], rgb: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Draw the boxes and tiles of the blobs of a screen, in colours of shape (128, 3)."""
        _, blobs = self._finder.find(observation)
        image = np.full((*observation.shape, 3), NOTHING, np.uint8)
        for top, left, bottom, right, colour in blobs.tolist():
            image[[top, bottom], left : right + 1] = rgb[colour]
            image[top : bottom + 1, [left, right]] = rgb[colour]
        for tile, colour in zip(self._tiles(blobs).tolist(), blobs[:, COLOUR].tolist(), strict=True):
            y, x = (
                np.flatnonzero(self._row == tile // self._columns),
                np.flatnonzero(self._column == tile % self._columns),
            )
            image[np.ix_(y, x)] = rgb[colour]
        return image
