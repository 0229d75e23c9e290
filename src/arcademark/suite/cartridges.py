"""User-defined games: a cartridge, and the meaning of its memory: score, lives and end.

A task of a suite's file that is such a game has a table ``cartridge``; ``docs/own-games.md`` describes its fields::

    [tasks.catch.cartridge]
    rom = "catch.bin"                       # beside the file
    sha256 = "5d3c…"
    score = "bcd(ram[0x80])"                # see `arcademark.suite.expressions`
    lives = "ram[0x81]"
    end = "lives == 0"
    actions = ["NOOP", "RIGHT", "LEFT"]
"""

from __future__ import annotations

import hashlib
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, to_builtins

from arcademark.errors import ArcadeMarkError
from arcademark.files import read_bytes
from arcademark.suite.expressions import NAMES, Expression, parse
from arcademark.suite.settings import MAX_FRAMES_PER_ACTION
from arcademark.suite.tasks import JOYSTICK_ACTIONS

KINDS = ("2K", "4K", "F8", "F6", "F8SC", "F6SC", "E0", "FE", "DPC")
"""Kinds of bank switching, in the order of the emulator's core."""

ROM_BYTES = {
    "2K": (2048, 2048),
    "4K": (4096, 4096),
    **dict.fromkeys(("F8", "F8SC", "E0", "FE"), (8192, 8192)),
    "DPC": (10240, 10495),
    **dict.fromkeys(("F6", "F6SC"), (16384, 16384)),
}
"""Smallest and largest size of a ROM of each kind. A shorter ROM is not whole: its program starts at its end."""

MAX_ROM_BYTES = 16384
"""Largest size of a ROM in bytes."""

MAX_STARTING_ACTIONS = 100

MIN_ROWS, MAX_ROWS = 210, 250
"""Limits of a screen's rows: ale-py's are within these."""

RESET = "RESET"
"""Name of the console's switch among starting actions."""

Checksum = Annotated[str, Meta(pattern=r"\A[0-9a-f]{64}\Z", description="64 hexadecimal digits in lower case")]
StartingAction = tuple[str, Annotated[int, Meta(ge=1, le=MAX_FRAMES_PER_ACTION)]]


def default_kind(size: int) -> str | None:
    """Return the most common kind of ROMs of a size in bytes; None if there are no such ROMs."""
    return next((kind for kind, (least, most) in ROM_BYTES.items() if least <= size <= most), None)


def _in_words(*kinds: str) -> str:
    """Return the sizes of ROMs of some kinds."""
    limits = dict.fromkeys(ROM_BYTES[kind] for kind in kinds)
    return ", ".join(" to ".join(f"{size:,}" for size in dict.fromkeys(each)) for each in limits)


class Cartridge(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, dict=True):
    """A cartridge, and the meaning of its memory after each frame.

    Parameters
    ----------
    rom : str
        The ROM's file, within the folder of the suite's file.
    sha256 : str
        Its checksum, 64 hexadecimal digits in lower case.
    score, lives, end : str
        Expressions: points so far, whose change is a frame's reward; lives left, 0 if the game has none; and a value
        that is not 0 once the game is over. `end` may use ``score`` and ``lives``.
    score_wraps_at : int
        Points at which the score begins at 0 again; 0 if it never does.
    actions : tuple of str
        The actions that the game uses, its minimal action set, in any order, including NOOP.
    starting_actions : tuple of (str, int)
        Inputs after the reset, before an episode's first frame: actions, or the console's switch RESET, with numbers of
        frames. None for no inputs, or for ale-py's if it knows the ROM.
    kind : str
        Bank switching of the ROM, if it is not `default_kind`.
    controller : {"joystick", "paddles"}
        None for a joystick, or for ale-py's if it knows the ROM.
    television : {"NTSC", "PAL"}
        Television standard, which determines the colours.
    rows : int
        Height of its screen in pixels; None for 210, of PAL 250.
    """

    rom: Annotated[str, Meta(max_length=255)]
    sha256: Checksum
    score: str
    end: str
    lives: str = "0"
    score_wraps_at: Annotated[int, Meta(ge=0, le=10**9)] = 0
    actions: tuple[str, ...] = JOYSTICK_ACTIONS
    starting_actions: Annotated[tuple[StartingAction, ...], Meta(max_length=MAX_STARTING_ACTIONS)] | None = None
    kind: str | None = None
    controller: Literal["joystick", "paddles"] | None = None
    television: Literal["NTSC", "PAL"] = "NTSC"
    rows: Annotated[int, Meta(ge=MIN_ROWS, le=MAX_ROWS)] | None = None

    def __post_init__(self) -> None:
        parts = self.rom.split("/")
        if not self.rom.isprintable() or "\\" in self.rom or not {*parts}.isdisjoint({"", ".", ".."}):
            raise ValueError(
                "rom: expected a file in the folder of this one or below, as in 'catch.bin', 'roms/catch.bin'"
            )
        for field in ("score", "lives", "end"):
            self._parsed(field)
        if self.kind not in (None, *KINDS):
            raise ValueError(f"kind {self.kind[:20]!r}: expected one of {', '.join(KINDS)}")
        for action, _ in self.starting_actions or ():
            if action not in (RESET, *JOYSTICK_ACTIONS):
                raise ValueError(f"starting_actions, {action[:20]!r}: expected {RESET} or an action such as FIRE")
        given = self.actions
        if not {"NOOP"} <= {*given} <= {*JOYSTICK_ACTIONS} or len({*given}) < len(given):
            raise ValueError("actions: expected NOOP and others of the joystick's 18, such as UPFIRE, each once")

    def _parsed(self, field: str) -> Expression:
        try:
            return parse(getattr(self, field), NAMES if field == "end" else ())
        except ValueError as error:
            raise ValueError(f"{field}, {error}") from None

    @cached_property
    def expressions(self) -> dict[str, Expression]:
        """The expressions `score`, `lives` and `end`, parsed."""
        return {field: self._parsed(field) for field in ("score", "lives", "end")}

    @property
    def minimal_actions(self) -> tuple[str, ...]:
        """The actions in the emulator's order."""
        return tuple(action for action in JOYSTICK_ACTIONS if action in self.actions)

    @property
    def screen_rows(self) -> int:
        """The height of its screen in pixels."""
        return self.rows or (250 if self.television == "PAL" else 210)

    def check_screen(self, task: str, television: str, rows: int) -> None:
        """Raise if an emulator found another screen than the described one."""
        for what, described, found in (("television", self.television, television), ("rows", self.screen_rows, rows)):
            if described != found:
                value = f'"{found}"' if what == "television" else str(found)
                raise ArcadeMarkError(
                    f"game {task!r}: its ROM has a screen with {what} {found}, not {described}; correct it: "
                    f"{what} = {value}"
                )

    def check_start(self, task: str, over: bool) -> None:
        """Raise if an emulator found that the game is over at its start."""
        if over:
            raise ArcadeMarkError(
                f"game {task!r}: it is over at its start; correct 'end', or start it with starting_actions, "
                'such as [["RESET", 4], ["FIRE", 1]]'
            )

    def played(self) -> dict[str, Any]:
        """Return all fields that can change an episode's score, as JSON values: all but the ROM's path."""
        values: dict[str, Any] = to_builtins(self)
        return {name: value for name, value in values.items() if name != "rom"}

    def read_rom(self, folder: str, task: str) -> bytes:
        """Return the content of the ROM in a folder.

        ArcadeMarkError: the folder is "", the file cannot be read or is too large, or it is another ROM.
        """
        where = f"game {task!r}"
        if not folder:
            raise ArcadeMarkError(
                f"{where}: a run does not contain its ROM; name the file that describes it, with the ROM beside it: "
                "--suite FILE"
            )
        path = Path(folder, self.rom)
        content = read_bytes(path, MAX_ROM_BYTES)
        if (found := hashlib.sha256(content).hexdigest()) != self.sha256:
            raise ArcadeMarkError(
                f"{where}: {path} has the SHA-256 {found}, expected {self.sha256}; put the right ROM there, or correct "
                "the description"
            )
        return content

    def wiring(self, rom: bytes, task: str) -> str:
        """Return the kind of bank switching, by default that of the ROM's size.

        ArcadeMarkError: no ROM, or none of that kind, has this size.
        """
        size = len(rom)
        kind = self.kind or default_kind(size)
        if kind is None:
            raise ArcadeMarkError(
                f"game {task!r}: its ROM has {size:,} bytes; expected one of {_in_words(*ROM_BYTES)}; use a whole ROM"
            )
        if not (limits := ROM_BYTES[kind])[0] <= size <= limits[1]:
            raise ArcadeMarkError(
                f"game {task!r}: its ROM has {size:,} bytes, but ROMs of the kind {kind} have {_in_words(kind)}; give "
                "another kind, or leave it out"
            )
        return kind
