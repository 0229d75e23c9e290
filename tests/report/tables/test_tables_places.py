"""What a table may be given as."""

from pathlib import Path

import numpy as np
import pytest

from arcademark.errors import ArcadeMarkError, UnknownNameError
from arcademark.reports.tables.analysis import analyse
from arcademark.reports.tables.compare import compare_tables

SCORES = {"DQN": {"pong": [18.9, 19.3], "Q*bert": 31.8}, "PPO": {"pong": np.array([20.7]), "Q*bert": [32.9, None]}}


def test_scores_by_name_are_a_table():
    report = analyse(SCORES, resamples=10)
    assert {
        (item.name, score.game): (score.score.value, score.runs) for item in report.algorithms for score in item.scores
    } == {
        ("DQN", "pong"): (pytest.approx(19.1), 2),
        ("DQN", "qbert"): (31.8, 1),
        ("PPO", "pong"): (20.7, 1),
        ("PPO", "qbert"): (32.9, 1),
    }


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"A": [1, 2]}, r"^scores\['A'\]: list given, expected a mapping"),
        ({"A": {"pong": "x"}}, r"^scores\['A'\]\['pong'\]: 'x' given, expected a score or a list"),
        ({"A": {"pong": [[1.0]]}}, "expected a score or a list"),
        ({"A": {"pong": []}}, "there is no score; leave the task out"),
        ({"A": {"pong": [1, float("inf")]}}, r"^scores\['A'\]\['pong'\]\[1\]: an infinite score"),
        ({}, "^a table without scores; expected such as"),
        (np.ones((2, 2)), "^ndarray given for a table .*; give a path, a ScoreTable, or a dict such as"),
        ([np.ones(2)], "^ndarray given for a table"),
        (None, "^NoneType given for a table"),
        ([None], "^NoneType given for a table"),
        ([], "^no table given"),
        ("", "^the name of a table is empty"),
        ({"a\x1b[31m": {"pong": 1}}, r"U\+001B; take it out"),
    ],
)
def test_what_is_no_table_is_said_to_be_none(given, named):
    with pytest.raises(ArcadeMarkError, match=named):
        analyse(given)


def test_names_of_algorithms_count_in_any_case():
    report = analyse(SCORES, algorithms=["ppo", "Dqn"], frames={"dqn": 5}, resamples=10)
    assert [(item.name, item.training_frames) for item in report.algorithms] == [("PPO", None), ("DQN", 5)]
    assert compare_tables(SCORES, algorithms=["ppo", "dqn"], resamples=10).pairs[0].first == "PPO"


def test_names_that_case_alone_tells_apart_are_to_be_written_so():
    both = {"Agent": {"pong": 1}, "AGENT": {"pong": 2}}
    assert [item.name for item in analyse(both, algorithms=["AGENT"]).algorithms] == ["AGENT"]
    with pytest.raises(ArcadeMarkError, match="'agent' may be 'Agent' or 'AGENT'; write which"):
        analyse(both, algorithms=["agent"])
    with pytest.raises(ArcadeMarkError, match="'PPO' is named twice"):
        analyse(SCORES, algorithms=["ppo", "PPO"])


def test_a_table_in_the_place_of_an_algorithm_is_told_where_it_belongs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ArcadeMarkError, match=r"only 'dqn' is named; .*; no file or run has that name$"):
        compare_tables(SCORES, algorithms=["dqn"])
    Path("dqn").mkdir()
    with pytest.raises(ArcadeMarkError, match="or none for all; for another table give --with dqn"):
        compare_tables(SCORES, algorithms=["dqn"])


def test_of_many_names_only_the_closest_are_told():
    many = {f"agent-{i}": {"pong": i} for i in range(80)}
    with pytest.raises(UnknownNameError) as caught:
        analyse(many, algorithms=["zzz"])
    assert str(caught.value).count("agent-") == 3
    assert "of the 80 that are known" in str(caught.value)
