"""What plays the frames: the emulator, or the toy game in its place.

A console knows nothing of protocols: it emulates one frame for one action, shows its screen and memory, and can be
saved and restored. Everything that a protocol says is done once, above it, in ``play.py``.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray


class Start(NamedTuple):
    """How an episode begins.

    Parameters
    ----------
    frames : int
        Frames that the machine counts as emulated already.
    lives : int
        Lives, 0 where the game has none.
    """

    frames: int
    lives: int


class Unheard:
    """A number that makes no difference: equal to any other."""

    __slots__ = ("number",)

    def __init__(self, number: int) -> None:
        self.number = number

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Unheard)

    def __hash__(self) -> int:
        return 0


class Console(Protocol):
    """One game in a machine that emulates frame by frame."""

    screen_shape: tuple[int, int]
    """Height and width of the screen in pixels."""

    ram_size: int
    """Bytes of memory."""

    rgb: NDArray[np.uint8]
    """Colour of each screen byte, shape (256, 3)."""

    gray: NDArray[np.uint8]
    """Luminance of each screen byte, shape (256,)."""

    extra_frames: int
    """Frames emulated by `start` and `restore` so far, in no episode."""

    def start(self, rng: np.random.Generator) -> Start:
        """Begin an episode."""

    def act(self, action: int, /) -> int:
        """Emulate one frame (none if the game is over) and return its reward."""

    def act_unseen(self, action: int, /) -> int:
        """Do the same where the frame's screen will most likely not be asked for: it may then take longer."""

    def game_over(self) -> bool:
        """Whether the game has ended."""

    def lives(self) -> int:
        """Lives left, 0 where the game has none. Of no use between `start` or `restore` and the next `act`."""

    def start_screen(self, out: NDArray[np.uint8]) -> None:
        """Write the screen at the start of the episode, before any frame."""

    def screen(self, out: NDArray[np.uint8], /) -> None:
        """Write the screen of the last frame emulated. Of no use between `start` or `restore` and the next `act`."""

    def ram(self, out: NDArray[np.uint8], /) -> None:
        """Write the memory."""

    def save(self) -> Hashable:
        """Return everything needed to continue from here: hashable, picklable, equal where the game goes on alike."""

    def restore(self, state: Any) -> None:
        """Continue from where `state` was saved."""
