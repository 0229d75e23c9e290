"""The background of a game: the most frequent colour of each pixel.

Bellemare et al. (2013, §3.1.1 and A.1) compute a histogram of colours at each pixel from 18,000 screens of sample
trajectories per game, and subtract the background that they derive from it. Our interpretation: pixels with their most
frequent colour are ignored, and among equally frequent colours the lowest is the background. `samples` describes the
sampling of trajectories.
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
"""Sample screens per game (Bellemare et al. 2013, §3.1.1)."""

SEED = 2013
"""Seed of the generator for sample screens; part of the cache's key."""

COLOURS = 128


def background(
    env: EnvironmentSpec, screens: int = SCREENS, trajectory: str | None = None, seed: int = SEED
) -> NDArray[np.uint8]:
    """Return the most frequent colour of each pixel, 0 to 127, from the cache if possible.

    ArcadeMarkError if the trajectory cannot be read.
    """
    sampled = sample_screens(env, screens, trajectory, np.random.default_rng(seed))
    key = sampling_key(env, screens, trajectory, seed)
    return cached("background", key, lambda: {"background": most_frequent(sampled)})["background"]


def most_frequent(screens: Iterable[NDArray[np.uint8]]) -> NDArray[np.uint8]:
    """Return the most frequent colour of each pixel, the lower of equally frequent ones.

    There is at least one screen; the iterator may overwrite each with the next.
    """
    remaining = iter(screens)
    first = next(remaining)
    last = first.flatten()
    since = np.zeros(last.size, np.int32)  # number of the screen in which each pixel received its colour
    counts = np.zeros((last.size, COLOURS), np.int32)  # without the current colours since they appeared
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
