"""Colours that features distinguish: the 128 of NTSC and PAL screens, or the 8 of SECAM television.

A screen's colour is a hue times 8 plus a brightness. On a SECAM television the console shows the brightness alone, as
one of eight colours (Bellemare et al. 2013, Appendix A.1)::

    NTSC, PAL    hue 0–15 │ brightness 0–7     128 colours
    SECAM                   brightness 0–7       8 colours: black blue red magenta green cyan yellow white
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from arcademark.environments.emulation import facts
from arcademark.environments.emulation.palettes import rgb_table
from arcademark.suite.task_suites import TaskSuite
from arcademark.suite.tasks import TOY

NumColours = Literal[128, 8]

SECAM = {
    "black": "#000000",
    "blue": "#2121ff",
    "red": "#f03c79",
    "magenta": "#ff50ff",
    "green": "#7fff00",
    "cyan": "#7fffff",
    "yellow": "#ffff3f",
    "white": "#ffffff",
}
"""Colours of the eight brightnesses, from the emulator."""


@dataclass(frozen=True, eq=False)
class Colours:
    """A set of n colours with their `names` and their values in `rgb`, uint8 (n, 3).

    `codes`, uint8 (256,), contains the number of each byte's colour; observations contain bytes from 0 to 127 only.
    """

    codes: NDArray[np.uint8]
    rgb: NDArray[np.uint8]
    names: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.names)


def game_colours(game: str, number: NumColours = 128, suite: TaskSuite | None = None) -> Colours:
    """Return the colours of a game, of the given suite if it is in one: 128, or the 8 of SECAM."""
    every = np.arange(256, dtype=np.uint8)
    if number == 8:
        rgb = np.array([list(bytes.fromhex(colour[1:])) for colour in SECAM.values()], np.uint8)
        return Colours(every & np.uint8(7), rgb, tuple(SECAM))
    rgb = np.repeat(every[::2, None], 3, axis=1) if game == TOY else rgb_table(facts.standard(game, suite))[::2]
    names = tuple(f"colour {number} (#{bytes(colour.tolist()).hex()})" for number, colour in enumerate(rgb))
    return Colours(every & np.uint8(127), rgb, names)
