import numpy as np
import pytest
from drawn import slow_difference
from hypothesis import given, settings
from hypothesis import strategies as st

from arcademark.features.disco.classes import find_classes
from arcademark.features.disco.sightings import sight

pytestmark = pytest.mark.slow  # to compile

SHAPE = (40, 48)
ARROW = ("..#..", ".###.", "#####", "..#..", "..##.")
BENT = ("..#..", ".###.", "#####", "..#..", ".###.")


def paint(*things):
    """Paint shapes: (shape, row, column, colour), left to right mirrored if the colour is negative."""
    image = np.zeros(SHAPE, np.uint8)
    for shape, top, left, colour in things:
        for y, row in enumerate(shape):
            for x, pixel in enumerate(row if colour > 0 else row[::-1]):
                if pixel == "#":
                    image[top + y, left + x] = abs(colour)
    return image


def classes_of(screens, max_classes=10, min_frequency=0.2, min_extent=0.3):
    return find_classes(sight(screens, np.zeros(SHAPE, np.uint8)), SHAPE, max_classes, min_frequency, min_extent)


def pictures(classes):
    """Return the shapes of each class, as they were painted."""
    return [
        [tuple("".join(".#"[p] for p in row) for row in classes.silhouette(i).astype(int)) for i in mine]
        for mine in (np.flatnonzero(classes.of_shape == k) for k in range(len(classes)))
    ]


def test_one_class_of_similar_shapes_in_any_colour_and_direction():
    screens = [paint((ARROW if i % 3 else BENT, 10, i, (1 + i % 4) * (-1) ** i)) for i in range(40)]
    classes = classes_of(screens)
    assert len(classes) == 1
    (shapes,) = pictures(classes)
    assert [shape if shape != tuple(r[::-1] for r in ARROW) else ARROW for shape in shapes] == [ARROW, BENT]
    assert classes.frequency.tolist() == [1]
    assert classes.instances.tolist() == [1]


def test_frequencies_count_screens_and_instances_how_many_there_are():
    screens = [paint((ARROW, 10, i, 1), *([(ARROW, 20, i, 2)] if i < 20 else ())) for i in range(40)]
    screens += [paint()] * 10
    classes = classes_of(screens)
    assert classes.frequency.tolist() == [40 / 50]
    assert classes.instances.tolist() == [60 / 40]


@pytest.mark.parametrize("screens", [[paint()], [paint((ARROW, 3, 3, 1))]])
def test_there_may_be_no_class(screens):
    classes = classes_of(screens)
    assert len(classes) == 0
    assert len(classes.of_shape) == len(classes.rows) == 0


def slow_classes(seen, screen_shape, max_classes, min_frequency, min_extent):
    """Return the set of shapes of each class, most frequent class first."""
    silhouettes = [
        tuple(tuple(bool(int(row) >> x & 1) for x in range(width)) for row in seen.rows[begin : begin + height])
        for begin, height, width in zip(seen.first, seen.heights, seen.widths, strict=True)
    ]
    sightings = list(zip(seen.screen, seen.shape, seen.centre.tolist(), seen.part, strict=True))

    def screens_of(shapes):
        return len({screen for screen, shape, *_ in sightings if shape in shapes})

    def apart(a, b, limit=1.0):
        return slow_difference(silhouettes[a], silhouettes[b], 1.2, limit)

    counts = [screens_of({i}) for i in range(len(silhouettes))]
    classes = []
    for i in sorted((i for i, n in enumerate(counts) if n >= 2), key=lambda i: (-counts[i], i)):
        near = min(((apart(i, mine[0], 0.1), k) for k, mine in enumerate(classes)), default=(2, 0))
        if near[0] <= 0.1:
            classes[near[1]].append(i)
        else:
            classes.append([i])

    def stays(mine):
        where = [centre for _, shape, centre, _ in sightings if shape in mine]
        parts = [part for _, shape, _, part in sightings if shape in mine]
        extents = [np.subtract(*np.quantile([c[k] for c in where], [0.995, 0.005])) / 2 for k in (0, 1)]
        return (
            screens_of(mine) >= min_frequency * seen.screens
            and sum(parts) / len(parts) < 0.8
            and any(extent >= min_extent * side for extent, side in zip(extents, screen_shape, strict=True))
        )

    classes = [mine for mine in classes if stays(mine)]
    while len(classes) > 1:
        least, a, b = min(
            (min(apart(i, j) for i in classes[a] for j in classes[b]), a, b)
            for b in range(len(classes))
            for a in range(b)
        )
        if least > 0.1 and (len(classes) <= max_classes or least == 2):
            break
        classes[a] += classes.pop(b)
    ranked = sorted(classes, key=lambda mine: -screens_of(mine))[:max_classes]
    return [{silhouettes[i] for i in mine} for mine in ranked]


def crowd(rng):
    """Return ten screens of shapes of a few kinds, some a pixel or a column different, that may run into each other."""
    kinds = [rng.random((int(rng.integers(2, 6)), int(rng.integers(2, 6)))) < 0.7 for _ in range(3)]
    kinds += [kinds[0][:, 1:], kinds[1] ^ (rng.random(kinds[1].shape) < 0.1), kinds[2][:, ::-1]]
    screens = np.zeros((10, 24, 48), np.uint8)
    for image in screens:
        for kind in kinds:
            if rng.random() < 0.8:
                y, x = int(rng.integers(18)), int(rng.integers(42))
                image[y : y + kind.shape[0], x : x + kind.shape[1]][kind] = rng.integers(1, 4)
    return screens


@settings(deadline=None, max_examples=60)
@given(
    st.integers(0, 2**32),
    st.integers(1, 4),
    st.sampled_from([0.0, 0.3, 0.6]),
    st.sampled_from([0.0, 0.3, 0.6]),
)
def test_classes_are_those_of_a_reference_implementation(seed, max_classes, min_frequency, min_extent):
    shape = 24, 48
    seen = sight(crowd(np.random.default_rng(seed)), np.zeros(shape, np.uint8))
    classes = find_classes(seen, shape, max_classes, min_frequency, min_extent)
    found = [
        {tuple(map(tuple, classes.silhouette(int(i)).tolist())) for i in np.flatnonzero(classes.of_shape == k)}
        for k in range(len(classes))
    ]
    assert found == slow_classes(seen, shape, max_classes, min_frequency, min_extent)
