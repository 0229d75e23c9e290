"""``arcademark plan``."""

import re
from pathlib import Path

import pytest

from arcademark.runs.scheduling import speed
from arcademark.suite.tasks import games

RANDOM = {game: games()[game].random_frames for game in ("pong", "qbert")}
PLANNERS = Path(__file__).parents[1] / "runs" / "planners.py"
ASKED = ("--games", "pong,qbert", "--seeds", 2, "--episodes", 10)


def planned(invoke, *arguments):
    answer = invoke("plan", *arguments, "--format=json")
    assert (answer.code, re.sub(r"measuring games: \d of \d\n", "", answer.err)) == (0, "")
    return answer.json


def test_a_random_agents_run_is_known_in_advance(invoke):
    found = planned(invoke, "random", *ASKED, "--assume", "rate=1000")
    frames = 20 * sum(RANDOM.values())
    assert (found["trials"], found["episodes"], found["lengths"], found["at_most"]) == (4, 40, "random play", False)
    assert found["frames"] == pytest.approx(frames)
    assert found["core_hours"] == pytest.approx(frames / 1000 / 3600)
    one, eight, many = found["makespans"]
    assert (one["workers"], eight["workers"], many["workers"]) == (1, 8, 64)
    assert one["hours"] == pytest.approx(found["core_hours"], rel=0.2)  # as episodes are drawn
    assert one["efficiency"] == pytest.approx(1)
    assert many["hours"] <= eight["hours"] < one["hours"] / 5
    assert (found["peak_bytes"], found["slurm"]) == (None, "time=0:10:00")


@pytest.mark.slow
def test_an_unknown_agents_run_is_bounded_by_the_frame_cap(invoke, tmp_path):
    (tmp_path / "own.py").write_text("def make():\n    return lambda observation: 0\n")
    found = planned(invoke, "own.py:make", *ASKED, "--assume", "rate=1000", "--override", "max_frames_per_episode=5000")
    assert (found["lengths"], found["at_most"], found["frames"]) == ("frame cap", True, 40 * 5000)
    answer = invoke("plan", "own.py:make", *ASKED, "--assume", "rate=1000")
    assert "at most 4,320,000" in answer.out
    assert answer.out.count("at most") == 1  # the rest is estimated
    assert "The length of this agent's episodes is unknown" in answer.words
    given = planned(invoke, "own.py:make", *ASKED, "--assume", "rate=1000,episode_frames=700")
    assert (given["lengths"], given["frames"]) == ("given", 40 * 700)
    endless = invoke("plan", "own.py:make", "--assume", "rate=1", "--override", "max_frames_per_episode=none", code=2)
    assert "give --assume episode_frames=N" in endless.err


def test_a_learners_budget_counts(invoke):
    found = planned(invoke, "sarsa", "--games", "pong", "--frames", "1M", "--assume", "rate=100")
    assert (found["frames"], found["episodes"]) == (1_000_000, 0)  # training is scored
    assert [one["hours"] for one in found["makespans"]] == [pytest.approx(10_000 / 3600)] * 3


def test_what_is_played_is_not_counted_and_tells_how_long_episodes_are(invoke, played, short):
    asked = ("random", "--games", "pong,qbert", "--episodes", 3, *short, "--out", "run", "--assume", "rate=100")
    found = planned(invoke, *asked)
    assert (found["done"], found["episodes"], found["lengths"]) == (4, 2, "recorded")
    assert 10e6 < found["peak_bytes"] < 1e9
    memory = re.fullmatch(r"time=0:10:00,mem=(\d+)00M\*attempt", found["slurm"])
    assert found["peak_bytes"] * 1.25 < int(memory[1]) * 100 * 2**20
    assert f"For jobs of one worker: --slurm {found['slurm']}" in invoke("plan", *asked).words


def test_shards_are_even(invoke):
    found = planned(
        invoke, "random", "--games", "atari-57", "--seeds", 5, "--assume", "rate=1000", "--engine", "shard=3/20"
    )
    assert found["shards"]["count"] == 20
    assert 0.99 < found["shards"]["least"] <= 1 <= found["shards"]["most"] < 1.01
    assert 10 < found["trials"] < 20


@pytest.mark.slow
def test_speed_is_measured(invoke, short, tmp_path):
    found = planned(invoke, "random", "--games", "pong", *short, "--episodes", 300)
    (pace,) = found["paces"]
    assert pace["measured"] == [["random", "Pong"]]
    assert pace["frames_per_second"] > 100
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "own.py").write_text("def make():\n    raise ValueError('no')\n")
    assert "on pong cannot be measured" in invoke("plan", "own.py:make", "--games", "pong", code=2).err


@pytest.mark.slow
def test_planners_are_measured_by_their_decisions_in_each_game(invoke):
    asked = (f"{PLANNERS}:Waking", "--games", "pong,freeway", "--episodes", 2, "--engine", "emulator=ale")
    asked += ("--override", "max_frames_per_episode=200")
    found = planned(invoke, *asked)
    pong = found["by_game"][0]
    assert [pace["measured"][0][1] for pace in found["paces"]] == ["Pong", "Freeway"]
    assert all(pace["decisions"] > 10 for pace in found["paces"])
    later = [pace["simulated_frames_per_second"] / pace["frames_per_second"] for pace in found["paces"]]
    assert later == [pytest.approx(2, rel=0.1), pytest.approx(20, rel=0.1)]
    assert pong["simulated_frames"] / pong["decisions"] > 8
    assert (found["at_most"], pong["frames"]) == (True, 400)
    told = invoke("plan", *asked).out
    assert told.count("at most") == 1
    assert "at most 800" in told
    assert "measured here along an episode of random play of each game" in " ".join(told.split())


@pytest.mark.slow
def test_a_planner_may_take_seconds_before_it_decides(invoke, short, monkeypatch):
    """Longer than what else is played for; within ten seconds, rather than sixty, are some decisions."""
    assert speed.SECONDS < 2.5
    monkeypatch.setattr(speed, "MAX_SECONDS", 10.0)
    found = planned(invoke, f"{PLANNERS}:Waking", "--games", "pong", *short, "--set", "seconds=2.5")
    (pace,) = found["paces"]
    assert pace["decisions"] >= 2
    assert 2 / 2.5 < pace["frames_per_second"] <= 4 / 2.5  # at most as often as it sleeps
