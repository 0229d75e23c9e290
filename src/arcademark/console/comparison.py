"""One section of a proof: a game played on the console and on its referee, compared after each frame.

Both begin at power-on. Random actions are held for random times; stretches of play in the default mode and in the
other modes and difficulties follow each other, each begun by a reset. Now and then the console's state is saved, played
over and restored, in the same machine or in another. The referee is ale-py, of which no state is ever restored. Screens
are drawn and compared in part of the frames only, unless some frames of a game are cut short, where a picture shows
what is left of an earlier one.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import ale_py
import numpy as np
from numpy.typing import NDArray

from arcademark.console import games, translate
from arcademark.console.machine import RAM_SIZE, WIDTH, Machine
from arcademark.suite import tasks

SEEN_SHARE = 0.6
"""Of the frames, those whose screens are compared."""

MINIMAL_SHARE = 0.75
"""Of the actions, those of the game's own set; the others are any."""

LONGEST_HOLD = 8
"""Frames for which an action is held at most."""

STRETCH = 1_500
"""Frames between resets in the mean, in the default mode; in the others as many, or fewer where they are many."""

FRAMES_OF_OTHERS = 50_000
"""Frames in which all other modes and difficulties have their turn."""

SHORTEST_STRETCH = 150

RESTORE_CHANCE = 1 / 200
"""A frame."""

LONGEST_DETOUR = 30
"""Frames played at most between saving a state and restoring it."""

Setting = tuple[int, int]
"""A mode and a difficulty."""


@dataclass(frozen=True)
class Section:
    """What one section of a game's proof showed.

    Parameters
    ----------
    game : str
        Its id.
    settings : tuple of (int, int)
        The modes and difficulties played, the default first.
    frames, screens, resets, restores : int
        How much was compared: frames' memory, reward, lives and end; screens; and what was done meanwhile.
    cut : int
        Frames that ended before their picture did.
    difference : str
        What differed first, "" if nothing did.
    """

    game: str
    settings: tuple[Setting, ...]
    frames: int
    screens: int
    resets: int
    restores: int
    cut: int
    difference: str


def settings(game: str) -> list[Setting]:
    """Return every mode of a game with every difficulty, the default first."""
    known = tasks.games()[game]
    default = games.game(game).facts["mode"], 0
    pairs = [(mode, difficulty) for mode in known.modes for difficulty in known.difficulties]
    return [default, *(pair for pair in pairs if pair != default)]


class _Seen(NamedTuple):
    """Memory and screen after a frame, as bytes and as arrays over them."""

    memory: bytearray
    memory_out: NDArray[np.uint8]
    picture: bytearray
    picture_out: NDArray[np.uint8]


class Comparison:
    """A section in progress.

    Parameters
    ----------
    game : str
        Its id.
    rom : Path
        Its cartridge.
    number : int
        The section's.
    all_drawn : bool
        Whether all frames are drawn and compared, and both pictures belong to a state.
    translated : bool
        Whether the cartridge's translation is compared, rather than the interpreter.

    Raises
    ------
    arcademark.console.build.NoCore
        If there is no core.
    """

    def __init__(self, game: str, rom: Path, number: int, all_drawn: bool = False, translated: bool = False) -> None:
        self._game, self._all_drawn = game, all_drawn
        content = rom.read_bytes()
        chosen = translate.translated(game, content) if translated else None
        self._referee = _ale(rom, number)
        self._machine = Machine(game, content, number, chosen=chosen)
        self._other = Machine(game, content, number, chosen=chosen)
        self._rng = rng = np.random.default_rng(number)
        self._default, *self._others = settings(game)
        self._returns = self._default[1] in tasks.games()[game].difficulties
        if not self._returns and number % 2 == 0:
            self._others = []
        self._next_other = number % 4 * len(self._others) // 4
        self._other_stretch = np.clip(FRAMES_OF_OTHERS / max(1, len(self._others)), SHORTEST_STRETCH, STRETCH)
        self._setting = self._default
        self._frames_by_kind = [0, 0]
        self._tried = {self._default: None}
        self._reset_at = 1 + int(rng.exponential(STRETCH))
        self._theirs, self._ours = _room(self._machine.rows), _room(self._machine.rows)
        names = tasks.games()[game].minimal_actions
        self._minimal = np.array([tasks.JOYSTICK_ACTIONS.index(name) for name in names])
        self._counts = dict.fromkeys(("frames", "screens", "resets", "restores", "cut"), 0)
        self._undrawn = 0

    def run(self, frames: int) -> Section:
        """Play and compare up to so many frames."""
        rng = self._rng
        chosen = np.where(
            rng.random(frames) < MINIMAL_SHARE,
            rng.choice(self._minimal, frames),
            rng.integers(len(tasks.JOYSTICK_ACTIONS), size=frames),
        )
        actions = np.repeat(chosen, rng.integers(1, LONGEST_HOLD + 1, frames))[:frames].tolist()
        seen = (rng.random(frames) < (1 if self._all_drawn else SEEN_SHARE)).tolist()
        detours = [*np.flatnonzero(rng.random(frames) < RESTORE_CHANCE).tolist(), frames]
        at, difference = 0, self._started()
        while at < frames and not difference:
            if self._machine.game_over() or at >= self._reset_at:
                difference = self._reset(at)
                continue
            if at >= detours[0]:
                del detours[0]
                self._detour()
            end = min(detours[0], max(self._reset_at, at + 1))
            played, difference = self._stretch(actions[at:end], seen[at:end])
            at += played
        where = f"after {at} frames, in mode {self._setting[0]}, difficulty {self._setting[1]}: " if difference else ""
        return Section(
            game=self._game,
            settings=tuple(self._tried),
            difference=where + difference,
            **self._counts,
        )

    def _stretch(self, actions: list[int], seen: list[bool]) -> tuple[int, str]:
        """Play until actions or game end; return the number of frames, and what differs after the last."""
        referee, machine, theirs, ours = self._referee, self._machine, self._theirs, self._ours
        act, over, lives, count = referee.act, referee.game_over, referee.lives, referee.getEpisodeFrameNumber
        ram, screen = referee.getRAM, referee.getScreen
        our_act, our_unseen, our_over, our_lives = machine.act, machine.act_unseen, machine.game_over, machine.lives
        our_ram, our_screen = machine.ram, machine.screen
        memory, memory_out, picture, picture_out = theirs
        our_memory, our_memory_out, our_picture, our_picture_out = ours
        first_cut, played, screens, our_reward, difference = machine.cut, 0, 0, 0, ""
        for action, looked_at in zip(actions, seen, strict=True):
            reward = act(action)
            our_reward = our_act(action) if looked_at else our_unseen(action)
            played += 1
            ended = over()
            ram(memory_out)
            our_ram(our_memory_out)
            alike = reward == our_reward and memory == our_memory and ended == our_over()
            if not (alike and lives() == our_lives() and count() == machine.frames):
                difference = self._difference(reward, our_reward)
                break
            if looked_at:
                screen(picture_out)
                our_screen(our_picture_out)
                screens += 1
                if picture != our_picture:
                    difference = _where(picture_out, our_picture_out)
                    break
            if ended:
                break
        self._undrawn += played
        self._frames_by_kind[self._setting != self._default] += played
        for name, more in (("frames", played), ("screens", screens), ("cut", machine.cut - first_cut)):
            self._counts[name] += more
        return played, difference

    def _reset(self, at: int) -> str:
        """Reset both in another mode or the default, whichever was played less; return what differs then.

        ale-py cannot return to a default difficulty that it does not list, as Backgammon's: there half of the sections
        keep to the default.
        """
        default, others = self._frames_by_kind
        wanted = self._default
        if self._others and not self._over_at_once() and (others < default or not self._returns):
            wanted = self._others[self._next_other % len(self._others)]
            self._next_other += 1
        self._reset_at = (
            at + 1 + int(self._rng.exponential(STRETCH if wanted == self._default else self._other_stretch))
        )
        for one, before, choose in zip(
            wanted, self._setting, (self._referee.setMode, self._referee.setDifficulty), strict=True
        ):
            if one != before:
                choose(one)
        self._referee.reset_game()
        self._machine.skip_draws(self._undrawn)
        self._undrawn = 0
        self._machine.reset(*wanted)
        self._setting = wanted
        self._tried[wanted] = None
        self._counts["resets"] += 1
        difference = self._started()
        return "the game is over at its start" if self._over_at_once() and wanted == self._default else difference

    def _over_at_once(self) -> bool:
        """Whether a game is over before its first frame, as in some modes."""
        return self._undrawn == 0 and self._machine.game_over()

    def _detour(self) -> None:
        """Save, play on, and restore: here, or in the other machine, which then goes on."""
        machine = self._machine
        state, pictures = machine.save(), machine.pictures().copy() if self._all_drawn else None
        for action in self._rng.choice(self._minimal, int(self._rng.integers(1, LONGEST_DETOUR + 1))).tolist():
            machine.act(action)
        if self._rng.random() < 0.5:
            machine.hand_over(self._other)
            self._machine, self._other = self._other, machine
        self._machine.restore(state)
        if pictures is not None:
            self._machine.pictures()[:] = pictures
        self._counts["restores"] += 1

    def _started(self) -> str:
        """Return what differs after a reset; lives are known only after a frame."""
        theirs, ours = self._theirs, self._ours
        self._referee.getRAM(theirs.memory_out)
        self._machine.ram(ours.memory_out)
        self._referee.getScreen(theirs.picture_out)
        self._machine.screen(ours.picture_out)
        self._counts["screens"] += 1
        return self._difference(0, 0, lives=False) or _where(theirs.picture_out, ours.picture_out)

    def _difference(self, reward: int, our_reward: int, lives: bool = True) -> str:
        """Return what differs besides the screen, memories being read, "" if nothing does."""
        referee, machine = self._referee, self._machine
        theirs = (reward, referee.game_over(), referee.getEpisodeFrameNumber(), referee.lives() if lives else 0)
        ours = (our_reward, machine.game_over(), machine.frames, machine.lives() if lives else 0)
        for name, one, two in zip(("reward", "end", "frames", "lives"), theirs, ours, strict=True):
            if one != two:
                return f"{name} {one} in ale-py, {two} here"
        for address, (byte, our_byte) in enumerate(zip(self._theirs.memory, self._ours.memory, strict=True)):
            if byte != our_byte:
                return f"memory at {address}: {byte} in ale-py, {our_byte} here"
        return ""


def _room(rows: int) -> _Seen:
    memory, picture = bytearray(RAM_SIZE), bytearray(rows * WIDTH)
    return _Seen(
        memory, np.frombuffer(memory, np.uint8), picture, np.frombuffer(picture, np.uint8).reshape(rows, WIDTH)
    )


def _where(picture: NDArray[np.uint8], our_picture: NDArray[np.uint8]) -> str:
    differing = np.argwhere(picture != our_picture)
    return f"screen at row {differing[0][0]}, column {differing[0][1]}" if len(differing) else ""


def _ale(rom: Path, seed: int) -> ale_py.ALEInterface:
    """Return ale-py with a game loaded."""
    ale_py.ALEInterface.setLoggerMode(ale_py.LoggerMode.Error)
    ale = ale_py.ALEInterface()
    ale.setFloat("repeat_action_probability", 0.0)
    ale.setInt("random_seed", seed)
    ale.loadROM(rom)
    return ale
