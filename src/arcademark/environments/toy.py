"""A tiny game for tests: catch what falls.

Fruits fall down a field of 8 × 8, one row per frame, each in a column drawn at random. The basket in the lowest row,
three columns wide, moves one column per frame. A fruit caught gives 1 point, a fruit missed costs one of 5
lives, and the game is over when none is left: a perfect player plays endlessly, one that does nothing loses soon.

The memory is 8 bytes: fruit's column and row, basket's column, lives, fruits fallen (low byte), random state (3 bytes).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from arcademark.environments.emulation.contract import EpisodeStart, FrameByFrame
from arcademark.suite.tasks import JOYSTICK_ACTIONS

MINIMAL_ACTIONS = ("NOOP", "RIGHT", "LEFT")
SIZE = 8
LIVES = 5
RAM_SIZE = 8
EMPTY, BASKET, FRUIT = 0, 100, 254
"""Screen bytes."""


class ToyEmulator(FrameByFrame):
    """The toy game; a `contract.Emulator` whose actions are the Atari's 18; those with LEFT or RIGHT move."""

    def __init__(self) -> None:
        self.screen_shape = (SIZE, SIZE)
        self.ram_size = RAM_SIZE
        self.gray = np.arange(256, dtype=np.uint8)
        self.rgb = np.repeat(self.gray[:, None], 3, axis=1)
        self._moves = tuple(("RIGHT" in action) - ("LEFT" in action) for action in JOYSTICK_ACTIONS)
        self._column = self._row = self._basket = self._lives = self._fallen = self._random = 0

    def start(self, rng: np.random.Generator) -> EpisodeStart:
        """Begin an episode; the columns of its fruits follow from one number drawn from `rng`."""
        self._random = int(rng.integers(1 << 24))
        self._basket = SIZE // 2
        self._lives = LIVES
        self._fallen = 0
        self._drop()
        return EpisodeStart(frames=0, lives=LIVES)

    def act(self, action: int, /) -> int:
        """Move, let the fruit fall by a row, and return 1 if it was caught."""
        if self.game_over():
            return 0
        self._basket = min(max(self._basket + self._moves[action], 0), SIZE - 1)
        self._row += 1
        if self._row < SIZE - 1:
            return 0
        caught = abs(self._column - self._basket) <= 1
        self._lives -= not caught
        self._fallen += 1
        self._drop()
        return int(caught)

    def _drop(self) -> None:
        self._random = (self._random * 1140671485 + 12820163) % (1 << 24)
        self._column, self._row = (self._random >> 16) % SIZE, 0

    def game_over(self) -> bool:
        """Return True if no life is left."""
        return self._lives == 0

    def lives(self) -> int:
        """Lives left."""
        return self._lives

    def screen(self, out: NDArray[np.uint8], /) -> None:
        """Write the field."""
        out[:] = EMPTY
        out[SIZE - 1, max(self._basket - 1, 0) : self._basket + 2] = BASKET
        out[self._row, self._column] = FRUIT

    def start_screen(self, out: NDArray[np.uint8]) -> None:
        """Write the field at the start."""
        self.screen(out)

    def ram(self, out: NDArray[np.uint8], /) -> None:
        """Write the memory."""
        out[:5] = self._column, self._row, self._basket, self._lives, self._fallen % 256
        out[5:] = list(self._random.to_bytes(3, "big"))

    def save(self) -> Any:
        """Return the state."""
        return self._column, self._row, self._basket, self._lives, self._fallen, self._random

    def restore(self, state: Any) -> None:
        """Continue from `state`."""
        self._column, self._row, self._basket, self._lives, self._fallen, self._random = state
