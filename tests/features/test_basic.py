import numpy as np
import pytest
from followed import follow, random_play

from arcademark.errors import ArcadeMarkError
from arcademark.features.registry import make_features
from arcademark.features.sets.background import background
from arcademark.features.sets.basic import Basic


@pytest.mark.parametrize("game", ["freeway", "toy", "pacman"])
def test_what_differs_from_the_background_is_seen_in_its_tile(make_env, game):
    env = make_env(game, observation="palette")
    features = Basic(env, background_screens=100)
    hidden = background(env, 100)
    screens = random_play(env, 40)
    height, width = hidden.shape
    expected = {
        int((y * 14 // height * 16 + x * 16 // width) * 128 + screens[-1][y, x])
        for y, x in np.argwhere(screens[-1] != hidden)
    }
    assert follow(features, screens)[-1] == expected
    assert 0 < len(expected) < 120


def test_without_a_background_all_is_seen(make_env):
    env = make_env("freeway", observation="palette")
    screens = random_play(env, 10)
    seen = follow(Basic(env, background=False), screens)[-1]
    hidden = follow(Basic(env, background_screens=100), screens)[-1]
    assert len({feature // 128 for feature in seen}) == 224
    assert hidden < seen


def test_eight_colours_and_another_grid(make_env):
    env = make_env("freeway", observation="palette")
    screens = random_play(env, 10)
    features = Basic(env, rows=7, columns=3, colours=8, background=False)
    assert features.num_features == 7 * 3 * 8
    expected = {
        int((y * 7 // 210 * 3 + x * 3 // 160) * 8 + screens[-1][y, x] % 8) for y, x in np.ndindex(screens[-1].shape)
    }
    assert follow(features, screens)[-1] == expected


def test_the_trajectory_makes_the_background(make_env, tmp_path):
    path = tmp_path / "actions.txt"
    path.write_text("2\n" * 300)
    env = make_env("freeway", observation="palette")
    features = Basic(env, background_screens=50, trajectory=str(path))
    screens = random_play(env, 5)
    assert follow(features, screens)[-1] == set(
        np.flatnonzero(_seen(screens[-1], background(env, 50, str(path)))).tolist()
    )


def _seen(screen, hidden):
    found = np.zeros(28_672, bool)
    y, x = np.nonzero(screen != hidden)
    found[(y // 15 * 16 + x // 10) * 128 + screen[y, x]] = True
    return found


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"rows": 0}, "rows is 0; expected 1 to 250 tiles"),
        ({"rows": 251}, "rows is 251; expected 1 to 250 tiles"),
        ({"columns": -1}, "columns is -1; expected 1 to 160 tiles"),
        ({"colours": 16}, "colours is 16; expected 128, or 8 for those of SECAM"),
        ({"background_screens": 0}, "0 sample screens: expected at least 1"),
        ({"background": False, "trajectory": "x"}, "a trajectory is followed to find the background; leave it out, "),
        ({"trajectory": "no/such/file"}, "no/such/file: cannot read the file "),
    ],
)
@pytest.mark.parametrize("name", ["basic", "bass"])
def test_bad_parameters_are_named(make_env, name, parameters, said):
    with pytest.raises(ArcadeMarkError) as error:
        make_features(name, make_env("toy"), parameters)
    assert str(error.value).startswith(said)
