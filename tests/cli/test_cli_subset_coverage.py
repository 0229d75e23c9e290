"""``arcademark subset coverage``: intervals measured on what was left out."""

import json

import numpy as np
import pytest

from arcademark.reports.subsets import predictors


@pytest.mark.slow
def test_intervals_hold_what_was_left_out_in_every_way(invoke):
    answer = invoke("subset", "coverage", "atari-5", "pong", "--json")
    shown = json.loads(answer.out)
    assert (answer.code, shown["schema"]) == (0, "arcademark.subset-coverage/1")
    rows = {(row["subset"], row["left_out"]): row for row in shown["rows"]}
    newest = next(way for _, way in rows if way.startswith("since"))
    assert set(rows) == {(name, way) for name in ("atari-5", "pong") for way in ("each paper", "each kind", newest)}
    for (name, way), row in rows.items():
        assert (row["algorithms"] < shown["algorithms"] / 2) == (way == newest)
        assert 0.8 <= row["games_coverage"] <= 0.97, (name, way)
        assert row["coverage"]["median"] >= 0.85, (name, way)
    assert rows["atari-5", "each paper"]["mean_error"] < 0.2 < rows["pong", "each paper"]["mean_error"]
    assert rows["atari-5", "each paper"]["mean_error"] < rows["atari-5", newest]["mean_error"]


def test_who_is_left_out_is_not_learnt_from():
    trained = predictors.atari().trained
    rows = np.array([group == "schrittwieser-2020" for group in trained.groups])
    rest, others = trained.apart(rows)
    assert not set(rest.algorithms) & set(others.algorithms)
    assert set(others.groups) == {"schrittwieser-2020"}
    assert rest.joint.n == trained.joint.n - rows.sum()
    assert others.without == {"schrittwieser-2020": rest.joint}
    np.testing.assert_array_equal(others.percent, trained.percent[rows])


def test_games_that_there_are_not(invoke):
    answer = invoke("subset", "coverage", "atari-6")
    assert answer.code == 2
    assert "unknown game 'atari-6'" in answer.err
