"""``arcademark run --until-error``: which games are played, when it stops, and what is never played again."""

from pathlib import Path

import numpy as np
import pytest

from arcademark.analysis.subsets import predictors
from arcademark.records.reading import read_run
from arcademark.runs import request
from arcademark.runs.playing.events import RunSummary

SOME = """
GAMES = {games!r}


def make(env):
    return lambda observation: 0


make.supports = lambda env: None if env.game in GAMES else "too hard for it"
"""
SHORT = ("--override", "max_frames_per_episode=200")


def agent(*games):
    """Write an agent that plays these games only."""
    Path("some.py").write_text(SOME.format(games=set(games)), encoding="utf-8")
    return "some.py:make"


def frames_of_all(directory):
    record = read_run(directory)
    games = {trial.id: trial.game for trial in record.trials}
    return {(games[row.trial_id], row.episode): row.frames for row in record.episodes}


@pytest.mark.slow
def test_a_narrow_enough_interval_ends_it_after_the_games_asked_for(invoke):
    command = ("run", "random", "--until-error", "10000%", "--games", "qbert", "--episodes", 1, *SHORT, "--out", "run")
    answer = invoke(*command, "--format=json", code=0)
    document = answer.json
    assert (document["schema"], document["reached"], document["level"]) == ("arcademark.run-until/1", True, 0.9)
    (step,) = document["steps"]
    assert (step["games"], step["known"]) == (["qbert"], 1)
    median = document["prediction"]["predictions"][0]["forecast"]["summaries"]["median"]
    assert median == step["median"]
    assert (median["value"], median["low"], median["high"]) == (None, 0, pytest.approx(document["error"]))
    assert document["report"]["schema"] == "arcademark.report/6"
    assert "within ±10,000" in answer.err
    before = frames_of_all("run")
    again = invoke(*command, code=0)
    assert frames_of_all("run") == before
    assert "over all games" in again.out
    for form, sign in (("--format=markdown", "## "), ("--format=latex", r"\begin{tabular}")):
        other = invoke(*command, form, "--save", "page.html").out
        assert sign in other
        assert "over all games" in other
        assert "over all games" in Path("page.html").read_text(encoding="utf-8")
    assert "Q*bert" in again.out


@pytest.mark.slow
def test_games_that_were_begun_come_first_and_the_most_telling_next_until_none_is_left(invoke):
    name = agent("pong", "qbert", "zaxxon")
    assert invoke("run", name, "--games", "qbert", "--episodes", 1, *SHORT, "--out", "run").code == 0
    command = ("run", name, "--until-error", "40%", "--episodes", 2, *SHORT, "--out", "run", "--format=json")
    answer = invoke(*command, code=1)
    assert "not reached: some.py:make has no game left to play" in answer.err
    document = answer.json
    assert document["reached"] is False
    first, second, third = document["steps"]
    assert first["games"] == ["qbert"]
    told = predictors.atari().predict({"qbert": _score("run", "qbert")}, level=0.9)
    order = [play.task for play in told.plays if play.task in ("pong", "zaxxon")]
    assert (second["games"], third["games"]) == (order[:1], order[1:])
    assert [step["known"] for step in document["steps"]] == [1, 2, 3]
    episodes = frames_of_all("run")
    assert sorted(episodes) == [(game, number) for game in ("pong", "qbert", "zaxxon") for number in (0, 1)]
    again = invoke(*command).json
    assert frames_of_all("run") == episodes
    assert [(step["games"], step["frames"], step["known"]) for step in again["steps"]] == [([], 0, 3)]


def _score(directory, game):
    record = read_run(directory)
    trials = {trial.id for trial in record.trials if trial.game == game}
    return float(np.mean([row.score for row in record.episodes if row.trial_id in trials]))


FAILING = """
def make(env):
    if env.game in {failing!r}:
        raise RuntimeError("no idea")
    return lambda observation: 0


make.supports = lambda env: None if env.game in {games!r} else "too hard for it"
"""


@pytest.mark.slow
@pytest.mark.parametrize("failing", [{"zaxxon"}, {"zaxxon", "pong", "qbert", "alien"}])
def test_a_game_that_fails_is_left_and_an_agent_that_always_fails_not_tried_on_every_game(invoke, failing):
    Path("some.py").write_text(FAILING.format(failing=failing, games=failing | {"pong"}), encoding="utf-8")
    command = ("run", "some.py:make", "--until-error", "100%", "--episodes", 1, *SHORT, "--out", "run")
    answer = invoke(*command, *(("--games", "pong,zaxxon") if "pong" not in failing else ()))
    assert answer.code == 1
    assert answer.err.count("no idea") == 1
    if "pong" not in failing:
        assert "from 1 game" in answer.out
        return
    assert "every game so far failed; correct the agent" in answer.err
    document = invoke(*command, "--format=json").json
    assert (document["reached"], document["error"], document["prediction"]) == (False, None, None)


def test_a_stop_is_a_stop(invoke, monkeypatch):
    monkeypatch.setattr(request, "execute", lambda plan, *_, **__: _stopped(plan))
    answer = invoke("run", "random", "--until-error", "15%", "--games", "pong", "--out", "run")
    assert (answer.code, answer.out) == (130, "")
    assert "the same command continues" in answer.err


def _stopped(plan):
    return RunSummary(Path("run"), len(plan.trials), 0, (), 0, 0, 1.0, True, ())
