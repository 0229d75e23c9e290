"""Basic: the colours in each tile of the screen, after background subtraction.

Bellemare et al. (2013, §3.1.1 and Appendix A.1) divide the screen into 16 × 14 tiles, with a feature for each tile and
each of the 128 colours: 28,672 in all. Pixels of the background's colour are ignored. The background is subtracted
first, in full colour; so even if only eight colours are distinguished, a pixel that differs from the background only in
hue is not ignored. (The paper has the same order, without details.)
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import Annotated

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from arcademark.agents.parameters import Positive
from arcademark.classic.features.base import Observed, Stages, check_feature
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
"""At most the pixels of the largest screen."""


@dataclass(eq=False, repr=False)
class Basic(Stages):
    """A feature for each tile and each colour; a `base.BinaryFeatures`.

    `hidden`, uint8 (height, width), is the background; None if it is not subtracted. ArcadeMarkError: the trajectory
    cannot be read, or is given without background subtraction.

    Parameters
    ----------
    env : EnvironmentSpec
        The game to be played.
    rows, columns : int
        Tiles of the screen.
    colours : {128, 8}
        Number of distinguished colours: all, or those of SECAM.
    background : bool
        Whether to subtract the background.
    background_screens : int
        Sample screens for the background.
    trajectory : str, optional
        File of actions at the start of the sample episodes; without one, they are random play.
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
        """Find the background."""
        self.hidden: NDArray[np.uint8] | None = None
        if self.background:
            self.hidden = backgrounds.background(self.env, self.background_screens, self.trajectory)
        elif self.trajectory is not None:
            raise ArcadeMarkError(
                "a trajectory is followed to find the background; leave it out, or set background=true"
            )

    def describe(self, feature: int) -> str:
        """Describe a feature: "colour 26 (#…) in the tile of row 3, column 5" (from 0)."""
        check_feature(feature, self.num_features)
        return self._tiles.describe(feature)

    def picture(self, observation: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Draw the colours of each tile in horizontal bands, the lowest colour at the top; grey if there are none."""
        return self._tiles.picture(observation)
