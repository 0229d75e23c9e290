import numpy as np
import pytest
from followed import follow, random_play

from arcademark.errors import ArcadeMarkError
from arcademark.features.sets.background import background
from arcademark.features.sets.basic import Basic


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
