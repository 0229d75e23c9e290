"""The subsets of 2026 are what the catalogue of 2026 chooses; they stay as they are when it grows."""

import pytest

from arcademark.catalogue import collections
from arcademark.reports.subsets import predictors
from arcademark.subset.predict.choosing import choose
from arcademark.suite.subsets import VALIDATION, subset

COLLECTIONS = {
    *("ale-2013", "atari-5-training", "chainerrl-2021", "cleanrl-2022", "delta-iris-2024", "diamond-2024"),
    *("dopamine-2018", "dopamine-2024", "dreamerv2-2021", "dreamerv3-100k", "dreamerv3-2025", "iris-2023"),
    *("openrlbenchmark-2024", "pfrl-2020", "rem-2024", "review-2021", "rldb-2019", "simulus-2025", "storm-2023"),
    "twm-2023",
}


@pytest.mark.parametrize(
    ("suite", "names", "algorithms"),
    [
        ("atari-57", ("atari-3-2026", "atari-5-2026", "atari-10-2026", "atari-3-val-2026"), 112),
        ("atari-100k", ("atari-100k-3", "atari-100k-5"), 118),
    ],
)
def test_the_subsets_tell_most_of_their_suite(monkeypatch, suite, names, algorithms):
    whole = collections.benchmarked

    def of_2026(games, fewest):
        return {name: entry for name, entry in whole(games, fewest).items() if entry.collection in COLLECTIONS}

    monkeypatch.setattr(collections, "benchmarked", of_2026)
    trained = predictors._atari.__wrapped__(suite).trained
    assert trained.joint.n == algorithms
    for name in names:
        entry = subset(name)
        assert entry.suite == suite
        reported = {*subset("atari-5-2026").tasks, *subset("atari-5").tasks} if name in VALIDATION else ()
        assert choose(trained, len(entry.tasks), but=reported) == entry.tasks
