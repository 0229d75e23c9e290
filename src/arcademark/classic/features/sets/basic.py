"""Basic: which colours show in which tile of the screen, once the background is taken away.

Bellemare et al. (2013, §3.1.1 and Appendix A.1) divide the screen into 16 × 14 tiles, with a feature for each tile and
each of the 128 colours: 28,672 in all. A pixel that shows its background's colour is not seen. The background is taken
away first, in full colour; so where only eight colours are told apart, a pixel is seen that differs from its background
in hue alone. (The paper has the same order, and says no more.)
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import Annotated

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from arcademark.classic.features.base import Observed, Positive, Stages, check_feature
from arcademark.classic.features.colours import NumColours, game_colours
from arcademark.classic.features.sets import background as backgrounds
from arcademark.classic.features.sets.tiles import ColourTiles
from arcademark.environments.base import EnvironmentSpec
from arcademark.environments.emulation import facts
from arcademark.errors import ArcadeMarkError

ROWS, COLUMNS = 14, 16
"""Tiles of the screen (Bellemare et al. 2013, §3.1.1: 16 × 14)."""

Rows = Annotated[int, Meta(ge=1, le=250)]
Columns = Annotated[int, Meta(ge=1, le=160)]
"""As many as the largest screen has of pixels."""


@dataclass(eq=False, repr=False)
class Basic(Stages):
    """A feature for each tile and each colour; a `base.BinaryFeatures`.

    `hidden`, uint8 (height, width), are the colours that are not seen; None where nothing is taken away.
    ArcadeMarkError: the trajectory cannot be read, or no background is to be found for it.

    Parameters
    ----------
    env : EnvironmentSpec
        The game to be played.
    rows, columns : int
        Tiles of the screen.
    colours : {128, 8}
        Colours that are told apart: all, or those of SECAM.
    background : bool
        Whether to take away the background.
    background_screens : int
        Sample screens in which it is found.
    trajectory : str, optional
        File of actions that the samples follow at first; without one they are of random play.
    """

    env: EnvironmentSpec
    _: KW_ONLY
    rows: Rows = ROWS
    columns: Columns = COLUMNS
    colours: NumColours = 128
    background: bool = True
    background_screens: Positive = backgrounds.SCREENS
    trajectory: str | None = None
    observed: Observed = field(default="palette", init=False)

    def __post_init__(self) -> None:
        self._hide()
        suite = self.env.atari.suite
        shape, known = facts.screen_shape(self.env.game, suite), game_colours(self.env.game, self.colours, suite)
        self._tiles = ColourTiles(shape, self.rows, self.columns, known, self.hidden)
        self._connect(self._tiles)

    def _hide(self) -> None:
        """Find the background that is to be taken away."""
        self.hidden: NDArray[np.uint8] | None = None
        if self.background:
            self.hidden = backgrounds.background(self.env, self.background_screens, self.trajectory)
        elif self.trajectory is not None:
            raise ArcadeMarkError(
                "a trajectory is followed to find the background; leave it out, or set background=true"
            )

    def describe(self, feature: int) -> str:
        """Say what a feature means: "colour 26 (#…) in the tile of row 3, column 5" (from 0)."""
        check_feature(feature, self.num_features)
        return self._tiles.describe(feature)

    def picture(self, observation: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Draw each tile in the colours that show there, in bands from the lowest colour down, or in grey."""
        return self._tiles.picture(observation)
