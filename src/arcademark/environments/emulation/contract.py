"""Contract of an emulator, which plays frames: ale-py, our own emulator, or the toy game.

An emulator plays an agent's step by its `StepRecord`, shows its screen and memory, and can be saved and restored. Other
settings of a protocol are implemented in ``play.py``.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Hashable
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray


class EpisodeStart(NamedTuple):
    """Start of an episode: frames that the machine counts as emulated already, and lives (0: none in this game)."""

    frames: int
    lives: int


class StepRecord(ctypes.Structure):
    """An agent's step: its action, the episode's state, and its result. C code reads and writes it, too.

    Addresses are 0 for none; code that sets one keeps its object alive. A step's frames count from 0; -1 is none.
    """

    _fields_ = (
        *((name, ctypes.c_size_t) for name in ("console", "play", "observation", "repeats")),
        *((name, ctypes.c_size_t) for name in ("before", "newest", "out", "held", "skipped")),
        *((name, ctypes.c_int64) for name in ("frames", "cap", "total", "reward")),
        *((name, ctypes.c_int32) for name in ("chosen", "executed")),
        *((name, ctypes.c_int32) for name in ("frame_skip", "before_at", "newest_at", "last_shown")),
        *((name, ctypes.c_int32) for name in ("repeat_count", "next_repeat", "life_ends", "lives")),
        *((name, ctypes.c_int32) for name in ("played", "terminated", "truncated", "unseen")),
    )

    console: int
    play: int
    observation: int
    repeats: int  # 1 for each frame that repeats the action executed before; empty without sticky actions
    before: int
    newest: int
    out: int
    held: int
    skipped: int
    frames: int  # of the episode
    cap: int  # frames that truncate the episode
    total: int  # frames played in all steps
    reward: int
    chosen: int  # the agent's action, as the console's
    executed: int  # action of the last frame
    frame_skip: int
    before_at: int  # frame after which the screen goes into screens[0], unless the episode ends there
    newest_at: int  # the same for screens[1]
    last_shown: int  # whether the last frame's screen will be read
    repeat_count: int
    next_repeat: int
    life_ends: int  # whether a life lost ends the episode
    lives: int
    played: int  # frames of the step, up to the episode's end; 0 before the first step
    terminated: int
    truncated: int
    unseen: int
    screens: tuple[NDArray[np.uint8], NDArray[np.uint8]]
    draws: bytes = b""  # the repeats
    at: int  # the record's own address
    kept: tuple[object, ...] = ()  # objects that must live as long

    def set_draws(self, draws: bytes, following: int) -> None:
        """Set which frames repeat an action: `draws`, from index `following` on."""
        self.draws = draws
        self.repeats = ctypes.cast(ctypes.c_char_p(draws), ctypes.c_void_p).value or 0
        self.repeat_count, self.next_repeat = len(draws), following


class Emulator(Protocol):
    """One game in a machine that emulates frame by frame."""

    screen_shape: tuple[int, int]
    """Height and width of the screen in pixels."""

    ram_size: int
    """Bytes of memory."""

    rgb: NDArray[np.uint8]
    """Colour of each screen byte, shape (256, 3)."""

    gray: NDArray[np.uint8]
    """Luminance of each screen byte, shape (256,)."""

    recoloured: NDArray[np.uint8] | None
    """The screen byte whose colour is shown instead of each, shape (256,); None for the original colours."""

    batch: ctypes.CDLL | None
    """The core whose threads play records in parallel; None if steps are played one by one."""

    def start(self, rng: np.random.Generator) -> EpisodeStart:
        """Begin an episode."""

    def attach(self, step: StepRecord, observer: Any, /) -> bool:
        """Prepare for playing a record, and return True if the emulator makes the observer's observations."""

    def play(self, step: StepRecord, /) -> None:
        """Play a step."""

    def lives(self) -> int:
        """Lives left, 0 in games without lives. Invalid between `start` or `restore` and the next step."""

    def start_screen(self, out: NDArray[np.uint8]) -> None:
        """Write the screen at the start of the episode, before any frame."""

    def screen(self, out: NDArray[np.uint8], /) -> None:
        """Write the screen of the last frame emulated. Invalid between `start` or `restore` and the next step."""

    def ram(self, out: NDArray[np.uint8], /) -> None:
        """Write the memory."""

    def save(self) -> Hashable:
        """Return everything needed to continue from here: hashable, picklable, equal if the game continues equally."""

    def restore(self, state: Any) -> None:
        """Continue from where `state` was saved."""


class FrameByFrame:
    """Base of emulators that play one frame at a time: plays steps."""

    act: Callable[[int], int]
    """Emulate one frame (none if the game is over) and return its reward."""

    game_over: Callable[[], bool]
    lives: Callable[[], int]
    screen: Callable[[NDArray[np.uint8]], None]

    batch: ctypes.CDLL | None = None
    recoloured: NDArray[np.uint8] | None = None

    def attach(self, step: StepRecord, observer: Any, /) -> bool:
        """Prepare nothing."""
        return False

    def play(self, step: StepRecord, /) -> None:
        """Play a step."""
        act, game_over, life_ends = self.act, self.game_over, step.life_ends
        chosen, executed, draws, following = step.chosen, step.executed, step.draws, step.next_repeat
        before_at, newest_at = step.before_at, step.newest_at
        frames, cap, reward = step.frames, step.cap, 0
        terminated = truncated = False
        frame = 0
        for frame in range(step.frame_skip):
            if not (draws and draws[following]):
                executed = chosen
            following += 1
            reward += act(executed)
            frames += 1
            if game_over() or (life_ends and self._life_lost(step)):
                terminated = True
                break
            if frames >= cap:
                truncated = True
                break
            if frame == before_at:
                self.screen(step.screens[0])
            elif frame == newest_at:
                self.screen(step.screens[1])
        step.reward, step.terminated, step.truncated = reward, terminated, truncated
        step.frames, step.executed, step.next_repeat = frames, executed, following
        step.played, step.lives = frame + 1, self.lives()
        step.total += step.played

    def _life_lost(self, step: StepRecord) -> bool:
        lives = self.lives()
        lost = lives < step.lives
        step.lives = lives
        return lost
