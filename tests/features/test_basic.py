import numpy as np
import pytest
from followed import follow, random_play

from arcademark.errors import ArcadeMarkError
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


def test_a_trajectory_without_a_background_is_refused(make_env):
    with pytest.raises(ArcadeMarkError, match="a trajectory is followed to find the background; leave it out"):
        Basic(make_env("toy"), background=False, trajectory="x")
