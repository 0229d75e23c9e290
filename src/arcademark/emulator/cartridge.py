"""A cartridge's translation in this process, which all that play it share.

A game is played by the interpreter until its cartridge is translated: at once if that was done on an earlier day, else
from the first episode on that starts, or state that is restored, when the translation is done, by whatever process. A
thread begins to make it, with a compiler that lets other programs go first, after `FRAMES_PER_BYTE` of the cartridge in
all processes, earlier ones too, and as many frames of all games in this one, which is then likely to go on for as long
as compiling takes. `ARCADEMARK_CONSOLE=interpreted` leaves it to the interpreter. Only speed depends on it.
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
"""Frames per byte of a cartridge after which it is translated: by then that would have saved the time that it takes."""


MAX_SECONDS_TO_END = 2.0
"""A process that ends waits so long until a thread that translates is done with what it holds."""


class Player:
    """Player of a cartridge; its frames count when it is gone, too."""

    _counted_in: Translation | None = None

    @property
    def played(self) -> int:
        """Frames played so far."""
        raise NotImplementedError

    def __del__(self, is_finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        # a default, as names of modules may be gone already
        if self._counted_in is not None and not is_finalizing():
            self._counted_in.released += self.played


class Translation:
    """A cartridge's translation: its `core`, None until there is one; for ever if it is not wanted."""

    _all: ClassVar[list[Translation]] = []
    _turn: ClassVar[Lock] = Lock()
    _making: ClassVar[Thread | None] = None
    """Thread that translates, or did last: one cartridge at a time."""

    def __init__(self, game: GameRules, rom: bytes, wanted: bool) -> None:
        self._cartridge, self._worth_after = (game, rom), FRAMES_PER_BYTE * len(rom)
        Translation._all.append(self)
        self._players = WeakValueDictionary[int, Player]()
        self.released = 0  # frames that consoles played which are gone
        self._counted = self._everywhere = 0  # frames: of this process in the common count, and of that
        self._next_look = 0  # frames of this process before the next one
        self._possible = wanted
        self.core = translate.cached(game, rom) if wanted else None

    def add(self, player: Player) -> None:
        """Count what a player plays."""
        self._players[id(player)] = player
        player._counted_in = self

    def take_up(self) -> None:
        """Take it, if it is there; else have it made beside the play, which takes seconds, once that is worth it.

        Between two looks are `build.COUNTED_FRAMES`, as planners restore a state at every few frames.
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
        try:  # where another process is at it, this is None: look again when the next episode starts
            self.core = translate.translated(*self._cartridge, wait=False)
        except build.NoCore:
            self._possible = False

    @staticmethod
    def _end(making: Thread) -> None:
        """End a translation that is not finished when the process ends."""
        if making.is_alive():
            build.end_compilers()
            making.join(MAX_SECONDS_TO_END)

    @property
    def _played(self) -> int:
        there = [reference() for reference in self._players.valuerefs()]  # a copy: other threads may add to them
        return sum((one.played for one in there if one is not None), self.released)

    @classmethod
    def all_played(cls) -> int:
        """Return the frames of all games that the console played in this process."""
        return sum(one._played for one in cls._all)


_translation = functools.cache(Translation)
os.register_at_fork(after_in_child=lambda: setattr(Translation, "_turn", Lock()))  # another thread may hold it


def translation(game: str | GameRules, rom: bytes) -> Translation:
    """Return the translation of a game's cartridge, given its id or its facts."""
    return _translation(games.game(game), rom, build.switch() != "interpreted")
