"""Classes of objects found among the shapes on sample screens: discovery, filtering, merging.

Bellemare et al. (2013, A.3) name these steps and say little more. How alike shapes must be, how often a class must be
seen and how far it must move are the defaults of ALE 0.1, the program of Naddaf (2010) in which this began; the paper's
own table of parameters could not be compared. What is ours is marked so.

* A shape is a blob's silhouette, whatever its colour and whichever way it faces. Shapes on fewer than one in 2,000
  screens are noise (ours).
* *Discovery*: the shapes, most often seen first, each join the class whose first shape they differ least from, if by at
  most `MAX_DIFFERENCE` (`shapes.difference`), else they found a class.
* *Filtering*: a class is dropped if it is on fewer screens than `min_frequency` of them, or the middles of its
  instances, but for the outermost half per cent on each side, stay within `min_extent` of the screen's height and of
  its width. And (ours) if four in five of its instances touch a larger blob: wheels are part of a car.
* *Merging*: the two classes of which two shapes differ least become one, as long as these differ by at most
  `MAX_DIFFERENCE`, or there are too many classes. If these are too many and no two can be compared, the most frequent
  ones stay.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arcademark.classic.features.disco.shapes import Rows, difference, pixels_of
from arcademark.classic.features.disco.sightings import Sightings
from arcademark.compiled import njit

MAX_DIFFERENCE = 0.1
"""Shapes that differ in at most this share of their boxes' pixels are similar."""
MAX_AREA_RATIO = 1.2
"""Shapes can be compared if the box of one is at most so many times as large."""
RARE = 0.0005
"""Shapes on a smaller share of screens are noise."""
PART = 0.8
"""A class is a part of something larger if this share of its instances touches something larger."""
OUTERMOST = 0.005
"""Share of instances at each end of the screen that do not tell how far a class gets about."""
INCOMPARABLE = 2.0

Shapes = tuple[Rows, NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]


@dataclass(frozen=True)
class ObjectClasses:
    """The c classes that were found, most frequent first, and the s shapes of each, most frequent first.

    `frequency`, float64 (c,), is the share of sample screens on which an instance of the class was, `instances` how
    many there are on such a screen, on average. `of_shape`, int32 (s,), is the class of each shape, ascending,
    `heights` and `widths` its box. `rows`, uint64 (r,), has the shapes' rows, one shape after the other; the leftmost
    pixel is the lowest bit.
    """

    frequency: NDArray[np.float64]
    instances: NDArray[np.float64]
    of_shape: NDArray[np.int32]
    heights: NDArray[np.int32]
    widths: NDArray[np.int32]
    rows: NDArray[np.uint64]

    def __len__(self) -> int:
        return len(self.frequency)

    def silhouette(self, shape: int) -> NDArray[np.bool_]:
        """Return the pixels of a shape, bool (height, width)."""
        return pixels_of(self.shapes()[shape], int(self.widths[shape]))

    def shapes(self) -> list[Rows]:
        """Return the rows of each shape."""
        return np.split(self.rows, np.cumsum(self.heights))[:-1]

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the fields by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


def find_classes(
    seen: Sightings, screen_shape: tuple[int, int], max_classes: int, min_frequency: float, min_extent: float
) -> ObjectClasses:
    """Find at most `max_classes` classes of objects among the shapes that were seen.

    `min_frequency` is the share of screens on which a class must be, `min_extent` that of the screen's height or width
    over which its instances must be found.
    """
    counts = _screens_of(seen, np.arange(len(seen.first)), len(seen.first))
    common = np.flatnonzero(counts >= max(2.0, RARE * seen.screens))
    common = common[np.argsort(-counts[common], kind="stable")]
    drawn = seen.images, seen.first[common], seen.heights[common], seen.widths[common]
    of_shape = np.full(len(seen.first), -1)
    of_shape[common] = discover(*drawn, MAX_AREA_RATIO, MAX_DIFFERENCE)
    of_shape = _filter(seen, of_shape, screen_shape, min_frequency, min_extent)
    of_shape[common] = _merge(drawn, of_shape[common], max_classes)
    return _most_frequent(seen, of_shape, counts, max_classes)


def _screens_of(seen: Sightings, of_shape: NDArray[np.int64], number: int) -> NDArray[np.int64]:
    """Return on how many screens each of a number of classes was; shapes of class -1 are of none."""
    of_sighting = of_shape[seen.shape]
    known = of_sighting >= 0
    both = np.unique(seen.screen[known].astype(np.int64) * max(number, 1) + of_sighting[known])
    return np.bincount(both % max(number, 1), minlength=number)


def _filter(
    seen: Sightings, of_shape: NDArray[np.int64], screen_shape: tuple[int, int], min_frequency: float, min_extent: float
) -> NDArray[np.int64]:
    """Return the classes of shapes, -1 for those of classes that are dropped."""
    number = int(of_shape.max(initial=-1)) + 1
    kept = _screens_of(seen, of_shape, number) >= min_frequency * seen.screens
    of_sighting = of_shape[seen.shape]
    for i in np.flatnonzero(kept):
        mine = of_sighting == i
        low, high = np.quantile(seen.centre[mine], [OUTERMOST, 1 - OUTERMOST], axis=0)
        extent = (high - low) / 2
        kept[i] = seen.part[mine].mean() < PART and bool(np.any(extent >= min_extent * np.array(screen_shape)))
    dropped = [*np.flatnonzero(~kept), -1]
    return np.where(np.isin(of_shape, dropped), -1, of_shape)


def _merge(drawn: Shapes, of_shape: NDArray[np.int64], max_classes: int) -> NDArray[np.int64]:
    """Merge similar classes of the shapes `drawn`: images, where each begins, heights and widths."""
    names = np.unique(of_shape[of_shape >= 0])
    apart = least_differences(*drawn, np.searchsorted(names, of_shape), of_shape >= 0, len(names), MAX_AREA_RATIO)
    left = len(names)
    merged = of_shape.copy()
    while left > 1:
        a, b = sorted(divmod(int(apart.argmin()), len(names)))
        if apart[a, b] > MAX_DIFFERENCE and (left <= max_classes or apart[a, b] >= INCOMPARABLE):
            break
        merged[merged == names[b]] = names[a]
        apart[a] = apart[:, a] = np.minimum(apart[a], apart[b])
        apart[b] = apart[:, b] = apart[a, a] = INCOMPARABLE
        left -= 1
    return merged


def _most_frequent(
    seen: Sightings, of_shape: NDArray[np.int64], counts: NDArray[np.int64], max_classes: int
) -> ObjectClasses:
    """Number the most frequent classes and put their shapes in order."""
    number = int(of_shape.max(initial=-1)) + 1
    screens = _screens_of(seen, of_shape, number)
    order = [i for i in np.argsort(-screens, kind="stable")[:max_classes] if screens[i]]
    rank = np.full(number + 1, -1)
    rank[order] = np.arange(len(order))
    of_shape = rank[of_shape]
    shapes = np.flatnonzero(of_shape >= 0)
    shapes = shapes[np.lexsort((-counts[shapes], of_shape[shapes]))]
    sightings = np.bincount(of_shape[seen.shape][of_shape[seen.shape] >= 0], minlength=len(order))
    rows = [seen.images[0, seen.first[i] : seen.first[i] + seen.heights[i]] for i in shapes]
    return ObjectClasses(
        frequency=screens[order] / seen.screens,
        instances=sightings / screens[order],
        of_shape=of_shape[shapes].astype(np.int32),
        heights=seen.heights[shapes],
        widths=seen.widths[shapes],
        rows=np.concatenate([np.zeros(0, np.uint64), *rows]),
    )


@njit(cache=True)
def discover(images, first, heights, widths, max_area_ratio, max_difference):  # type: ignore[no-untyped-def]
    """Return the class of each shape in the order given, numbered in the order in which they were founded."""
    classes = np.empty(first.size, np.int64)
    founders = np.empty(first.size, np.int64)
    number = 0
    for i in range(first.size):
        a = images[:, first[i] : first[i] + heights[i]]
        best, closest = -1, max_difference
        for k in range(number):
            j = founders[k]
            b = images[:, first[j] : first[j] + heights[j]]
            apart = difference(a, widths[i], b, widths[j], max_area_ratio, closest)
            if apart < closest or (best < 0 and apart <= closest):
                best, closest = k, apart
        if best < 0:
            best = number
            founders[number] = i
            number += 1
        classes[i] = best
    return classes


@njit(cache=True)
def least_differences(images, first, heights, widths, classes, known, number, max_area_ratio):  # type: ignore[no-untyped-def]
    """Return how different the most similar shapes of any two classes are, float64 (number, number).

    It is 2 on the diagonal, and where no shapes can be compared; `known` says which shapes have a class at all.
    """
    apart = np.full((number, number), 2.0)
    for i in range(first.size):
        for j in range(i):
            if not (known[i] and known[j]) or classes[i] == classes[j]:
                continue
            a = images[:, first[i] : first[i] + heights[i]]
            b = images[:, first[j] : first[j] + heights[j]]
            limit = min(apart[classes[i], classes[j]], 1.0)
            least = difference(a, widths[i], b, widths[j], max_area_ratio, limit)
            if least < apart[classes[i], classes[j]]:
                apart[classes[i], classes[j]] = apart[classes[j], classes[i]] = least
    return apart
