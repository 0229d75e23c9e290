"""Classes of objects found among the shapes on sample screens: discovery, filtering, merging.

Bellemare et al. (2013, A.3) name these steps without details. The required similarity of shapes, frequency of classes
and extent of their positions are the defaults of ALE 0.1, the original program of Naddaf (2010); the paper's own table
of parameters was not available. Our own choices are marked "ours".

* A shape is a blob's silhouette, regardless of colour and mirroring. Shapes on fewer than one in 2,000 screens are
  noise (ours).
* *Discovery*: in descending order of frequency, each shape joins the class whose first shape differs least from it, if
  by at most `MAX_DIFFERENCE` (`shapes.difference`); otherwise it begins a new class.
* *Filtering*: a class is dropped if its share of screens is below `min_frequency`, or if the centres of its instances,
  without the outermost half per cent on each side, stay within `min_extent` of the screen's height and of its width. It
  is also dropped if four in five of its instances touch a larger blob, as wheels touch a car (ours).
* *Merging*: the two classes with the least difference between a shape of each are merged while this difference is at
  most `MAX_DIFFERENCE` or there are too many classes. If too many classes remain and no two are comparable, the most
  frequent ones are kept.
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
"""Greatest ratio of the areas of two shapes' boxes for the shapes to be comparable."""
RARE = 0.0005
"""Share of screens below which shapes are noise."""
PART = 0.8
"""Share of instances that touch a larger blob above which a class is a part of something larger."""
OUTERMOST = 0.005
"""Share of instances at each end of the screen that are ignored for the extent of a class."""
INCOMPARABLE = 2.0

Shapes = tuple[Rows, NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]


@dataclass(frozen=True)
class ObjectClasses:
    """The c classes of objects, in descending order of frequency, and their s shapes, in the same order within a class.

    `frequency`, float64 (c,), is the share of sample screens with an instance of the class, `instances` the mean number
    of instances on such a screen. `of_shape`, int32 (s,), is the class of each shape, ascending; `heights` and `widths`
    are the size of its box. `rows`, uint64 (r,), are the rows of all shapes in order; the leftmost pixel is the lowest
    bit.
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
    """Find at most `max_classes` classes of objects among the observed shapes.

    `min_frequency` is the minimum share of screens with a class, `min_extent` the minimum share of the screen's height
    or width over which its instances extend.
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
    """Return the number of screens with each class; shapes of class -1 belong to none."""
    of_sighting = of_shape[seen.shape]
    known = of_sighting >= 0
    both = np.unique(seen.screen[known].astype(np.int64) * max(number, 1) + of_sighting[known])
    return np.bincount(both % max(number, 1), minlength=number)


def _filter(
    seen: Sightings, of_shape: NDArray[np.int64], screen_shape: tuple[int, int], min_frequency: float, min_extent: float
) -> NDArray[np.int64]:
    """Return the classes of shapes, -1 for dropped classes."""
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
    distances = least_differences(*drawn, np.searchsorted(names, of_shape), of_shape >= 0, len(names), MAX_AREA_RATIO)
    left = len(names)
    merged = of_shape.copy()
    while left > 1:
        a, b = sorted(divmod(int(distances.argmin()), len(names)))
        if distances[a, b] > MAX_DIFFERENCE and (left <= max_classes or distances[a, b] >= INCOMPARABLE):
            break
        merged[merged == names[b]] = names[a]
        distances[a] = distances[:, a] = np.minimum(distances[a], distances[b])
        distances[b] = distances[:, b] = distances[a, a] = INCOMPARABLE
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
    """Return the class of each shape; classes are numbered in order of their first shapes."""
    classes = np.empty(first.size, np.int64)
    founders = np.empty(first.size, np.int64)
    number = 0
    for i in range(first.size):
        a = images[:, first[i] : first[i] + heights[i]]
        best, closest = -1, max_difference
        for k in range(number):
            j = founders[k]
            b = images[:, first[j] : first[j] + heights[j]]
            distance = difference(a, widths[i], b, widths[j], max_area_ratio, closest)
            if distance < closest or (best < 0 and distance <= closest):
                best, closest = k, distance
        if best < 0:
            best = number
            founders[number] = i
            number += 1
        classes[i] = best
    return classes


@njit(cache=True)
def least_differences(images, first, heights, widths, classes, known, number, max_area_ratio):  # type: ignore[no-untyped-def]
    """Return the difference of the most similar shapes of any two classes, float64 (number, number).

    It is 2 on the diagonal, and for classes without comparable shapes; `known` marks the shapes that have a class.
    """
    distances = np.full((number, number), 2.0)
    for i in range(first.size):
        for j in range(i):
            if not (known[i] and known[j]) or classes[i] == classes[j]:
                continue
            a = images[:, first[i] : first[i] + heights[i]]
            b = images[:, first[j] : first[j] + heights[j]]
            limit = min(distances[classes[i], classes[j]], 1.0)
            least = difference(a, widths[i], b, widths[j], max_area_ratio, limit)
            if least < distances[classes[i], classes[j]]:
                distances[classes[i], classes[j]] = distances[classes[j], classes[i]] = least
    return distances
