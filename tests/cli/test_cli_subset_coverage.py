"""``arcademark subset coverage``: intervals measured on what was left out."""

import json
from pathlib import Path

import numpy as np
import pytest

from arcademark.reports.subsets import predictors
from arcademark.subset.predict.choosing import choose


@pytest.mark.slow
def test_intervals_hold_what_was_left_out_in_every_way(invoke):
    answer = invoke("subset", "coverage", "atari-5", "pong", "--to=json")
    shown = json.loads(answer.out)
    assert (answer.code, shown["schema"]) == (0, "arcademark.subset-coverage/2")
    rows = {(row["subset"], row["left_out"]): row for row in shown["rows"]}
    newest = next(way for _, way in rows if way.startswith("since"))
    assert set(rows) == {(name, way) for name in ("atari-5", "pong") for way in ("each paper", "each kind", newest)}
    for (name, way), row in rows.items():
        assert (row["algorithms"] < shown["algorithms"] / 2) == (way == newest)
        assert 0.8 <= row["games_coverage"] <= 0.97, (name, way)
        assert row["coverage"]["median"] >= 0.85, (name, way)
    assert rows["atari-5", "each paper"]["mean_error"] < 0.2 < rows["pong", "each paper"]["mean_error"]
    assert rows["atari-5", "each paper"]["mean_error"] < rows["atari-5", newest]["mean_error"]


def test_games_are_chosen_anew_without_what_is_left_out(invoke, benchmark):
    """Of a benchmark of one's own: eight tasks, thirty players of six papers, two of them on tasks turned round."""
    rng = np.random.default_rng(1)
    scores: dict[str, dict[str, float]] = {}
    for player in range(30):
        skills = rng.normal(size=2)
        scores[f"p{player}"] = {}
        for task in range(8):
            own = skills[(task + (player // 5 == 5)) % 2] if task < 6 else rng.normal()
            scores[f"p{player}"][f"t{task}"] = 10 ** (1.5 + 0.4 * own + 0.1 * rng.normal())
    papers = {name: f"paper {number // 5}" for number, name in enumerate(scores)}
    learnt = ("--training", *benchmark(scores, 0, 100, **papers), "--papers", "papers.csv")
    answer = invoke("subset", "coverage", "t6,t7", "--sizes", "2", *learnt, "--to=json")
    assert (answer.code, answer.err) == (0, "")
    shown = json.loads(answer.out)
    assert (shown["noun"], shown["algorithms"], shown["groups"]) == ("task", 30, 6)
    given, best = shown["rows"]
    assert (given["games"], given["same"], given["left_out"]) == (["t6", "t7"], None, "each paper")
    trained = predictors.own(["scores.csv"], Path("references.csv"), Path("papers.csv")).trained
    assert tuple(best["games"]) == choose(trained, 2)
    choices = [choose(trained, 2, without=f"paper {number}") for number in range(6)]
    assert best["same"] == sum(choice == choose(trained, 2) for choice in choices) / 6
    assert best["mean_error"] < given["mean_error"]
    told = invoke("subset", "coverage", "--sizes", "2", *learnt).out
    assert "How often 90 % intervals hold, from some tasks" in told
    assert "chosen anew each time" in " ".join(told.split())


def test_who_is_left_out_is_not_learnt_from():
    trained = predictors.atari().trained
    rows = np.array([group == "schrittwieser-2020" for group in trained.groups])
    rest, others = trained.apart(rows)
    assert not set(rest.algorithms) & set(others.algorithms)
    assert set(others.groups) == {"schrittwieser-2020"}
    assert rest.joint.n == trained.joint.n - rows.sum()
    assert others.without == {"schrittwieser-2020": rest.joint}
    np.testing.assert_array_equal(others.percent, trained.percent[rows])
