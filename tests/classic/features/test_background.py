from itertools import combinations

import numpy as np
import pytest
from followed import follow, random_play
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from arcademark.classic.features.colours import SECAM, game_colours
from arcademark.classic.features.samples import sample_screens
from arcademark.classic.features.sets.background import background, most_frequent
from arcademark.classic.features.sets.basic import Basic
from arcademark.classic.features.sets.bass import Bass
from arcademark.classic.features.sets.tiles import NOTHING, ColourTiles
from arcademark.environments.emulation.palettes import rgb_table
from arcademark.errors import ArcadeMarkError


def slow_most_frequent(screens):
    """Count each pixel's colours, one by one; the first of the most frequent."""
    found = np.empty(screens.shape[1:], np.uint8)
    for pixel in np.ndindex(found.shape):
        shown = screens[(slice(None), *pixel)].tolist()
        found[pixel] = max(range(128), key=lambda colour: (shown.count(colour), -colour))
    return found


@given(st.data())
def test_equals_its_reference_implementation(data):
    """Few colours make ties; screens of any size end within a word."""
    shape = data.draw(st.tuples(st.integers(1, 9), st.integers(1, 4), st.integers(1, 11)))
    screens = data.draw(arrays(np.uint8, shape, elements=st.sampled_from([0, 1, 2, 127])))
    one = np.empty(shape[1:], np.uint8)

    def overwritten():
        for screen in screens:
            one[:] = screen
            yield one

    np.testing.assert_array_equal(most_frequent(overwritten()), slow_most_frequent(screens))


@pytest.mark.slow
@pytest.mark.parametrize("game", ["toy", "pong"])
def test_a_games_background_is_that_of_its_sample_screens(make_env, game):
    env = make_env(game)
    screens = [screen.copy() for screen in sample_screens(env, 50, None, np.random.default_rng(2013))]
    found = background(env, 50)
    np.testing.assert_array_equal(found, slow_most_frequent(np.array(screens)))
    np.testing.assert_array_equal(background(env, 50), found)


def test_it_is_found_once_for_all_that_it_depends_on(make_env, monkeypatch, tmp_path):
    monkeypatch.setenv("ARCADEMARK_CACHE", str(tmp_path))
    calls = []
    monkeypatch.setattr(
        "arcademark.classic.features.sets.background.most_frequent",
        lambda screens: (calls.append(1), most_frequent(screens))[1],
    )
    for env, screens, seed in [
        (make_env("toy"), 61, 1),
        (make_env("toy", observation="ram"), 61, 1),
        (make_env("toy"), 62, 1),
        (make_env("toy"), 61, 2),
        (make_env("toy", frame_skip=2), 61, 1),
    ]:
        background(env, screens, seed=seed)
        background(env, screens, seed=seed)
    assert len(calls) == 4


def seen(screen, hidden, colours=128):
    y, x = np.nonzero(screen != hidden)
    height, width = screen.shape
    tiles = y * 14 // height * 16 + x * 16 // width
    return set((tiles * colours + screen[y, x] % colours).tolist())


@pytest.mark.parametrize("game", ["freeway", "toy", "pacman"])
@pytest.mark.parametrize("settings", [{}, {"background": False}, {"colours": 8}], ids=str)
def test_what_differs_from_the_background_is_seen_in_its_tile(make_env, game, settings):
    env = make_env(game, observation="palette")
    hidden = background(env, 100) if settings.get("background", True) else 255
    screens = random_play(env, 40)
    features = Basic(env, background_screens=100, **settings)
    for _ in range(2):
        for screen, active in zip(screens, follow(features, screens), strict=True):
            assert active == seen(screen, hidden, settings.get("colours", 128))
    assert 0 < len(active) < 1000


def test_the_trajectory_makes_the_background(make_env, tmp_path):
    path = tmp_path / "actions.txt"
    path.write_text("2\n" * 300)
    env = make_env("freeway", observation="palette")
    features = Basic(env, background_screens=50, trajectory=str(path))
    screens = random_play(env, 5)
    assert follow(features, screens)[-1] == seen(screens[-1], background(env, 50, str(path)))


def test_a_trajectory_without_a_background_is_refused(make_env):
    with pytest.raises(ArcadeMarkError, match="a trajectory is followed to find the background; leave it out"):
        Basic(make_env("toy"), background=False, trajectory="x")


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


def number(i, j):
    """Number of a pair among all, those of smaller greater features first: 1-0, 2-0, 2-1, 3-0, …"""
    return 1792 + max(i, j) * (max(i, j) - 1) // 2 + min(i, j)


@pytest.mark.parametrize("game", ["seaquest", "toy"])
def test_it_is_basic_of_eight_colours_and_all_pairs(make_env, game):
    env = make_env(game, observation="palette")
    bass, basic = Bass(env, background_screens=60), Basic(env, colours=8, background_screens=60)
    screens = random_play(env, 24)
    for pairs, active in zip(follow(bass, screens), follow(basic, screens), strict=True):
        assert pairs == active | {number(i, j) for i, j in combinations(active, 2)}
    assert len(active) > 1


def test_too_many_features_to_be_paired_are_refused(make_env):
    bass = Bass(make_env("toy"), rows=5, columns=10, colours=128, background=False)
    assert bass.num_features == 6400 * 6401 // 2
    assert bass.describe(bass.num_features - 1) == f"{bass.describe(6398)} and {bass.describe(6399)}"
    with pytest.raises(ArcadeMarkError, match=r"^40 rows x 40 columns x 128 colours are 204800 feat"):
        Bass(make_env("toy"), rows=40, columns=40, colours=128)


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
