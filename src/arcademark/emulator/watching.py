"""Observation of an undescribed ROM's memory, to find its score, lives and end."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise, repeat
from pathlib import Path
from typing import ClassVar
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray

from arcademark.emulator.games import own_game
from arcademark.emulator.machine import PAL_HEIGHT, RAM_SIZE, Machine
from arcademark.errors import ArcadeMarkError
from arcademark.files import read_as, read_bytes
from arcademark.suite.cartridges import MAX_ROM_BYTES, RESET, Cartridge, default_kind
from arcademark.suite.expressions import FIRST_ADDRESS
from arcademark.suite.settings import MAX_FRAMES_PER_ACTION
from arcademark.suite.task_suites import GROUPS
from arcademark.suite.tasks import JOYSTICK_ACTIONS, joystick_action, known_spelling

MAX_FRAMES = 1_000_000
MAX_HELD = 16
"""Longest time for which random play keeps an action, in frames."""

MAX_LIVES = 16
CLOCK_SHARE = 0.1
"""Share of frames: a byte that changes more often is neither score, lives nor end."""

WRAPS_FROM = 90
"""Value from which two decimal digits may fall, because they are the last of a longer score."""

GAME_FRAMES, RESET_FRAMES = 900, 4
"""Frames after which random play begins a new game, and for which it presses RESET to do so."""


@dataclass(frozen=True)
class WatchedByte:
    """A byte of memory that changed.

    address: 0x80 to 0xff.
    first, last, lowest, highest: Its values.
    changes: Frames in which it changed.
    first_change, last_change: The first and the last of these, from 1.
    may_be: "score", "lives" or "end"; "" if it behaves like none of them.
    expression: Expression that reads it as `may_be`.
    why: Evidence for `may_be`.
    """

    address: int
    first: int
    last: int
    lowest: int
    highest: int
    changes: int
    first_change: int
    last_change: int
    may_be: str
    expression: str
    why: str


@dataclass(frozen=True)
class WatchedMemory:
    """Bytes of memory that change while a ROM is played, with the possible meaning of each.

    rom: Its file.
    size: Its size in bytes.
    kind: Kind of bank switching.
    controller: "joystick" or "paddles".
    known_as: The game as which ale-py knows it; "" if it does not.
    television: "NTSC" or "PAL".
    rows: Height of its screen in pixels.
    frames: Number of frames played.
    actions: Actions played: "random", or as given.
    bytes: Those that changed, starting with those that may be the score, lives or end.
    """

    SCHEMA: ClassVar[str] = "arcademark.memory/1"

    rom: str
    sha256: str
    size: int
    kind: str
    controller: str
    known_as: str
    television: str
    rows: int
    frames: int
    actions: str
    bytes: tuple[WatchedByte, ...]

    @property
    def description(self) -> str:
        """A first description of the game, in TOML."""
        letters = normalize("NFKD", Path(self.rom).stem.lower()).encode("ascii", "ignore").decode()
        name = re.sub(r"[^a-z0-9]+", "_", letters).strip("_") or "game"
        name = (f"my_{name}" if known_spelling(name) or name in GROUPS else name)[:64]
        found = {byte.may_be: byte.expression for byte in reversed(self.bytes) if byte.may_be}
        end = "lives == 0" if "lives" in found else found.get("end", "0")
        facts = {"rom": Path(self.rom).name, "sha256": self.sha256}
        facts |= {field: found.get(field, "0") for field in ("score", "lives")}
        rows = PAL_HEIGHT if self.television == "PAL" else 210
        taken = {"kind": default_kind(self.size), "controller": "joystick", "television": "NTSC", "rows": rows}
        facts |= {field: getattr(self, field) for field, value in taken.items() if getattr(self, field) != value}
        facts["end"] = end
        lines = (f"{field} = {json.dumps(value, ensure_ascii=False)}" for field, value in facts.items())
        return "\n".join((f"[tasks.{name}.cartridge]", *lines))


def read_actions(text: str) -> tuple[tuple[str, int], ...]:
    """Read actions, or the switch RESET, with their numbers of frames, as in ``RESET:4,FIRE:10,RIGHT:60``."""
    actions = []
    for part in text.split(","):
        name, _, frames = part.strip().partition(":")
        count = int(frames) if frames.isdecimal() and len(frames) < 9 else 0
        if not 1 <= count <= MAX_FRAMES_PER_ACTION:
            raise ArcadeMarkError(
                f"actions, {part.strip()[:40]!r}: expected an action and its frames, 1 to {MAX_FRAMES_PER_ACTION:,}, "
                "as in RESET:4,FIRE:10,RIGHT:60"
            )
        actions.append((RESET if name.upper() == RESET else joystick_action(name), count))
    return tuple(actions)


def watch(
    path: Path,
    frames: int,
    actions: Sequence[tuple[str, int]] = (),
    *,
    kind: str | None = None,
    paddles: bool = False,
    seed: int = 0,
) -> WatchedMemory:
    """Play a ROM, from a reset on, and watch its memory.

    Parameters
    ----------
    path : Path
        The ROM's file.
    frames : int
        Number of frames to play, up to `MAX_FRAMES`.
    actions : sequence of (str, int)
        Actions to repeat; by default random ones, each for up to `MAX_HELD` frames, with RESET once per `GAME_FRAMES`
        frames.
    kind : str, optional
        Kind of bank switching, if its size does not determine it.
    paddles : bool
        Play it with paddles.
    seed : int
        Seed of random play.

    Raises
    ------
    ArcadeMarkError
        If there are too many frames, the file cannot be described or read, or its kind is unknown.
    arcademark.emulator.build.NoCore
        If there is no core.
    """
    if frames > MAX_FRAMES:
        raise ArcadeMarkError(f"{frames:,} frames to watch; expected at most {MAX_FRAMES:,}")
    if not path.name.isprintable() or "\\" in path.name:
        raise ArcadeMarkError(f"{path}: a description cannot contain this name; rename the file, as in catch.bin")
    rom = read_bytes(path, MAX_ROM_BYTES)
    digest = hashlib.sha256(rom).hexdigest()
    facts = {"rom": "rom", "sha256": digest, "score": "0", "end": "0", "kind": kind}
    plugged = {"controller": "paddles"} if paddles else {}
    cartridge = read_as(Cartridge, facts | plugged, path, "give another kind, or leave it out")
    rules = own_game(path.name, cartridge, rom)
    machine = Machine(rules, rom)
    memory = np.empty((frames + 1, RAM_SIZE), np.uint8)
    machine.ram(memory[0])
    played = _given(actions) if actions else _random(np.random.default_rng(seed))
    begun = [0]
    for frame, action in enumerate(islice(played, len(memory) - 1), 1):
        machine.hold(action)
        machine.ram(memory[frame])
        if action == RESET and frame > begun[-1] + RESET_FRAMES:
            begun.append(frame)
    return WatchedMemory(
        str(path),
        digest,
        len(rom),
        rules.facts["cartridge"],
        "paddles" if rules.facts.get("paddles") else "joystick",
        rules.known_as,
        "PAL" if machine.pal else "NTSC",
        machine.rows,
        len(memory) - 1,
        ",".join(f"{name}:{count}" for name, count in actions) or "random",
        tuple(sorted(_bytes(memory, begun), key=lambda byte: (_ORDER.index(byte.may_be), byte.address))),
    )


_ORDER = ("score", "lives", "end", "")


def _given(actions: Sequence[tuple[str, int]]) -> Iterator[str]:
    while True:
        for name, count in actions:
            yield from repeat(name, count)


def _random(rng: np.random.Generator) -> Iterator[str]:
    """Yield random actions, and RESET at the start of a new game."""
    while True:
        left = GAME_FRAMES - RESET_FRAMES
        while left > 0:
            count = min(left, int(rng.integers(1, MAX_HELD + 1)))
            yield from repeat(JOYSTICK_ACTIONS[rng.integers(len(JOYSTICK_ACTIONS))], count)
            left -= count
        yield from repeat(RESET, RESET_FRAMES)


def _bytes(memory: NDArray[np.uint8], begun: Sequence[int]) -> Iterator[WatchedByte]:
    """Yield the bytes that changed; `begun` are the frames at which games began, after the first one with RESET."""
    edges = [*begun, len(memory)]
    games = [slice(first + (2 * RESET_FRAMES if first else 0), last) for first, last in pairwise(edges)]
    for place, column in enumerate(memory.T):
        values = column.astype(np.int64)
        changed = np.flatnonzero(np.diff(values)) + 1
        if changed.size:
            address = FIRST_ADDRESS + place
            played = [game[np.concatenate([[True], np.diff(game) != 0])] for one in games if len(game := values[one])]
            guess = _guess(f"ram[{address:#04x}]", played, len(values))
            first, last, lowest, highest = (int(value) for value in (values[0], values[-1], values.min(), values.max()))
            when = len(changed), int(changed[0]), int(changed[-1])
            yield WatchedByte(address, first, last, lowest, highest, *when, *guess)


def _guess(byte: str, games: Sequence[NDArray[np.int64]], frames: int) -> tuple[str, str, str]:
    """Return a byte's possible meaning, its expression and the evidence, from its successive values in each game."""
    steps, values = np.concatenate([np.diff(game) for game in games]), np.concatenate(games)
    start, several = values[0], f" in {len(games)} games" if len(games) > 1 else ""
    if not len(steps) or len(steps) > CLOCK_SHARE * frames or any(game[0] != start for game in games):
        return "", "", ""
    if start <= MAX_LIVES and (steps == -1).all():
        return "lives", byte, f"goes down by 1 from {start}, to {values.min()}{several}"
    ends = {int(game[1]) for game in games if len(game) == 2}
    if 2 * len(steps) >= len(games) >= len(steps) and len(ends) == 1 and max(map(len, games)) == 2:
        return "end", f"{byte} == {ends.pop()}", f"changes once from {start}, in {len(steps)} of {len(games)} games"
    decimal = bool(((values & 15) < 10).all() and (values >> 4 < 10).all())
    read = [10 * (game >> 4) + (game & 15) if decimal else game for game in games]
    rises = np.concatenate([np.diff(game) for game in read])
    before = np.concatenate([game[:-1] for game in read])
    if ((rises > 0) | ((before >= WRAPS_FROM) & decimal)).all():
        most = max(int(game.max()) for game in read)
        if decimal and most > 9:
            return "score", f"bcd({byte})", f"counts up in two decimal digits, to {most}{several}"
        digits = " (too few to tell decimal digits)" if most < 10 else ""
        return "score", byte, f"counts up, to {most}{several}{digits}"
    return "", "", ""
