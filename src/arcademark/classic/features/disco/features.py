"""DISCO: detection of instances of classes of objects (Bellemare et al. 2013, §3.1.1 and A.3, after Naddaf 2010).

::

    screen ─→ blobs ─→ instances of classes ─→ velocities ─→ tiles ─→ counts
              `shapes` by shape (`classes`)     from the      `tiling`
                                                last screen

Of C classes, T tilings and G tiles along an axis (by default 8 and 8) the features are, in this order:

* C: the absence of the class from the screen;
* C · T · G²: the tile of an instance's centre;
* C (C - 1) / 2 · T · G⁴: the tile of two instances of different classes, by the position and the velocity of the
  instance of the earlier class relative to the other, down and to the right.

Counts of several instances, or pairs, in one tile are added. These are 513 features with 1 class, 33,794 with 2, and
1,479,690 with 10, the default maximum. The number of classes depends on the game.

The paper leaves some details open; these are our choices:

* The paper encodes "relative position and velocity" of pairs; here this is one tile coding of four numbers, with
  relative velocities.
* The absence of a class's instances is a feature, as in ALE 0.1, so that screens without an object have a value.
* An instance is a blob of one colour whose shape, or its mirror image, is in the sample screens. Other shapes are
  ignored; this includes overlapping objects of the same colour.
* The velocity of an instance is its displacement from the nearest instance of its class on the agent's last screen, if
  that is within `max_velocity` pixels along both axes, otherwise zero.
* At most `max_instances` instances per screen are counted, evenly distributed among classes, so that the time per
  screen is limited; `shapes.MAX_RUNS` and `shapes.MAX_BLOBS` limit noise.
"""

from __future__ import annotations

import math
from typing import Annotated, Any

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from arcademark.agents.parameters import Positive, Share
from arcademark.classic.features.base import Counts, Observed, check_feature
from arcademark.classic.features.blobs import UNSEEN
from arcademark.classic.features.cache import cached
from arcademark.classic.features.disco.classes import ObjectClasses, find_classes
from arcademark.classic.features.disco.drawing import draw_classes, draw_instances
from arcademark.classic.features.disco.instances import CLASS, X, Y, count_features, find_velocities
from arcademark.classic.features.disco.shapes import ShapeFinder, images
from arcademark.classic.features.disco.sightings import sight
from arcademark.classic.features.disco.tiling import tile_range, tile_tables
from arcademark.classic.features.samples import sample_screens, sampling_key
from arcademark.classic.features.sets import background as backgrounds
from arcademark.environments.base import EnvironmentSpec
from arcademark.environments.emulation.facts import screen_shape
from arcademark.errors import ArcadeMarkError

CLASS_SCREENS = 36_000
"""Sample screens from which classes are found (Bellemare et al. 2013, §3.1.1)."""
MIN_EXTENT = 0.3
"""Minimum share of the screen's height or width over which the instances of a class extend."""
SEED = 2013
"""Seed of the generator for sample screens."""
VERSION = 2
"""Version of the discovery, part of the cache's key; it changes when the same sample screens give other classes."""


class Disco:
    """Positions of objects, and relative positions and velocities of pairs of them; `CountedFeatures`.

    `background`, uint8 (height, width), are the colours of pixels that belong to no object. `classes` are the classes
    to detect; the other parameters are those of `make_disco`. ArcadeMarkError if the features exceed 32-bit numbers.
    """

    observed: Observed = "palette"

    def __init__(
        self,
        background: NDArray[np.uint8],
        classes: ObjectClasses,
        *,
        max_velocity: int = 8,
        tilings: int = 8,
        grid: int = 8,
        max_instances: int = 64,
    ) -> None:
        number = len(classes)
        self.classes = classes
        self.hidden = None if (background == UNSEEN).all() else background
        self.num_features = number * (1 + tilings * grid**2) + math.comb(number, 2) * tilings * grid**4
        if self.num_features >= 1 << 31:
            raise ArcadeMarkError(f"disco: {self.num_features:,} features are too many; lower grid or tilings")
        self._height, self._width = background.shape
        self._max_velocity, self._tilings, self._grid = max_velocity, tilings, grid
        self._finder = ShapeFinder(background)
        self._class_of: dict[bytes, int] = {}
        for shape, width, of_class in zip(classes.shapes(), classes.widths, classes.of_shape.tolist(), strict=True):
            for image in images(shape, width):
                self._class_of.setdefault(image.tobytes(), of_class)
        speeds = 4 * max_velocity + 1
        self._sizes = 2 * self._height - 1, 2 * self._width - 1, speeds, speeds
        self._tables = (
            *tile_tables((self._height, self._width), tilings, grid),
            *tile_tables(self._sizes, tilings, grid),
        )
        self._instances, self._before = np.zeros((2, max_instances, 5), np.int32)
        self._count_before = 0
        room = number + tilings * (max_instances + max_instances**2 // 2)
        self._tally = np.zeros(self.num_features, np.int32)
        self._features, self._counts = np.zeros(room, np.int32), np.zeros(room, np.float32)

    def begin(self) -> None:
        """Forget the episode: nothing was seen."""
        self._count_before = 0

    def count(self, observation: NDArray[np.uint8]) -> Counts:
        """Process the next screen of the episode, uint8 (height, width) of 0 to 127, and count its features."""
        now, before = self._instances, self._before
        here = self._classify(observation, now)
        find_velocities(now, here, before, self._count_before, self._max_velocity)
        used = count_features(
            *(now, here, len(self.classes), self._grid, *self._tables, self._tally, self._features, self._counts)
        )
        self._instances, self._before, self._count_before = before, now, here
        return Counts(self._features[:used], self._counts[:used])

    def describe(self, feature: int) -> str:
        """Describe a feature."""
        check_feature(feature, self.num_features)
        number, tiles = len(self.classes), self._tilings * self._grid**2
        if feature < number:
            return f"no instance of class {feature} on the screen"
        feature -= number
        if feature < number * tiles:
            of_class, tile = divmod(feature, tiles)
            y, x = self._ranges(tile, (self._height, self._width))
            return f"instances of class {of_class} in rows {y[0]} to {y[1]}, columns {x[0]} to {x[1]}"
        pair, tile = divmod(feature - number * tiles, tiles * self._grid**2)
        a, b = [(i, j) for i in range(number) for j in range(i + 1, number)][pair]
        ranges = zip(self._ranges(tile, self._sizes), self._sizes, strict=True)
        down, right, vy, vx = (f"{low - size // 2:+} to {high - size // 2:+}" for (low, high), size in ranges)
        return (
            f"pairs of classes {a} and {b}: the former {down} pixels below and {right} right of the latter, "
            f"{vy} pixels per step faster down and {vx} right"
        )

    def picture(self, observation: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Draw a screen in dark grey with its instances in the colours of their classes (Figure 7 of the paper)."""
        boxes, shapes = self._finder.find(observation)
        classes = [self._class_of.get(shape.tobytes(), -1) for shape in shapes]
        return draw_instances(observation, boxes, shapes, classes)

    def classes_picture(self) -> NDArray[np.uint8]:
        """Draw the shapes of each class in a row, in descending order of frequency, with the frequency of the class."""
        return draw_classes(self.classes)

    def _classify(self, observation: NDArray[np.uint8], out: NDArray[np.int32]) -> int:
        """Write the instances on a screen, in reading order, without velocities; return their number.

        If `out` is too small for all, it receives the first of each class, then the second of each, and so on.
        """
        boxes, shapes = self._finder.find(observation)
        classes = np.array([self._class_of.get(shape.tobytes(), -1) for shape in shapes], int)
        known = np.flatnonzero(classes >= 0)
        if len(known) > len(out):
            turn = [np.count_nonzero(classes[:i] == classes[i]) for i in known]
            known = np.sort(known[np.lexsort((classes[known], turn))[: len(out)]])
        boxes, count = boxes[known], len(known)
        out[:count, CLASS] = classes[known]
        out[:count, Y] = boxes[:, 0] + (boxes[:, 2] - 1) // 2
        out[:count, X] = boxes[:, 1] + (boxes[:, 3] - 1) // 2
        return count

    def _ranges(self, tile: int, sizes: tuple[int, ...]) -> list[tuple[int, int]]:
        """Return the range of values of a tile on each axis; tiles are numbered through all tilings."""
        tiling, tile = divmod(tile, self._grid ** len(sizes))
        places = [tile // self._grid ** (len(sizes) - 1 - axis) % self._grid for axis in range(len(sizes))]
        return [
            tile_range(place, axis, tiling, size, self._tilings, self._grid)
            for axis, (place, size) in enumerate(zip(places, sizes, strict=True))
        ]


def make_disco(
    env: EnvironmentSpec,
    *,
    background: bool = True,
    background_screens: Positive = backgrounds.SCREENS,
    class_screens: Positive = CLASS_SCREENS,
    trajectory: str | None = None,
    max_classes: Positive = 10,
    min_frequency: Share = 0.2,
    min_extent: Share = MIN_EXTENT,
    max_velocity: Annotated[int, Meta(ge=0)] = 8,
    max_instances: Positive = 64,
    tilings: Positive = 8,
    grid: Positive = 8,
) -> Disco:
    """Make the DISCO features of a game, discovering its classes unless they are in the cache.

    Parameters
    ----------
    env : EnvironmentSpec
    background : bool
        Whether to subtract the background; if not, blobs are found everywhere.
    background_screens : int
        Sample screens for the background.
    class_screens : int
        Sample screens for the classes: 36,000 in the paper (§3.1.1).
    trajectory : str, optional
        File of actions at the start of the sample episodes; without one, they are random play.
    max_classes : int
        Maximum number of classes (10 in ALE 0.1, the original program).
    min_frequency : float
        Minimum share of sample screens with a class (0.2 in ALE 0.1).
    min_extent : float
        Minimum share of the screen's height or width over which its instances extend (0.3 in ALE 0.1, without a unit).
    max_velocity : int
        Maximum velocity along an axis, in pixels per screen (8 in ALE 0.1).
    max_instances : int
        Maximum number of instances per screen, taken in turns from the classes (ours).
    tilings, grid : int
        Tilings, and tiles along an axis (8 and 8 in ALE 0.1).

    Raises
    ------
    ArcadeMarkError
        If no class is found, or the trajectory cannot be read.
    """
    filtering: Any = {"max_classes": max_classes, "min_frequency": min_frequency, "min_extent": min_extent}
    coding = {"max_velocity": max_velocity, "tilings": tilings, "grid": grid, "max_instances": max_instances}
    if background:
        still = backgrounds.background(env, background_screens, trajectory)
    else:
        still = np.full(screen_shape(env.game, env.atari.suite), UNSEEN, np.uint8)
    sampling = sampling_key(env, class_screens, trajectory, SEED)
    key = {**sampling, **filtering, "background": background_screens if background else 0, "version": VERSION}

    def discover() -> dict[str, NDArray[np.generic]]:
        screens = sample_screens(env, class_screens, trajectory, np.random.default_rng(SEED))
        return find_classes(sight(screens, still), screen_shape(env.game, env.atari.suite), **filtering).arrays()

    classes = ObjectClasses(**cached("disco-classes", key, discover))
    if not len(classes):
        raise ArcadeMarkError(
            f"disco: no class of objects in {class_screens:,} sample screens of {env.game!r}; lower min_frequency or "
            "min_extent, or name a trajectory that shows more of the game"
        )
    return Disco(still, classes, **coding)
