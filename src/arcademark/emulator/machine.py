"""A game on the core: power-on, resets, frames, saved states.

A machine starts like ale-py's: with random memory, a test of the kind of television that the cartridge is made for, and
a reset that chooses the game's mode. It then plays frame by frame. It has two random generators: the machine's own,
which always has the same seed, and the environment's, from which only Adventure's reset draws.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arcademark.emulator.build import TranslatedCore, bound, core
from arcademark.emulator.games import GameRules, condition, game
from arcademark.errors import ArcadeMarkError
from arcademark.suite.cartridges import KINDS
from arcademark.suite.tasks import JOYSTICK_ACTIONS

MACHINE_SEED = 4753849
"""Seed of the generator for the memory and timer at power-on."""

PROBED_FRAMES = 60
"""Frames that determine a cartridge's television: PAL if at least half of the last 30 have more lines."""

PAL_LINES = 285
PAL_HEIGHT = 250
WIDTH = 160
RAM_SIZE = 128
PICTURE_BYTES = 256 * WIDTH
"""Size of a picture in the core; its first rows are the screen."""

_CHANGED = np.dtype([("place", "<u2"), ("word", "<u8")])
"""Eight pixels of the pictures that differ from those marked."""

MAX_PRESSES = 2_000
"""Largest number of presses of the select key, or steps, to reach a mode; Video Cube's last cube needs 783 steps."""

_NOOP, _RESET, _SELECT = 0, 40, 41
_ACTIONS = {**{name: number for number, name in enumerate(JOYSTICK_ACTIONS)}, "RESET": _RESET}
_MODE, _DIFFICULTY, _FRAMES, _NUMBERS = 16, 17, 20, 22
"""Indices of these among the core's numbers."""


class _Setup(ctypes.Structure):
    _fields_ = [
        (name, ctypes.c_int32)
        for name in (
            *("kind", "first_row", "rows", "bars", "paddles", "paddle_pair", "paddles_swapped", "sticks_swapped"),
            *("paddle_least", "paddle_most", "illegal", "lives_hidden", "pal"),
        )
    ]


@functools.lru_cache(256)
def _cartridge(rules: GameRules, rom: bytes) -> ctypes.Array[ctypes.c_char]:
    """Return a cartridge and its game's rules in the core's form, shared by all machines.

    Raises
    ------
    ArcadeMarkError
        If the cartridge is empty.
    """
    facts = rules.facts
    paddles = facts.get("paddles", {})
    least, most = paddles.get("range", (0, 0))
    setup = _Setup(
        kind=KINDS.index(facts["cartridge"]),
        first_row=facts["first_line"],
        rows=facts["height"],
        bars=facts["bars"],
        paddles=bool(paddles),
        paddle_pair=paddles.get("both_ports", False),
        paddles_swapped=paddles.get("swapped", False),
        sticks_swapped=facts.get("swapped_ports", False),
        paddle_least=least,
        paddle_most=most,
        illegal=sum(1 << action for action in facts.get("illegal", ())),
        lives_hidden=facts["lives"]["zero_at_end"],
    )
    program = (ctypes.c_int32 * len(rules.program))(*rules.program)
    made = ctypes.create_string_buffer(core().console_cartridge_size())
    if not core().console_cartridge(made, ctypes.byref(setup), rom, len(rom), program, len(program)):
        raise ArcadeMarkError(f"game {rules.name!r}: a cartridge of {len(rom)} bytes cannot be used")
    return made


class Machine:
    """A game in the core, just loaded.

    Parameters
    ----------
    name : str or GameRules
        The game's id, or its facts.
    rom : bytes
        Its cartridge; any bytes are safe.
    seed : int, optional
        Seed of the environment's generator; if None, a random one.
    chosen : CDLL, optional
        The core to play on, which `translate.translated` made from this cartridge; if None, the interpreter.
    stepping : callable, optional
        Takes the machine before it is loaded, and returns a function that plays the agent steps within a reset. If
        None, each of them is a frame in which no action repeats.

    Attributes
    ----------
    act, act_unseen : callable
        Emulate a frame under an action (0 to 17), or none if the game is over; return its reward. After `act_unseen`
        the screen is undefined.
    game_over : callable
        Return True if the game has ended.
    screen : callable
        Write the screen into a C-contiguous array (rows, 160) of uint8.
    rows : int
        Height of the screen.
    core : CDLL
        The core in use.
    address : int
        The machine's address in memory, for the core's functions.
    state_size : int
        Size of a saved state in bytes.
    environment_chance : numpy.random.RandomState
        The environment's generator.
    drawn : int
        Count of numbers drawn from the machine's own generator.
    """

    def __init__(
        self,
        name: str | GameRules,
        rom: bytes,
        seed: int | None = 0,
        chosen: ctypes.CDLL | None = None,
        stepping: Callable[[Machine], Callable[[int], object]] | None = None,
    ) -> None:
        self.core = chosen or core()
        self._game: GameRules = game(name)
        self._chance, self.drawn = np.random.RandomState(MACHINE_SEED), 0
        self.environment_chance = np.random.RandomState(seed)
        self._memory = ctypes.create_string_buffer(self.core.console_size() + 64)
        self.address = -(-ctypes.addressof(self._memory) // 64) * 64
        self._at = ctypes.c_void_p(self.address)
        self.state_size: int = self.core.console_state_size()
        self._state = ctypes.create_string_buffer(self.state_size)
        self._cartridge = _cartridge(self._game, rom)
        self.core.console_insert(self._at, self._cartridge)
        self._numbers = np.ctypeslib.as_array(self.core.console_numbers(self._at), (_NUMBERS,))
        self._ram = np.ctypeslib.as_array(self.core.console_memory(self._at), (RAM_SIZE,))
        self._pictures = np.ctypeslib.as_array(self.core.console_pictures(self._at), (2, PICTURE_BYTES))
        self.use(self.core)
        self._do_step = stepping(self) if stepping else None
        self._load()

    def use(self, chosen: ctypes.CDLL) -> None:
        """Continue on another core: the interpreter, or this cartridge's translation."""
        if not chosen.console_use(self._at, chosen.program if isinstance(chosen, TranslatedCore) else None):
            raise ArcadeMarkError(
                f"game {self._game.name!r}: its cartridge cannot be used on this core; "
                "choose the one that was made from it"
            )
        self.core = chosen
        names = ("act", "act_unseen", "game_over", "screen")
        self.act, self.act_unseen, self.game_over, self.screen = (bound(chosen, name, self.address) for name in names)

    # ---- from power-on to the first frame

    def _draw(self, count: int) -> NDArray[np.uint32]:
        self.drawn += count
        return self._chance.randint(0, 2**32, count, dtype=np.uint32)

    def _load(self) -> None:
        facts = self._game.facts
        self.core.console_power_on(self._at, bytes((self._draw(RAM_SIZE) & 255).astype(np.uint8)))
        self._draw(1)
        self._system_reset()
        lines = [self._frame(_NOOP, switches=facts["boot_difficulty"]) for _ in range(PROBED_FRAMES)]
        half = PROBED_FRAMES // 2
        self.pal = 2 * sum(count > PAL_LINES for count in lines[half:]) >= half
        self.rows = PAL_HEIGHT if self.pal and facts["height"] == 210 else facts["height"]
        self.core.console_set_picture(self._at, self.rows, self.pal)
        self._system_reset()
        self.mark_pictures()  # the same whatever the seed
        self.reset(facts["mode"], 0)

    def _system_reset(self) -> None:
        timer = int(self._draw(1)[0])
        extra = self._game.facts["cartridge"].endswith("SC")
        ram = bytes((self._draw(RAM_SIZE) & 255).astype(np.uint8)) if extra else None
        self.core.console_reset(self._at, timer, ram)

    def _frame(self, action: int, *, switches: int = -1, ruled: bool = False) -> int:
        lines: int = self.core.console_frame(self._at, action, switches, 1, ruled)
        return lines

    def hold(self, action: str) -> None:
        """Emulate a frame under an action or the switch RESET, given by name, without the game's rules."""
        self._frame(_ACTIONS[action])

    def reset(self, mode: int, difficulty: int) -> None:
        """Reset machine and game as ale-py does; memory is kept, so that starts differ in some games.

        Raises
        ------
        ArcadeMarkError
            If the game does not reach the mode.
        """
        facts = self._game.facts
        self._system_reset()
        self.switch(mode, difficulty)
        for _ in range(60):
            self._frame(_NOOP, ruled=True)
        self._soft_reset()
        self._begin()
        if "select" in facts:
            self._select_mode(facts["select"])
        self._soft_reset()
        for action, count in facts.get("starting_actions", ()):
            for _ in range(count):
                self._frame(_ACTIONS[action], ruled=True)

    def _begin(self) -> None:
        begin = (ctypes.c_int32 * len(self._game.at_reset))(*self._game.at_reset)
        self.core.console_begin(self._at, begin, len(begin))
        self._numbers[_FRAMES] = 0

    def _soft_reset(self) -> None:
        for _ in range(4):
            self._frame(_RESET, ruled=True)

    def _select_mode(self, select: dict[str, Any]) -> None:
        for command in select.get("first", ()):
            self._do(command)
        if "menu" in select:
            self._walk_menu(select["menu"])
        else:
            expression = select.get("until") or ["eq", select["watch"], select["until_equal"]]
            self._until(lambda: self._value(expression), lambda: self._press_select(select))
        registers = dict(select.get("set_register", {}))
        for name, by_mode in select.get("set_register_by_mode", {}).items():
            registers[name] = by_mode[str(self.mode)]
        names = ["score", "lives", "reward", "terminal", *self._game.facts.get("keep", {})]
        for name, value in registers.items():
            self._numbers[names.index(name)] = value
        for command in select.get("last", [["soft_reset"]]):
            self._do(command)

    def _until(self, reached: Callable[[], Any], act: Callable[[], None]) -> None:
        """Call `act` until `reached` returns a true value."""
        for _ in range(MAX_PRESSES):
            if reached():
                return
            act()
        raise ArcadeMarkError(f"game {self._game.name!r}: mode {self.mode} is not reached; choose another")

    def _press_select(self, select: dict[str, Any]) -> None:
        frames = select["hold_frames"]
        if isinstance(frames, dict):
            least, most = frames["random"]
            frames = least + self._environment_draw() % (most - least + 1)
        self._press(frames)
        for command in select.get("after_each", ()):
            self._do(command)

    def _do(self, command: Sequence[Any]) -> None:
        name, *operands = command
        if name == "press":
            self._press(operands[0])
        elif name == "soft_reset":
            self._soft_reset()
        elif name == "step":
            for _ in range(operands[1]):
                self._step(operands[0])
        elif name == "step_until":
            self._until(lambda: self._value(operands[1]), lambda: self._step(operands[0]))

    def _walk_menu(self, menu: dict[str, Any]) -> None:
        for _ in range(menu["skip"]):
            self._next_option(menu["cursor"])
        for number, (mode_bit, option_bit) in enumerate(menu["bits"]):
            if number:
                self._next_option(menu["cursor"])
            wanted = bool(self.mode & mode_bit)
            chosen = partial(self._option, menu["byte"], option_bit, wanted)
            self._until(chosen, partial(self._step, "RIGHT" if wanted else "LEFT", "NOOP"))

    def _option(self, byte: int, bit: int, wanted: bool) -> bool:
        return bool(self._value(["ram", byte]) & bit) == wanted

    def _next_option(self, cursor: int) -> None:
        before = self._value(["ram", cursor])
        self._until(lambda: self._value(["ram", cursor]) != before, lambda: self._step("DOWN", "NOOP"))

    def _press(self, frames: int) -> None:
        for _ in range(frames):
            self._frame(_SELECT)
        self._frame(_NOOP, ruled=True)
        self._numbers[_FRAMES] += 1

    def _step(self, *actions: str) -> None:
        for action in actions:
            (self._do_step or self._undisturbed_step)(_ACTIONS[action])

    def _undisturbed_step(self, action: int) -> None:
        self.skip_draws(1)  # draws for the repetition of actions, which does not occur here
        self.act(action)

    def _environment_draw(self) -> int:
        return int(self.environment_chance.randint(0, 2**32, dtype=np.uint32))

    def _value(self, expression: Any) -> int:
        program = condition(self._game.facts, expression)
        value: int = self.core.console_evaluate(self._at, (ctypes.c_int32 * len(program))(*program), len(program))
        return value

    # ---- in play

    @property
    def mode(self) -> int:
        """The mode chosen."""
        return int(self._numbers[_MODE])

    @property
    def difficulty(self) -> int:
        """The difficulty chosen."""
        return int(self._numbers[_DIFFICULTY])

    def switch(self, mode: int, difficulty: int) -> None:
        """Choose a difficulty from the next frame on, and a mode from the next reset on."""
        self._numbers[_MODE], self._numbers[_DIFFICULTY] = mode, difficulty

    @property
    def frames(self) -> int:
        """Frames since the reset, as ale-py counts them."""
        return int(self._numbers[_FRAMES])

    def skip_draws(self, steps: int) -> None:
        """Draw from the environment's generator as often as so many frames in ale-py do."""
        self.environment_chance.randint(0, 2**32, 2 * steps, dtype=np.uint32)

    def lives(self) -> int:
        """Lives left."""
        return int(self.core.console_lives(self._at))

    def ram(self, out: NDArray[np.uint8]) -> None:
        """Write the memory, 128 bytes."""
        out[...] = self._ram

    @property
    def memory(self) -> NDArray[np.uint8]:
        """The memory itself, 128 bytes; values written there take effect from the next frame on."""
        return self._ram

    def play(self, actions: bytes, seen: int) -> int:
        """Emulate frames until actions or game end, with `seen` of every four drawn; return the reward."""
        reward: int = self.core.console_play(self._at, actions, len(actions), seen)
        return reward

    @property
    def cut(self) -> int:
        """Number of frames that ended before their picture was complete: they show remains of an earlier one."""
        return int(self.core.console_cut(self._at))

    def collisions(self) -> int:
        """Return the collisions of the picture's objects since the program last cleared them.

        Returns
        -------
        int
            Bits 2r and 2r + 1 are bits 7 and 6 of the chip's register r (CXM0P, … CXPPMM).
        """
        return int(self.core.console_collisions(self._at))

    def save(self) -> bytes:
        """Return the state, which determines all later frames."""
        self.core.console_save(self._at, self._state)
        return self._state.raw

    def restore(self, state: bytes) -> None:
        """Continue from a state saved in this machine or another of the same game."""
        self.core.console_restore(self._at, state)

    def draw_from(self, number: int) -> None:
        """Set the machine's own generator to its state after `number` draws."""
        if number < self.drawn:
            self._chance, self.drawn = np.random.RandomState(MACHINE_SEED), 0
        while self.drawn < number:
            self._draw(min(number - self.drawn, 1 << 20))

    def hand_over(self, other: Machine) -> None:
        """Set another machine's generators to the states of this one's."""
        other.draw_from(self.drawn)
        other.environment_chance.set_state(self.environment_chance.get_state())

    def pictures(self) -> NDArray[np.uint8]:
        """Return both pictures, on which frames are drawn in turn; saved with a state, they make cut frames exact."""
        return self._pictures

    def mark_pictures(self) -> None:
        """Mark the present pictures; only differences from them will be saved."""
        self._words = self._pictures.reshape(-1).view(np.uint64)
        self._marked = self._words.copy()

    def save_pictures(self) -> bytes:
        """Return the differences of both pictures from those marked."""
        places = np.flatnonzero(self._words != self._marked)
        changed = np.empty(len(places), _CHANGED)
        changed["place"], changed["word"] = places, self._words[places]
        return changed.tobytes()

    def restore_pictures(self, saved: bytes) -> bool:
        """Restore both pictures; return True if that was possible."""
        if type(saved) is not bytes or len(saved) % _CHANGED.itemsize:
            return False
        changed = np.frombuffer(saved, _CHANGED)
        if (changed["place"] >= len(self._words)).any():
            return False
        self._words[:] = self._marked
        self._words[changed["place"]] = changed["word"]
        return True
