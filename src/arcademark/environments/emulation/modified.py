"""Modified games, whose memory is written to during play.

The memory is written at an episode's start and after each frame, once its reward and its end were read, equally on both
emulators. Steps are then played frame by frame, not in C.
"""

from __future__ import annotations

import ctypes

import numpy as np
from numpy.typing import NDArray

from arcademark.environments.emulation.atari import AleEmulator
from arcademark.environments.emulation.contract import EpisodeStart, FrameByFrame
from arcademark.environments.emulation.facts import RAM_SIZE
from arcademark.environments.native import NativeEmulator
from arcademark.suite.modifications import Modification


def write(modification: Modification, memory: NDArray[np.uint8]) -> None:
    """Apply a modification to the memory, uint8 (128,)."""
    for each in modification.writes:
        if each.where is not None:
            address, least, most = each.where
            if not least <= memory[address] <= most:
                continue
        memory[list(each.at)] = memory[each.copy] if each.value is None else each.value


class ModifiedAtari(AleEmulator):
    """A modified game on ale-py, for games whose states ale-py saves completely."""

    def __init__(self, modification: Modification, mode: int | None, difficulty: int | None) -> None:
        super().__init__(modification.game, mode, difficulty)
        self._modification, self._memory = modification, np.empty(RAM_SIZE, np.uint8)
        self.act = self._act_and_write

    def _act_and_write(self, action: int, /) -> int:
        reward = self._ale.act(action)
        self._write()
        return reward

    def _start(self) -> None:
        super()._start()
        self._write()

    def _write(self) -> None:
        self._ale.getRAM(self._memory)
        before = self._memory.copy()
        write(self._modification, self._memory)
        for address in np.flatnonzero(self._memory != before).tolist():
            self._ale.setRAM(address, int(self._memory[address]))


class ModifiedNative(FrameByFrame, NativeEmulator):
    """A modified game on our own emulator."""

    def __init__(self, modification: Modification, mode: int | None, difficulty: int | None) -> None:
        super().__init__(modification.game, mode, difficulty)
        self._modification = modification
        self.act = self._act_and_write
        self.game_over = self._machine.game_over

    def _use(self, core: ctypes.CDLL) -> None:
        super()._use(core)
        self.batch = None

    def _act_and_write(self, action: int, /) -> int:
        reward: int = self._machine.act(action)
        write(self._modification, self._machine.memory)
        return reward

    def start(self, rng: np.random.Generator) -> EpisodeStart:
        """Begin an episode."""
        begin = super().start(rng)
        write(self._modification, self._machine.memory)
        return begin
