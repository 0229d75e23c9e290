"""The Atari 2600 on ale-py.

Measured with ale-py 0.12.1 on all 104 single-player ROMs, and tested:

* The state after loading a ROM is always the same, but a later reset gives, in about twenty games, a start that depends
  on earlier play. So an episode starts from the saved state of a fresh load.
* The start of an episode is saved as `None`, and a frame is emulated before another state is restored over it.
* Restoring a state restores neither the picture nor, in Atlantis II, the lives until a frame is emulated.
* States of `facts.REAL_RESET` do not contain that a frame was cut short, as the first one of these games always is. An
  episode starts with a reset, which is exact there. Nor do they contain the picture on which the second frame draws, so
  the state one frame after the start is saved as that frame's action.
* States of `facts.NOT_EXACT` lack more, and are saved as all actions since the ROM was loaded, which are replayed.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from ale_py import LoggerMode, roms
from numpy.typing import NDArray

from arcademark.emulator.original import ALEInterface
from arcademark.environments.emulation.contract import EpisodeStart, FrameByFrame
from arcademark.environments.emulation.emulator_state import Packer
from arcademark.environments.emulation.facts import NOT_EXACT, RAM_SIZE, REAL_RESET, TWO_PLAYER, screen_shape, standard
from arcademark.environments.emulation.palettes import gray_table, rgb_table
from arcademark.errors import ArcadeMarkError

NOOP = 0
"""The console's action that does nothing."""


def rom_path(game: str) -> Path:
    """Return the path of a game's ROM: in ale-py, or in the directory that ``ALE_ROMS_DIR`` names.

    ArcadeMarkError: it is missing, for two players only, or not the ROM that ale-py knows by this name.
    """
    if game in TWO_PLAYER:
        raise ArcadeMarkError(f"game {game!r}: the emulator plays it with two players only; choose another game")
    directory = Path(os.environ.get("ALE_ROMS_DIR") or Path(roms.__file__).parent)
    path = directory / f"{game}.bin"
    if not path.is_file():
        raise ArcadeMarkError(f"game {game!r}: no ROM {path}; install ale-py again, or correct ALE_ROMS_DIR")
    if ALEInterface.isSupportedROM(path) != game:
        raise ArcadeMarkError(f"game {game!r}: {path} is not the ROM that ale-py knows by this name; replace it")
    return path


class AleEmulator(FrameByFrame):
    """One game in the emulator; a `contract.Emulator`. Opened by `open_ale`.

    `mode` and `difficulty` are switches that the game has, or None for the ROM's default. Errors as in `rom_path`.
    """

    def __init__(self, game: str, mode: int | None = None, difficulty: int | None = None) -> None:
        self._path, self._switches = rom_path(game), (mode, difficulty)
        ALEInterface.setLoggerMode(LoggerMode.Error)
        self._ale = ale = ALEInterface()
        ale.setFloat("repeat_action_probability", 0.0)
        self._load()
        self.screen_shape = screen_shape(game)
        self.ram_size = RAM_SIZE
        self.rgb = rgb_table(standard(game))
        self.gray = gray_table(standard(game))
        self.act = ale.act
        self.game_over = ale.game_over
        self.lives = ale.lives
        self.screen = ale.getScreen
        self.ram = ale.getRAM
        self._start_state = ale.cloneState()
        self._start_screen = ale.getScreen()
        self._begin = EpisodeStart(ale.getEpisodeFrameNumber(), ale.lives())
        self._packer = Packer(self._start_state, ale.getRAM().tobytes())

    def _load(self) -> None:
        """Load the ROM and set switches other than its defaults; only these need a reset."""
        self._ale.loadROM(self._path)
        mode, difficulty = self._switches
        loaded = self._ale.cloneState()
        changed = False
        if mode is not None and mode != loaded.getCurrentMode():
            self._ale.setMode(mode)
            changed = True
        if difficulty is not None and difficulty != loaded.getDifficulty():
            self._ale.setDifficulty(difficulty)
            changed = True
        if changed:
            self._ale.reset_game()

    def start(self, rng: np.random.Generator) -> EpisodeStart:
        """Begin an episode. In most games no frame counts as emulated; the emulator itself draws nothing."""
        self._start()
        return self._begin

    def start_screen(self, out: NDArray[np.uint8]) -> None:
        """Write the screen at the start of the episode."""
        out[:] = self._start_screen

    def save(self) -> Any:
        """Return None at the start of an episode, otherwise the emulator's state."""
        return None if self._untouched() else self._packer.pack(self._ale.cloneState())

    def restore(self, state: Any) -> None:
        """Continue from where `state` was saved, in this instance or another of the same game."""
        if state is None:
            self._start()
            return
        if self._untouched():
            self._ale.act(NOOP)
        self._ale.restoreState(self._packer.unpack(state))

    def _start(self) -> None:
        self._ale.restoreState(self._start_state)

    def _untouched(self) -> bool:
        return self._ale.getEpisodeFrameNumber() == self._begin.frames


class ResetEmulator(AleEmulator):
    """A game whose episodes start with a reset; the state one frame later is saved as that frame's action."""

    def __init__(self, game: str, mode: int | None, difficulty: int | None) -> None:
        super().__init__(game, mode, difficulty)
        self._first_action = NOOP
        self.act = self._act_and_remember_first

    def _act_and_remember_first(self, action: int, /) -> int:
        if self._untouched():
            self._first_action = action
        return self._ale.act(action)

    def save(self) -> Any:
        """Return None at the start, an int one frame later, otherwise the emulator's state."""
        first = self._ale.getEpisodeFrameNumber() == self._begin.frames + 1
        return self._first_action if first else super().save()

    def restore(self, state: Any) -> None:
        """Continue from where `state` was saved."""
        if not isinstance(state, int):
            super().restore(state)
            return
        self._start()
        self.act(state)

    def _start(self) -> None:
        super()._start()  # a reset draws random numbers: always the same
        self._ale.reset_game()


class ReplayedEmulator(AleEmulator):
    """A game whose states are the actions since its start."""

    def __init__(self, game: str, mode: int | None, difficulty: int | None) -> None:
        super().__init__(game, mode, difficulty)
        self._actions = bytearray()
        self.act = self._act_and_remember

    def _act_and_remember(self, action: int, /) -> int:
        self._actions.append(action)
        return self._ale.act(action)

    def save(self) -> bytes:
        """Return the actions since the start."""
        return bytes(self._actions)

    def restore(self, state: Any) -> None:
        """Continue from where `state` was saved."""
        self._start()
        for action in state:
            self.act(action)

    def _start(self) -> None:
        self._load()
        self._actions.clear()


def open_ale(game: str, mode: int | None = None, difficulty: int | None = None) -> AleEmulator:
    """Return ale-py's emulator of a game; parameters and errors as in `AleEmulator`."""
    if game in REAL_RESET:
        return ResetEmulator(game, mode, difficulty)
    return (ReplayedEmulator if game in NOT_EXACT else AleEmulator)(game, mode, difficulty)
