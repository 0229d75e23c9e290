import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from drawn import blobs_of, box, may_be_object, screen, silhouette
from hypothesis import given, settings
from hypothesis import strategies as st

from arcademark.features.disco.blobs import FIRST, MAX_BLOBS, MAX_RUNS, NEXT, Workspace

pytestmark = pytest.mark.slow  # to compile

NOTHING = np.zeros((5, 16), np.uint8)


def found_by(workspace, image):
    """Return the boxes that were found, and for each the number of its shape."""
    count = workspace.find(image)
    return [tuple(blob) for blob in workspace.blobs[:count, :4].tolist()], workspace.hashes[:count].tolist()


def test_blobs_of_one_or_two_pixels_are_splinters():
    image = screen("a.bb.c..d..ee...", ".....c...d..e...", "................", "f..f............", "................")
    boxes, _ = found_by(Workspace(NOTHING), image)
    assert boxes == [(0, 11, 2, 2)]


def test_what_is_larger_than_64_pixels_is_no_object():
    image = np.zeros((70, 160), np.uint8)
    image[0:64, 0:64] = 1
    image[0:65, 70:74] = 2
    image[66, 0:65] = 3
    image[68, 80:144] = 4
    boxes, _ = found_by(Workspace(np.zeros_like(image)), image)
    assert boxes == [(0, 0, 64, 64), (68, 80, 1, 64)]


def test_a_shape_has_one_number_wherever_it_is_and_whatever_its_colour():
    image = screen("aaa..bbb........", "a.a..b.b...ccc..", "...........c.c..", ".ddd............", ".d..............")
    _, hashes = found_by(Workspace(NOTHING), image)
    assert len(hashes) == 4
    assert hashes[0] == hashes[1] == hashes[2] != hashes[3]


@settings(deadline=None, max_examples=150)
@given(
    hnp.arrays(np.uint8, (9, 24), elements=st.integers(0, 2)),
    hnp.arrays(np.uint8, (9, 24), elements=st.sampled_from([0, 0, 0, 1])),
)
def test_blobs_are_those_of_a_flood_fill(image, background):
    workspace = Workspace(background)
    count = workspace.find(image)
    expected = [blob for blob in blobs_of(image, background) if may_be_object(blob)]
    assert workspace.blobs[:count, :4].tolist() == [list(box(blob)) for blob in expected]
    for i, blob in enumerate(expected):
        pixels, run = set(), workspace.blobs[i, FIRST]
        while run >= 0:
            row, start, end = workspace.runs[run, :3]
            pixels |= {(row, x) for x in range(start, end)}
            run = workspace.runs[run, NEXT]
        assert pixels == blob
    shapes = [silhouette(blob) for blob in expected]
    assert len(set(shapes)) == len(set(zip(shapes, workspace.hashes[:count].tolist(), strict=True)))
    assert len(set(shapes)) == len(set(workspace.hashes[:count].tolist()))


def test_noise_is_read_until_there_are_too_many_runs():
    image = np.random.default_rng(0).integers(0, 128, (210, 160), np.uint8)
    image[:3] = 0
    image[1, :12] = 7
    workspace = Workspace(np.zeros_like(image))
    count = workspace.find(image)
    assert workspace.blobs[0, :4].tolist() == [1, 0, 1, 12]
    seen = workspace.blobs[:count, 0].max()
    assert 3 < seen < 3 + MAX_RUNS / 140
    assert np.all(workspace.runs[:, 0] <= seen + 3)


def test_only_the_first_256_blobs_are_looked_at():
    image = np.zeros((210, 160), np.uint8)
    image[::2, 0:160:8] = image[::2, 1:160:8] = image[::2, 2:160:8] = 5
    workspace = Workspace(np.zeros_like(image))
    assert workspace.find(image) == MAX_BLOBS
    assert workspace.blobs[-1, :4].tolist() == [24, 120, 1, 3]
