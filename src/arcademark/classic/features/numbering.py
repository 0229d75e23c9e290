"""Numbers for the few features that are ever met, of many that there could be.

Of the 114,702,400 features of Blob-PROST a game shows some hundred thousand. Weights for all would take gigabytes, and
few on a page of memory would matter. So features are numbered 0, 1, 2, … as they are met, and weights need a row for
each number only::

    meet(change)      features ─→ numbers; features that were never met get the next ones
    recall(change)    features ─→ numbers; features that were never met are left out: their weights are 0

The numbering is part of what a learner has learnt: it keeps `features`, and `restore` takes them up again.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from arcademark.classic.features.base import Change


class Numbering:
    """Numbers of features, in the order in which they were first met; `known` is how many were."""

    def __init__(self, num_features: int) -> None:
        self.known = 0
        self._numbers = np.zeros(num_features, np.int32)  # one more than the number of each feature, 0 if it has none
        self._features = np.empty(1024, np.int32)

    @property
    def features(self) -> NDArray[np.int32]:
        """The feature of each number, shape (known,); a view that is valid until the next `meet` or `restore`."""
        return self._features[: self.known]

    def meet(self, change: Change) -> Change:
        """Return a change of features in numbers, in its order, and number those that came for the first time."""
        new = change.on[self._numbers[change.on] == 0]
        end = self.known + len(new)
        if end > len(self._features):
            self._features = np.append(self.features, np.empty(2 * end, np.int32))
        self._features[self.known : end] = new
        self._numbers[new] = np.arange(self.known + 1, end + 1)
        self.known = end
        return self.recall(change)

    def recall(self, change: Change) -> Change:
        """Return the numbers of the features of a change that were met before, in order."""
        on, off = (self._numbers[part] - np.int32(1) for part in change)
        return Change(on[on >= 0], off[off >= 0])

    def restore(self, features: NDArray[np.int32]) -> None:
        """Number features as `features` had them; ValueError, and no change, if one is there twice, or is none."""
        given = np.array(features, np.int32)
        if given.ndim != 1 or len(np.unique(given)) < len(given):
            raise ValueError("a feature is numbered twice")
        if len(given) and not 0 <= given.min() <= given.max() < len(self._numbers):
            raise ValueError(f"a numbered feature is none of 0 to {len(self._numbers) - 1}")
        self._numbers[self.features] = 0
        self._numbers[given] = np.arange(1, len(given) + 1, dtype=np.int32)
        self._features, self.known = given, len(given)
