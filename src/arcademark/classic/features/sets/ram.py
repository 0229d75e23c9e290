"""The console's memory as features: its bits, and all pairs of them.

Feature ``8 · byte + bit`` is active while that bit is set; bit 0 is worth 1, bit 7 is worth 128. A console has 128
bytes; additional memory of cartridges is not observed, as in the paper (its footnote 7).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from arcademark.classic.features.base import Change, Observed, Stages, check_feature
from arcademark.classic.features.sets.pairs import Pairs
from arcademark.compiled import njit
from arcademark.environments.base import EnvironmentSpec
from arcademark.environments.emulation import facts

BYTES_A_ROW = 8
CELL_HEIGHT, CELL_WIDTH, GAP = 9, 3, 2
"""Sizes in a picture, in pixels: of a bit, and between bytes."""
SET, CLEAR, BETWEEN = (255, 214, 90), (44, 50, 64), (16, 18, 24)
"""Colours of a picture."""


class RamBits:
    """The bits of the console's memory (Bellemare et al. 2013, Appendix A.5), 1,024 on an Atari 2600.

    Parameters
    ----------
    env : EnvironmentSpec
        The game to be played; it determines the size of the memory: 128 bytes on an Atari 2600, 8 in the toy game.
    """

    observed: Observed = "ram"

    def __init__(self, env: EnvironmentSpec) -> None:
        self.num_bytes = facts.ram_size(env.game)
        self.num_features = 8 * self.num_bytes
        self._on, self._off = np.empty((2, self.num_features), np.int32)
        self.begin()

    def begin(self) -> None:
        """Forget the episode: nothing is active."""
        self._last = np.zeros(self.num_bytes, np.uint8)

    def update(self, observation: NDArray[np.uint8]) -> Change:
        """Return the bits set and cleared since the last observation, uint8 (num_bytes,), both ascending."""
        on, off = change_bits(self._last, observation, self._on, self._off)
        return Change(self._on[:on], self._off[:off])

    def describe(self, feature: int) -> str:
        """Describe the bit of a feature."""
        check_feature(feature, self.num_features)
        byte, bit = divmod(feature, 8)
        return f"bit {bit} (worth {1 << bit}) of byte {byte}"

    def picture(self, observation: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Draw the memory, 8 bytes per row, each from its bit 7 on the left to its bit 0; bright bits are set."""
        bits = np.unpackbits(observation).reshape(-1, BYTES_A_ROW, 8)
        height, width = CELL_HEIGHT + GAP, 8 * CELL_WIDTH + GAP
        cells = np.full((len(bits), height, BYTES_A_ROW, width, 3), BETWEEN, np.uint8)
        colours = np.array([CLEAR, SET], np.uint8)[bits].repeat(CELL_WIDTH, axis=2)
        cells[:, :CELL_HEIGHT, :, : 8 * CELL_WIDTH] = colours[:, None]
        return cells.reshape(len(bits) * height, BYTES_A_ROW * width, 3)[:-GAP, :-GAP]


class Ram(Stages):
    """The bits of the console's memory and the logical AND of every pair of them (Bellemare et al. 2013, Appendix A.5).

    Bits are numbered as by `RamBits`, pairs as by `Pairs`: 1,024 + 523,776 = 524,800 features on an Atari 2600.

    Parameters
    ----------
    env : EnvironmentSpec
        The game to be played.
    """

    observed: Observed = "ram"

    def __init__(self, env: EnvironmentSpec) -> None:
        self._bits = RamBits(env)
        self._pairs = Pairs(self._bits.num_features)
        self._connect(self._bits, self._pairs)
        self.picture: Callable[[NDArray[np.uint8]], NDArray[np.uint8]] = self._bits.picture

    def describe(self, feature: int) -> str:
        """Describe the bit or bits of a feature."""
        check_feature(feature, self.num_features)
        return self._pairs.describe(feature, self._bits.describe)


@njit(cache=True)
def change_bits(last, memory, on, off):  # type: ignore[no-untyped-def]
    """List the bits that were set and cleared, ascending, and set `last` to `memory`; return their numbers."""
    num_on = num_off = 0
    for i in range(memory.shape[0]):
        changed, last[i] = last[i] ^ memory[i], memory[i]
        for bit in range(8 if changed else 0):
            on[num_on] = off[num_off] = 8 * i + bit
            num_on += changed >> bit & memory[i] >> bit & 1
            num_off += changed >> bit & ~memory[i] >> bit & 1
    return num_on, num_off
