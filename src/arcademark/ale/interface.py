"""ale-py's `ALEInterface` and `ALEState` on our console.

An interface is one of ale-py's, which keeps the settings. When a ROM is loaded that the console can play under them,
the methods of a `_Game` take the place of those of ale-py; else ale-py plays.
"""

from __future__ import annotations

import ctypes
import math
import os
import sys
import weakref
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import ale_py
import msgspec
import numpy as np
from ale_py import Action, roms
from numpy.typing import NDArray
from PIL import Image

from arcademark.emulator import cartridge, games
from arcademark.emulator.build import bound
from arcademark.emulator.machine import RAM_SIZE, WIDTH, Machine
from arcademark.emulator.prove import proven
from arcademark.environments.emulation.console import StepRecord
from arcademark.environments.emulation.facts import TWO_PLAYER, standard
from arcademark.environments.emulation.palettes import gray_table, rgb_table
from arcademark.environments.registry import Emulator, choose_emulator
from arcademark.errors import ArcadeMarkError
from arcademark.suite import tasks

_MARK = b"ArcadeMark/1"
"""How a saved state begins that is no state of ale-py's."""

_SWITCHES = ("display_screen", "sound", "sound_obs", "color_averaging")
_TEXTS = (
    *("record_screen_dir", "record_sound_filename", "reward_min", "reward_max"),
    *("cpu", "palette", "paddle_min", "paddle_max", "system_random_seed"),
)
"""Settings that the console does not have: where one is on, or not as at first, ale-py plays."""

_LIVES_UNNOTICED = ("atlantis2",)
"""Games in which ale-py's `truncate_on_loss_of_life` does nothing."""

_CHANCE_BYTES = 4 * 624 + 4
"""Of numpy's Mersenne Twister: its words, and how many of them were drawn."""

_MAX_DRAWN = 2**32
"""Numbers drawn again, in seconds, to restore a state at most; no game has drawn as many."""

Screen = NDArray[np.uint8]


class _Saved(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """What a state holds."""

    game: str
    state: bytes
    drawn: int
    """By the machine's own generator."""
    frames: int
    """In all episodes."""
    mode: int
    difficulty: int
    episode_frames: int
    before: bytes = b""
    """The state before the last frame, which draws the screen; none where the pictures are here."""
    action: int = 0
    """Of that frame."""
    pictures: bytes = b""
    chance: bytes = b""
    """The environment's generator, if it is part of the state."""

    @property
    def future(self) -> tuple[object, ...]:
        """What decides how the game goes on."""
        return self.game, self.state, self.drawn, self.frames, self.pictures, self.chance


class ALEState:
    """A saved state, equal to others where the game goes on alike; hashable, and made to be pickled.

    Parameters
    ----------
    serialized : bytes
        What `serialize` returned; an ArcadeMarkError if it is damaged. Anything else makes a state of ale-py's.
    """

    __slots__ = ("_saved",)
    _saved: _Saved

    def __new__(cls, *arguments: Any) -> Any:
        """Return a state, of ale-py's where the arguments are."""
        if len(arguments) == 1 and isinstance(arguments[0], bytes) and arguments[0].startswith(_MARK):
            try:
                return cls._of(msgspec.msgpack.decode(arguments[0][len(_MARK) :], type=_Saved))
            except msgspec.DecodeError as error:
                raise ArcadeMarkError(f"this saved state is damaged: {error}; save it again") from error
        return ale_py.ALEState(*arguments)

    @classmethod
    def _of(cls, saved: _Saved) -> ALEState:
        state: ALEState = object.__new__(cls)
        state._saved = saved
        return state

    def __reduce__(self) -> tuple[type[ALEState], tuple[bytes]]:
        return ALEState, (self.serialize(),)

    def __eq__(self, other: object) -> bool:
        return self._saved.future == other._saved.future if isinstance(other, ALEState) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._saved.future)

    def equals(self, other: ALEState) -> bool:
        """Return whether the game goes on alike."""
        return self == other

    def serialize(self) -> bytes:
        """Return the state as bytes, which make one again."""
        return _MARK + msgspec.msgpack.encode(self._saved)

    def getFrameNumber(self) -> int:
        """Return the frames in all episodes."""
        return self._saved.frames

    def getEpisodeFrameNumber(self) -> int:
        """Return the frames in the episode."""
        return self._saved.episode_frames

    def getCurrentMode(self) -> int:
        """Return the game's mode."""
        return self._saved.mode

    def getDifficulty(self) -> int:
        """Return the position of the difficulty switches."""
        return self._saved.difficulty


class ALEInterface(ale_py.ALEInterface):
    """ale-py's interface, played by the console where it can be: see ale-py's documentation.

    Attributes
    ----------
    emulator : {"console", "ale"} or None
        What plays the ROM that is loaded.
    """

    emulator: Emulator | None = None
    _played: _Game | None = None

    def __init__(self) -> None:
        super().__init__()
        self._texts = [*map(self.getString, _TEXTS)]

    def loadROM(self, rom: str | os.PathLike[str]) -> None:
        """Load a ROM, with the settings as they are now.

        RuntimeError: there is no such file. ArcadeMarkError: the ROM is for two players, or ale-py knows neither it nor
        its name; ale-py would end the interpreter.
        """
        game, path = self.isSupportedROM(rom), Path(rom)
        if game is None and (path.stem in TWO_PLAYER or path.stem not in roms.get_all_rom_ids()):
            why = "it is for two players" if path.stem in TWO_PLAYER else "ale-py does not know it"
            raise ArcadeMarkError(f"ROM {str(path)!r}: {why}; load another")
        apart = any(map(self.getBool, _SWITCHES)) or [*map(self.getString, _TEXTS)] != self._texts
        emulator: Emulator = "ale" if game is None or apart else choose_emulator(game)
        self._played = _Game(game, path.read_bytes(), self) if game and emulator == "console" else None
        self.emulator = emulator
        if self._played is None:
            super().loadROM(rom)
        for name in _METHODS:  # calls that no subclass replaced go there at once
            vars(self).pop(name, None)
            if self._played is not None and getattr(type(self), name) is getattr(ALEInterface, name):
                vars(self)[name] = getattr(self._played, name)


def _passed_on(name: str) -> Callable[..., Any]:
    """Return a method that calls what plays."""

    def method(self: ALEInterface, *arguments: Any, **named: Any) -> Any:
        if self.emulator is None:
            raise ArcadeMarkError("no ROM is loaded; call loadROM first")
        played = super(ALEInterface, self) if self._played is None else self._played
        return getattr(played, name)(*arguments, **named)

    return method


class _Turn(StepRecord):
    """A call of `act`; as in ``steps.c``."""

    _fields_ = (
        *((name, ctypes.c_size_t) for name in ("draw", "chance")),
        ("repeat_below", ctypes.c_int64),
        ("strength", ctypes.c_float),
        *((name, ctypes.c_int32) for name in ("stored", "start_lives", "since", "period")),
    )

    chance: int
    stored: int


class _Game(cartridge.Player):
    """A game that the console plays. Its public methods are ale-py's, which see; errors are of the same types."""

    def __init__(self, name: str, rom: bytes, settings: ale_py.ALEInterface) -> None:
        self._name, self._facts = name, tasks.games()[name]
        self._translation = cartridge.translation(name, rom)
        red, green, blue = rgb_table(standard(name)).astype(np.uint32).T
        self._tables = red | green << 8 | blue << 16, gray_table(standard(name)).astype(np.uint32)
        self._rgb, self._gray = (table.ctypes.data for table in self._tables)
        self._pictured = int(proven()[name]["cut"]) > 0
        seed = settings.getInt("random_seed")
        self._machine = Machine(
            *(name, rom, None if seed == -1 else seed & 0xFFFFFFFF, self._translation.core),
            stepping=partial(self._prepare, settings),
        )
        self._started(0)
        self._translation.add(self)

    def _prepare(self, settings: ale_py.ALEInterface, machine: Machine) -> Callable[[int], object]:
        """Set up how `act` plays; return what plays the steps of a reset, to which ale-py's settings apply too."""
        self._held = ctypes.create_string_buffer(machine.state_size)
        chance = machine.environment_chance._bit_generator.ctypes
        self._turn = turn = _Turn(
            console=machine.address,
            held=0 if self._pictured else ctypes.addressof(self._held),
            cap=max(0, settings.getInt("max_num_frames_per_episode")),
            frame_skip=settings.getInt("frame_skip"),
            life_ends=settings.getBool("truncate_on_loss_of_life") and self._name not in _LIVES_UNNOTICED,
            start_lives=games.game(self._name).at_reset[games.REGISTERS.index("lives")],
            draw=ctypes.cast(chance.next_uint32, ctypes.c_void_p).value,
            chance=chance.state_address,
            repeat_below=math.ceil(settings.getFloat("repeat_action_probability") * 2**32),
        )
        self._at = ctypes.c_void_p(ctypes.addressof(turn))
        self._use(machine.core)
        this = weakref.proxy(self)  # the machine keeps what is returned, and this keeps the machine
        return lambda action: this._play(action, 1.0)

    def _use(self, core: ctypes.CDLL) -> None:
        self._play: Callable[[int, float], int] = bound(core, "turn", ctypes.addressof(self._turn))
        self._show, self._note = partial(core.console_show, self._at), partial(core.console_note, self._at)

    def _started(self, frames: int) -> None:
        """Begin an episode after a reset; so many frames were played before."""
        turn, machine = self._turn, self._machine
        turn.stored = turn.played = turn.unseen = 0
        turn.total = frames + machine.frames
        self._note()

    @property
    def played(self) -> int:
        return self._turn.total

    # ---- play

    def act(self, action: int | Action, paddle_strength: float = 1.0) -> int:
        """Play frames under an action; return their reward."""
        number = action.value if isinstance(action, Action) else action
        if number < 0:
            raise TypeError(f"action {number} is negative")
        return self._play(number, paddle_strength)

    def reset_game(self) -> None:
        """Begin an episode; the cartridge may be translated before, once in a process."""
        self._translation.take_up()
        if self._translation.core is not None and self._translation.core is not self._machine.core:
            self._machine.use(self._translation.core)
            self._use(self._translation.core)
        turn, frames = self._turn, self._turn.total
        turn.stored = turn.terminated = turn.truncated = 0
        self._machine.reset(self._machine.mode, self._machine.difficulty)
        self._started(frames)

    def game_over(self, with_truncation: bool = True) -> bool:
        turn = self._turn
        return bool(turn.terminated or (with_truncation and turn.truncated))

    def game_truncated(self) -> bool:
        return bool(self._turn.truncated)

    def lives(self) -> int:
        return self._turn.lives

    def getFrameNumber(self) -> int:
        """Return the frames in all episodes since the ROM was loaded, with those that a reset counts."""
        return self._turn.total

    def getEpisodeFrameNumber(self) -> int:
        return self._turn.frames

    # ---- switches

    def getLegalActionSet(self) -> list[Action]:
        return [Action.__members__[name] for name in self._facts.full_actions]

    def getMinimalActionSet(self) -> list[Action]:
        return [Action.__members__[name] for name in self._facts.minimal_actions]

    def getAvailableModes(self) -> list[int]:
        return [*self._facts.modes]

    def getAvailableDifficulties(self) -> list[int]:
        return [*self._facts.difficulties]

    def setMode(self, mode: int) -> None:
        """Choose the mode that the next reset begins; a RuntimeError if there is no such."""
        self._machine.switch(_one_of(mode, self._facts.modes, "mode"), self._machine.difficulty)

    def setDifficulty(self, difficulty: int) -> None:
        """Set the difficulty switches; a RuntimeError if there is no such position."""
        self._machine.switch(self._machine.mode, _one_of(difficulty, self._facts.difficulties, "difficulty"))

    # ---- memory and screen

    def getRAMSize(self) -> int:
        return RAM_SIZE

    def getRAM(self, buffer: Screen | None = None) -> Screen | None:
        if buffer is None:
            return self._machine.memory.copy()
        if not _writable(buffer) or buffer.shape != (RAM_SIZE,):
            ale_py.ALEInterface().getRAM(buffer)  # raises its TypeError
        self._machine.ram(buffer)
        return None

    def setRAM(self, index: int, value: int) -> None:
        """Write a byte of memory."""
        if not 0 <= value <= 255 or index < 0:
            raise TypeError(f"setRAM({index}, {value}): an index is 0 or more, a byte from 0 to 255")
        if index >= RAM_SIZE:
            raise RuntimeError(f"setRAM({index}, {value}): the memory has {RAM_SIZE} bytes")
        self._pictured = True  # frames may be cut short now, which show what earlier ones left: draw all from here on
        self._draw()
        self._machine.memory[index] = value

    def _draw(self) -> None:
        """Draw the last frame if it was not."""
        self._turn.held = ctypes.addressof(self._held)
        self._machine.core.console_redraw(self._at)
        self._turn.held = 0 if self._pictured else self._turn.held

    def getScreenDims(self) -> tuple[int, int]:
        return self._machine.rows, WIDTH

    def getScreen(self, buffer: Screen | None = None) -> Screen | None:
        return self._screen(buffer, (self._machine.rows, WIDTH), None)

    def getScreenRGB(self, buffer: Screen | None = None) -> Screen | None:
        return self._screen(buffer, (self._machine.rows, WIDTH, 3), self._rgb)

    def getScreenGrayscale(self, buffer: Screen | None = None) -> Screen | None:
        return self._screen(buffer, (self._machine.rows, WIDTH), self._gray)

    def _screen(self, buffer: Screen | None, shape: tuple[int, ...], colours: int | None) -> Screen | None:
        if buffer is None:
            return self._drawn(np.empty(shape, np.uint8), colours)
        if not _writable(buffer):
            ale_py.ALEInterface().getScreen(buffer)  # raises its TypeError
        if buffer.shape != shape:
            raise RuntimeError(f"the array's shape is {buffer.shape}; the screen's is {shape}")
        self._drawn(buffer, colours)
        return None

    def _drawn(self, out: Screen, colours: int | None) -> Screen:
        self._show(colours, out.ndim, _NOTHING.from_buffer(out.data))
        return out

    def saveScreenPNG(self, path: str) -> None:
        """Write the screen into a file, twice as wide."""
        screen = self._drawn(np.empty((*self.getScreenDims(), 3), np.uint8), self._rgb)
        Image.fromarray(np.repeat(screen, 2, axis=1)).save(path, "PNG")

    def getAudioSize(self) -> int:
        return 512

    def getAudio(self, buffer: Screen | None = None) -> Screen:
        """Raise an error: with the setting "sound_obs", which this needs, ale-py plays."""
        raise ArcadeMarkError('there is no sound; setBool("sound_obs", True) before loadROM')

    # ---- states

    def cloneState(self, include_rng: bool = False) -> ALEState:
        """Return the state with its screen, and with `include_rng` the generator of sticky actions."""
        machine, turn = self._machine, self._turn
        drawn = self._pictured or not turn.played
        return ALEState._of(
            _Saved(
                self._name,
                machine.save(),
                machine.drawn,
                turn.total,
                machine.mode,
                machine.difficulty,
                turn.frames,
                b"" if drawn else self._held.raw,
                turn.executed,
                machine.save_pictures() if drawn else b"",
                ctypes.string_at(turn.chance, _CHANCE_BYTES) if include_rng else b"",
            )
        )

    def cloneSystemState(self) -> ALEState:
        return self.cloneState(True)

    def restoreState(self, state: ALEState) -> None:
        """Continue from a state, and its screen; the action that may be repeated stays, as in ale-py.

        ArcadeMarkError: it is none that the console saved of this game.
        """
        saved, machine, turn = getattr(state, "_saved", None), self._machine, self._turn
        size = machine.state_size
        if (
            saved is None
            or (saved.game, len(saved.state), len(saved.before) in (0, size)) != (self._name, size, True)
            or not (0 <= saved.drawn <= _MAX_DRAWN and 0 <= saved.action < 2**31)
            or (saved.chance and not _is_chance(saved.chance))
            or not (saved.before or machine.restore_pictures(saved.pictures))
        ):
            raise ArcadeMarkError(f"this is no state that the console saved of {self._name!r}; restore one of its own")
        machine.restore(saved.state)
        machine.draw_from(saved.drawn)
        turn.total, turn.executed = saved.frames, saved.action
        turn.played = turn.unseen = int(bool(saved.before))
        if saved.before:
            self._held.raw = saved.before
            if self._pictured:
                self._draw()
        if saved.chance:
            ctypes.memmove(turn.chance, saved.chance, _CHANCE_BYTES)
        self._note()

    restoreSystemState = restoreState


_METHODS = [name for name, one in vars(_Game).items() if callable(one) and not name.startswith("_")]
for _name in _METHODS:
    setattr(ALEInterface, _name, _passed_on(_name))
_NOTHING = ctypes.c_char * 0


def _one_of(value: int, known: tuple[int, ...], what: str) -> int:
    if value not in known:
        raise RuntimeError(f"{what} {value} is not among {', '.join(map(str, known))}")
    return int(value)


def _writable(buffer: Screen) -> bool:
    """Return whether C can write into an array: ale-py takes no other."""
    return (
        isinstance(buffer, np.ndarray)
        and buffer.dtype == np.uint8
        and buffer.flags.c_contiguous
        and buffer.flags.writeable
    )


def _is_chance(saved: bytes) -> bool:
    """Return whether these bytes are a generator's state."""
    return len(saved) == _CHANCE_BYTES and int.from_bytes(saved[-4:], sys.byteorder) <= 624
