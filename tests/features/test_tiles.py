import numpy as np

from arcademark.features.colours import game_colours
from arcademark.features.sets.tiles import NOTHING, ColourTiles


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
