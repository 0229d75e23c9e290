"""Our own subsets are what the catalogue of 2026 chooses; they stay as they are when it grows."""

import pytest

from arcademark.analysis.subsets import predictors
from arcademark.catalogue import collections
from arcademark.subset.predict.choosing import choose
from arcademark.suite.subsets import subset

COLLECTIONS = {
    *("ale-2013", "atari-5-training", "chainerrl-2021", "cleanrl-2022", "delta-iris-2024", "diamond-2024"),
    *("dopamine-2018", "dopamine-2024", "dreamerv2-2021", "dreamerv3-100k", "dreamerv3-2025", "iris-2023"),
    *("openrlbenchmark-2024", "pfrl-2020", "rem-2024", "review-2021", "rldb-2019", "simulus-2025", "storm-2023"),
    "twm-2023",
}


@pytest.fixture
def learnt(monkeypatch):
    """Learn from the catalogue of 2026 all games of a suite."""
    whole = collections.benchmarked

    def of_2026(games, fewest):
        return {name: entry for name, entry in whole(games, fewest).items() if entry.collection in COLLECTIONS}

    monkeypatch.setattr(collections, "benchmarked", of_2026)
    return lambda suite: predictors._atari.__wrapped__(suite).trained


def test_the_subsets_of_atari_100k_tell_most_of_it(learnt):
    trained = learnt("atari-100k")
    assert trained.joint.n == 118
    for name in ("atari-100k-3", "atari-100k-5"):
        entry = subset(name)
        assert entry.suite == "atari-100k"
        assert choose(trained, len(entry.tasks)) == entry.tasks


def test_atari_14_adds_to_atari_10_the_five_games_that_tell_most(learnt):
    trained = learnt("atari-57")
    assert trained.joint.n == 112
    ten, chosen = subset("atari-10").tasks, choose(trained, 5)
    assert subset("atari-14").tasks == (*ten, *(game for game in chosen if game not in ten))
