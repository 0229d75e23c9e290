"""What the agent sees: the console's screens or memory, made into observations.

With ``max_pool`` observations equal those of Gymnasium's ``AtariPreprocessing`` followed by ``FrameStackObservation``
bit for bit. Two of its habits matter at the end of an episode, which stops within the frame skip:

* A screen is fetched only after the last two frames of the skip, and not if the episode ends with that frame. The final
  observation then pools what was fetched before: the screens of the step before, and the last but one frame of this
  step if it had been reached.
* With a frame skip of 1 nothing is pooled, and the final observation repeats the one before.

Without ``max_pool`` an observation is the current screen, always (as in ale-py's own Gymnasium environment)::

    frames of a step      f1     f2     f3     f4
    fetched                             before newest      ─→  max ─→ gray ─→ resize ─→ stack
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from arcademark.environments.area import AreaResize
from arcademark.environments.console import Console
from arcademark.environments.facts import resized
from arcademark.environments.kernels import GROUP_WORDS, GROUPS, IMAGE, SCREEN, push_pooled
from arcademark.suite import protocols


class Observer(Protocol):
    """Collects what an observation is made of, a step at a time."""

    before_at: int
    """Frame of a step (from 0) after which the screen goes into `before`; -1 for none."""

    newest_at: int
    """Frame of a step (from 0) after which the screen goes into `newest`; -1 for none."""

    before: NDArray[np.uint8]
    newest: NDArray[np.uint8]

    stack: NDArray[np.uint8]
    """The observation; its first axis is time, oldest first, even if it is 1 long."""

    def begin(self, touched: bool) -> None:
        """Observe the start of an episode; `touched` if frames (no-ops) were emulated since the console's start."""

    def push(self) -> None:
        """Observe a step that was played in full."""

    def push_ended(self, last_frame: int) -> None:
        """Observe a step in which the episode ended with frame `last_frame` (from 0)."""

    def save(self) -> Any:
        """Return everything that later observations depend on."""

    def restore(self, state: Any) -> None:
        """Take up what `save` returned."""


def make_observer(console: Console, settings: protocols.Protocol) -> Observer:
    """Return what makes a console's observations under a protocol."""
    if settings.observation == "ram":
        return RamObserver(console)
    usual = settings.observation == "grayscale" and console.screen_shape == SCREEN and settings.screen_size == IMAGE
    return KernelObserver(console, settings) if usual else ScreenObserver(console, settings)


class RamObserver:
    """Observations of the console's memory."""

    before_at = newest_at = -1

    def __init__(self, console: Console) -> None:
        self._ram = console.ram
        self.stack = np.zeros((1, console.ram_size), np.uint8)
        self._last = self.stack[0]
        self.before = self.newest = np.zeros(0, np.uint8)

    def begin(self, touched: bool) -> None:
        """Observe the start of an episode."""
        self._ram(self._last)

    def push(self) -> None:
        """Observe a step."""
        self._ram(self._last)

    def push_ended(self, last_frame: int) -> None:
        """Observe the last step of an episode."""
        self.push()

    def save(self) -> Any:
        """Return the stack."""
        return self.stack.copy()

    def restore(self, state: Any) -> None:
        """Take up a stack."""
        self.stack[:] = state


class ScreenObserver:
    """Observations of the console's screen: palette indices, colours or luminance.

    Screens are kept as the console's bytes, those of the step before beside those of this one (`_which` tells which is
    which): ``frames[which, 0]`` is the newest, ``frames[which, -1]`` the one before it if two are pooled.
    """

    def __init__(self, console: Console, settings: protocols.Protocol) -> None:
        height, width = console.screen_shape
        size = resized(settings, console.screen_shape)
        self._console = console
        self._pooled = settings.max_pool and settings.frame_skip > 1
        self._held = settings.max_pool
        self.newest_at = settings.frame_skip - 1 if settings.max_pool else -1
        self.before_at = settings.frame_skip - 2 if self._pooled else -1
        self._colours = _colours(console, settings)
        channels = self._colours.shape[1]
        self._resize = AreaResize(console.screen_shape, size)
        self._frames = np.zeros((2, 2 if self._pooled else 1, height, width), np.uint8)
        self._fetched = tuple((frames[0], frames[-1]) for frames in self._frames)
        self._images = np.zeros((settings.frame_stack, *size, channels), np.uint8)
        self.stack = self._images if settings.observation == "rgb" else self._images[..., 0]
        self._turn(0)

    def _turn(self, which: int) -> None:
        self._which = which
        self.newest, self.before = self._fetched[which]

    def begin(self, touched: bool) -> None:
        """Observe the start of an episode."""
        (self._console.screen if touched else self._console.start_screen)(self.newest)
        self.before[:] = self.newest
        self._show_start()
        self._images[:-1] = self._images[-1]
        self._turn(1 - self._which)

    def _show_start(self) -> None:
        self._show([self.newest])

    def push(self) -> None:
        """Observe a step that was played in full."""
        if not self._held:
            self._console.screen(self.newest)
        self._shift()
        self._show([self.newest, self.before] if self._pooled else [self.newest])
        self._turn(1 - self._which)

    def push_ended(self, last_frame: int) -> None:
        """Observe a step in which the episode ended with frame `last_frame` (from 0)."""
        if not self._held:
            self.push()
            return
        newest, before = self._fetched[1 - self._which]
        screens = [newest]
        if self._pooled:
            screens.append(before)
            if last_frame > self.before_at:
                screens.append(self.before)
        self._shift()
        self._show(screens)

    def save(self) -> Any:
        """Return the screens of the step before and the stack."""
        return self._frames[1 - self._which].copy(), self._images.copy()

    def restore(self, state: Any) -> None:
        """Take up what `save` returned."""
        self._frames[1 - self._which], self._images[:] = state

    def _shift(self) -> None:
        if len(self._images) > 1:
            self._images[:-1] = self._images[1:]

    def _show(self, screens: Iterable[NDArray[np.uint8]]) -> None:
        images = [self._colours[screen] for screen in screens]
        for image in images[1:]:
            np.maximum(images[0], image, out=images[0])
        self._resize(images[0], self._images[-1])


class KernelObserver(ScreenObserver):
    """The same for the usual observation, by way of `kernels.push_pooled`."""

    def __init__(self, console: Console, settings: protocols.Protocol) -> None:
        super().__init__(console, settings)
        self._words = self._frames.view(np.uint64).reshape(*self._frames.shape[:2], GROUPS, GROUP_WORDS)
        self._gray = console.gray

    def push(self) -> None:
        """Observe a step that was played in full."""
        if not self._held:
            self._console.screen(self.newest)
        which = self._which
        push_pooled(self._words, which, self._gray, self.stack)
        self._which = which = 1 - which
        self.newest, self.before = self._fetched[which]

    def _show_start(self) -> None:
        np.invert(self._words[self._which], out=self._words[1 - self._which])  # so that all is made anew
        push_pooled(self._words, self._which, self._gray, self.stack)


def _colours(console: Console, settings: protocols.Protocol) -> NDArray[np.uint8]:
    """Return what each screen byte becomes, shape (256, channels)."""
    if settings.observation == "rgb":
        return console.rgb
    if settings.observation == "palette":
        return (np.arange(256) >> 1).astype(np.uint8)[:, None]
    return console.gray[:, None]
