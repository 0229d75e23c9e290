import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arcademark.features.disco.shapes import ShapeFinder, pixels_of
from arcademark.features.disco.sightings import sight

pytestmark = pytest.mark.slow  # to compile


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


@settings(deadline=None, max_examples=60)
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
