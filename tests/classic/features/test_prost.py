"""B-PROS, B-PROST and Blob-PROST, against spots found pixel by pixel and offsets counted from nothing."""

import numpy as np
import pytest
from followed import follow
from hypothesis import given
from hypothesis import strategies as st

from arcademark.classic.features.base import Change
from arcademark.classic.features.blobs import BlobFinder
from arcademark.classic.features.sets import background as backgrounds
from arcademark.classic.features.sets.offsets import COLOURS, Offsets
from arcademark.classic.features.sets.prost import BlobProst, BPros, BProst
from arcademark.classic.features.sets.tiles import NOTHING
from arcademark.environments.registry import environment_spec
from arcademark.errors import ArcadeMarkError
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


# Offsets of spots, against all pairs of spots written out


NAMES = [f"c{colour}" for colour in range(COLOURS)]
HERE, NORTH, SOUTH, WEST, EAST = "in the same tile", "row{} above", "row{} below", "column{} left", "column{} right"


def direction(down, right):
    words = []
    for steps, (back, forth) in ((down, (NORTH, SOUTH)), (right, (WEST, EAST))):
        if steps:
            words.append(f"{abs(steps)} " + (forth if steps > 0 else back).format("s" if abs(steps) > 1 else ""))
    return " and ".join(words) or HERE


def slow(now, before, time):
    """Describe every feature of sets of (colour, row, column)."""
    found = {f"c{k} in the tile of row {r}, column {c}" for k, r, c in now}
    for k, r, c in now:
        for m, row, column in now:
            offset = (row - r, column - c)
            if k < m or (k == m and offset >= (0, 0)):
                found.add(f"c{k}, and c{m} {direction(*offset)}")
    for k, r, c in before if time else ():
        found |= {f"c{k} on the screen before, and c{m} now {direction(row - r, col - c)}" for m, row, col in now}
    return found


def described(offsets, screens):
    """Describe what is active after each screen; no two features have one description."""
    sets = [{(row * offsets.columns + column) * COLOURS + colour for colour, row, column in each} for each in screens]
    changes = [change(now, before) for now, before in zip(sets, [set(), *sets], strict=False)]
    seen = [[offsets.describe(feature, NAMES) for feature in active] for active in follow(offsets, changes)]
    assert all(len({*words}) == len(words) for words in seen)
    return [{*words} for words in seen]


def spots(rows, columns):
    one = st.tuples(st.sampled_from([0, 3, 90, 127]), st.integers(0, rows - 1), st.integers(0, columns - 1))
    return st.lists(st.frozensets(one, max_size=10), max_size=5)


@pytest.fixture(scope="module")
def small():
    return {time: Offsets(3, 4, time) for time in (False, True)}


@pytest.mark.parametrize("time", [False, True])
@given(episodes=st.lists(spots(3, 4), min_size=1, max_size=3))
def test_features_are_those_of_all_pairs(small, time, episodes):
    for screens in episodes:
        befores = [(), *screens]
        expected = [slow(now, before, time) for now, before in zip(screens, befores, strict=False)]
        assert described(small[time], screens) == expected


def test_many_spots_make_room():
    """Far more features at once than there is room for at first; all of every colour's offsets are active."""
    offsets = Offsets(6, 5, True)
    everywhere = [(colour, row, column) for colour in range(4) for row in range(6) for column in range(5)]
    first, second, third = described(offsets, [everywhere, everywhere, []])
    number = 11 * 9
    assert len(first) == 4 * 30 + 4 * (number + 1) // 2 + 6 * number
    assert len(second) == len(first) + 16 * number
    assert third == set()


@pytest.mark.parametrize(("rows", "columns"), [(210, 160), (250, 131)])
def test_too_many_tiles_are_refused(rows, columns):
    with pytest.raises(ArcadeMarkError, match="features are too many; take fewer rows"):
        Offsets(rows, columns, True)
