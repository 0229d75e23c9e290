"""Learners on the command line: their budget is told, their progress shown, their curves written, games kept apart."""

import json
from pathlib import Path

import pytest

LEARNER = f"{Path(__file__).parents[1] / 'fakes' / 'learner.py'}:make_learner"
ALE = ("--protocol", "ale-2013", "--override", "max_frames_per_episode=600")


@pytest.mark.slow
def test_a_learner_is_trained_for_so_many_episodes_evaluated_and_shown(invoke):
    asked = (LEARNER, *ALE, "--games", "freeway", "--training-episodes", 3, "--episodes", 2, "--out", "run")
    played = invoke("run", *asked, "--seeds", 2, code=0)
    assert (
        "learner.py:make_learner trains for 3 episodes, then 2 episodes, 2 trials per game; ale-2013: 5,000 episodes, "
        "500 episodes and 30 trials\n"
    ) in played.err
    words = played.words
    assert "was trained for 3 episodes; ale-2013 gives 5,000 episodes." in words
    assert "2 trials per game; ale-2013 averages 30." in invoke("report", "run", "--all").words
    assert "Training game episodes frames first last" in words
    assert "complete already" in invoke("run", *asked).err
    longer = tuple(4 if part == 3 else part for part in asked)
    assert "training episodes (they cannot be changed): 3 there, 4 now" in invoke("run", *longer).err
    for name, start in (("c.png", b"\x89PNG"), ("deep/c.pdf", b"%PDF"), ("c.csv", b"algorithm,game,seed")):
        shown = invoke("report", "run", "-q", "--figure", "learning", "--save", name)
        assert f"{name.rpartition('.')[2]}: {name}" in shown.out
        assert Path(name).read_bytes().startswith(start)
    assert len(Path("c.csv").read_text().splitlines()) == 1 + 2 * 3
    document = invoke("report", "run", "--format=json").json
    assert document["algorithms"][0]["training_episodes"] == 3
    assert [seed["episodes"] for seed in document["learning"][0]["seeds"]] == [3, 3]


@pytest.mark.slow
def test_tune_ranks_learners_on_training_games(invoke):
    short = (*ALE, "--games", "freeway", "--training-episodes", 2, "--episodes", 2)
    asked = ("tune", LEARNER, "--grid", "learning_rate=0.1,0.5", "--grid", "discount=0.9,0.99", *short)
    shown = invoke(*asked, code=0)
    assert "trains for 2 episodes, then 2 episodes, 1 trial per game" in shown.err
    assert "warning" not in shown.err
    assert "4 settings under ale-2013" in shown.out
    manifest = json.loads(Path("runs/tune-learner-make_learner-ale-2013/manifest.json").read_text())
    assert manifest["training_episodes"] == 2
    assert invoke(*asked, "--format=json").json["learnt_once"] is True
    assert invoke(*asked, "--seeds", "2", "--format=json").json["learnt_once"] is False
    assert "No test game was evaluated." in invoke("runs", "ledger").out


@pytest.mark.parametrize(("games", "told"), [("qbert", "(qbert for Atari-5's evaluation)"), ("pong", "atari-3-val")])
def test_tune_warns_of_test_games_in_one_line(invoke, games, told):
    outcome = invoke(
        "tune",
        "perturb",
        "--set",
        "action=UP",
        "--grid",
        "probability=0.5,1.0",
        *ALE,
        "--games",
        games,
        "--episodes",
        1,
    )
    (line,) = [line for line in outcome.err.splitlines() if line.startswith("warning: ")]
    assert line.startswith(f"warning: {games} is for testing")
    assert told in line


@pytest.mark.slow
def test_a_test_game_is_for_one_setting_only(invoke):
    short = ("--override", "max_frames_per_episode=60", "--episodes", 1, "--set", "horizon_frames=20")

    def play(simulations, games, out):
        return invoke("run", "uct", "--set", f"simulations={simulations}", "--games", games, *short, "--out", out)

    assert "warning:" not in play(2, "breakout,freeway", "runs/two").err
    assert invoke("runs", "ledger").code == 0
    assert "warning:" not in play(3, "freeway", "runs/trying").err
    assert "warning:" not in play(2, "breakout", "runs/again").err
    again = play(3, "breakout", "runs/three")
    (line,) = [line for line in again.err.splitlines() if line.startswith("warning: ")]
    assert line.startswith("warning: with this run, uct was evaluated on Breakout in 3 runs (runs/again, runs/two and")
    assert again.code == 0
    shown = invoke("runs", "ledger", "runs", "--all", code=1)
    assert "with 2 different settings" in shown.words
    assert "--out runs/three" in shown.words
    document = invoke("runs", "ledger", "runs/two", "runs/three", "--format=json").json
    assert document["accounts"][0]["repeated"][0]["settings"] == 2
    assert invoke("runs", "ledger", "runs", "--apart", "simulations").code == 0
    assert "no such directory" in invoke("runs", "ledger", "elsewhere").err


@pytest.mark.slow
def test_the_settings_of_another_algorithm_are_not_this_runs_matter(invoke):
    short = (
        *("--training-episodes", 1, "--episodes", 1, "--protocol", "ale-2013"),
        *("--override", "max_frames_per_episode=60"),
    )

    def play(features, alpha, out):
        chosen = ("--set", f"features={features}", "--set", f"alpha={alpha}", "--games", "pong", *short, "--out", out)
        return invoke("run", "sarsa", *chosen).err

    first = play("ram-bits", 0.1, "runs/first")
    assert "warning: with" not in first
    assert "note: lambda 0.5 of ram-bits is ours, tuned on" in first
    notices = invoke("report", "runs/first", "--format=json").json["notices"]
    assert ["lambda 0.5 of ram-bits is ours" in one["text"] for one in notices if one["kind"] == "parameters"] == [True]
    assert "warning: with this run, sarsa(features=ram-bits)" in play("ram-bits", 0.2, "runs/second")
    assert "warning: with" not in play("ram", 0.2, "runs/other")


UCT = ("run", "uct", "--games", "seaquest", "--protocol", "ale-2013", "--set", "simulations=8")
SHORT = ("--set", "horizon_frames=50", "--override", "max_frames_per_episode=60", "--episodes", "1")


def test_a_planner_is_played_verified_and_watched(invoke):
    played = invoke(*UCT, *SHORT, code=0)
    assert "1 episode, 12 decisions, 60 frames played and " in played.err
    words = played.words
    assert "Planning on the emulator" in words
    assert "ale-2013 counts those of the episodes played: 60." in words
    assert "UCT" in Path("runs/uct-ale-2013/manifest.json").read_text().upper()
    document = invoke("report", "runs/uct-ale-2013", "--format=json").json
    (score,) = document["algorithms"][0]["scores"]
    assert score["played"]["planning"]["decisions"] == 12
    assert score["played"]["planning"]["simulated_frames"] == document["runs"][0]["simulated_frames"] > 12 * 5
    assert f"{score['played']['planning']['simulated_frames']:,} simulated" in played.err
    assert invoke("verify", "runs/uct-ale-2013").code == 0
    assert invoke("watch", "runs/uct-ale-2013", "--out", "uct.gif").code == 0
    assert "complete already" in invoke(*UCT, *SHORT).err
    other = invoke(*UCT[:3], "tic_tac_toe_3d", *UCT[4:], "--engine", "emulator=ale", "--out", "other")
    assert "planners cannot play it" in other.err
