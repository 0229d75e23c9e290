"""A cartridge's translation in this process, which all that play it share.

A game is played by the interpreter until its cartridge is translated: at once if that was done on an earlier day, else
when an episode starts after `TRANSLATED_AFTER` frames. `ARCADEMARK_CONSOLE=interpreted` leaves it to the interpreter.
Only speed depends on it.
"""

from __future__ import annotations

import functools
from typing import Protocol
from weakref import WeakSet

from arcademark.console import build, translate

TRANSLATED_AFTER = 300_000
"""Frames of a game in this process after which its cartridge is translated."""


class Player(Protocol):
    """What plays a cartridge."""

    @property
    def played(self) -> int:
        """Frames played so far."""


class Translation:
    """A cartridge's translation: its `core`, None until there is one; for ever if it is not wanted."""

    def __init__(self, game: str, rom: bytes, wanted: bool) -> None:
        self._cartridge = game, rom
        self.consoles: WeakSet[Player] = WeakSet()
        self._possible = wanted
        self.core = translate.cached(game, rom) if wanted else None

    def take_up(self) -> None:
        """Make it, which takes seconds, once the game was played long enough to be worth it."""
        if self.core is None and self._possible and sum(one.played for one in self.consoles) >= TRANSLATED_AFTER:
            try:  # where another process is at it, this is None: look again when the next episode starts
                self.core = translate.translated(*self._cartridge, wait=False)
            except build.NoCore:
                self._possible = False


_translation = functools.cache(Translation)


def translation(game: str, rom: bytes) -> Translation:
    """Return the translation of a game's cartridge."""
    return _translation(game, rom, build.switch() != "interpreted")
