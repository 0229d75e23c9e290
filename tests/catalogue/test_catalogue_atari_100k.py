"""The collections of Atari 100k: five runs of each of 26 games, which come to what their papers and READMEs print."""

import statistics

import pytest

from arcademark.analysis import measures
from arcademark.catalogue import collections
from arcademark.suite import references, tasks

GAMES = tasks.suite("atari-100k").tasks
RUNS = {
    "DIAMOND": ("diamond-2024", 5),
    "DreamerV3": ("dreamerv3-100k", 1),
    "IRIS": ("iris-2023", 5),
    "PPO": ("dreamerv3-100k", 4),
    "REM": ("rem-2024", 5),
    "Simulus": ("simulus-2025", 5),
    "STORM": ("storm-2023", 5),
    "TWM": ("twm-2023", 5),
    "Δ-IRIS": ("delta-iris-2024", 5),
}


def scores(algorithm):
    (entry,) = (one for one in collections.entries(RUNS[algorithm][0]) if one.algorithm == algorithm)
    return {task: result.score for task, result in collections.scores_of(entry).items()}


@pytest.mark.parametrize("algorithm", RUNS)
def test_a_collection_has_the_suite_and_its_budget(algorithm):
    collection, fewest = RUNS[algorithm]
    (entry,) = (one for one in collections.entries(collection) if one.algorithm == algorithm)
    results = collections.scores_of(entry)
    assert tuple(results) == GAMES
    assert {len(result.per_run) for result in results.values()} <= set(range(fewest, 6))
    assert all(result.note for result in results.values() if len(result.per_run) < 5)
    assert entry.training_frames == 400_000
    assert entry.protocol == ("atari-100k" if algorithm == "DIAMOND" else "")


@pytest.mark.parametrize(
    ("algorithm", "mean", "beaten"),
    [("DIAMOND", 146, 11), ("REM", 122, 12), ("STORM", 122, 9), ("Simulus", 165, 13), ("TWM", 96, 8)],
)
def test_summaries(algorithm, mean, beaten):
    found, human = scores(algorithm), references.scores("human", "atari-100k")
    percent = measures.atari("atari-100k")["hns"].normaliser([found[game] for game in GAMES], GAMES)
    assert round(statistics.fmean(percent)) == mean
    assert sum(found[game] > human[game] for game in GAMES) == beaten
