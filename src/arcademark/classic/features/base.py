"""Interface of feature sets: from observations to the numbers of the active features.

Linear learners need only the features that are not zero, and only the changes of binary ones::

    begin() ─→ update(observation) ─→ Change(on, off) ─→ update(observation) ─→ …
                                        └─ or count(observation) ─→ Counts(features, counts): all that are not zero

A feature set keeps the state of one episode (the last screen, velocities); `begin` clears it. It draws no random
numbers while in use, and accepts observations of the shape that it was made for; other shapes are not checked.
`arcademark.classic.features.registry` lists the feature sets.

Optional members, for pictures: ``hidden``, uint8 of the screen's shape, the background that is subtracted (None if none
is), and ``classes_picture()``, which draws the classes of objects.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, Protocol, cast, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from arcademark.compiled import njit
from arcademark.errors import ArcadeMarkError

Observed = Literal["palette", "ram"]
"""Observations of a feature set: screens of 7-bit colours, or the console's memory."""


class Change(NamedTuple):
    """Binary features that became and ceased to be active, each once, in no particular order.

    Both arrays are valid until the next `update` or `begin` only.
    """

    on: NDArray[np.int32]
    off: NDArray[np.int32]


class Counts(NamedTuple):
    """The features that are not zero, each once, in no particular order, and their values.

    Both arrays, of shape (n,), are valid until the next `count` or `begin` only.
    """

    features: NDArray[np.int32]
    counts: NDArray[np.float32]


class _Features(Protocol):
    observed: Observed
    """Kind of observations for `update`."""

    num_features: int
    """Length of the whole vector."""

    def begin(self) -> None:
        """Forget the episode: nothing is active."""

    def describe(self, feature: int) -> str:
        """Describe one feature: "colour 26 in the tile of row 3, column 5"."""

    def picture(self, observation: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Draw the features of an observation, as colours of shape (height, width, 3), without changing any state."""


@runtime_checkable
class BinaryFeatures(_Features, Protocol):
    """Features that are 0 or 1."""

    def update(self, observation: NDArray[np.uint8]) -> Change:
        """Process the next observation of the episode.

        Parameters
        ----------
        observation : uint8 array
            Shape (210, 160), colours 0 to 127, if `observed` is "palette" (other sizes are possible: the toy game's);
            else (128,) bytes of memory.
        """


@runtime_checkable
class CountedFeatures(_Features, Protocol):
    """Features that are counts, or other numbers."""

    def count(self, observation: NDArray[np.uint8]) -> Counts:
        """Process the next observation of the episode; parameters as in `BinaryFeatures.update`."""


Features = BinaryFeatures | CountedFeatures


class Stages:
    """Binary features of features: each stage receives the changes of the one before."""

    num_features: int

    def _connect(self, *stages: Any) -> None:
        """Set the stages, objects with `begin` and `update`; the last one has the features."""
        self._stages = stages
        self.num_features = stages[-1].num_features

    def begin(self) -> None:
        """Forget the episode: nothing is active."""
        for stage in self._stages:
            stage.begin()

    def update(self, observation: NDArray[np.uint8]) -> Change:
        """Process the next observation of the episode; parameters as in `BinaryFeatures.update`."""
        seen: Any = observation
        for stage in self._stages:
            seen = stage.update(seen)
        return cast(Change, seen)


@njit(cache=True)
def changed_pixels(screen, last):  # type: ignore[no-untyped-def]
    """Return where two screens, uint8 (n,), differ, ascending; most words of eight pixels do not."""
    changed, count = np.empty(screen.size, np.int32), 0
    words = screen.size // 8
    new, old = screen[: 8 * words].view(np.uint64), last[: 8 * words].view(np.uint64)
    for word in range(words + 1):
        if word < words and new[word] == old[word]:
            continue
        for pixel in range(8 * word, min(8 * word + 8, screen.size)):
            if screen[pixel] != last[pixel]:
                changed[count] = pixel
                count += 1
    return changed[:count]


def check_feature(feature: int, num_features: int) -> None:
    """Refuse a feature that is not in ``range(num_features)``."""
    if not 0 <= feature < num_features:
        raise ArcadeMarkError(f"feature {feature}: expected 0 to {num_features - 1}")
