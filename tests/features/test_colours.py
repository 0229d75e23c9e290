import numpy as np
import pytest

from arcademark.environments.emulation.palettes import rgb_table
from arcademark.features.colours import SECAM, game_colours


@pytest.mark.parametrize(("game", "standard"), [("pong", "NTSC"), ("pacman", "PAL")])
def test_all_colours_are_those_of_the_games_television(game, standard):
    colours = game_colours(game)
    assert len(colours) == 128
    np.testing.assert_array_equal(colours.codes, [*range(128)] * 2)
    np.testing.assert_array_equal(colours.rgb, rgb_table(standard)[::2])


def test_eight_colours_are_the_brightnesses():
    """By the emulator's byte s, twice the colour, SECAM's colour is (s & 15) >> 1."""
    colours = game_colours("pong", 8)
    assert len(colours) == 8
    np.testing.assert_array_equal(colours.codes[:128], [(2 * colour & 15) >> 1 for colour in range(128)])
    assert colours.codes.max() == 7
    assert colours.names == ("black", "blue", "red", "magenta", "green", "cyan", "yellow", "white")
    assert [bytes(rgb).hex() for rgb in colours.rgb.tolist()] == [colour[1:] for colour in SECAM.values()]


def test_names_say_the_colour_in_the_web_s_notation():
    assert game_colours("pong").names[26] == "colour 26 (#b55328)"
    assert game_colours("toy").names[127] == "colour 127 (#fefefe)"
