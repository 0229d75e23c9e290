"""Permission for ale-py to play, and the frames that each emulator played, in all processes of a program.

Processes share two environment variables, set by `arcademark.ale.install`: `SWITCH`, and `FOLDER`, a folder in which
each process keeps a file with its number of frames.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from arcademark.ale.arguments import RefusedError
from arcademark.ale.startup.sitecustomize import line, noted
from arcademark.emulator.cartridge import Translation
from arcademark.environments.registry import choose_emulator
from arcademark.errors import ArcadeMarkError
from arcademark.files import write_whole

SWITCH, FOLDER = "ARCADEMARK_ALE", "ARCADEMARK_ALE_FRAMES"
STRICT = "strict"
"""Value of `SWITCH` with which ale-py may not play."""

_SECONDS_BETWEEN_NOTES = 0.5


@dataclass(frozen=True)
class EmulatorFrames:
    """Frames that each emulator played, and the number of processes; as text, one line.

    Frames are counted as by ``ALEInterface.getFrameNumber``, which includes some frames of resets.
    """

    arcademark: int
    ale_py: int
    processes: int

    def __str__(self) -> str:
        return line(self.arcademark, self.ale_py, self.processes)


class _Here:
    """Frames that this process has played since it was forked, and the name of its file."""

    def __init__(self) -> None:
        self.by_ale = 0
        self.begin()

    def begin(self) -> None:
        """Start counting, in a new process."""
        self._before = self._all()
        self._file, self._next_note = f"{os.getpid()}-{time.time_ns()}", 0.0

    def _all(self) -> tuple[int, int]:
        return Translation.all_played(), self.by_ale

    def frames(self) -> tuple[int, int]:
        """Return the frames on our emulator, and on ale-py."""
        console, ale = self._all()
        return console - self._before[0], ale - self._before[1]

    def note(self, *, now: bool = False) -> None:
        """Write the frames so far to this process's file, which others read; at most twice a second unless `now`."""
        folder, moment = os.environ.get(FOLDER), time.monotonic()
        if folder and (now or moment >= self._next_note):
            self._next_note = moment + _SECONDS_BETWEEN_NOTES
            console, ale = self.frames()
            if console or ale:
                with suppress(OSError):  # the program that made the folder has ended
                    write_whole(Path(folder, self._file), f"{console} {ale}".encode())

    def total(self) -> EmulatorFrames:
        """Return the frames of all processes."""
        played = [self.frames(), *noted(os.environ.get(FOLDER, ""), self._file)]
        console, ale = map(sum, zip(*played, strict=True))
        return EmulatorFrames(console, ale, sum(any(one) for one in played))


HERE = _Here()
os.register_at_fork(after_in_child=HERE.begin)


def let_ale_play(game: str | None, reasons: list[str]) -> None:
    """Check that ale-py may play a game (None: a changed ROM), for `reasons`, if there are any.

    RefusedError: it may not, since ``install(strict=True)`` was called.
    """
    if os.environ.get(SWITCH) != STRICT:
        return
    why = ", ".join(reasons) or "the ROM is changed"
    if game is not None and not reasons:
        try:
            choose_emulator(game, "console")
        except ArcadeMarkError as error:
            why = str(error)
    raise RefusedError(f"ale-py would play, which install(strict=True) forbids: {why}")
