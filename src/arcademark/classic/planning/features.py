"""Atoms of a state, for width-based planners, and its cell, for Go-Explore.

An atom is a numbered fact about a state. A state is *novel* in a search if one of its atoms was not true before in the
search, or, for rollouts, not at an equal or smaller depth. A `NoveltyTable` contains the least depth of each atom::

    features.read(model) ─→ atoms ─→ table.enter(atoms, before, depth) ─→ novel?

``ram``
    Byte i of the memory has value v: 128 × 256 atoms (Lipovetzky, Ramirez and Geffner 2015).
``tiles``
    Colour k is in the tile of column c and row r: 16 × 14 × 128 atoms, the Basic features of Bellemare et al. 2013 as
    Bandres, Bonet and Geffner 2018 use them.
``b-prost``
    The tiles; pairs of colours at an offset of tiles on one screen (B-PROS); and such pairs of a screen and the last
    one (B-PROT): the B-PROST features of Liang et al. 2016, 20,598,848 atoms in all.

No background is subtracted from the screen; the authors' program of 2018 subtracts one sampled from random play.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from arcademark.classic.planning import novelty
from arcademark.classic.planning.novelty import COLOURS, COLUMNS, ROWS, UNSEEN
from arcademark.environments.emulation import facts
from arcademark.environments.emulation.palettes import gray_table
from arcademark.suite.task_suites import TaskSuite
from arcademark.suite.tasks import TOY

if TYPE_CHECKING:
    from arcademark.environments.generative import GenerativeModel

BASIC = ROWS * COLUMNS * COLOURS
"""Number of atoms of a tile and a colour."""
OFFSETS = (2 * ROWS - 1) * (2 * COLUMNS - 1)
"""Number of offsets between tiles."""


class NoveltyTable:
    """Table of the least depth of each atom in one search."""

    def __init__(self, atoms: int) -> None:
        self._depths = np.full(atoms, UNSEEN, np.uint16)

    def enter(self, atoms: NDArray[Any], before: NDArray[Any] | None, depth: int) -> bool:
        """Enter atoms at a depth, 0 to 65,534; return whether one of them is new at this or a smaller depth.

        `atoms` and `before` are the atoms of this state and of its parent, None if that is unknown.
        """
        novel = atoms[self._depths[atoms] > depth]
        self._depths[novel] = depth
        return len(novel) > 0

    def holds(self, atoms: NDArray[Any], before: NDArray[Any] | None, depth: int) -> bool:
        """Return True if the least depth of one of the atoms is at least this one."""
        return bool((self._depths[atoms] >= depth).any())


class RamFeatures:
    """Atoms of the memory's bytes."""

    def __init__(self, ram_size: int) -> None:
        self._ram = np.empty(ram_size, np.uint8)
        self._first = np.arange(0, 256 * ram_size, 256, dtype=np.uint16)

    def read(self, model: GenerativeModel) -> NDArray[np.uint16]:
        """Return the atoms of the model's state after a step: ``256 · byte + value``."""
        model.ram(self._ram)
        return self._first + self._ram

    def new_table(self) -> NoveltyTable:
        """Return a table in which no atom was met."""
        return NoveltyTable(256 * len(self._ram))


class TileFeatures:
    """Atoms of the colours in tiles of the screen, alone or with `pairs` in space and time.

    A screen of 210 × 160 has tiles of 15 × 10 pixels; on other screens, tiles are as equal as possible.
    """

    def __init__(self, screen_shape: tuple[int, int], pairs: bool) -> None:
        self._pairs = pairs
        self._screen = np.empty(screen_shape, np.uint8)
        rows, columns = (
            np.repeat(np.arange(parts), np.diff(np.arange(parts + 1) * size // parts))
            for size, parts in zip(screen_shape, (ROWS, COLUMNS), strict=True)
        )
        self._tiles = rows[:, None] * COLUMNS + columns

    def read(self, model: GenerativeModel) -> NDArray[np.uint16]:
        """Return the tiles' atoms, ``colour · 224 + row · 16 + column``, ascending."""
        model.screen(self._screen)
        seen = np.zeros(BASIC, np.bool_)
        seen[(self._screen >> 1) * np.int64(ROWS * COLUMNS) + self._tiles] = True
        return np.flatnonzero(seen).astype(np.uint16)

    def new_table(self) -> NoveltyTable:
        """Return a table in which no atom was met."""
        return PairTable() if self._pairs else NoveltyTable(BASIC)


class PairTable(NoveltyTable):
    """Table of the depths of the tiles' atoms and of their pairs in space and time.

    A pair of colours has a row of depths, one for each offset, which is initialized at the first occurrence of the
    pair: a game shows few of the 16,384 pairs. Pairs of atoms that were all entered at depth 0 are skipped, since they
    cannot be novel elsewhere. Static parts of the screen therefore cost nothing.
    """

    def __init__(self) -> None:
        super().__init__(BASIC)
        shape = (COLOURS, COLOURS, OFFSETS)
        self._space, self._time = np.empty(shape, np.uint16), np.empty(shape, np.uint16)
        self._space_used, self._time_used = np.zeros(shape[:2], np.bool_), np.zeros(shape[:2], np.bool_)
        self._old, self._old_before = np.zeros(BASIC, np.bool_), np.zeros(BASIC, np.bool_)

    def enter(self, atoms: NDArray[Any], before: NDArray[Any] | None, depth: int) -> bool:
        """Enter the tiles' atoms and their pairs at a depth."""
        novel = super().enter(atoms, None, depth)
        novel |= self._meet(atoms, before, depth, True)
        if depth == 0 and not self._old.any():
            self._old[atoms] = True
            if before is not None:
                self._old_before[before] = True
        return novel

    def holds(self, atoms: NDArray[Any], before: NDArray[Any] | None, depth: int) -> bool:
        """Return True if the least depth of one of the atoms or pairs is at least this one."""
        return super().holds(atoms, None, depth) or self._meet(atoms, before, depth, False)

    def _meet(self, atoms: NDArray[Any], before: NDArray[Any] | None, depth: int, enter: bool) -> bool:
        met = bool(novelty.meet_space(self._space, self._space_used, atoms, self._old, depth, enter))
        if before is None or (met and not enter):
            return met
        olds = self._old, self._old_before
        return bool(novelty.meet_time(self._time, self._time_used, atoms, before, olds, depth, enter)) or met


class ScreenCells:
    """Cells of Go-Explore: the screen in shades of grey, downscaled, with a few levels of brightness.

    Ecoffet et al. 2019 use 11 × 8 pixels of 8 levels. A pixel is the exact mean of the area that it covers; levels have
    equal widths, rounded down.
    """

    def __init__(
        self,
        game: str,
        screen_shape: tuple[int, int],
        width: int,
        height: int,
        levels: int,
        suite: TaskSuite | None = None,
    ) -> None:
        gray = np.arange(256) if game == TOY else gray_table(facts.standard(game, suite))
        self._gray = gray.astype(np.float64)
        self._screen = np.empty(screen_shape, np.uint8)
        self._rows, self._columns = (_overlaps(*sizes) for sizes in zip(screen_shape, (height, width), strict=True))
        self._levels = levels

    def read(self, model: GenerativeModel) -> bytes:
        """Return the cell of the model's state after a step."""
        model.screen(self._screen)
        total = self._rows @ self._gray[self._screen] @ self._columns.T  # integers, and so exact
        cell = total.astype(np.int64) * self._levels // (256 * self._screen.size)
        return cell.astype(np.uint8).tobytes()


def _overlaps(size: int, parts: int) -> NDArray[np.float64]:
    """Return the overlap of each of `parts` parts of an axis with each of its pixels, shape (parts, size)."""
    begin, part = np.arange(size) * parts, np.arange(parts)[:, None] * size
    shared: NDArray[np.int64] = np.minimum(begin + parts, part + size) - np.maximum(begin, part)
    return np.maximum(shared, 0).astype(np.float64)


def make_features(name: str, game: str, suite: TaskSuite | None = None) -> Features:
    """Return the features of a game, of the given suite if it is in one: "ram", "tiles" or "b-prost"."""
    if name == "ram":
        return RamFeatures(facts.ram_size(game))
    return TileFeatures(facts.screen_shape(game, suite), pairs=name == "b-prost")


Features = RamFeatures | TileFeatures
