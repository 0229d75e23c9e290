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
from numba import njit
from numpy.typing import NDArray

from arcademark.features.base import Change


class Numbering:
    """Numbers of features, in the order in which they were first met; `known` is how many were."""

    def __init__(self, num_features: int) -> None:
        self.known = 0
        self._numbers = np.zeros(num_features, np.int32)
        self._features = np.empty(1024, np.int32)
        self._on, self._off = np.empty((2, 1024), np.int32)

    @property
    def features(self) -> NDArray[np.int32]:
        """The feature of each number, shape (known,); a view that is valid until the next `meet` or `restore`."""
        return self._features[: self.known]

    def meet(self, change: Change) -> Change:
        """Return a change of features in numbers, in its order, and number those that came for the first time.

        Valid until the next call; what goes must have come.
        """
        self._make_room(len(change.on), len(change.off))
        needed = self.known + len(change.on)
        if needed > len(self._features):
            more = np.empty(2 * needed, np.int32)
            more[: self.known] = self.features
            self._features = more
        self.known = number(self._numbers, self._features, self.known, change.on, self._on)
        off = look_up(self._numbers, change.off, self._off)
        return Change(self._on[: len(change.on)], self._off[:off])

    def recall(self, change: Change) -> Change:
        """Return the numbers of the features of a change that were met before, in order; valid until the next call."""
        self._make_room(len(change.on), len(change.off))
        on = look_up(self._numbers, change.on, self._on)
        off = look_up(self._numbers, change.off, self._off)
        return Change(self._on[:on], self._off[:off])

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

    def _make_room(self, on: int, off: int) -> None:
        if on > len(self._on):
            self._on = np.empty(2 * on, np.int32)
        if off > len(self._off):
            self._off = np.empty(2 * off, np.int32)


@njit(cache=True)
def number(numbers, features, known, met, found):  # type: ignore[no-untyped-def]
    """Write the numbers of features into `found`, new ones numbered from `known` on; return how many are known now.

    `numbers`, int32 (num_features,), has one more than the number of each feature, 0 if it has none.
    """
    for i in range(met.shape[0]):
        feature = met[i]
        if numbers[feature] == 0:
            features[known] = feature
            known += 1
            numbers[feature] = known
        found[i] = numbers[feature] - 1
    return known


@njit(cache=True)
def look_up(numbers, met, found):  # type: ignore[no-untyped-def]
    """Write the numbers of those features that have one, and return how many these are; arguments as of `number`."""
    num = 0
    for feature in met:
        found[num] = numbers[feature] - 1
        num += numbers[feature] != 0
    return num
