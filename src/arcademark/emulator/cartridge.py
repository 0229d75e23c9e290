"""A cartridge's translation in this process, shared by all its players.

The interpreter plays a game until its translation exists: one made before is used at once, a new one from the next
start of an episode or restored state, whichever process made it. A thread makes it, with a compiler of low priority,
after `FRAMES_PER_BYTE` frames per byte of the cartridge in all processes, including earlier ones, and as many frames of
all games in this process, which then probably runs for as long as compiling takes. With
``ARCADEMARK_CONSOLE=interpreted`` the interpreter always plays. Only speed depends on it.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from multiprocessing.util import Finalize
from threading import Lock, Thread
from typing import ClassVar
from weakref import WeakValueDictionary

from arcademark.emulator import build, games, translate
from arcademark.emulator.games import GameRules

FRAMES_PER_BYTE = 50
"""Frames per byte of a cartridge after which it is translated: so many save the time that translation takes."""

MAX_SECONDS_TO_END = 2.0
"""Time for which a process that ends waits for a thread that translates."""


class Player:
    """Player of a cartridge; its frames still count after it is deleted."""

    _counted_in: Translation | None = None

    @property
    def played(self) -> int:
        """Frames played so far."""
        raise NotImplementedError

    def __del__(self, is_finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        # a default argument, as the module's names may already be deleted
        if self._counted_in is not None and not is_finalizing():
            self._counted_in.released += self.played


class Translation:
    """A cartridge's translation: its `core`, or None until there is one, and always if it is not `wanted`."""

    _all: ClassVar[list[Translation]] = []
    _turn: ClassVar[Lock] = Lock()
    _making: ClassVar[Thread | None] = None
    """The present or last thread that translates: one cartridge at a time."""

    def __init__(self, game: GameRules, rom: bytes, wanted: bool) -> None:
        self._cartridge, self._worth_after = (game, rom), FRAMES_PER_BYTE * len(rom)
        Translation._all.append(self)
        self._players = WeakValueDictionary[int, Player]()
        self.released = 0  # frames of players that were deleted
        self._counted = self._everywhere = 0  # frames: this process's share of the common count, and that count
        self._next_look = 0  # frames of this process at the next look for the translation
        self._possible = wanted
        self.core = translate.cached(game, rom) if wanted else None

    def add(self, player: Player) -> None:
        """Count a player's frames."""
        self._players[id(player)] = player
        player._counted_in = self

    def take_up(self) -> None:
        """Load the translation if it exists; else start making it in a thread, which takes seconds, if it is worth it.

        Looks are at least `build.COUNTED_FRAMES` apart, as planners restore a state every few frames.
        """
        if self.core is not None or not self._possible or (played := self._played) < self._next_look:
            return
        self._next_look = played + build.COUNTED_FRAMES
        self.core = translate.cached(*self._cartridge)
        if self.core is not None:
            return
        new = (played - self._counted) // build.COUNTED_FRAMES * build.COUNTED_FRAMES
        if new and self._everywhere < self._worth_after:
            self._everywhere = translate.played(*self._cartridge, new)
            self._counted += new
        if min(max(self._everywhere, played), Translation.all_played()) < self._worth_after:
            return
        with self._turn:
            if Translation._making is None or not Translation._making.is_alive():
                Translation._making = Thread(target=self._make, name="arcademark-translation", daemon=True)
                Finalize(None, Translation._end, (Translation._making,), exitpriority=0)
                Translation._making.start()

    def _make(self) -> None:
        try:  # None if another process is making it: look again at the start of the next episode
            self.core = translate.translated(*self._cartridge, wait=False)
        except build.NoCore:
            self._possible = False

    @staticmethod
    def _end(making: Thread) -> None:
        """Stop an unfinished translation at the end of the process."""
        if making.is_alive():
            build.end_compilers()
            making.join(MAX_SECONDS_TO_END)

    @property
    def _played(self) -> int:
        players = [reference() for reference in self._players.valuerefs()]  # a copy: other threads may add to them
        return sum((one.played for one in players if one is not None), self.released)

    @classmethod
    def all_played(cls) -> int:
        """Return the frames of all games that our emulator played in this process."""
        return sum(one._played for one in cls._all)


_translation = functools.cache(Translation)
os.register_at_fork(after_in_child=lambda: setattr(Translation, "_turn", Lock()))  # another thread may have locked it


def translation(game: str | GameRules, rom: bytes) -> Translation:
    """Return the translation of the cartridge of a game, which is given by its id or facts."""
    return _translation(games.game(game), rom, build.switch() != "interpreted")
