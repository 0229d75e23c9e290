"""The background of a game: at each pixel, the colour that is there most often.

Bellemare et al. (2013, §3.1.1 and A.1) store the frequency of colours at each pixel in a histogram, of 18,000 screens
of sample trajectories a game, and remove what they so find to be background. Our reading: a pixel that shows its most
frequent colour is not seen, and of equally frequent colours the lower one is the background. `samples` says how the
trajectories are sampled.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from arcademark.classic.features.base import changed_pixels
from arcademark.classic.features.cache import cached
from arcademark.classic.features.samples import sample_screens, sampling_key
from arcademark.environments.base import EnvironmentSpec

SCREENS = 18_000
"""Sample screens a game (Bellemare et al. 2013, §3.1.1)."""

SEED = 2013
"""Of the generator from which sample screens are drawn; part of the cache's key."""

COLOURS = 128


def background(
    env: EnvironmentSpec, screens: int = SCREENS, trajectory: str | None = None, seed: int = SEED
) -> NDArray[np.uint8]:
    """Return the most frequent colour of each pixel, 0 to 127, from the cache if it was found before.

    ArcadeMarkError if the trajectory cannot be read.
    """
    sampled = sample_screens(env, screens, trajectory, np.random.default_rng(seed))
    key = sampling_key(env, screens, trajectory, seed)
    return cached("background", key, lambda: {"background": most_frequent(sampled)})["background"]


def most_frequent(screens: Iterable[NDArray[np.uint8]]) -> NDArray[np.uint8]:
    """Return the most frequent colour of each pixel, the lower of equally frequent ones.

    Each of the screens, of which there is at least one, may be overwritten when the next is asked for.
    """
    remaining = iter(screens)
    first = next(remaining)
    last = first.flatten()
    since = np.zeros(last.size, np.int32)  # the number of the screen in which each pixel took its colour
    counts = np.zeros((last.size, COLOURS), np.int32)  # but for the time of the colours that pixels have now
    now = 1
    for screen in remaining:
        pixels = screen.flatten()
        changed = changed_pixels(pixels, last)
        counts[changed, last[changed]] += now - since[changed]
        since[changed], last = now, pixels
        now += 1
    counts[np.arange(last.size), last] += now - since
    colours: NDArray[np.uint8] = counts.argmax(axis=1).astype(np.uint8)
    return colours.reshape(first.shape)
