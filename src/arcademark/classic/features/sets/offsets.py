"""Pairwise relative offsets of colours in tiles, independent of their position on the screen.

A spot is a colour in a tile. The features of Liang et al. (2016) are computed from the spots of the screen and of the
last one, in three blocks::

    spots   colour k in tile t                              rows · columns · 128
    space   colours k <= m, offset: a spot of k, and        8,128 pairs of different colours, all offsets;
            one of m at the offset from it                  128 equal ones, half of the offsets
    time    colours k, m, offset: a spot of k on the        16,384 pairs, all offsets
            last screen, and one of m now at the offset

There are (2 rows - 1)(2 columns - 1) offsets; for two equal colours only one of d and -d has a feature: down, right in
the same row, or zero. A feature is active while at least one pair of spots has its offset. Pairs are counted, and the
counts are updated with the pairs of each spot that appears or disappears.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arcademark.classic.features.base import Change
from arcademark.compiled import njit
from arcademark.errors import ArcadeMarkError

COLOURS = 128
ACTIVE = 1 << 15
"""Bit in the count of a feature that was reported as active."""
MAX_TILES = (1 << 15) - 1
"""Maximum number of pairs of spots with the same offset, so that the highest bit of counts is free."""


class Offsets:
    """Spots, and the offsets between them, on one screen and, with `time`, from the last screen.

    The features are `num_spots`, `num_space` and `num_time`, in this order. ArcadeMarkError if there are more than
    32,767 tiles, or more features than an int32 can number.
    """

    def __init__(self, rows: int, columns: int, time: bool) -> None:
        self.rows, self.columns = rows, columns
        tiles = rows * columns
        self._offsets = (2 * rows - 1) * (2 * columns - 1)
        self._half = (self._offsets + 1) // 2
        self.num_spots = tiles * COLOURS
        self.num_space = COLOURS * self._half + COLOURS * (COLOURS - 1) // 2 * self._offsets
        self.num_time = COLOURS * COLOURS * self._offsets if time else 0
        self.num_features = self.num_spots + self.num_space + self.num_time
        if tiles > MAX_TILES or self.num_features > np.iinfo(np.int32).max:
            raise ArcadeMarkError(
                f"{tiles:,} tiles: {self.num_features:,} features are too many; take fewer rows or columns"
            )
        self._time = time
        self._starts = self._first_features()
        self._places = place_numbers(rows, columns)
        self.begin()
        self._on = np.empty(1024, np.int32)
        self._off = np.empty(1024, np.int32)

    def _first_features(self) -> NDArray[np.int32]:
        """Return the first feature of each pair of colours, shape (kinds, 128, 128): space, time, time transposed."""
        starts = np.zeros((3, COLOURS, COLOURS), np.int64)
        sizes = np.full((COLOURS, COLOURS), self._offsets)
        np.fill_diagonal(sizes, self._half)
        upper = np.triu_indices(COLOURS)
        starts[0][upper] = self.num_spots + np.cumsum(sizes[upper]) - sizes[upper]
        starts[0].T[upper] = starts[0][upper]
        first = self.num_spots + self.num_space
        starts[1] = first + self._offsets * np.arange(COLOURS * COLOURS).reshape(COLOURS, COLOURS)
        starts[2] = starts[1].T
        return starts.astype(np.int32) if self._time else starts[:1].astype(np.int32)

    def begin(self) -> None:
        """Forget the episode: nothing is active."""
        self._counts = np.zeros(self.num_features, np.uint16)  # only used pages take memory
        self._now, self._before = (_no_spots(self.rows, self.columns) for _ in range(2))
        self._colours = np.zeros(COLOURS + 1, np.int64)
        self._came = self._went = np.empty(0, np.int32)

    def update(self, change: Change) -> Change:
        """Return the changes of features for changes of spots, ``128 · tile + colour``; valid until the next call."""
        self._make_room(change)
        sizes = follow(
            *(self._counts, self._starts, self._places, self._now, self._before, self._colours),
            *(change.on, change.off, self._came, self._went, self._half, self._on, self._off),
        )
        if self._time:
            self._came, self._went = change.on.copy(), change.off.copy()
        return Change(self._on[: sizes[0]], self._off[: sizes[1]])

    def _make_room(self, change: Change) -> None:
        came, went = len(change.on), len(change.off)
        now, before = int(self._now[1].sum()) + came, int(self._before[1].sum()) + len(self._came)
        on = came * (1 + now + before) + len(self._came) * now
        off = went * (1 + now + before) + len(self._went) * now
        if on >= len(self._on):
            self._on = np.empty(2 * on, np.int32)
        if off >= len(self._off):
            self._off = np.empty(2 * off, np.int32)

    def describe(self, feature: int, names: Sequence[str]) -> str:
        """Describe a feature, with the 128 `names` of the colours."""
        if feature < self.num_spots:
            tile, colour = divmod(feature, COLOURS)
            row, column = divmod(tile, self.columns)
            return f"{names[colour]} in the tile of row {row}, column {column}"
        if feature < self.num_spots + self.num_space:
            first = int(np.searchsorted(self._starts[0].diagonal(), feature, side="right")) - 1
            place = feature - int(self._starts[0, first, first]) + self._half - 1
            beyond, offset = divmod(place, self._offsets)
            return f"{names[first]}, and {names[first + beyond]} {self._direction(offset)}"
        pair, offset = divmod(feature - self.num_spots - self.num_space, self._offsets)
        first, second = divmod(pair, COLOURS)
        return f"{names[first]} on the screen before, and {names[second]} now {self._direction(offset)}"

    def _direction(self, offset: int) -> str:
        """Describe an offset, of 0 to offsets - 1, in words."""
        down, right = divmod(offset, 2 * self.columns - 1)
        down, right = down - self.rows + 1, right - self.columns + 1
        words = [
            f"{abs(steps)} {kind}{'s' if abs(steps) > 1 else ''} {sides[steps > 0]}"
            for steps, kind, sides in ((down, "row", ("above", "below")), (right, "column", ("left", "right")))
            if steps
        ]
        return " and ".join(words) if words else "in the same tile"


def _no_spots(rows: int, columns: int) -> tuple[NDArray[Any], NDArray[np.int64], NDArray[np.int16]]:
    """Return an empty set of spots: for each colour a list of places, its length, and the index of each place in it."""
    lists = np.zeros((COLOURS, rows * columns), np.int16 if 2 * rows * columns <= MAX_TILES else np.int32)
    return lists, np.zeros(COLOURS, np.int64), np.zeros((COLOURS, rows * (2 * columns - 1)), np.int16)


def place_numbers(rows: int, columns: int) -> NDArray[np.int32]:
    """Return a number for each tile whose differences are offsets, shape (rows · columns,)."""
    numbers = (2 * columns - 1) * np.arange(rows)[:, None] + np.arange(columns)
    return numbers.ravel().astype(np.int32)


@njit(cache=True)
def follow(  # type: ignore[no-untyped-def]
    counts, starts, places, now, before, colours, came, went, before_came, before_went, half, on, off
):
    """Count the pairs of spots that appeared and disappeared; return the numbers of features in `on` and `off`.

    `counts`, uint16 (features,), is the number of pairs of each feature, plus `ACTIVE` if it was reported as active;
    `starts` is the first feature of each pair of colours; `now` and `before` are sets of spots (`_no_spots`);
    `colours`, int64 (129,), is the number of colours in the episode, followed by them; ``half - 1`` is the number of
    the zero offset; `on` and `off` receive features. Appearances are counted before disappearances, so the count of a
    feature leaves 0 at most once and returns to it at most once; features that do both are removed in the end.
    """
    num_on, num_off = came.shape[0], went.shape[0]
    on[:num_on] = came
    off[:num_off] = went
    time = starts.shape[0] > 1
    middle = half - 1
    for spot in came:
        k, at = spot % COLOURS, places[spot // COLOURS]
        insert(now, colours, k, at)
        num_on = count(counts, starts[0], now, colours, k, at, middle, 0, True, on, num_on)
        if time:
            num_on = count(counts, starts[2], before, colours, k, at, middle, -1, True, on, num_on)
    for spot in before_came:
        k, at = spot % COLOURS, places[spot // COLOURS]
        insert(before, colours, k, at)
        num_on = count(counts, starts[1], now, colours, k, at, middle, 1, True, on, num_on)
    for spot in went:
        k, at = spot % COLOURS, places[spot // COLOURS]
        num_off = count(counts, starts[0], now, colours, k, at, middle, 0, False, off, num_off)
        if time:
            num_off = count(counts, starts[2], before, colours, k, at, middle, -1, False, off, num_off)
        remove(now, k, at)
    for spot in before_went:
        k, at = spot % COLOURS, places[spot // COLOURS]
        num_off = count(counts, starts[1], now, colours, k, at, middle, 1, False, off, num_off)
        remove(before, k, at)
    return settle(counts, on, came.shape[0], num_on, off, went.shape[0], num_off), num_off


@njit(cache=True)
def settle(counts, on, first_on, num_on, off, first_off, num_off):  # type: ignore[no-untyped-def]
    """Mark features as active, remove those of `on` that are off again, and return how many of `on` remain."""
    kept = first_on
    for i in range(first_on, num_on):
        feature = on[i]
        on[kept] = feature
        if counts[feature] != 0:
            counts[feature] |= ACTIVE
            kept += 1
    for i in range(first_off, num_off):
        counts[off[i]] = 0
    return kept


@njit(cache=True)
def count(counts, starts, spots, colours, k, at, middle, sign, come, features, num):  # type: ignore[no-untyped-def]
    """Add or remove the pairs of a spot with all spots of a set; list the features whose counts leave or reach 0.

    `sign` is the sign of their offsets from the spot if that is on another screen; 0 if the spot is in the set.
    """
    lists, sizes, _ = spots
    change, goal = (1, 1) if come else (-1, ACTIVE)
    for i in range(1, colours[0] + 1):
        m = colours[i]
        fold = sign == 0 and k == m
        start, direction = starts[k, m] + (0 if fold else middle), sign if sign != 0 else (-1 if k > m else 1)
        for j in range(sizes[m]):
            step = direction * (np.int64(lists[m, j]) - at)
            feature = start + (abs(step) if fold else step)
            counts[feature] += change
            features[num] = feature
            num += counts[feature] == goal
    return num


@njit(cache=True)
def insert(spots, colours, colour, at):  # type: ignore[no-untyped-def]
    """Add a spot to a set."""
    lists, sizes, standing = spots
    size = sizes[colour]
    if size == 0 and not (colours[1 : colours[0] + 1] == colour).any():
        colours[0] += 1
        colours[colours[0]] = colour
    lists[colour, size] = at
    standing[colour, at] = size
    sizes[colour] = size + 1


@njit(cache=True)
def remove(spots, colour, at):  # type: ignore[no-untyped-def]
    """Remove a spot from a set; the last of its colour takes its place in the list."""
    lists, sizes, standing = spots
    size = sizes[colour] - 1
    last = lists[colour, size]
    lists[colour, standing[colour, at]] = last
    standing[colour, last] = standing[colour, at]
    sizes[colour] = size
