"""A window on the screen that shows pictures at a steady speed (extra ``window``: pygame-ce).

Esc or closing the window ends play; space pauses, unless a listener handles keys. A picture is a uint8 array of shape
(height, width, 3).
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arcademark.errors import ArcadeMarkError
from arcademark.importing import needing

UNSEEN = ("dummy", "offscreen")
"""SDL's drivers without a visible window, which it chooses if there is no display."""
AWAKE_SECONDS = 0.001
"""Time before a picture is due in which the process does not sleep, as systems wake it late."""


class Window:
    """A window, open within ``with``, of the size of the first picture.

    Parameters
    ----------
    title : str
    frames_per_second : float
        Maximum number of pictures per second.
    remedy : str
        What to do if no window can be opened, for the error message.

    Attributes
    ----------
    closed : bool
        True if it was closed.
    paused : bool
    shown : float
        Time of the last picture, in seconds of `time.perf_counter`.
    listener : callable or None
        Called with each event of pygame, except those that close the window; space does not pause then.
    """

    def __init__(
        self,
        title: str,
        frames_per_second: float = 60,
        remedy: str = "write a file with --out",
    ) -> None:
        self.closed = self.paused = False
        self.shown = 0.0
        self.listener: Callable[[Any], None] | None = None
        self._title, self._rate, self._remedy = title, frames_per_second, remedy
        self._screen: Any = None

    def __enter__(self) -> Window:
        """Open the display; ArcadeMarkError where pygame or a display is missing."""
        os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
        with needing("a window needs pygame-ce", "window", f", or {self._remedy}"):
            import pygame
        self._pygame: Any = pygame
        try:
            pygame.display.init()
            pygame.joystick.init()
        except pygame.error as error:
            raise self._missing(error) from None
        if (driver := pygame.display.get_driver()) in UNSEEN and os.environ.get("SDL_VIDEODRIVER") != driver:
            pygame.display.quit()
            raise self._missing("there is no display")
        self._due = time.perf_counter()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""
        self._pygame.joystick.quit()
        self._pygame.display.quit()

    def show(self, picture: NDArray[np.uint8]) -> bool:
        """Show a picture when it is due, and wait while paused; return whether the window is still open."""
        pygame = self._pygame
        height, width, _ = picture.shape
        if self._screen is None:
            try:
                self._screen = pygame.display.set_mode((width, height))
            except pygame.error as error:
                raise self._missing(error) from None
            pygame.display.set_caption(self._title)
        self._screen.blit(pygame.image.frombuffer(np.ascontiguousarray(picture), (width, height), "RGB"), (0, 0))
        self._wait()
        pygame.display.flip()
        self.shown = time.perf_counter()
        self._hear()
        while self.paused and not self.closed:
            self._wait()
            self._hear()
        return not self.closed

    def _wait(self) -> None:
        """Wait until the next picture is due; a late one delays the following ones."""
        self._due = max(self._due + 1 / self._rate, time.perf_counter())
        while (left := self._due - time.perf_counter()) > 0:
            time.sleep(max(left - AWAKE_SECONDS, 0))

    def _hear(self) -> None:
        pygame = self._pygame
        for event in pygame.event.get():
            if event.type == pygame.QUIT or (event.type == pygame.KEYDOWN and event.key == pygame.K_ESCAPE):
                self.closed = True
            elif self.listener is not None:
                self.listener(event)
            elif event.type == pygame.KEYDOWN and event.key == pygame.K_SPACE:
                self.paused = not self.paused

    def _missing(self, error: object) -> ArcadeMarkError:
        return ArcadeMarkError(f"no window can be opened here ({error}); {self._remedy} instead")
