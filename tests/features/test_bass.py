from itertools import combinations

import pytest
from followed import follow, random_play

from arcademark.errors import ArcadeMarkError
from arcademark.features.sets.basic import Basic
from arcademark.features.sets.bass import Bass


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
