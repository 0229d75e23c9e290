"""ale-py's `ALEInterface` and `ALEState` on our emulator.

An interface is a subclass of ale-py's, which keeps the settings. If our emulator can play a loaded ROM under them, the
methods of a `_Game` replace ale-py's; otherwise ale-py plays.
"""

from __future__ import annotations

import ctypes
import math
import sys
import weakref
from collections.abc import Callable
from functools import partial, wraps
from typing import Any, TypeVar

import msgspec
import numpy as np
from ale_py import Action
from numpy.typing import NDArray
from PIL import Image

from arcademark.ale import emulators
from arcademark.ale.arguments import (
    INCOMPATIBLE,
    MAX_FRAME_SKIP,
    MAX_INT,
    MAX_SIZE,
    MAX_UNSIGNED,
    ArgumentTypeError,
    RefusedError,
    flag,
    integer,
    real,
    rom_file,
    rom_image,
    supported_rom,
    text,
    writable,
)
from arcademark.emulator import cartridge, games, original
from arcademark.emulator.build import bound
from arcademark.emulator.forking import InTurn
from arcademark.emulator.machine import RAM_SIZE, WIDTH, Machine
from arcademark.emulator.prove import proven
from arcademark.environments.emulation.contract import StepRecord
from arcademark.environments.emulation.facts import standard
from arcademark.environments.emulation.palettes import gray_table, rgb_table
from arcademark.environments.registry import EmulatorName, choose_emulator
from arcademark.errors import ArcadeMarkError
from arcademark.suite import tasks

_MARK = b"ArcadeMark/1"
"""First bytes of our saved states, to distinguish them from ale-py's."""

_SWITCHES = ("display_screen", "sound", "sound_obs", "color_averaging")
_TEXTS = (
    *("record_screen_dir", "record_sound_filename", "reward_min", "reward_max"),
    *("cpu", "palette", "paddle_min", "paddle_max", "system_random_seed"),
)
"""Settings that our emulator lacks: if one is on, or differs from its default, ale-py plays."""

_LIVES_UNNOTICED = ("atlantis2",)
"""Games in which ale-py's `truncate_on_loss_of_life` does nothing."""

_CHANCE_BYTES = 4 * 624 + 4
"""Size of the state of numpy's Mersenne Twister: its words and its position."""

_MAX_DRAWN = 2**27
"""Largest number of draws that are repeated to restore a state, in 1/3 s; a million resets make as many draws."""

_MAX_ACTION, _RESET = 17, 40
"""The last action, and RESET, which has no effect in ale-py; other numbers end the interpreter there."""

_FILLING = ("getAudio", "getRAM", "getScreen", "getScreenGrayscale", "getScreenRGB")
"""Methods that fill a buffer."""

_NEW = object()
"""Default of a buffer argument: return a new array."""

Screen = NDArray[np.uint8]
Method = TypeVar("Method", bound=Callable[..., Any])


class _Saved(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """Contents of a saved state."""

    game: str
    state: bytes
    drawn: int
    """Draws from the machine's own generator."""
    frames: int
    """Frames of all episodes."""
    mode: int
    difficulty: int
    episode_frames: int
    before: bytes = b""
    """State before the last frame, from which the screen is drawn; empty if it is in `pictures`."""
    action: int = 0
    """Action of that frame."""
    pictures: bytes = b""
    chance: bytes = b""
    """The environment's generator, if it is part of the state."""

    @property
    def future(self) -> tuple[object, ...]:
        """The fields that determine the rest of the game."""
        return self.game, self.state, self.drawn, self.frames, self.pictures, self.chance


class ALEState:
    """A saved state, equal to others after which the game continues equally; hashable, and can be pickled.

    Parameters
    ----------
    serialized : bytes
        Result of `serialize`. Damaged bytes raise an ArcadeMarkError, those of ale-py's states if it reports damage.
        Other arguments make one of ale-py's states.
    """

    __slots__ = ("_saved",)
    _saved: _Saved

    def __new__(cls, *arguments: Any) -> Any:
        """Return a state, or one of ale-py's if the arguments are ale-py's."""
        if len(arguments) == 1 and isinstance(arguments[0], bytes) and arguments[0].startswith(_MARK):
            try:
                return cls._of(msgspec.msgpack.decode(arguments[0][len(_MARK) :], type=_Saved))
            except msgspec.DecodeError as error:
                raise ArcadeMarkError(f"this saved state is damaged: {error}; save it again") from error
        try:
            return original.ALEState(*arguments)
        except (SystemError, ValueError, MemoryError) as error:
            raise ArcadeMarkError("this saved state is damaged; save it again") from error

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
        """Return True if the game continues equally; ArgumentTypeError: `other` is not a state of this emulator."""
        if not isinstance(other, ALEState):
            raise ArgumentTypeError(f"{type(other).__name__}: expected a state that this emulator saved")
        return self == other

    def serialize(self) -> bytes:
        """Return the state as bytes, from which `ALEState` makes it again."""
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


class ALEInterface(original.ALEInterface):
    """ale-py's interface, on our emulator where possible: see ale-py's documentation.

    Attributes
    ----------
    emulator : {"console", "ale"} or None
        Emulator that plays the loaded ROM.
    """

    emulator: EmulatorName | None = None
    _played: _Game | None = None
    _paddles = False

    def __init__(self) -> None:
        super().__init__()
        self._texts = dict(zip(_TEXTS, map(self.getString, _TEXTS), strict=True))

    @staticmethod
    def isSupportedROM(rom: Any, /) -> str | None:
        """Return the game of a ROM that ale-py knows by its checksum; errors as in `loadROM` if it is not a file."""
        return supported_rom(rom_file(rom))

    def loadROM(self, rom: Any, /) -> None:
        """Load a ROM under the present settings.

        ArgumentTypeError: it is not a path. RefusedError: there is no such file; the ROM is for two players, ale-py
        knows neither it nor its name, or it cannot be played; or the frame skip is out of range. ale-py would end the
        interpreter or play endlessly.
        """
        path = rom_file(rom)
        game, image = rom_image(path)
        if not 0 <= (skip := self.getInt("frame_skip")) <= MAX_FRAME_SKIP:
            raise RefusedError(f"frame_skip {skip}: expected at most {MAX_FRAME_SKIP:,}")
        texts = dict(zip(_TEXTS, map(self.getString, _TEXTS), strict=True))
        ale_only = [*filter(self.getBool, _SWITCHES), *(name for name in _TEXTS if texts[name] != self._texts[name])]
        emulator: EmulatorName = "ale" if game is None or ale_only else choose_emulator(game)
        if emulator == "ale":
            emulators.let_ale_play(game, [f"the setting {name}" for name in ale_only])
        self._played = _Game(game, image, self) if game and emulator == "console" else None
        self.emulator, self._paddles = emulator, bool(games.game(game or path.stem).facts.get("paddles"))
        if self._played is None:
            super().loadROM(path)
        for name, method in _METHODS.items():  # calls of methods that nobody has replaced go there directly
            vars(self).pop(name, None)
            if self._played is not None and getattr(type(self), name) is method:
                vars(self)[name] = getattr(self._played, name)

    def _let_ale(self, name: str, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """Call ale-py's method, unless it would end the interpreter for these arguments."""
        call = getattr(super(), name)
        if name in ("act", "reset_game"):
            if name == "act":
                arguments, named = _playable(self._paddles, *arguments, **named), {}
            frames = super().getFrameNumber()
            result = call(*arguments, **named)
            emulators.HERE.by_ale += super().getFrameNumber() - frames
            if name == "reset_game":
                emulators.HERE.note()
            return result
        if name in _FILLING:
            filled = {key: writable(one, key) for key, one in named.items()}
            return call(*(writable(one, "buffer") for one in arguments), **filled)
        if name not in ("restoreState", "restoreSystemState"):
            return call(*arguments, **named)
        if arguments and not isinstance(arguments[0], original.ALEState):
            raise ArgumentTypeError("ale-py plays, and did not save this state; restore one of its own")
        before = super().cloneSystemState()
        try:
            return call(*arguments, **named)
        except SystemError as error:  # it restored only a part
            super().restoreSystemState(before)
            raise RefusedError("this is not a complete state of this game saved by ale-py; restore another") from error


def console_turn(ale: ALEInterface) -> tuple[ctypes.CDLL, int] | None:
    """Return the core that plays an interface's game, which a reset may change, and the address of its ``Turn``.

    None if ale-py plays.
    """
    return None if ale._played is None else ale._played.turn


def _passed_on(name: str) -> Callable[..., Any]:
    """Return a method that calls that of the emulator that plays."""

    def method(self: ALEInterface, *arguments: Any, **named: Any) -> Any:
        if not isinstance(self, ALEInterface):
            raise ArgumentTypeError(f"{name} of {type(self).__name__}: expected an ALEInterface")
        if self.emulator is None:
            raise RefusedError("no ROM is loaded; call loadROM first")
        if self._played is None:
            return self._let_ale(name, arguments, named)
        return getattr(self._played, name)(*arguments, **named)

    method.__name__, method.__qualname__ = name, f"{ALEInterface.__name__}.{name}"
    method.__doc__ = getattr(original.ALEInterface, name).__doc__
    return method


def _playable(paddles: bool, action: Any, paddle_strength: Any = 1.0) -> tuple[int, float]:
    """Return an action's number and strength; RefusedError: ale-py would end the interpreter for the action."""
    number = integer(action.value if isinstance(action, Action) else action, "action", 0, MAX_UNSIGNED)
    strength = real(paddle_strength, "paddle_strength")
    if number > _MAX_ACTION and number != _RESET and not paddles:
        raise RefusedError(f"action {number}: expected 0 to {_MAX_ACTION}")
    return number, strength


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


def _in_turn(method: Method) -> Method:
    """Return a method that waits until no other thread is in such a method."""

    @wraps(method)
    def alone(self: Any, *arguments: Any, **named: Any) -> Any:
        with self._turns:
            return method(self, *arguments, **named)

    return alone  # type: ignore[return-value]


class _Game(InTurn, cartridge.Player):
    """A game that our emulator plays. See ale-py for its public methods; errors have the same types.

    Threads take turns: a call that plays, shows or changes the game is complete before the next one, or a fork.
    """

    def __init__(self, name: str, rom: bytes, settings: original.ALEInterface) -> None:
        super().__init__()
        self._undone = 0  # frames that were played before a restore
        self._name, self._facts = name, tasks.games()[name]
        self._translation = cartridge.translation(name, rom)
        red, green, blue = rgb_table(standard(name)).astype(np.uint32).T
        self._tables = red | green << 8 | blue << 16, gray_table(standard(name)).astype(np.uint32)
        self._rgb, self._gray = (table.ctypes.data for table in self._tables)
        self._pictured = int(proven()[name]["cut"]) > 0
        self._paddles = bool(games.game(name).facts.get("paddles"))
        self._modes = {*self._facts.modes, games.game(name).facts["mode"]}
        self._difficulties = {*self._facts.difficulties, 0}  # it starts at 0, also in Backgammon, which has only 3
        seed = settings.getInt("random_seed")
        self._machine = Machine(
            *(name, rom, None if seed == -1 else seed & 0xFFFFFFFF, self._translation.core),
            stepping=partial(self._prepare, settings),
        )
        self._started(0)
        self._translation.add(self)

    def _prepare(self, settings: original.ALEInterface, machine: Machine) -> Callable[[int], object]:
        """Set up `act`; return the function that plays a reset's steps, to which ale-py's settings apply, too."""
        self._held = ctypes.create_string_buffer(machine.state_size)
        chance = machine.environment_chance._bit_generator.ctypes
        self._turn = turn = _Turn(
            console=machine.address,
            held=0 if self._pictured else ctypes.addressof(self._held),
            cap=max(0, settings.getInt("max_num_frames_per_episode")),
            frame_skip=max(1, settings.getInt("frame_skip")),
            life_ends=settings.getBool("truncate_on_loss_of_life") and self._name not in _LIVES_UNNOTICED,
            start_lives=games.game(self._name).at_reset[games.REGISTERS.index("lives")],
            draw=ctypes.cast(chance.next_uint32, ctypes.c_void_p).value,
            chance=chance.state_address,
            repeat_below=_repeat_below(settings.getFloat("repeat_action_probability")),
        )
        self._at = ctypes.c_void_p(ctypes.addressof(turn))
        self._use(machine.core)
        this = weakref.proxy(self)  # the machine keeps the result, and this object keeps the machine
        return lambda action: this._play(action, 1.0)

    def _use(self, core: ctypes.CDLL) -> None:
        self._play: Callable[[int, float], int] = bound(core, "turn", ctypes.addressof(self._turn))
        self._show, self._note = partial(core.console_show, self._at), partial(core.console_note, self._at)

    def _take_up(self) -> None:
        """Continue on a translation of the cartridge if there is one; else its making may start."""
        self._translation.take_up()
        if self._translation.core is not None and self._translation.core is not self._machine.core:
            self._machine.use(self._translation.core)
            self._use(self._translation.core)

    def _started(self, frames: int) -> None:
        """Begin an episode after a reset; `frames` were played before."""
        turn, machine = self._turn, self._machine
        turn.stored = turn.played = turn.unseen = 0
        turn.total = frames + machine.frames
        self._note()

    @property
    def played(self) -> int:
        return self._turn.total + self._undone

    @property
    def turn(self) -> tuple[ctypes.CDLL, int]:
        """The core and the address that its function `console_turn` takes."""
        return self._machine.core, ctypes.addressof(self._turn)

    # ---- play

    def act(self, action: int | Action, paddle_strength: float = 1.0) -> int:
        """Play frames under an action; return their reward."""
        number = action.value if isinstance(action, Action) else action
        if type(number) is not int or type(paddle_strength) is not float or not 0 <= number <= _MAX_ACTION:
            number, paddle_strength = _playable(self._paddles, number, paddle_strength)
        with self._turns:
            return self._play(number, paddle_strength)

    @_in_turn
    def reset_game(self) -> None:
        """Begin an episode."""
        self._take_up()
        turn, frames = self._turn, self._turn.total
        turn.stored = turn.terminated = turn.truncated = 0
        self._machine.reset(self._machine.mode, self._machine.difficulty)
        self._started(frames)
        emulators.HERE.note()

    def game_over(self, with_truncation: bool = True) -> bool:
        turn, cut = self._turn, flag(with_truncation, "with_truncation")
        return bool(turn.terminated or (cut and turn.truncated))

    def game_truncated(self) -> bool:
        return bool(self._turn.truncated)

    def lives(self) -> int:
        return self._turn.lives

    def getFrameNumber(self) -> int:
        """Return the frames in all episodes since the ROM was loaded, including those that resets count."""
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

    @_in_turn
    def setMode(self, mode: int, /) -> None:
        """Choose the mode from the next reset on; RuntimeError: there is no such mode."""
        self._machine.switch(_one_of(mode, self._facts.modes, "mode"), self._machine.difficulty)

    @_in_turn
    def setDifficulty(self, difficulty: int, /) -> None:
        """Set the difficulty switches; RuntimeError: there is no such position."""
        self._machine.switch(self._machine.mode, _one_of(difficulty, self._facts.difficulties, "difficulty"))

    # ---- memory and screen

    def getRAMSize(self) -> int:
        return RAM_SIZE

    def getRAM(self, buffer: Any = _NEW) -> Screen | None:
        if buffer is _NEW:
            with self._turns:
                return self._machine.memory.copy()
        out = writable(buffer, "buffer")
        if out.shape != (RAM_SIZE,):
            raise ArgumentTypeError(f"buffer of shape {out.shape}: {INCOMPATIBLE}: an array of shape ({RAM_SIZE},)")
        with self._turns:
            self._machine.ram(out)
        return None

    @_in_turn
    def setRAM(self, index: int, value: int, /) -> None:
        """Write a byte of memory."""
        index, value = integer(index, "index", 0, MAX_SIZE), integer(value, "value", 0, 255)
        if index >= RAM_SIZE:
            raise RefusedError(f"setRAM({index}, {value}): the memory has {RAM_SIZE} bytes")
        self._pictured = True  # frames may be cut short now, which show parts of earlier ones: draw all from now on
        self._draw()
        self._machine.memory[index] = value

    def _draw(self) -> None:
        """Draw the last frame if that was not done."""
        self._turn.held = ctypes.addressof(self._held)
        self._machine.core.console_redraw(self._at)
        self._turn.held = 0 if self._pictured else self._turn.held

    def getScreenDims(self) -> tuple[int, int]:
        return self._machine.rows, WIDTH

    def getScreen(self, buffer: Any = _NEW) -> Screen | None:
        return self._screen(buffer, (self._machine.rows, WIDTH), None)

    def getScreenRGB(self, buffer: Any = _NEW) -> Screen | None:
        return self._screen(buffer, (self._machine.rows, WIDTH, 3), self._rgb)

    def getScreenGrayscale(self, buffer: Any = _NEW) -> Screen | None:
        return self._screen(buffer, (self._machine.rows, WIDTH), self._gray)

    def _screen(self, buffer: Any, shape: tuple[int, ...], colours: int | None) -> Screen | None:
        if buffer is _NEW:
            return self._drawn(np.empty(shape, np.uint8), colours)
        out = writable(buffer, "buffer")
        if out.shape != shape:
            raise RefusedError(f"buffer: its shape is {out.shape}; the screen's is {shape}")
        self._drawn(out, colours)
        return None

    def _drawn(self, out: Screen, colours: int | None) -> Screen:
        with self._turns:
            self._show(colours, out.ndim, _NOTHING.from_buffer(out.data))
        return out

    @_in_turn
    def saveScreenPNG(self, path: str, /) -> None:
        """Write the screen into a file, twice as wide; ArcadeMarkError: the file cannot be written."""
        text(path, "path")
        screen = self._drawn(np.empty((*self.getScreenDims(), 3), np.uint8), self._rgb)
        try:
            Image.fromarray(np.repeat(screen, 2, axis=1)).save(path, "PNG")
        except (OSError, ValueError) as error:  # the second for a NUL
            raise ArcadeMarkError(f"the screen cannot be written ({error}); choose another path") from None

    def getAudioSize(self) -> int:
        return 512

    def getAudio(self, buffer: Any = _NEW) -> Screen:
        """Raise an error: this needs the setting "sound_obs", with which ale-py plays."""
        raise ArcadeMarkError('there is no sound; setBool("sound_obs", True) before loadROM')

    # ---- states

    @_in_turn
    def cloneState(self, include_rng: bool = False) -> ALEState:
        """Return the state with its screen and, if `include_rng`, the generator of sticky actions."""
        machine, turn, chance = self._machine, self._turn, flag(include_rng, "include_rng")
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
                ctypes.string_at(turn.chance, _CHANCE_BYTES) if chance else b"",
            )
        )

    def cloneSystemState(self) -> ALEState:
        return self.cloneState(True)

    @_in_turn
    def restoreState(self, state: ALEState, /) -> None:
        """Continue from a state, with its screen; the action that may be repeated stays, as in ale-py.

        ArgumentTypeError: it is not a state of this game that our emulator saved.
        """
        saved = getattr(state, "_saved", None) if isinstance(state, ALEState) else None
        machine, turn = self._machine, self._turn
        size = machine.state_size
        if (
            saved is None
            or (saved.game, len(saved.state), len(saved.before) in (0, size)) != (self._name, size, True)
            or not (0 <= saved.drawn <= _MAX_DRAWN and -MAX_INT - 1 <= saved.action <= MAX_INT)
            or not (saved.mode in self._modes and saved.difficulty in self._difficulties)
            or (saved.chance and not _is_chance(saved.chance))
            or not (saved.before or machine.restore_pictures(saved.pictures))
        ):
            message = f"this is not a state of {self._name!r} that our emulator saved; restore one of its own"
            raise ArgumentTypeError(message)
        self._take_up()
        machine.restore(saved.state)
        machine.switch(saved.mode, saved.difficulty)
        machine.draw_from(saved.drawn)
        self._undone += turn.total - saved.frames
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


_METHODS = {name: _passed_on(name) for name, one in vars(_Game).items() if callable(one) and not name.startswith("_")}
for _name, _method in _METHODS.items():
    setattr(ALEInterface, _name, _method)
_NOTHING = ctypes.c_char * 0


def _one_of(value: int, known: tuple[int, ...], what: str) -> int:
    number = integer(value, what, 0, MAX_UNSIGNED)
    if number not in known:
        # Of exactly ale-py's type, as programs may compare it.
        raise RuntimeError(f"{what} {number} is not among {', '.join(map(str, known))}")
    return number


def _repeat_below(probability: float) -> int:
    """Return the number below which a 32-bit draw repeats an action; ale-py always repeats if it is NaN."""
    if not probability < 1:
        return 2**32
    return math.ceil(max(probability, 0.0) * 2**32)


def _is_chance(saved: bytes) -> bool:
    """Return True if these bytes are a generator's state."""
    return len(saved) == _CHANCE_BYTES and int.from_bytes(saved[-4:], sys.byteorder) <= 624
