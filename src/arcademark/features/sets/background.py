"""The background of a game: at each pixel, the colour that is there most often.

Bellemare et al. (2013, §3.1.1 and A.1) store the frequency of colours at each pixel in a histogram, of 18,000 screens
of sample trajectories a game, and remove what they so find to be background. Our reading: a pixel that shows its most
frequent colour is not seen, and of equally frequent colours the lower one is the background. `samples` says how the
trajectories are sampled.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numba import njit
from numpy.typing import NDArray

from arcademark.environments.base import EnvironmentSpec
from arcademark.features.cache import cached
from arcademark.features.samples import sample_screens, sampling_key

SCREENS = 18_000
"""Sample screens a game (Bellemare et al. 2013, §3.1.1)."""

SEED = 2013
"""Of the generator from which sample screens are drawn; part of the cache's key."""

COLOURS = 128


def background(
    env: EnvironmentSpec, screens: int = SCREENS, trajectory: str | None = None, seed: int = SEED
) -> NDArray[np.uint8]:
    """Return the most frequent colour of each pixel, 0 to 127, from the cache if it was found before.

    ArcadeMarkError if `screens` is not positive, or the trajectory cannot be read.
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
    since = np.zeros(last.size, np.int32)
    counts = np.zeros((last.size, COLOURS), np.int32)
    now = 1
    for screen in remaining:
        tally(screen.ravel(), last, since, now, counts)
        now += 1
    counts[np.arange(last.size), last] += now - since
    colours: NDArray[np.uint8] = counts.argmax(axis=1).astype(np.uint8)
    return colours.reshape(first.shape)


@njit(cache=True)
def tally(screen, last, since, now, counts):  # type: ignore[no-untyped-def]
    """Count, where pixels of a screen, uint8 (n,), changed, for how many screens they had their colour before.

    `last`, the screen before, becomes equal to it; `since` has the number of the screen in which each pixel took its
    colour; `counts`, int32 (n, 128), lacks the time of the colours that pixels have now.
    """
    words = screen.size // 8
    new, old = screen[: 8 * words].view(np.uint64), last[: 8 * words].view(np.uint64)
    for word in range(words + 1):
        if word < words and new[word] == old[word]:
            continue
        for pixel in range(8 * word, min(8 * word + 8, screen.size)):
            if screen[pixel] != last[pixel]:
                counts[pixel, last[pixel]] += now - since[pixel]
                since[pixel] = now
                last[pixel] = screen[pixel]
