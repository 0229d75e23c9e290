"""``arcademark tune``: every combination is played, the best comes first, and what cannot be told apart is said."""

import numpy as np
import pytest

from arcademark.analysis.runs import tuning
from arcademark.analysis.subsets import predictors
from arcademark.suite.subsets import LEVEL, subset

SHORT = ("--protocol", "ale-2013", "--override", "max_frames_per_episode=1200", "--episodes", 1)


def test_every_combination_is_played_and_ranked(invoke):
    first = invoke(
        *("tune", "perturb", "--grid", "action=UP,DOWN", "--grid", "probability=1.0,0.5", "--games", "freeway"),
        *SHORT, "--format=json",
    )  # fmt: skip
    assert first.code == 0
    assert "warning" not in first.err
    found = first.json
    assert found["schema"] == tuning.Tuned.SCHEMA
    assert found["games"] == ["freeway"]
    values = [setting["values"] for setting in found["settings"]]
    assert sorted((value["action"], value["probability"]) for value in values) == [
        ("DOWN", 0.5),
        ("DOWN", 1.0),
        ("UP", 0.5),
        ("UP", 1.0),
    ]
    assert values[0] == {"action": "UP", "probability": 1.0}
    assert (found["model"], found["settings"][0]["estimate"]) == ("", None)  # no published model is of Freeway alone
    scores = [setting["scores"]["freeway"] for setting in found["settings"]]
    best, worst = max(scores), min(scores)
    assert best > worst
    assert [setting["mean"] for setting in found["settings"]] == pytest.approx(
        [(score - worst) / (best - worst) for score in scores]
    )
    assert all(setting["low"] is None for setting in found["settings"])
    assert found["sensitivity"] is None  # of one game


def test_the_best_is_told_as_it_is_to_be_written(invoke):
    shown = invoke("tune", "const", "--grid", "action=DOWN,UP", "--games", "freeway,pong", *SHORT, code=0)
    assert "Best: --set action=UP" in shown.out
    assert "On Pong all settings score the same" in shown.out
    assert "play more" in shown.out
    assert "warning: pong is for testing" in shown.err
    again = invoke("tune", "const", "--grid", "action=DOWN,UP", "--games", "freeway,pong", *SHORT)
    assert "complete already" in again.err
    assert again.out == shown.out


@pytest.mark.slow
def test_sensitivity_is_that_of_the_scores(invoke):
    arguments = ("--grid", "action=UP,DOWN", "--grid", "probability=1.0,0.5", "--games", "freeway,asterix", *SHORT[:-1])
    found = invoke("tune", "perturb", *arguments, 2, "--format=json").json
    told = found["sensitivity"]
    scores = np.array([[setting["scores"][game] for game in found["games"]] for setting in found["settings"]])
    low, high = np.percentile(scores, [5, 95], axis=0)
    placed = (scores - low) / (high - low)
    assert told["value"] == pytest.approx(placed.max(axis=0).mean() - placed.mean(axis=1).max())
    assert told["fixed"] == found["settings"][int(placed.mean(axis=1).argmax())]["values"]
    assert (told["unit"], told["parts"], len(told["by_count"])) == ("episode", 2, 3)
    assert told["by_count"][told["dimensionality"]]["share"] >= 0.95
    assert told["held_out"] == pytest.approx(told["by_count"][-1]["held_out"] - told["by_count"][0]["held_out"])
    seeds = invoke("tune", "perturb", *arguments, 1, "--seeds", 2, "--out", "runs/seeds", "--format=json").json
    assert seeds["sensitivity"]["unit"] == "episode"  # as perturb learns nothing
    alone = invoke("tune", "perturb", *arguments, 1, "--out", "runs/alone", "--format=json").json["sensitivity"]
    assert (alone["unit"], alone["held_out"], alone["parts"]) == ("", None, 1)


def test_settings_that_all_score_the_same_have_no_best(invoke):
    shown = invoke("tune", "const", "--grid", "action=DOWN,NOOP", "--games", "freeway", *SHORT, code=0)
    assert "No setting is better than another" in shown.out
    assert "Best:" not in shown.out


def test_without_games_those_for_tuning_are_played_with_estimates(invoke):
    short = ("--override", "max_frames_per_episode=600", "--episodes", 1)
    asked = ("tune", "const", "--grid", "action=UPFIRE,RIGHTFIRE", *short)
    found = invoke(*asked, "--format=json").json
    validation = subset("atari-3-val")
    assert (tuple(found["games"]), found["model"]) == (validation.tasks, validation.name)
    for setting in found["settings"]:
        assert setting["estimate"] == predictors.atari().median(setting["scores"], LEVEL)[0].value
    assert "Estimated median: HNS of all 57 games, from those of atari-3-val." in invoke(*asked).words
    assert "warning" not in invoke(*asked).err
