"""The Atari 2600 on our own emulator, which equals ale-py's bit for bit and has complete states.

An episode starts from one saved start, as in ``atari.py``. A frame whose screen will probably not be read is not drawn,
and is played again if it is read. In games that cut frames short a picture shows parts of an earlier one: both pictures
belong to a state, and all frames are drawn, those before a step's last two only if a frame of the step is cut. The
usual observation is made in C.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arcademark.emulator import cartridge, games
from arcademark.emulator.games import GameRules
from arcademark.emulator.machine import WIDTH, Machine
from arcademark.emulator.prove import proven
from arcademark.environments.emulation.atari import rom_path
from arcademark.environments.emulation.contract import EpisodeStart, StepRecord
from arcademark.environments.emulation.facts import RAM_SIZE, REAL_RESET, standard
from arcademark.environments.emulation.palettes import gray_table, rgb_table
from arcademark.environments.observations.making import KernelObserver
from arcademark.errors import ArcadeMarkError
from arcademark.suite.cartridges import Cartridge


class NativeEmulator(cartridge.Player):
    """One game on our own emulator; a `contract.Emulator`. Arguments and errors as in `atari.AleEmulator`.

    `own` are the rules, the ROM and the description of a user-defined game. ArcadeMarkError: such a game is over at its
    start, or its screen differs from the description. NoCore: the emulator cannot be compiled here.
    """

    recoloured: NDArray[np.uint8] | None = None

    def __init__(
        self,
        game: str,
        mode: int | None = None,
        difficulty: int | None = None,
        own: tuple[GameRules, bytes, Cartridge] | None = None,
    ) -> None:
        self._game = game
        rules, rom = own[:2] if own else (games.game(game), rom_path(game).read_bytes())
        self._translation = cartridge.translation(rules, rom)
        self._machine = machine = Machine(rules, rom, chosen=self._translation.core)
        chosen = machine.mode if mode is None else mode, difficulty or 0
        if chosen != (machine.mode, 0):
            machine.reset(*chosen)
        if rules.known_as in REAL_RESET:
            machine.reset(*chosen)
        television = standard(game)
        if own:
            television = "PAL" if machine.pal else "NTSC"
            own[2].check_screen(game, television, machine.rows)
            own[2].check_start(game, machine.game_over())
        self.screen_shape = machine.rows, WIDTH
        self.ram_size = RAM_SIZE
        self.rgb = rgb_table(television)
        self.gray = gray_table(television)
        self.lives = machine.lives
        self.ram = machine.ram
        self._pictured = own is not None or int(proven()[game]["cut"]) > 0
        self._step: StepRecord | None = None
        """The record whose last frame may not have been drawn."""
        self.batch: ctypes.CDLL | None
        self._address, self._state_size = machine.address, machine.state_size
        self._use(machine.core)
        self._begin = EpisodeStart(machine.frames, machine.lives())
        self._start_screen = np.empty(self.screen_shape, np.uint8)
        machine.screen(self._start_screen)
        machine.mark_pictures()
        self._start_state = self.save()
        self._translation.add(self)

    @property
    def played(self) -> int:
        """Frames played in steps."""
        return 0 if self._step is None else self._step.total

    def _use(self, core: ctypes.CDLL) -> None:
        """Continue with a core; a translation is the last one."""
        self._machine.use(core)
        self._play, self.batch, self._restore = core.console_step, core, core.console_restore
        if self._step is not None:
            self._step.play = function_address(core.console_step)

    def start(self, rng: np.random.Generator) -> EpisodeStart:
        """Begin an episode."""
        self.restore(self._start_state)
        return self._begin

    def attach(self, step: StepRecord, observer: Any, /) -> bool:
        """Prepare for playing a record; with an observer, it is the game's own, and its frames may be left undrawn."""
        step.console, step.at = self._machine.address, ctypes.addressof(step)
        if observer is None:
            return False
        self._step, step.play = step, function_address(self._machine.core.console_step)
        step.before, step.newest = (address_of(screen) for screen in step.screens)
        core = self._machine.core
        held = ctypes.create_string_buffer(core.console_skipped_size())  # which begins with a state
        at = ctypes.addressof(held)
        step.held, step.skipped = (0, at) if self._pictured else (at, 0)
        observed = isinstance(observer, KernelObserver) and observer.newest_at >= 0
        step.observation = ctypes.addressof(observer.where) if observed else 0
        step.kept = held, observer
        return observed

    def play(self, step: StepRecord, /) -> None:
        """Play a step."""
        self._play(step.at)

    def start_screen(self, out: NDArray[np.uint8]) -> None:
        """Write the screen at the start of the episode."""
        out[:] = self._start_screen

    def screen(self, out: NDArray[np.uint8], /) -> None:
        """Write the screen of the last frame emulated."""
        step = self._step
        if step is not None and step.unseen:
            self._machine.core.console_redraw(step.at)
        self._machine.screen(out)

    def save(self) -> Any:
        """Return everything needed to continue from here: bytes and, in games that cut frames short, the pictures."""
        state = self._machine.save()
        return (state, self._machine.save_pictures()) if self._pictured else state

    def restore(self, state: Any) -> None:
        """Continue from where `state` was saved, in any instance of the game; an ArcadeMarkError if it is not one.

        Before, a translation of the cartridge may be started or put to use.
        """
        self._translation.take_up()
        core = self._translation.core
        if core is not None and core is not self._machine.core:
            self._use(core)
        if self._pictured:
            if type(state) is not tuple or len(state) != 2 or not self._machine.restore_pictures(state[1]):
                raise self._no_state("a state and its pictures")
            state = state[0]
        if type(state) is not bytes or len(state) != self._state_size:
            raise self._no_state(f"{self._state_size} bytes")
        self._restore(self._address, state)
        if self._step is not None:
            self._step.unseen = 0

    def _no_state(self, expected: str) -> ArcadeMarkError:
        return ArcadeMarkError(
            f"game {self._game!r}: this is not a state of our emulator, which has {expected}; "
            "restore a state that our emulator saved, not ale-py"
        )


def function_address(function: Any) -> int:
    """Return the address of a function of a core."""
    return ctypes.cast(function, ctypes.c_void_p).value or 0


def address_of(array: NDArray[Any]) -> int:
    """Return the address of a contiguous, writable array, in a quarter of the time that ``array.ctypes.data`` takes.

    It is 0 for an empty array.
    """
    return ctypes.addressof(ctypes.c_char.from_buffer(array)) if array.size else 0  # type: ignore[arg-type]
