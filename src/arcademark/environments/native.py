"""The Atari 2600, as our own console emulates it: ale-py's machine bit for bit, its states complete.

An episode starts from one saved start, as it does in ``atari.py``. A frame whose screen nobody is expected to ask for
is not drawn; should somebody ask, it is played again from what stood before it. In games that cut frames short a
picture shows what an earlier one left: there all frames are drawn, and both pictures belong to a state.
"""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arcademark.console.machine import Machine
from arcademark.console.prove import proven
from arcademark.environments.atari import rom_path
from arcademark.environments.console import Start
from arcademark.environments.facts import RAM_SIZE, REAL_RESET, screen_shape, standard
from arcademark.environments.palettes import gray_table, rgb_table
from arcademark.files import inflate


class NativeConsole:
    """One game in the console; a `console.Console`.

    Parameters
    ----------
    game : str
        ROM id, e.g. "pong".
    mode, difficulty : int or None
        The game's switches, which must exist; None leaves the ROM's default.

    Raises
    ------
    ArcadeMarkError
        If the ROM is missing or cannot be played.
    NoCore
        If the console cannot be compiled here.
    """

    def __init__(self, game: str, mode: int | None = None, difficulty: int | None = None) -> None:
        self._machine = machine = Machine(game, rom_path(game).read_bytes())
        chosen = machine.mode if mode is None else mode, difficulty or 0
        if chosen != (machine.mode, 0):
            machine.reset(*chosen)
        if game in REAL_RESET:
            machine.reset(*chosen)
        self.screen_shape = screen_shape(game)
        self.ram_size = RAM_SIZE
        self.rgb = rgb_table(standard(game))
        self.gray = gray_table(standard(game))
        self.act = machine.act
        self.game_over = machine.game_over
        self.lives = machine.lives
        self.ram = machine.ram
        self.extra_frames = 0
        self._pictured = int(proven()[game]["cut"]) > 0
        self.act_unseen = machine.act if self._pictured else self._act_unseen
        self._unseen: tuple[int, bytes, int] | None = None
        """A frame that was not drawn: its count, the state before, and its action."""
        self._begin = Start(machine.frames, machine.lives())
        self._start_screen = np.empty(self.screen_shape, np.uint8)
        machine.screen(self._start_screen)
        self._start_state = self.save()

    def start(self, rng: np.random.Generator) -> Start:
        """Begin an episode."""
        self.restore(self._start_state)
        return self._begin

    def _act_unseen(self, action: int, /) -> int:
        """Emulate a frame that is drawn only if its screen is asked for."""
        machine = self._machine
        if machine.game_over():
            return 0
        before = machine.save()
        reward: int = machine.act_unseen(action)
        self._unseen = machine.frames, before, action
        return reward

    def start_screen(self, out: NDArray[np.uint8]) -> None:
        """Write the screen at the start of the episode."""
        out[:] = self._start_screen

    def screen(self, out: NDArray[np.uint8], /) -> None:
        """Write the screen of the last frame emulated."""
        machine = self._machine
        if self._unseen is not None:
            frames, before, action = self._unseen
            if frames == machine.frames:
                machine.restore(before)
                machine.act(action)
            self._unseen = None
        machine.screen(out)

    def save(self) -> Any:
        """Return everything needed to continue from here."""
        state = self._machine.save()
        return (state, zlib.compress(self._machine.pictures().tobytes(), 1)) if self._pictured else state

    def restore(self, state: Any) -> None:
        """Continue from where `state` was saved, in this instance or another of the same game."""
        if self._pictured:
            state, pictures = state
            whole = self._machine.pictures()
            whole[:] = np.frombuffer(inflate(pictures, whole.nbytes), np.uint8).reshape(whole.shape)
        self._machine.restore(state)
        self._unseen = None
