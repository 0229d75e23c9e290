"""B-PROS, B-PROST and Blob-PROST, against spots found pixel by pixel and offsets counted from nothing."""

import numpy as np
import pytest
from followed import follow
from hypothesis import given, settings
from hypothesis import strategies as st

from arcademark.environments.registry import environment_spec
from arcademark.features.base import Change
from arcademark.features.blobs import BlobFinder
from arcademark.features.sets import background as backgrounds
from arcademark.features.sets.offsets import Offsets
from arcademark.features.sets.prost import BlobProst, BPros, BProst
from arcademark.features.sets.tiles import NOTHING
from arcademark.suite.protocols import protocol

pytestmark = pytest.mark.slow  # to compile

PALETTE = protocol("ale-2013").override({"observation": "palette"})
TOY = environment_spec("toy", PALETTE)
SEAQUEST = environment_spec("seaquest", PALETTE)


NOTHING_HIDDEN = np.full((8, 8), 255, np.uint8)


def tile_spots(screen, rows, columns, background):
    height, width = screen.shape
    return {
        (y * rows // height * columns + x * columns // width) * 128 + int(colour)
        for (y, x), colour in np.ndenumerate(screen)
        if background[y, x] != colour
    }


def blob_spots(screen, rows, columns, background):
    height, width = screen.shape
    middles = [
        (colour, (top + bottom) // 2, (left + right) // 2)
        for top, left, bottom, right, colour in BlobFinder(background, 2).find(screen)[1].tolist()
    ]
    return {(y * rows // height * columns + x * columns // width) * 128 + colour for colour, y, x in middles}


def anew(sets, rows, columns, time):
    """Return the features of each set of spots, of an episode that has only it and the one before."""
    found = []
    offsets = Offsets(rows, columns, time)
    for before, now in zip([set(), *sets[:-1]], sets, strict=True):
        offsets.begin()
        active = set(offsets.update(change(before, set())).on.tolist()) if before else set()
        on, off = offsets.update(change(now, before))
        found.append((active - set(off.tolist())) | set(on.tolist()))
    return found


def change(now, before):
    return Change(*(np.array(sorted(part), np.int32) for part in (now - before, before - now)))


@st.composite
def episodes(draw):
    pixels = st.lists(st.sampled_from([0, 0, 0, 5, 127]), min_size=64, max_size=64)
    return [np.array(draw(pixels), np.uint8).reshape(8, 8) for _ in range(draw(st.integers(1, 4)))]


HIDDEN = NOTHING_HIDDEN * 0
HIDDEN[3] = 5


@pytest.fixture(scope="module")
def toy_sets():
    """Sets that see everything, and such that do not see `HIDDEN`."""

    def sets(**background):
        tiles = [kind(TOY, rows=4, columns=3, **background) for kind in (BPros, BProst)]
        return *tiles, BlobProst(TOY, rows=4, columns=3, proximity=2, **background)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(backgrounds, "background", lambda env, screens, trajectory: HIDDEN)
        return (NOTHING_HIDDEN, sets(background=False)), (HIDDEN, sets(background=True))


@settings(deadline=None)
@given(screens=episodes())
def test_features_are_those_of_all_pixels(toy_sets, screens):
    for background, (pros, prost, blob_prost) in toy_sets:
        tiles, blobs = ([of(screen, 4, 3, background) for screen in screens] for of in (tile_spots, blob_spots))
        assert follow(pros, screens) == anew(tiles, 4, 3, False)
        assert follow(prost, screens) == anew(tiles, 4, 3, True)
        assert follow(blob_prost, screens) == anew(blobs, 4, 3, True)


def test_a_blob_counts_where_its_middle_is():
    """Two colours of 7 × 4 pixels each a tile: a bar of 2 × 7 pixels, and the rest around it."""
    screen = np.zeros((210, 160), np.uint8)
    screen[13:15, 9:16] = 40
    features = BlobProst(SEAQUEST)
    (active,) = follow(features, [screen])
    ground, bar = "a blob of colour 0 (#000000)", f"a blob of {SEAQUEST_NAME}"
    assert {features.describe(feature) for feature in active} == {
        f"{ground} in the tile of row 14, column 19",
        f"{bar} in the tile of row 1, column 3",
        f"{ground}, and {ground} in the same tile",
        f"{bar}, and {bar} in the same tile",
        f"{ground}, and {bar} 13 rows above and 16 columns left",
    }


SEAQUEST_NAME = BPros(SEAQUEST, background=False).describe(40).split(" in ")[0]


def test_the_picture_of_blobs():
    """Boxes are drawn, then tiles in full; what is in no box stays grey."""
    background = np.zeros((8, 8), np.uint8)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(backgrounds, "background", lambda env, screens, trajectory: background)
        features = BlobProst(TOY, rows=4, columns=4, proximity=1, background=True)
    screen = background.copy()
    screen[1:6, 0:5] = 9
    picture = features.picture(screen)
    shade = picture[1, 0].tolist()
    drawn = np.zeros((8, 8), bool)
    drawn[[1, 5], 0:5] = drawn[1:6, 0] = drawn[1:6, 4] = True
    drawn[2:4, 2:4] = True
    assert shade != list(NOTHING)
    assert (picture[drawn] == shade).all()
    assert (picture[~drawn] == NOTHING).all()
