"""Whether the console is ale-py's, frame by frame: memory, reward, lives, end of game and screen.

::

    prove(game, frames) ─→ sections of random play ─→ Section records, one line each ─→ the proven list

A section plays one mode and difficulty on both, from power-on, with one seed: random actions held for random times,
resets at each end of a game and now and then, and on our side states saved, played over and restored, in the same
machine and in another. ale-py's own states are never restored: it is the referee. Screens are drawn in part of the
frames only, unless some frames of a game are cut short, where a picture shows what is left of an earlier one.
"""

from __future__ import annotations

import csv
import dataclasses
import functools
import hashlib
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import ale_py
import numpy as np

from arcademark.console import games
from arcademark.console.build import version
from arcademark.console.machine import RAM_SIZE, WIDTH, Machine
from arcademark.errors import ArcadeMarkError
from arcademark.files import parse_json
from arcademark.files import read_text as read_file
from arcademark.suite.tables import read_text

SECTION_FRAMES = 5_000
LONGEST_HOLD = 8
"""Frames for which an action is held at most."""

RESET_CHANCE, RESTORE_CHANCE = 1 / 2_000, 1 / 200
"""A frame."""

LONGEST_DETOUR = 30
"""Frames played at most between saving a state and restoring it."""


@dataclass(frozen=True)
class Section:
    """What one section of a game's proof found.

    Parameters
    ----------
    game, rules, core, ale_py : str
        The game, the checksums of its facts and of the core, and the referee's version.
    number : int
        Which section of the game; seed of all that is random.
    mode, difficulty : int
        The switches played.
    frames, screens, resets, restores : int
        How much was compared: frames' memory, reward, lives and end; screens; and what was done meanwhile.
    cut : int
        Frames that ended before their picture did.
    difference : str
        What differed first, "" if nothing did.
    """

    game: str
    rules: str
    core: str
    ale_py: str
    number: int
    mode: int
    difficulty: int
    frames: int
    screens: int
    resets: int
    restores: int
    cut: int
    difference: str


def rules_checksum(game: str) -> str:
    """Return a checksum of a game's facts, 16 hexadecimal digits."""
    text = json.dumps(games.game(game).facts, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def settings(ale: ale_py.ALEInterface) -> list[tuple[int, int]]:
    """Return every mode with every difficulty of the game loaded, the default first."""
    modes, difficulties = ale.getAvailableModes(), ale.getAvailableDifficulties()
    default = ale.cloneState().getCurrentMode(), 0
    pairs = [(mode, difficulty) for mode in modes for difficulty in difficulties]
    return [default, *(pair for pair in pairs if pair != default)]


def sections(game: str, rom: Path, frames: int, done: Sequence[Section] = ()) -> Iterator[Section]:
    """Compare console and ale-py until so many frames of a game are compared, `done` among them.

    Parameters
    ----------
    game : str
        Its id.
    rom : Path
        Its cartridge.
    frames : int
        To be compared in all.
    done : sequence of Section
        Compared on an earlier day.

    Yields
    ------
    Section
        Each as it ends. Half of them play the default mode and difficulty, the others all others in turn.

    Raises
    ------
    arcademark.console.build.NoCore
        If there is no core.
    """
    compared, cut = sum(section.frames for section in done), any(section.cut for section in done)
    number = max((section.number for section in done), default=-1) + 1
    while compared < frames:
        section = _Comparison(game, rom, number, cut).run(min(SECTION_FRAMES, frames - compared))
        if section.cut and not cut and section.difference:
            cut = True  # pictures left from frames that were not drawn: play it again with all drawn
            continue
        yield section
        cut |= bool(section.cut)
        compared += section.frames
        number += 1
        if section.difference:
            return


class _Comparison:
    """One section, in progress."""

    def __init__(self, game: str, rom: Path, number: int, all_drawn: bool) -> None:
        self._game, self._number, self._all_drawn = game, number, all_drawn
        ale_py.ALEInterface.setLoggerMode(ale_py.LoggerMode.Error)
        self._ale = ale = ale_py.ALEInterface()
        ale.setFloat("repeat_action_probability", 0.0)
        ale.setInt("random_seed", number)
        ale.loadROM(rom)
        content = rom.read_bytes()
        self._machine, self._other = Machine(game, content, number), Machine(game, content, number)
        pairs = settings(ale)
        self._setting = pairs[0] if number % 2 == 0 else pairs[(number // 2 + 1) % len(pairs)]
        self._rng = np.random.default_rng(number)
        self._screens = np.empty((2, self._machine.rows, WIDTH), np.uint8)
        self._memories = np.empty((2, RAM_SIZE), np.uint8)
        self._counts = dict.fromkeys(("frames", "screens", "resets", "restores", "cut"), 0)
        self._undrawn = 0
        if self._setting != pairs[0]:
            ale.setMode(self._setting[0])
            ale.setDifficulty(self._setting[1])
            self._reset()
        self._cut_before = self._machine.cut
        self._actions = np.array([action.value for action in ale.getLegalActionSet()])
        self._minimal = np.array([action.value for action in ale.getMinimalActionSet()])

    def run(self, frames: int) -> Section:
        """Play and compare up to so many frames."""
        difference = self._differs(0, 0, True, lives=False)
        action = held = 0
        while not difference and self._counts["frames"] < frames:
            if self._machine.game_over() or self._rng.random() < RESET_CHANCE:
                self._reset()
                difference = self._differs(0, 0, True, lives=False)
                if difference or self._machine.game_over():
                    break  # some modes are over before they begin
            if self._rng.random() < RESTORE_CHANCE:
                self._detour()
            if not held:
                action = int(self._rng.choice(self._minimal if self._rng.random() < 0.75 else self._actions))
                held = int(self._rng.integers(1, LONGEST_HOLD + 1))
            held -= 1
            seen = self._all_drawn or bool(self._rng.random() < 0.6)
            ours = (self._machine.act if seen else self._machine.act_unseen)(action)
            difference = self._differs(self._ale.act(action), ours, seen)
            self._counts["frames"] += 1
            self._undrawn += 1
        self._counts["cut"] += self._machine.cut - self._cut_before
        where = f"after {self._counts['frames']} frames: " if difference else ""
        return Section(
            game=self._game,
            rules=rules_checksum(self._game),
            core=version(),
            ale_py=ale_py.__version__,
            number=self._number,
            mode=self._setting[0],
            difficulty=self._setting[1],
            difference=where + difference,
            **self._counts,
        )

    def _reset(self) -> None:
        self._machine.skip_draws(self._undrawn)
        self._undrawn = 0
        before = self._machine.cut
        self._ale.reset_game()
        self._machine.reset(*self._setting)
        self._cut_before = self._machine.cut - before + getattr(self, "_cut_before", 0)
        self._counts["resets"] += 1

    def _detour(self) -> None:
        """Save, play on, and restore: here, or in the other machine, which then goes on."""
        state, pictures = self._machine.save(), self._machine.pictures().copy()
        for action in self._rng.choice(self._minimal, int(self._rng.integers(1, LONGEST_DETOUR + 1))):
            self._machine.act(int(action))
        if self._rng.random() < 0.5:
            self._counts["cut"] += self._machine.cut - self._cut_before
            self._machine.hand_over(self._other)
            self._machine, self._other = self._other, self._machine
            self._cut_before = self._machine.cut
        self._machine.restore(state)
        if self._all_drawn:
            self._machine.pictures()[:] = pictures
        self._counts["restores"] += 1

    def _differs(self, reward: int, our_reward: int, seen: bool, lives: bool = True) -> str:
        """Return what differs after a frame, "" if nothing does."""
        ale, machine = self._ale, self._machine
        told = (reward, ale.game_over(), ale.getEpisodeFrameNumber(), ale.lives() if lives else 0)
        ours = (our_reward, machine.game_over(), machine.frames, machine.lives() if lives else 0)
        for name, one, two in zip(("reward", "end", "frames", "lives"), told, ours, strict=True):
            if one != two:
                return f"{name} {one} in ale-py, {two} here"
        ale.getRAM(self._memories[0])
        machine.ram(self._memories[1])
        if not np.array_equal(*self._memories):
            place = int(np.flatnonzero(self._memories[0] != self._memories[1])[0])
            return f"memory at {place}: {self._memories[0, place]} in ale-py, {self._memories[1, place]} here"
        if not seen:
            return ""
        ale.getScreen(self._screens[0])
        machine.screen(self._screens[1])
        self._counts["screens"] += 1
        if not np.array_equal(*self._screens):
            row, column = np.argwhere(self._screens[0] != self._screens[1])[0]
            return f"screen at row {row}, column {column}"
        return ""


# ---- records and the proven list


def read_sections(path: Path) -> list[Section]:
    """Return the sections of a record that are of this core, ale-py and rules; lines cut short are left out.

    Raises
    ------
    ArcadeMarkError
        If the file cannot be read, or is no record.
    """
    if not path.exists():
        return []
    found, lines = [], read_file(path).splitlines()
    for line in lines:
        try:
            found.append(Section(**parse_json(line, path)))
        except (ArcadeMarkError, TypeError):
            continue
    if lines and not found:
        raise ArcadeMarkError(f"{path}: is no record of a proof; choose another --out")
    return [section for section in found if current(section)]


def current(section: Section) -> bool:
    """Whether a section was played by this core, under these rules, against this ale-py."""
    known = section.game in games.names()
    ours = section.core, section.ale_py
    return known and ours == (version(), ale_py.__version__) and section.rules == rules_checksum(section.game)


def line_of(section: Section) -> str:
    """Return a section as a line of a record."""
    return json.dumps(dataclasses.asdict(section)) + "\n"


LIST = "proven.csv"
COLUMNS = ("game", "rules", "core", "ale_py", "frames", "screens", "settings", "resets", "restores", "cut")


def proven_list(found: Iterable[Section]) -> list[dict[str, Any]]:
    """Return a row for each game of which all sections are without difference."""
    by_game: dict[str, list[Section]] = {}
    for section in found:
        by_game.setdefault(section.game, []).append(section)
    rows = []
    for _, parts in sorted(by_game.items()):
        if any(part.difference for part in parts):
            continue
        sums = {name: sum(getattr(part, name) for part in parts) for name in COLUMNS[4:] if name != "settings"}
        tried = len({(part.mode, part.difficulty) for part in parts})
        first = {name: getattr(parts[0], name) for name in COLUMNS[:4]}
        rows.append({**first, **sums, "settings": tried})
    return rows


def list_text(found: Iterable[Section]) -> str:
    """Return the proven list of a record, as CSV."""
    rows = io.StringIO()
    writer = csv.DictWriter(rows, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(proven_list(found))
    return rows.getvalue()


@functools.cache
def proven() -> dict[str, dict[str, str]]:
    """Return the proven list's row of each game for which this core, these rules and this ale-py were proven."""
    rows = csv.DictReader(io.StringIO(read_text(LIST, files("arcademark.console") / "data")))
    return {
        row["game"]: row
        for row in rows
        if (row["core"], row["ale_py"]) == (version(), ale_py.__version__)
        and row["rules"] == rules_checksum(row["game"])
    }
