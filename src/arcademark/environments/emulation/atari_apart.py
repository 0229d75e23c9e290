"""Games of which ale-py 0.12 does not save all that the next frames depend on.

Found by reading what the emulator saves, and by replaying states of all 104 single-player ROMs from one another.

* `facts.REAL_RESET`: that a frame was cut short is not saved, and the first frame of these games always is. An episode
  starts with a reset, which is exact there. The picture on which the second frame draws is not saved either, so the
  state one frame after the start is saved as that frame's action.
* `facts.UNSAVED_TRACES`: a frame depends on where sprites stood when the one before ended, or many are cut short. Each
  frame is remembered, at the price of a third of the speed, and played again below the state to be restored.
* `facts.THINKING`: frames are cut short while the machine thinks. A state is saved as an earlier one that whole frames
  follow, at least two, and the actions since, usually 3; a restore plays them again, after one whole frame.
* Miniature Golf: the emulator saves its score card (level, par, strokes) as truth values and reads them as numbers, so
  that the first hole after a restore would be paid wrongly. The card is kept from the memory instead.
* Pitfall II: a restore cuts off the fraction of a tick of the sound generator. It is only heard, so states are equal
  whatever it is.
"""

from __future__ import annotations

import struct
from typing import Any, NamedTuple

import ale_py
import numpy as np

from arcademark.environments.emulation.atari import NOOP, AtariConsole
from arcademark.environments.emulation.console import Unheard
from arcademark.environments.emulation.facts import RAM_SIZE, REAL_RESET, THINKING, UNSAVED_TRACES


def open_console(game: str, mode: int | None = None, difficulty: int | None = None) -> AtariConsole:
    """Return the console of a game; parameters and errors as of `AtariConsole`."""
    return _CONSOLES.get(game, AtariConsole)(game, mode, difficulty)


class ResetConsole(AtariConsole):
    """A game whose episodes start with a reset; the state one frame later is saved as that frame's action."""

    def __init__(self, game: str, mode: int | None, difficulty: int | None) -> None:
        super().__init__(game, mode, difficulty)
        self._first_action = NOOP
        self.act = self._act_and_remember_first

    def _act_and_remember_first(self, action: int, /) -> int:
        if self._untouched():
            self._first_action = action
        return self._ale.act(action)

    def save(self) -> Any:
        """Return None at the start, an int one frame later, else the emulator's state."""
        first = self._ale.getEpisodeFrameNumber() == self._begin.frames + 1
        return self._first_action if first else super().save()

    def restore(self, state: Any) -> None:
        """Continue from where `state` was saved."""
        if not isinstance(state, int):
            super().restore(state)
            return
        self._start()
        self._first_action = state
        self._ale.act(state)

    def _start(self) -> None:
        super()._start()  # a reset draws random numbers: always the same
        self._ale.reset_game()


class TracingConsole(AtariConsole):
    """A game of which each frame is remembered, and played again under a state that is restored."""

    def __init__(self, game: str, mode: int | None, difficulty: int | None) -> None:
        super().__init__(game, mode, difficulty)
        self._last_frame: tuple[ale_py.ALEState, int] | None = None
        self.act = self._act_and_remember

    def _act_and_remember(self, action: int, /) -> int:
        self._last_frame = self._ale.cloneState(), action
        return self._ale.act(action)

    def save(self) -> Any:
        """Return None at the start, else the emulator's state, that before the last frame, and its action."""
        now = super().save()
        if now is None or self._last_frame is None:
            return None
        before, action = self._last_frame
        return now, self._packer.pack(before), action

    def restore(self, state: Any) -> None:
        """Continue from where `state` was saved."""
        if state is None:
            self._start()
            return
        now, packed, action = state
        before = self._packer.unpack(packed)
        self._last_frame = before, action
        self._ale.restoreState(before)
        self._ale.act(action)
        self._ale.restoreState(self._packer.unpack(now))

    def _start(self) -> None:
        super()._start()
        self._ale.act(NOOP)  # leaves the same traces each time
        super()._start()


class ThinkingConsole(AtariConsole):
    """A game whose states are saved as an earlier one, from which whole frames were drawn, and the actions since."""

    def __init__(self, game: str, mode: int | None, difficulty: int | None) -> None:
        super().__init__(game, mode, difficulty)
        self._played: list[tuple[bytes | None, int]] = []
        """Frames played since that earlier state: what stood before each, None for the start, and its action."""
        self.act = self._act_and_watch

    def _act_and_watch(self, action: int, /) -> int:
        before = None if self._untouched() else self._packer.pack(self._ale.cloneState())
        played = self._played
        played.append((before, action))
        if len(played) > 3 and all(state is None or self._packer.whole(state) for state, _ in played[-3:]):
            del played[:-3]  # the first two of these frames are whole, and so draw both pictures anew
        return self._ale.act(action)

    def save(self) -> Any:
        """Return None at the start, else an earlier state and the actions since."""
        played = self._played
        return None if self._untouched() else (played[0][0], tuple(action for _, action in played))

    def restore(self, state: Any) -> None:
        """Continue from where `state` was saved."""
        before, actions = (None, ()) if state is None else state
        self._go_to(self._start_state if before is None else self._packer.unpack(before))
        for action in actions:
            self.act(action)

    def _start(self) -> None:
        self._go_to(self._start_state)

    def _go_to(self, state: ale_py.ALEState) -> None:
        self._ale.restoreState(state)
        self._ale.act(NOOP)  # ends whole
        self._ale.restoreState(state)
        self._played.clear()


class ScoreCard(NamedTuple):
    """What the emulator keeps of a round of Miniature Golf, in the order in which it saves it."""

    level: int
    par: int
    wrapped: int
    """Strokes of the hole that the two digits on the screen left behind when they went back to 0."""
    strokes: int
    before: int
    """Strokes when the hole began."""

    def after(self, level: int, left: int, right: int) -> ScoreCard:
        """Return the card after a frame, given the memory's numbers: strokes are on the left, par or 0 on the right."""
        _, par, wrapped, strokes, before = self
        if level != self.level:
            wrapped, before = 0, strokes
        if right:
            par = right
        else:
            wrapped, strokes = wrapped + (strokes if left < strokes else 0), left
        return ScoreCard(level, par, wrapped, strokes, before)


class MiniatureGolfConsole(AtariConsole):
    """Miniature Golf, whose score card is kept from the memory."""

    LEVEL, LEFT, RIGHT = 0x2F, 0x07, 0x08
    """Where the numbers are in the memory, two decimal digits each."""

    CARD, CARD_END = -32, -12
    """Where the card is in a state, from its end."""

    def __init__(self, game: str, mode: int | None, difficulty: int | None) -> None:
        super().__init__(game, mode, difficulty)
        self._memory = np.empty(RAM_SIZE, np.uint8)
        self._card = ScoreCard(0, 0, 0, 0, 0).after(*self._numbers())
        self._start_card = self._card
        self._start_state = self._packer.unpack(self._with_card(self._packer.pack(self._start_state)))
        self.act = self._act_and_count

    def _numbers(self) -> tuple[int, int, int]:
        self._ale.getRAM(self._memory)
        level, left, right = (int(self._memory[place]) for place in (self.LEVEL, self.LEFT, self.RIGHT))
        return _decimal(level), _decimal(left), _decimal(right)

    def _act_and_count(self, action: int, /) -> int:
        reward = self._ale.act(action)
        self._card = self._card.after(*self._numbers())
        return reward

    def _with_card(self, data: bytes) -> bytes:
        return data[: self.CARD] + struct.pack("<5i", *self._card) + data[self.CARD_END :]

    def save(self) -> Any:
        """Return None at the start, else the emulator's state with the card."""
        data = super().save()
        return None if data is None else self._with_card(data)

    def restore(self, state: Any) -> None:
        """Continue from where `state` was saved."""
        super().restore(state)
        if state is not None:
            self._card = ScoreCard(*struct.unpack("<5i", state[self.CARD : self.CARD_END]))

    def _start(self) -> None:
        super()._start()
        self._card = self._start_card


def _decimal(byte: int) -> int:
    return 10 * (byte >> 4) + (byte & 15)


class PitfallTwoConsole(AtariConsole):
    """Pitfall II, whose states are equal whatever the fraction of the sound generator's tick."""

    FRACTION, FRACTION_END = -32, -28
    """Where the fraction is in a state, from its end."""

    def save(self) -> Any:
        """Return None at the start, else the emulator's state and the fraction."""
        data = super().save()
        if data is None:
            return None
        fraction = int.from_bytes(data[self.FRACTION : self.FRACTION_END], "little")
        return data[: self.FRACTION] + data[self.FRACTION_END :], Unheard(fraction)

    def restore(self, state: Any) -> None:
        """Continue from where `state` was saved."""
        if state is not None:
            data, fraction = state
            cut = self.FRACTION_END
            state = data[:cut] + fraction.number.to_bytes(4, "little") + data[cut:]
        super().restore(state)


_CONSOLES: dict[str, type[AtariConsole]] = {
    **dict.fromkeys(REAL_RESET, ResetConsole),
    **dict.fromkeys(UNSAVED_TRACES, TracingConsole),
    **dict.fromkeys(THINKING, ThinkingConsole),
    "miniature_golf": MiniatureGolfConsole,
    "pitfall2": PitfallTwoConsole,
}
