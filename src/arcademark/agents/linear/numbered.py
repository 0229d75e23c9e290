"""Action values on binary features of which few are ever met: a row of weights for each that was.

B-PROST has 20.6 million features and Blob-PROST 114.7 million; rows for all of them would take gigabytes. So features
are numbered as they are met (see `features.numbering`), and what `binary` keeps of a feature is kept of its number.
Results are the same to the last bit: nothing depends on where a row stands.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from arcademark.agents.linear.binary import BinaryValues
from arcademark.agents.linear.rows import LANES
from arcademark.features.base import Change
from arcademark.features.numbering import Numbering

MANY = 1 << 22
"""From so many features on, they are numbered."""
ROWS = 1 << 16
"""Rows at first, twice as many as are needed whenever more are."""


class NumberedValues(BinaryValues):
    """A `base.LinearValues` on features that are 0 or 1, of which few are ever met.

    Parameters are those of `BinaryValues`, and `rows`, how many rows of weights there are at first, at least 1.
    """

    def __init__(
        self,
        num_features: int,
        num_actions: int,
        decay: float,
        threshold: float,
        dtype: DTypeLike = np.float32,
        rows: int = ROWS,
    ) -> None:
        super().__init__(rows, num_actions, decay, threshold, dtype)
        self.numbering = Numbering(num_features)

    @property
    def features(self) -> NDArray[np.int32]:
        """The feature of each row of `weights` that is in use, shape (n,)."""
        return self.numbering.features

    def recall(self, seen: Change) -> Change:
        """Return a change in rows of weights; features that were never met in training have none."""
        return self.numbering.recall(seen)

    def see(self, seen: Change) -> None:
        """See the state that followed."""
        numbered = self.numbering.meet(seen)
        self._make_rows()
        super().see(numbered)

    def restore(self, features: NDArray[np.int32], weights: NDArray[Any]) -> None:
        """Take up weights, between `end` and `begin`; ValueError if a feature is there twice or is none."""
        self.numbering.restore(features)
        self.weights[:] = 0
        self._make_rows()
        self.weights[: len(features)] = weights

    def _make_rows(self) -> None:
        known, rows = self.numbering.known, len(self.weights)
        if known <= rows:
            return
        weights = np.zeros((2 * known, LANES), self.weights.dtype)
        of = np.zeros(2 * known, np.int32)
        weights[:rows] = self.weights
        of[:rows] = self._groups.of
        self.weights, self._groups = weights, self._groups._replace(of=of)
