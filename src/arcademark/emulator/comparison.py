"""One section of a proof: a game played on our emulator and on ale-py, the referee, compared after each frame.

Both begin at power-on. Random actions last for random times. Stretches of play in the default mode alternate with
stretches in other modes and difficulties; each starts with a reset. At random times the collisions are compared with
those in a state that ale-py saves, and our emulator's state is saved and, after more frames, restored in the same
machine or another. States of the referee are never restored. Screens are drawn and compared only in part of the frames,
unless some frames of a game are cut short, so that a picture shows remains of an earlier one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from ale_py import LoggerMode

from arcademark.emulator import games, translate
from arcademark.emulator.machine import RAM_SIZE, WIDTH, Machine
from arcademark.emulator.original import ALEInterface
from arcademark.suite import tasks

SEEN_SHARE = 0.6
"""Share of frames whose screens are compared."""

MINIMAL_SHARE = 0.75
"""Share of actions from the game's minimal set; the others are from the full set."""

LONGEST_HOLD = 8
"""Largest number of frames for which an action lasts."""

STRETCH = 1_500
"""Mean number of frames between resets in the default mode; in others the same, or fewer if there are many modes."""

FRAMES_OF_OTHERS = 50_000
"""Frames within which all other modes and difficulties are played."""

SHORTEST_STRETCH = 150

RESTORE_CHANCE = 1 / 200
"""Probability per frame."""

COLLISIONS_AT = 163
"""Offset of the collisions, two bytes, from the picture chip's name in ale-py's saved states."""

LONGEST_DETOUR = 30
"""Largest number of frames between saving a state and restoring it."""

PLACES = "here", "in the translation"
"""Words for the interpreter and the translation in the text of a difference."""

Setting = tuple[int, int]
"""A mode and a difficulty."""


@dataclass(frozen=True)
class ProofSection:
    """Result of one section of a game's proof.

    Parameters
    ----------
    game : str
        Its id.
    settings : tuple of (int, int)
        The modes and difficulties played, the default first.
    frames, screens, resets, restores : int
        Number of frames whose memory, reward, lives and end were compared, of screens compared, and of resets and
        restores meanwhile.
    cut : int
        Frames that ended before their picture did.
    difference : str
        The first difference, "" if there was none.
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


class SectionComparison:
    """A section in progress.

    Parameters
    ----------
    game : str
        Its id.
    rom : Path
        Its cartridge.
    number : int
        The section's number, its seed.
    all_drawn : bool
        Draw and compare all frames, and save both pictures with a state.
    translated : bool
        Compare the cartridge's translation, too, beside the interpreter.

    Raises
    ------
    arcademark.emulator.build.NoCore
        If there is no core.
    """

    def __init__(self, game: str, rom: Path, number: int, all_drawn: bool = False, translated: bool = False) -> None:
        self._game, self._all_drawn = game, all_drawn
        content = rom.read_bytes()
        cores = [None, translate.translated(game, content)] if translated else [None]
        self._referee = _ale(rom, number)
        self._machines = [Machine(game, content, number, chosen=chosen) for chosen in cores]
        self._spares = [Machine(game, content, number, chosen=chosen) for chosen in cores]
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
        self._memories = np.empty((2, RAM_SIZE), np.uint8)
        self._pictures = np.empty((2, self._machines[0].rows, WIDTH), np.uint8)
        names = tasks.games()[game].minimal_actions
        self._minimal = np.array([tasks.JOYSTICK_ACTIONS.index(name) for name in names])
        self._counts = dict.fromkeys(("frames", "screens", "resets", "restores", "cut"), 0)
        self._undrawn = 0

    def run(self, frames: int) -> ProofSection:
        """Play and compare up to `frames` frames."""
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
            if self._referee.game_over() or at >= self._reset_at:
                difference = self._reset(at)
                continue
            if at >= detours[0]:
                del detours[0]
                difference = self._collisions_differ()
                if difference:
                    break
                self._detour()
            end = min(detours[0], max(self._reset_at, at + 1))
            played, difference = self._stretch(actions[at:end], seen[at:end])
            at += played
        where = f"after {at} frames, in mode {self._setting[0]}, difficulty {self._setting[1]}: " if difference else ""
        return ProofSection(self._game, tuple(self._tried), **self._counts, difference=where + difference)

    def _stretch(self, actions: list[int], seen: list[bool]) -> tuple[int, str]:
        """Play until the actions or the game end; return the number of frames and the difference after the last."""
        referee, machines = self._referee, self._machines
        first_cut, played, screens, difference = machines[0].cut, 0, 0, ""
        for action, drawn in zip(actions, seen, strict=True):
            reward = referee.act(action)
            ours = [machine.act(action) if drawn else machine.act_unseen(action) for machine in machines]
            played += 1
            screens += drawn
            difference = self._difference(reward, ours) or (self._screens_differ() if drawn else "")
            if difference or referee.game_over():
                break
        self._undrawn += played
        self._frames_by_kind[self._setting != self._default] += played
        for name, more in (("frames", played), ("screens", screens), ("cut", machines[0].cut - first_cut)):
            self._counts[name] += more
        return played, difference

    def _reset(self, at: int) -> str:
        """Reset both, in the default mode or another, whichever was played less; return the difference after it.

        ale-py cannot return to a default difficulty that it does not list, as in Backgammon: then half of the sections
        play only the default.
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
        for machine in self._machines:
            machine.skip_draws(self._undrawn)
            machine.reset(*wanted)
        self._undrawn = 0
        self._setting = wanted
        self._tried[wanted] = None
        self._counts["resets"] += 1
        difference = self._started()
        return "the game is over at its start" if self._over_at_once() and wanted == self._default else difference

    def _over_at_once(self) -> bool:
        """True if the game is over before its first frame, as in some modes."""
        return self._undrawn == 0 and self._referee.game_over()

    def _detour(self) -> None:
        """Save, play on, and restore in the same machines, or in the spare ones, which then replace them."""
        actions = self._rng.choice(self._minimal, int(self._rng.integers(1, LONGEST_DETOUR + 1))).tolist()
        change = self._rng.random() < 0.5
        for machine, spare in zip(self._machines, self._spares, strict=True):
            state, pictures = machine.save(), machine.pictures().copy() if self._all_drawn else None
            for action in actions:
                machine.act(action)
            if change:
                machine.hand_over(spare)
            following = spare if change else machine
            following.restore(state)
            if pictures is not None:
                following.pictures()[:] = pictures
        if change:
            self._machines, self._spares = self._spares, self._machines
        self._counts["restores"] += 1

    def _started(self) -> str:
        """Return the difference after a reset, without lives, which are known only after a frame."""
        self._counts["screens"] += 1
        return self._difference(0, [0] * len(self._machines), lives=False) or self._screens_differ()

    def _difference(self, reward: int, our_rewards: Sequence[int], lives: bool = True) -> str:
        """Return the first difference other than in the screen, "" if there is none."""
        referee, (memory, our_memory) = self._referee, self._memories
        theirs = (reward, referee.game_over(), referee.getEpisodeFrameNumber(), referee.lives() if lives else 0)
        referee.getRAM(memory)
        for place, machine, our_reward in zip(PLACES, self._machines, our_rewards, strict=False):
            ours = (our_reward, machine.game_over(), machine.frames, machine.lives() if lives else 0)
            for name, one, two in zip(("reward", "end", "frames", "lives"), theirs, ours, strict=True):
                if one != two:
                    return f"{name} {one} in ale-py, {two} {place}"
            machine.ram(our_memory)
            if not np.array_equal(memory, our_memory):
                address = int(np.flatnonzero(memory != our_memory)[0])
                return f"memory at {address}: {memory[address]} in ale-py, {our_memory[address]} {place}"
        return ""

    def _collisions_differ(self) -> str:
        """Return how the collisions differ from those in ale-py's saved state, "" if they do not."""
        state: Any = self._referee.cloneSystemState().__getstate__()
        at = state.index(b"TIA") + COLLISIONS_AT
        theirs = int.from_bytes(state[at : at + 2], "little")
        theirs = theirs & 0x1FFF | (theirs & 0x6000) << 1  # ale-py does not keep one bit of the chip's registers
        for place, machine in zip(PLACES, self._machines, strict=False):
            ours = machine.collisions()
            if ours != theirs:
                return f"collisions {theirs:04x} in ale-py, {ours:04x} {place}"
        return ""

    def _screens_differ(self) -> str:
        """Return where the screens differ, "" if nowhere."""
        picture, our_picture = self._pictures
        self._referee.getScreen(picture)
        for place, machine in zip(PLACES, self._machines, strict=False):
            machine.screen(our_picture)
            if not np.array_equal(picture, our_picture):
                row, column = np.argwhere(picture != our_picture)[0].tolist()
                return f"screen at row {row}, column {column} {place}"
        return ""


def _ale(rom: Path, seed: int) -> ALEInterface:
    """Return ale-py with a game loaded."""
    ALEInterface.setLoggerMode(LoggerMode.Error)
    ale = ALEInterface()
    ale.setFloat("repeat_action_probability", 0.0)
    ale.setInt("random_seed", seed)
    ale.loadROM(rom)
    return ale
