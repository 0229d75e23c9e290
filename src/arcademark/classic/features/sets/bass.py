"""BASS: the eight SECAM colours in each tile of the screen, and all pairs of those.

BASS differs from Basic in two respects (Bellemare et al. 2013, §3.1.1 and Appendix A.1): there are eight colours, so
1,792 features of a colour in a tile; and "pairwise combinations" of these are features too, here all pairs of different
features, which are active while both are: 1,606,528 in all.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from arcademark.classic.features.base import check_feature
from arcademark.classic.features.colours import NumColours
from arcademark.classic.features.sets.basic import Basic
from arcademark.classic.features.sets.pairs import Pairs
from arcademark.errors import ArcadeMarkError

MOST = 65_535
"""Maximum number of features to pair, so that pairs have 32-bit numbers."""


@dataclass(eq=False, repr=False)
class Bass(Basic):
    """Colours in tiles, and pairs of them; a `base.BinaryFeatures`.

    Parameters, attributes and errors are those of `basic.Basic`, except:

    Parameters
    ----------
    colours : {8, 128}
        Number of distinguished colours: those of SECAM, or all (with few tiles: at most 65,535 features are paired).
    """

    colours: NumColours = field(default=8, kw_only=True)

    def __post_init__(self) -> None:
        rows, columns, colours = self.rows, self.columns, self.colours
        if (number := rows * columns * colours) > MOST:
            raise ArcadeMarkError(
                f"{rows} rows x {columns} columns x {colours} colours are {number} features; {MOST} at most are paired"
            )
        super().__post_init__()
        self._pairs = Pairs(self.num_features)
        self._connect(self._tiles, self._pairs)

    def describe(self, feature: int) -> str:
        """Describe a feature: "green in the tile of row 3, column 5", or two such joined by "and"."""
        check_feature(feature, self.num_features)
        return self._pairs.describe(feature, self._tiles.describe)
