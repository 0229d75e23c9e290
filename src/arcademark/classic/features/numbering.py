"""Numbers for the features that occur in a game, a small part of all features.

A game shows about a hundred thousand of the 114,702,400 features of Blob-PROST. Weights for all would take gigabytes,
most of them unused. Features are therefore numbered 0, 1, 2, … at their first occurrence, and only numbered features
have a row of weights::

    meet(change)      features ─→ numbers; new features receive the next numbers
    recall(change)    features ─→ numbers; unnumbered features are omitted: their weights are 0

A learner saves `features` with its weights, and `restore` restores them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from arcademark.classic.features.base import Change


class Numbering:
    """Numbers of features in the order of their first occurrence; `known` is their count."""

    def __init__(self, num_features: int) -> None:
        self.known = 0
        self._numbers = np.zeros(num_features, np.int32)  # one more than the number of each feature, 0 if it has none
        self._features = np.empty(1024, np.int32)

    @property
    def features(self) -> NDArray[np.int32]:
        """The feature of each number, shape (known,); a view that is valid until the next `meet` or `restore`."""
        return self._features[: self.known]

    def meet(self, change: Change) -> Change:
        """Number the new features of a change; return the change in numbers, in its order."""
        new = change.on[self._numbers[change.on] == 0]
        end = self.known + len(new)
        if end > len(self._features):
            self._features = np.append(self.features, np.empty(2 * end, np.int32))
        self._features[self.known : end] = new
        self._numbers[new] = np.arange(self.known + 1, end + 1)
        self.known = end
        return self.recall(change)

    def recall(self, change: Change) -> Change:
        """Return the numbers of the numbered features of a change, in its order."""
        on, off = (self._numbers[part] - np.int32(1) for part in change)
        return Change(on[on >= 0], off[off >= 0])

    def restore(self, features: NDArray[np.int32]) -> None:
        """Number features as in `features`; ValueError, without a change, if one is repeated or out of range."""
        given = np.array(features, np.int32)
        if given.ndim != 1 or len(np.unique(given)) < len(given):
            raise ValueError("a feature is numbered twice")
        if len(given) and not 0 <= given.min() <= given.max() < len(self._numbers):
            raise ValueError(f"a numbered feature is not from 0 to {len(self._numbers) - 1}")
        self._numbers[self.features] = 0
        self._numbers[given] = np.arange(1, len(given) + 1, dtype=np.int32)
        self._features, self.known = given, len(given)
