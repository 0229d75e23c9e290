"""A window on the screen that shows pictures at a steady speed (extra ``window``: pygame-ce).

Space pauses, Esc or closing the window ends. A picture is a uint8 array of shape (height, width, 3).
"""

from __future__ import annotations

import os
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arcademark.errors import ArcadeMarkError

UNSEEN = ("dummy", "offscreen")
"""SDL's drivers that show nobody anything, which it takes where there is no display."""


class Window:
    """A window, open within ``with``, of the size of the first picture.

    Parameters
    ----------
    title : str
    frames_per_second : float
        How often a picture is shown at most.

    Attributes
    ----------
    closed : bool
        Whether somebody has closed it.
    paused : bool
    """

    def __init__(self, title: str, frames_per_second: float = 60) -> None:
        self.closed = self.paused = False
        self._title, self._rate = title, frames_per_second
        self._screen: Any = None

    def __enter__(self) -> Window:
        """Open the display; ArcadeMarkError where pygame or a display is missing."""
        os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
        try:
            import pygame
        except ImportError:
            raise ArcadeMarkError(
                "a window needs pygame-ce: pip install '.[window]', or write a file with --out"
            ) from None
        self._pygame: Any = pygame
        try:
            pygame.display.init()
        except pygame.error as error:
            raise self._missing(error) from None
        if (driver := pygame.display.get_driver()) in UNSEEN and os.environ.get("SDL_VIDEODRIVER") != driver:
            pygame.display.quit()
            raise self._missing("there is no display")
        self._clock = pygame.time.Clock()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""
        self._pygame.display.quit()

    def show(self, picture: NDArray[np.uint8]) -> bool:
        """Show a picture when it is due, later while paused; return whether the window is still open."""
        pygame = self._pygame
        height, width, _ = picture.shape
        if self._screen is None:
            try:
                self._screen = pygame.display.set_mode((width, height))
            except pygame.error as error:
                raise self._missing(error) from None
            pygame.display.set_caption(self._title)
        self._screen.blit(pygame.image.frombuffer(np.ascontiguousarray(picture), (width, height), "RGB"), (0, 0))
        pygame.display.flip()
        self._hear()
        self._clock.tick(self._rate)
        while self.paused and not self.closed:
            self._clock.tick(self._rate)
            self._hear()
        return not self.closed

    def _hear(self) -> None:
        pygame = self._pygame
        for event in pygame.event.get():
            if event.type == pygame.QUIT or (event.type == pygame.KEYDOWN and event.key == pygame.K_ESCAPE):
                self.closed = True
            elif event.type == pygame.KEYDOWN and event.key == pygame.K_SPACE:
                self.paused = not self.paused

    def _missing(self, error: object) -> ArcadeMarkError:
        return ArcadeMarkError(f"no window can be opened here ({error}); write a file with --out instead")
