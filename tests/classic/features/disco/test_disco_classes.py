import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_disco_shapes import slow_difference

from arcademark.classic.features.disco.classes import find_classes
from arcademark.classic.features.disco.shapes import ShapeFinder, pixels_of
from arcademark.classic.features.disco.sightings import sight

pytestmark = pytest.mark.slow  # to compile


def slow_classes(seen, screen_shape, max_classes, min_frequency, min_extent):
    """Return the set of shapes of each class, most frequent class first."""
    silhouettes = [
        pixels_of(seen.images[0, begin : begin + height], width)
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
    return [{tuple(map(tuple, silhouettes[i].tolist())) for i in mine} for mine in ranked]


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


@settings(max_examples=60)
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


def mirrored(shape):
    """Return the mirror images of a shape, as nested tuples."""
    return {tuple(map(tuple, image.tolist())) for image in (shape, shape[:, ::-1], shape[::-1], shape[::-1, ::-1])}


def slow_sight(screens, background):
    """Return the shapes, and of each sighting screen, shape, twice its centre, and whether it is a part."""
    shapes, notes = [], []
    for number, image in enumerate(screens):
        boxes, found = ShapeFinder(background).find(image)
        for (top, left, height, width), rows in zip(boxes.tolist(), found, strict=True):
            seen = tuple(map(tuple, pixels_of(rows, width).tolist()))
            known = [i for i, shape in enumerate(shapes) if shape in mirrored(np.array(seen))]
            if not known:
                shapes.append(seen)
            part = any(
                b[2] * b[3] > height * width
                and b[0] <= top + height
                and top <= b[0] + b[2]
                and b[1] <= left + width
                and left <= b[1] + b[3]
                for b in boxes.tolist()
            )
            centre = 2 * top + height - 1, 2 * left + width - 1
            notes.append((number, known[0] if known else len(shapes) - 1, *centre, part))
    return shapes, notes


@settings(max_examples=60)
@given(
    st.lists(hnp.arrays(np.uint8, (7, 16), elements=st.integers(0, 2)), max_size=4),
    hnp.arrays(np.uint8, (7, 16), elements=st.sampled_from([0, 0, 0, 1])),
)
def test_sightings_are_those_of_a_reference_implementation(screens, background):
    seen = sight(iter(screens), background)
    shapes, notes = slow_sight(screens, background)
    assert seen.screens == len(screens)
    for shape, begin, height, width in zip(shapes, seen.first, seen.heights, seen.widths, strict=True):
        assert pixels_of(seen.images[0, begin : begin + height], width).tolist() == [list(row) for row in shape]
    found = np.column_stack([seen.screen, seen.shape, seen.centre, seen.part])
    assert found.tolist() == [list(map(int, note)) for note in notes]
