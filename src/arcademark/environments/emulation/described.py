"""User-defined games on ale-py, if it knows the ROM as one of its games.

ale-py emulates, and the game's description reads the memory after each frame. Rewards, lives and ends equal those
of our own emulator, as long as ale-py does not consider the game to be over: then it stops emulating.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from arcademark.emulator.games import game, known_as
from arcademark.environments.emulation.atari import open_ale
from arcademark.environments.emulation.contract import EpisodeStart, FrameByFrame
from arcademark.environments.emulation.facts import RAM_SIZE, standard
from arcademark.errors import ArcadeMarkError
from arcademark.suite.cartridges import Cartridge
from arcademark.suite.expressions import evaluate, wrapped


def why_not(cartridge: Cartridge, rom: bytes) -> str:
    """Return why ale-py cannot play a cartridge as described; "" if it can."""
    known = known_as(rom)
    if not known:
        return "ale-py does not know its ROM"
    facts = game(known).facts
    if cartridge.starting_actions is not None and [*map(list, cartridge.starting_actions)] != facts.get(
        "starting_actions", []
    ):
        return f"ale-py, which knows its ROM as {known!r}, starts it differently; leave starting_actions out"
    if cartridge.controller is not None and (cartridge.controller == "paddles") != bool(facts.get("paddles")):
        return f"ale-py, which knows its ROM as {known!r}, plays it with another controller; leave controller out"
    if cartridge.kind not in (None, facts["cartridge"]):
        return f"ale-py, which knows its ROM as {known!r}, wires it as {facts['cartridge']}; leave kind out"
    return ""


class DescribedAtari(FrameByFrame):
    """A user-defined game on ale-py; a `contract.Emulator`.

    ArcadeMarkError: as in `atari.AleEmulator`; the game is over at its start, or its screen differs from the
    description; or, at a frame, ale-py considers the game to be over.
    """

    def __init__(self, name: str, cartridge: Cartridge, rom: bytes) -> None:
        self._name, self._emulator = name, open_ale(known_as(rom))
        cartridge.check_screen(name, standard(known_as(rom)), self._emulator.screen_shape[0])
        self._expressions, self._wraps = cartridge.expressions, cartridge.score_wraps_at
        self._memory = np.empty(RAM_SIZE, np.uint8)
        self._score = self._lives = self._end = 0
        self.screen_shape, self.ram_size = self._emulator.screen_shape, self._emulator.ram_size
        self.rgb, self.gray = self._emulator.rgb, self._emulator.gray
        self.screen, self.ram = self._emulator.screen, self._emulator.ram
        self.start_screen = self._emulator.start_screen
        self.act, self.game_over, self.lives = self._act, lambda: self._end != 0, lambda: self._lives
        self._look()
        cartridge.check_start(name, self._end != 0)
        self._begin = self._score, self._lives, self._end

    def _look(self) -> None:
        """Read score, lives and end from the memory."""
        self._emulator.ram(self._memory)
        memory = self._memory.tolist()
        self._score, self._lives = (evaluate(self._expressions[name], memory, {}) for name in ("score", "lives"))
        self._end = evaluate(self._expressions["end"], memory, {"score": self._score, "lives": self._lives})

    def _act(self, action: int, /) -> int:
        if self._end:
            return 0
        if self._emulator.game_over():
            raise ArcadeMarkError(
                f"game {self._name!r}: ale-py, which knows its ROM, considers it over, but its description does not; "
                "play it on our emulator (--engine emulator=console), or correct 'end'"
            )
        before = self._score
        self._emulator.act(action)
        self._look()
        reward = wrapped(self._score - before)
        return wrapped(reward + self._wraps) if reward < 0 else reward

    def start(self, rng: np.random.Generator) -> EpisodeStart:
        """Begin an episode."""
        begin = self._emulator.start(rng)
        self._score, self._lives, self._end = self._begin
        return EpisodeStart(begin.frames, self._lives)

    def save(self) -> Any:
        """Return everything needed to continue from here."""
        return self._emulator.save(), self._score, self._lives, self._end

    def restore(self, state: Any) -> None:
        """Continue from where `state` was saved."""
        emulator, self._score, self._lives, self._end = state
        self._emulator.restore(emulator)
