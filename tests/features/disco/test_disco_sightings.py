import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from drawn import as_rows, blobs_of, box, images, may_be_object, silhouette
from hypothesis import given, settings
from hypothesis import strategies as st

from arcademark.features.disco.sightings import sight

pytestmark = pytest.mark.slow  # to compile


def slow_sight(screens, background):
    """Return the shapes, and of each sighting screen, shape, twice its centre, and whether it is a part."""
    shapes, notes = [], []
    for number, image in enumerate(screens):
        blobs = [blob for blob in blobs_of(image, background) if may_be_object(blob)]
        boxes = [box(blob) for blob in blobs]
        for blob, (top, left, height, width) in zip(blobs, boxes, strict=True):
            seen = silhouette(blob)
            known = [i for i, shape in enumerate(shapes) if shape in images(seen)]
            if not known:
                shapes.append(seen)
            part = any(
                b[2] * b[3] > height * width
                and b[0] <= top + height
                and top <= b[0] + b[2]
                and b[1] <= left + width
                and left <= b[1] + b[3]
                for b in boxes
            )
            centre = 2 * top + height - 1, 2 * left + width - 1
            notes.append((number, known[0] if known else len(shapes) - 1, *centre, part))
    return shapes, notes


def check(screens, background):
    seen = sight(iter(screens), background)
    shapes, notes = slow_sight(screens, background)
    assert seen.screens == len(screens)
    assert list(zip(seen.heights, seen.widths, strict=True)) == [(len(shape), len(shape[0])) for shape in shapes]
    for shape, begin in zip(shapes, seen.first, strict=True):
        np.testing.assert_array_equal(seen.rows[begin : begin + len(shape)], as_rows(shape)[: len(shape)])
    assert len(seen.rows) == sum(map(len, shapes))
    found = np.column_stack([seen.screen, seen.shape, seen.centre, seen.part])
    assert found.tolist() == [list(map(int, note)) for note in notes]


@settings(deadline=None, max_examples=60)
@given(
    st.lists(hnp.arrays(np.uint8, (7, 16), elements=st.integers(0, 2)), max_size=4),
    hnp.arrays(np.uint8, (7, 16), elements=st.sampled_from([0, 0, 0, 1])),
)
def test_sightings_are_those_of_a_reference_implementation(screens, background):
    check(screens, background)


def test_many_screens_need_more_room():
    rng = np.random.default_rng(5)
    screens = [rng.integers(0, 4, (40, 40), np.uint8) for _ in range(5)]
    check(screens, np.zeros((40, 40), np.uint8))
    image = np.zeros((20, 160), np.uint8)
    image[::4, ::8] = image[1::4, ::8] = image[2::4, ::8] = 3
    seen = sight([image] * 700, np.zeros_like(image))
    assert len(seen.screen) == 700 * 100 > 1 << 16
    assert np.all(seen.shape == 0)
