from itertools import combinations

import numpy as np
import pytest

from arcademark.environments.registry import open_environment
from arcademark.errors import ArcadeMarkError
from arcademark.features.base import BinaryFeatures
from arcademark.features.registry import make_features
from arcademark.features.sets.basic import Basic
from arcademark.features.sets.bass import Bass


def number(i, j):
    """Number of a pair among all, those of smaller greater features first: 1-0, 2-0, 2-1, 3-0, …"""
    return 1792 + max(i, j) * (max(i, j) - 1) // 2 + min(i, j)


def test_it_has_1606528_features(make_env):
    features = make_features("bass", make_env("toy"), {"background_screens": 5})
    assert isinstance(features, BinaryFeatures)
    assert (features.num_features, features.observed) == (1_606_528, "palette")


@pytest.mark.parametrize("game", ["seaquest", "toy"])
def test_it_is_basic_of_eight_colours_and_all_pairs(make_env, game):
    env = make_env(game, observation="palette")
    bass, basic = Bass(env, background_screens=60), Basic(env, colours=8, background_screens=60)
    env_in_play = open_environment(env)
    rng = np.random.default_rng(0)
    screen = np.empty(env.observation_shape, np.uint8)
    for episode in range(2):
        env_in_play.reset(np.random.default_rng(episode))
        bass.begin()
        basic.begin()
        active, pairs = set(), set()
        for _ in range(12):
            env_in_play.observe(screen)
            change = basic.update(screen)
            active = (active | set(change.on.tolist())) - set(change.off.tolist())
            change = bass.update(screen)
            assert not pairs & set(change.on.tolist())
            assert pairs >= set(change.off.tolist())
            pairs = (pairs | set(change.on.tolist())) - set(change.off.tolist())
            assert pairs == active | {number(i, j) for i, j in combinations(active, 2)}
            if any(env_in_play.step(int(rng.integers(18)))[1:]):
                break
        assert len(active) > 2


def test_pairs_are_described_by_both_features(make_env):
    features = Bass(make_env("seaquest"), background=False)
    assert features.describe(17 * 8 + 4) == "green in the tile of row 1, column 1"
    assert features.describe(number(5, 17 * 8 + 4)) == (
        "cyan in the tile of row 0, column 0 and green in the tile of row 1, column 1"
    )
    assert features.describe(features.num_features - 1) == (
        "yellow in the tile of row 13, column 15 and white in the tile of row 13, column 15"
    )


def test_its_picture_is_that_of_basic_with_eight_colours(make_env):
    env = make_env("freeway", observation="palette")
    screen = np.random.default_rng(0).integers(128, size=(210, 160), dtype=np.uint8)
    bass, basic = Bass(env, background=False), Basic(env, colours=8, background=False)
    np.testing.assert_array_equal(bass.picture(screen), basic.picture(screen))
    assert len(np.unique(bass.picture(screen).reshape(-1, 3), axis=0)) == 8


def test_too_many_features_to_be_paired_are_refused(make_env):
    assert Bass(make_env("toy"), rows=5, columns=10, colours=128, background=False).num_features == 6400 * 6401 // 2
    with pytest.raises(ArcadeMarkError, match=r"^40 rows x 40 columns x 128 colours are 204800 feat"):
        Bass(make_env("toy"), rows=40, columns=40, colours=128)
