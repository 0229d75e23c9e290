import numpy as np
import pytest
from followed import follow
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from arcademark.features.colours import game_colours
from arcademark.features.sets.tiles import NOTHING, ColourTiles


def slow_features(screen, rows, columns, colours, background):
    """Look at every pixel on its own, whatever was seen before."""
    height, width = screen.shape
    found = set()
    for y in range(height):
        for x in range(width):
            if background is not None and screen[y, x] == background[y, x]:
                continue
            tile = (y * rows // height) * columns + x * columns // width
            found.add(tile * colours + int(screen[y, x]) % colours)
    return found


SHADES = st.sampled_from([0, 1, 8, 9, 127])


@st.composite
def episodes(draw):
    """Draw screens of any size that change a little or a lot, and a grid that may be finer than they are."""
    shape = draw(st.tuples(st.integers(1, 9), st.integers(1, 20)))
    screens = [draw(arrays(np.uint8, shape, elements=SHADES))]
    for _ in range(draw(st.integers(0, 6))):
        screen = screens[draw(st.integers(0, len(screens) - 1))].copy()
        for _ in range(draw(st.integers(0, 3))):
            y, x = draw(st.integers(0, shape[0] - 1)), draw(st.integers(0, shape[1] - 1))
            screen[y : y + draw(st.integers(1, 4)), x : x + draw(st.integers(1, 4))] = draw(SHADES)
        screens.append(screen)
    background = draw(st.none() | arrays(np.uint8, shape, elements=SHADES))
    return screens, draw(st.integers(1, 10)), draw(st.integers(1, 12)), draw(st.sampled_from([8, 128])), background


@pytest.mark.slow
@given(episodes())
@settings(max_examples=200, deadline=None)
def test_what_changed_adds_up_to_what_the_slow_twin_sees(episode):
    screens, rows, columns, colours, background = episode
    tiles = ColourTiles(screens[0].shape, rows, columns, game_colours("pong", colours), background)
    assert tiles.num_features == rows * columns * colours
    for _ in range(2):
        for screen, active in zip(screens, follow(tiles, screens), strict=True):
            assert active == slow_features(screen, rows, columns, colours, background)
            assert active == set(np.flatnonzero(tiles.seen(screen)).tolist())


def test_a_picture_by_hand():
    """Left nothing, in the middle one colour though one pixel shows it, on the right three in bands."""
    colours = game_colours("pong", 8)
    background = np.zeros((6, 6), np.uint8)
    screen = background.copy()
    screen[5, 2] = 2
    screen[0, 4:] = 7
    screen[1, 5] = 1
    screen[2, 4] = 4
    tiles = ColourTiles((6, 6), 1, 3, colours, background)
    tiles.update(background)
    expected = np.empty((6, 6, 3), np.uint8)
    expected[:, :2] = NOTHING
    expected[:, 2:4] = colours.rgb[2]
    expected[:2, 4:], expected[2:4, 4:], expected[4:, 4:] = colours.rgb[1], colours.rgb[4], colours.rgb[7]
    np.testing.assert_array_equal(tiles.picture(screen), expected)
    assert sorted(tiles.update(screen).on.tolist()) == [8 + 2, 16 + 1, 16 + 4, 16 + 7]
