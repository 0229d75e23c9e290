"""``arcademark subset``: what is predicted keeps name, unit and error; what cannot be asked is refused at once."""

from __future__ import annotations

import json
from pathlib import Path

SEARCH = ("subset", "search", "--catalogue", "atari-5-training", "--size", 2, "--top", 1)
REVIEW = ("subset", "predict", "catalogue:review-2021", "--model", "m.json")


def search(invoke, *options):
    answer = invoke(*SEARCH, "--out", "m.json", *options)
    assert (answer.code, answer.err) == (0, "")
    return " ".join(answer.out.split()), json.loads(Path("m.json").read_text(encoding="utf-8"))


def test_an_error_in_points_is_no_factor(invoke):
    told, model = search(invoke, "--target", "mean", "--set", "transform=none")
    assert "predict the mean HNS over all" in told
    assert "62 algorithms, 56 games, scores as they are" in told
    assert "mean error, %" in invoke(*SEARCH, "--target", "mean", "--set", "transform=none", "--to=markdown").out
    assert model["relative_error"] is None
    answer = invoke(*REVIEW, "--to=json")
    estimates = [item["estimate"] for item in json.loads(answer.out)["predictions"] if item["estimate"]]
    error = model["absolute_error"]
    assert error > 100
    assert all(item["absolute_error"] == error and item["relative_error"] is None for item in estimates)
    assert all(item["low"] is None and item["high"] is None for item in estimates), "no paper was left out"
    assert f"±{error:.1f} points" in invoke(*REVIEW).out.replace("\N{NO-BREAK SPACE}", " ")


def test_a_count_is_no_percentage(invoke):
    told, model = search(invoke, "--target", "at human level")
    assert "predict the number of games at human level over all" in told
    assert (model["summary"], model["unit"]) == ("at human level", "games")
    assert model["name"] == "atari-5-training-at-human-level-2"
    out = invoke(*REVIEW).out.replace("\N{NO-BREAK SPACE}", " ")
    (line,) = [line for line in out.splitlines() if line.startswith("Rainbow ")]
    assert line.count("%") == 1, "the error alone is a share"
    assert " games " in line


def test_a_task_without_any_score_is_said_not_to_take_part(invoke, benchmark):
    own = benchmark(
        {f"a{place}": {"x": place, "y": 2 * place, "z": 3 * place, "void": ""} for place in range(6)}, 0, 10
    )
    search = ("subset", "search", *own, "--size", 1, "--set", "folds=3")
    told = " ".join(invoke(*search).out.split())
    assert "6 algorithms, 3 tasks" in told
    assert "Left out: void (no algorithm has a score on it)." in told
    assert invoke(*search, "--exclude", "void").code == 0
