"""Observations of agents, made from the emulator's screens or memory.

With ``max_pool`` observations equal those of Gymnasium's ``AtariPreprocessing`` followed by ``FrameStackObservation``
bit for bit, with ``max_pool="rgb"`` those of Stable-Baselines3's ``AtariWrapper``, and with ``max_pool="resized"``
those of RLlib's ``WarpFrame`` followed by ``MaxAndSkipEnv``. Two properties of the first matter at the end of an
episode, which stops within the frame skip (the others fetch the last frame's screen too):

* A screen is fetched only after the last two frames of the skip, and not if the episode ends with that frame. The final
  observation then pools screens fetched earlier: those of the previous step, and this step's last but one if reached.
* With a frame skip of 1 nothing is pooled, and the final observation repeats the previous one.

Without ``max_pool`` an observation is the current screen, always (as in ale-py's own Gymnasium environment)::

    frames of a step      f1     f2     f3     f4
    fetched                             before newest      ─→  max ─→ gray ─→ resize ─→ stack
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arcademark.emulator import build
from arcademark.environments.emulation.contract import Emulator
from arcademark.environments.emulation.facts import resized
from arcademark.environments.observations.area import AreaResize
from arcademark.environments.observations.kernels import IMAGE, SCREEN, greatest, observation
from arcademark.suite import protocols

_WEIGHTS = np.array([9798, 19235, 3735])
"""Weights of red, green and blue in luminance; their sum is 1 << 15."""


class Observer:
    """Collects the parts of observations, a step at a time; this base collects none, for planners."""

    before_at: int = -1
    """Frame of a step (from 0) after which the screen goes into `before`; -1 for none."""

    newest_at: int = -1
    """Frame of a step (from 0) after which the screen goes into `newest`; -1 for none."""

    ends_with_screen: bool = False
    """True if the screen of a step's last frame is read when the step is over."""

    zero_padding: bool = False
    """True if zeros stand for the screens before an episode's first, False if copies of it do."""

    before: NDArray[np.uint8] = np.empty(0, np.uint8)
    newest: NDArray[np.uint8] = before

    stack: NDArray[np.uint8] = np.empty((1, 0), np.uint8)
    """The observation; its first axis is time, oldest first, even if it is 1 long."""

    def begin(self, touched: bool) -> None:
        """Observe the start of an episode; `touched`: whether frames were emulated since the emulator's start."""

    def fill(self) -> None:
        """Begin an episode in the current state: older images are replaced."""

    def push(self) -> None:
        """Observe a step that was played in full."""

    def push_ended(self, last_frame: int) -> None:
        """Observe a step in which the episode ended with frame `last_frame` (from 0)."""

    def save(self) -> Any:
        """Return everything that later observations depend on."""

    def restore(self, state: Any) -> None:
        """Continue from what `save` returned."""


def make_observer(emulator: Emulator, settings: protocols.AtariProtocol) -> Observer:
    """Return the observer of an emulator under a protocol."""
    if settings.observation == "ram" or (settings.observation == "palette" and settings.frame_stack == 1):
        return LastObserver(emulator, settings.observation == "palette")
    usual = settings.observation == "grayscale" and emulator.screen_shape == SCREEN and settings.screen_size == IMAGE
    if usual and settings.max_pool != "resized":
        with suppress(build.NoCore):
            return KernelObserver(emulator, settings)
    return ScreenObserver(emulator, settings)


class LastObserver(Observer):
    """Observations of a step's end only: the memory, or one screen in palette indices.

    Screens, never pooled or resized, are bytes without their lowest bit.
    """

    def __init__(self, emulator: Emulator, screens: bool) -> None:
        self._emulator = emulator
        self.ends_with_screen = screens
        self.stack = np.zeros((1, *(emulator.screen_shape if screens else (emulator.ram_size,))), np.uint8)

    def begin(self, touched: bool) -> None:
        """Observe the start of an episode."""
        self._observe(self._emulator.start_screen if self.ends_with_screen and not touched else None)

    def push(self) -> None:
        """Observe a step."""
        self._observe()

    def push_ended(self, last_frame: int) -> None:
        """Observe the last step of an episode."""
        self._observe()

    def _observe(self, look: Callable[[NDArray[np.uint8]], None] | None = None) -> None:
        last, emulator = self.stack[0], self._emulator
        if not self.ends_with_screen:
            emulator.ram(last)
            return
        (look or emulator.screen)(last)
        if emulator.recoloured is not None:
            last[:] = emulator.recoloured[last]
        np.right_shift(last, 1, out=last)

    def save(self) -> Any:
        """Return the stack."""
        return self.stack.copy()

    def restore(self, state: Any) -> None:
        """Continue with a stack."""
        self.stack[:] = state


class ScreenObserver(Observer):
    """Observations of the emulator's screen: palette indices, colours or luminance.

    Screens are kept as bytes: those fetched in this step (`newest`, and `before` if two are pooled) and in ``old``, in
    the same order, those of the previous step.
    """

    def __init__(self, emulator: Emulator, settings: protocols.AtariProtocol) -> None:
        height, width = emulator.screen_shape
        size = resized(settings, emulator.screen_shape)
        self._emulator = emulator
        self._pooled = settings.max_pool and settings.frame_skip > 1
        self._held = settings.max_pool
        self.ends_with_screen = not settings.max_pool
        self.newest_at = settings.frame_skip - 1 if settings.max_pool else -1
        self.before_at = settings.frame_skip - 2 if self._pooled else -1
        self._resized = settings.max_pool == "resized"
        self._luminance = settings.observation == "grayscale" and settings.max_pool in ("rgb", "resized")
        self._colours = emulator.rgb if self._luminance else _colours(emulator, settings)
        channels = 3 if settings.observation == "rgb" else 1
        self._resize = AreaResize(emulator.screen_shape, size)
        self._screens = np.zeros((2, 2 if self._pooled else 1, height, width), np.uint8)
        self._new, self.old = self._screens
        self.newest, self.before = self._new[0], self._new[-1]
        self.zero_padding = False
        self._images = np.zeros((settings.frame_stack, *size, channels), np.uint8)
        self.stack = self._images if settings.observation == "rgb" else self._images[..., 0]

    def begin(self, touched: bool) -> None:
        """Observe the start of an episode."""
        (self._emulator.screen if touched else self._emulator.start_screen)(self.newest)
        self.before[:] = self.newest
        self._append()
        self.fill()

    def fill(self) -> None:
        """Replace the older images by the newest one, or by zeros."""
        self._images[:-1] = 0 if self.zero_padding else self._images[-1]

    def push(self) -> None:
        """Observe a step that was played in full."""
        if not self._held:
            self._emulator.screen(self.newest)
        self._append()

    def push_ended(self, last_frame: int) -> None:
        """Observe a step in which the episode ended with frame `last_frame` (from 0)."""
        if not self._held:
            self.push()
        elif (self._luminance or self._resized) and last_frame >= self.before_at:
            self._push_ended_screen(last_frame)
        elif self._pooled and last_frame > self.before_at:
            self._show([*self.old, self.before])
        else:
            self._show(self.old)

    def _push_ended_screen(self, last_frame: int) -> None:
        """Observe a step in which the episode ended with a frame that is fetched, its screen included."""
        if last_frame == self.newest_at:
            self._emulator.screen(self.newest)
            self._show(self._new)
        else:
            self._emulator.screen(self.before)
            self._show([self.old[0], self.before])

    def _append(self) -> None:
        self._show(self._new)
        self.old[:] = self._new

    def _show(self, screens: Iterable[NDArray[np.uint8]]) -> None:
        """Append the image of the greatest luminances or colours of some screens."""
        seen = (self._colours[screen] for screen in screens)
        if self._resized:
            seen = (self._shrunk(colours, np.empty_like(self._images[-1])) for colours in seen)
        first, *others = seen
        for other in others:
            np.maximum(first, other, out=first)
        self._images[:-1] = self._images[1:]
        if self._resized:
            self._images[-1] = first
        else:
            self._shrunk(first, self._images[-1])

    def _shrunk(self, colours: NDArray[np.uint8], out: NDArray[np.uint8]) -> NDArray[np.uint8]:
        self._resize(luminance(colours)[..., None] if self._luminance else colours, out)
        return out

    def save(self) -> Any:
        """Return the screens of the previous step and the stack."""
        return self.old.copy(), self._images.copy()

    def restore(self, state: Any) -> None:
        """Continue from what `save` returned."""
        self.old[:], self._images[:] = state


class KernelObserver(ScreenObserver):
    """The usual observation, in C, as described in `kernels`; NoCore if there is no core."""

    def __init__(self, emulator: Emulator, settings: protocols.AtariProtocol) -> None:
        super().__init__(emulator, settings)
        self._core, self._table = build.core(), _pooled(emulator, self._luminance)
        self.where = observation(self._table, self.old, self.stack)

    def _show(self, screens: Iterable[NDArray[np.uint8]]) -> None:
        """Append the image of one to three screens."""
        newest, *others = screens
        before = others.pop() if others else newest
        if others:  # and no luminance of greatest colours
            before = np.where(self._emulator.gray[before] > self._emulator.gray[others[0]], before, others[0])
        self._core.console_observe(ctypes.byref(self.where), newest.ctypes.data, before.ctypes.data)

    def push(self) -> None:
        """Observe a step that was played in full."""
        if not self._held:
            self._emulator.screen(self.newest)
        self._core.console_push(ctypes.byref(self.where), self.newest.ctypes.data, self.before.ctypes.data)


def _pooled(emulator: Emulator, colours: bool) -> NDArray[np.uint8]:
    """Return the luminance of each pair of screen bytes without their lowest bits: of greatest colours, or greatest."""
    return luminance(greatest(emulator.rgb)) if colours else greatest(emulator.gray)


def luminance(colours: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return the luminance of colours, shape (..., 3), bit for bit as OpenCV's ``COLOR_RGB2GRAY`` rounds it."""
    gray: NDArray[np.uint8] = ((colours @ _WEIGHTS + (1 << 14)) >> 15).astype(np.uint8)
    return gray


def channels_first(observations: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return rows of observations with channels first, for convolutional networks; a view if possible.

    Parameters
    ----------
    observations : uint8 array, shape (rows, ...)

    Returns
    -------
    uint8 array, shape (rows, screens, height, width)
        For gray screens or palette indices; for coloured ones (rows, 3 · screens, height, width), oldest first; memory
        is unchanged.
    """
    if observations.ndim == 3:  # one gray screen each
        return observations[:, None]
    if observations.ndim >= 4 and observations.shape[-1] == 3:  # in colour
        rows, *_, height, width, _ = observations.shape
        return np.moveaxis(observations, -1, -3).reshape(rows, -1, height, width)
    return observations


def _colours(emulator: Emulator, settings: protocols.AtariProtocol) -> NDArray[np.uint8]:
    """Return the observed value of each screen byte, shape (256, channels)."""
    if settings.observation == "rgb":
        return emulator.rgb
    if settings.observation == "palette":
        index = np.arange(256) if emulator.recoloured is None else emulator.recoloured
        return (index >> 1).astype(np.uint8)[:, None]
    return emulator.gray[:, None]
