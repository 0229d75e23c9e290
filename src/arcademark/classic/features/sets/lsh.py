"""Locality-sensitive hashing: random projections of the screen, one active feature each (Bellemare et al. 2013, A.4).

A vector consists of k random bits of the screen, each with a random hash value of 1 to M. The screen's bucket is the
sum, modulo M, of the hash values of the bits that are set::

    feature of vector i  =  M i + (sum of hash_i[j] over the bits j of vector i that are set) mod M

With the paper's l = 2,000 vectors, k = 1,000 and M = 50 there are 100,000 features, 2,000 of them active.

The paper's Algorithm 1 disagrees with the text of A.4 or with its purpose in these points:

* *Bits of a screen.* The text has 7 · 210 · 160 bits, the algorithm 128 colours. By default there is a bit for each
  pixel and colour, as in the algorithm; ``encoding="binary"`` has the seven digits of each pixel's colour instead.
* *Index of a bit.* The printed index, ``s[x + y h + I_xy]``, is the same for different bits (colour 1 of a pixel and
  colour 0 of its neighbour). Here every pixel and colour has a separate bit.
* *Summands.* The printed sum is over bits that are equal in screen and vector (``s_j = v_ij``): nearly all are 0 in
  both, so any changed pixel would change nearly every sum. Here the sum is over bits that are 1 in both, which agrees
  with the algorithm's remark that a step costs O(l k + n) with sparse vectors.
* *Initial sum.* ``h`` is never set to 0 between vectors. Here it is.

A screen sets 33,600 of 4,300,800 bits, so 7.8 of a vector's 1,000 on average, and two screens that differ in c pixels
have about exp(-0.00047 c) of the features in common: 63 % for 1,000 pixels. In random play with five frames per step,
24 % of the active features change in a typical step of Freeway, 12 % in Asterix, 25 % in Seaquest; with seven digits
per pixel, 98, 92 and 95 % change, so that similar screens have almost no features in common. The default is therefore
one bit per pixel and colour.

An index maps each bit to the vectors that contain it, so a step costs a comparison with the last screen, O(changed
pixels) and O(l), instead of O(l k). It takes 4 bytes per bit and 4 per entry, 25 MB with the paper's parameters.
"""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from arcademark.agents.parameters import Positive
from arcademark.classic.features.base import Change, Observed, changed_pixels, check_feature
from arcademark.classic.features.colours import game_colours
from arcademark.compiled import njit
from arcademark.environments.base import EnvironmentSpec
from arcademark.environments.emulation import facts
from arcademark.errors import ArcadeMarkError

Encoding = Literal["one-hot", "binary"]

COLOURS = 128
DIGITS = 7
MOST, MAX_FEATURES = 65_536, 2**31 - 1
MAX_ENTRIES = 100_000_000
"""Limits: an entry of the index is a vector and a hash value of 16 bits each, and the index takes at most 400 MB."""

UNSEEN_SHARE = 5
"""Divisor of the brightness of pixels that are in no vector, in pictures."""

Ints = NDArray[np.int32]
Entries = NDArray[np.uint32]


class Lsh:
    """A feature for each random vector and each bucket; a `base.BinaryFeatures`.

    There are ``vectors * table_size``, 100,000 by default; `vectors` of them are always active. ArcadeMarkError if a
    parameter is out of range.

    Parameters
    ----------
    env : EnvironmentSpec
        The game to be played; it determines the size of screens.
    vectors : int
        Number l of random vectors.
    nonzero : int
        Number k of different bits per vector.
    table_size : int
        Number M of buckets per vector.
    hash_seed : int
        Seed of the vectors and their hash values, which also depend on the screen's shape and the other parameters.
    encoding : {"one-hot", "binary"}
        Bits of a screen: one for each pixel and colour, or the binary digits of each pixel's colour.
    """

    observed: Observed = "palette"

    def __init__(
        self,
        env: EnvironmentSpec,
        *,
        vectors: Annotated[int, Meta(ge=1, le=MOST)] = 2000,
        nonzero: Positive = 1000,
        table_size: Annotated[int, Meta(ge=2, le=MOST)] = 50,
        hash_seed: Annotated[int, Meta(ge=0)] = 0,
        encoding: Encoding = "one-hot",
    ) -> None:
        height, width = self._shape = facts.screen_shape(env.game, env.atari.suite)
        self._planes, self._first_planes = colour_planes(encoding)
        num_bits = (int(self._planes.max()) + 1) * height * width
        if max(vectors * nonzero / MAX_ENTRIES, vectors * table_size / MAX_FEATURES, nonzero / num_bits) > 1:
            raise ArcadeMarkError(
                f"lsh: {vectors:,} vectors of {nonzero:,} of {num_bits:,} bits, in {table_size:,} buckets, are too many"
            )
        self.vectors, self.table_size = vectors, table_size
        self.num_features = vectors * table_size
        self._rgb = game_colours(env.game, suite=env.atari.suite).rgb
        self._entries, self._starts = make_index(num_bits, vectors, nonzero, table_size, hash_seed)
        self._last = np.full(height * width, COLOURS, np.uint8)
        self._sums = np.zeros(vectors, np.int32)
        self.begin()

    def begin(self) -> None:
        """Forget the episode: nothing is active."""
        self._buckets = np.full(self.vectors, -1, np.int32)

    def update(self, observation: NDArray[np.uint8]) -> Change:
        """Return the features that changed since the last screen, uint8 (height, width), both arrays ascending.

        The highest bit of each byte is ignored.
        """
        screen = observation.ravel() & np.uint8(COLOURS - 1)
        changed = changed_pixels(screen, self._last)
        index = self._planes, self._first_planes, self._entries, self._starts
        add_changes(changed, self._last, screen, *index, self.table_size, self._sums)
        self._last = screen
        moved = np.flatnonzero(self._sums != self._buckets).astype(np.int32)
        before, self._buckets = self._buckets[moved], self._sums.copy()
        left = moved[before >= 0] * self.table_size + before[before >= 0]
        return Change(moved * self.table_size + self._sums[moved], left)

    def describe(self, feature: int) -> str:
        """Describe a feature: "random vector 17 of 2000 has sum 3 modulo 50" (vectors from 0)."""
        check_feature(feature, self.num_features)
        vector, bucket = divmod(feature, self.table_size)
        return f"random vector {vector} of {self.vectors} has sum {bucket} modulo {self.table_size}"

    def picture(self, observation: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Draw the screen with bright pixels where a set bit is in a vector, and dark pixels elsewhere."""
        colours = observation & np.uint8(COLOURS - 1)
        looked_at = np.diff(self._starts).reshape(-1, *self._shape) > 0
        seen = np.zeros(self._shape, bool)
        for colour in np.unique(colours):
            planes = self._planes[self._first_planes[colour] : self._first_planes[colour + 1]]
            seen |= (colours == colour) & looked_at[planes].any(axis=0)
        rgb = self._rgb[colours]
        drawn: NDArray[np.uint8] = np.where(seen[..., None], rgb, rgb // np.uint8(UNSEEN_SHARE))
        return drawn


def colour_planes(encoding: Encoding) -> tuple[Ints, Ints]:
    """Return the planes of bits (a bit per pixel) that a pixel of each colour sets, and the first plane of each colour.

    The planes of all colours are concatenated; "one-hot" has one plane per colour, "binary" one for each of the seven
    digits of its number, the lowest first. An additional colour without planes represents a screen before the first.
    """
    numbers = np.arange(COLOURS)
    bits = {"one-hot": numbers[:, None] == numbers, "binary": numbers[:, None] >> np.arange(DIGITS) & 1}
    colours, planes = np.nonzero(bits[encoding])
    return planes.astype(np.int32), np.searchsorted(colours, np.arange(COLOURS + 2)).astype(np.int32)


def random_vectors(
    num_bits: int, vectors: int, nonzero: int, table_size: int, hash_seed: int
) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Draw `nonzero` different bits for each vector, ascending, and their hash values, 1 to `table_size`.

    They are computed from raw numbers of PCG64, which NumPy guarantees, so that a seed gives the same features with
    every version of NumPy.
    """
    source = np.random.PCG64(hash_seed)
    bits = _distinct(source, vectors, nonzero, num_bits)
    return bits, source.random_raw((vectors, nonzero)) % np.uint64(table_size) + np.uint64(1)


def _distinct(source: np.random.PCG64, rows: int, count: int, end: int) -> NDArray[np.uint64]:
    """Draw `count` different numbers below `end` for each row, in ascending order."""
    if 2 * count > end:
        chosen = np.ones((rows, end), bool)
        np.put_along_axis(chosen, _distinct(source, rows, end - count, end).astype(np.int64), False, axis=1)
        return np.nonzero(chosen)[1].astype(np.uint64).reshape(rows, count)
    drawn = source.random_raw((rows, count)) % np.uint64(end)
    drawn.sort(axis=1)
    for i in np.flatnonzero((drawn[:, 1:] == drawn[:, :-1]).any(axis=1)):
        row = np.unique(drawn[i])
        while len(row) < count:
            row = np.unique(np.append(row, source.random_raw(count - len(row)) % np.uint64(end)))
        drawn[i] = row
    return drawn


def make_index(num_bits: int, vectors: int, nonzero: int, table_size: int, hash_seed: int) -> tuple[Entries, Ints]:
    """Draw the random vectors and index them by bit.

    The entries, ``vector << 16 | hash value mod table_size``, are sorted by bit, then by vector; `starts`, int32
    (num_bits + 1,), is the first entry of each bit.
    """
    bits, values = random_vectors(num_bits, vectors, nonzero, table_size, hash_seed)
    owners = np.arange(vectors, dtype=np.uint64)[:, None]
    keys = (bits << np.uint64(32) | owners << np.uint64(16) | values % np.uint64(table_size)).ravel()
    keys.sort()
    starts = np.zeros(num_bits + 1, np.int32)
    np.cumsum(np.bincount((keys >> np.uint64(32)).view(np.int64), minlength=num_bits), out=starts[1:])
    return keys.astype(np.uint32), starts


@njit(cache=True)
def add_changes(changed, last, screen, planes, first_planes, entries, starts, table_size, sums):  # type: ignore[no-untyped-def]
    """Bring the vectors' sums, int32 (vectors,), up to date with a screen that differs from `last` in some pixels.

    Bit ``plane * pixels + pixel`` of `entries` and `starts`; planes as in `colour_planes`.
    """
    for pixel in changed:
        for colour, sign in ((last[pixel], -1), (screen[pixel], 1)):
            for place in range(first_planes[colour], first_planes[colour + 1]):
                bit = planes[place] * screen.shape[0] + pixel
                for e in range(starts[bit], starts[bit + 1]):
                    vector = np.int64(entries[e] >> 16)
                    sums[vector] = (sums[vector] + table_size + sign * np.int64(entries[e] & 0xFFFF)) % table_size
