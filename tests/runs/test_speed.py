"""How fast planners are is measured by whole decisions, everywhere in an episode, of each game."""

from pathlib import Path

import pytest

from arcademark.agents.loading import agent_specs
from arcademark.errors import ArcadeMarkError
from arcademark.runs.plan import make_plan
from arcademark.runs.playing import speed
from arcademark.runs.playing.costs import estimate
from arcademark.runs.playing.trial import Player
from arcademark.suite.protocols import protocol

PLANNERS = Path(__file__).with_name("planners.py")
SKIP = 4
"""Frames of a step."""


def sampled(toy_plan, most_seconds, **parameters):
    (spec,) = agent_specs(f"{PLANNERS}:Waking", {name: str(value) for name, value in parameters.items()})
    return speed.sample(Player(make_plan(spec, ["toy"], toy_plan().protocol).trials[0]), most_seconds)


def test_decisions_are_sampled_apart_from_the_first_of_an_episode(toy_plan):
    found = sampled(toy_plan, 60)
    assert 1 < found.first.decisions <= len(speed.EIGHTHS)
    assert found.first.simulated_frames / found.first.decisions == pytest.approx(
        110 * SKIP, rel=0.2
    )  # short at its end
    assert found.later.simulated_frames / found.later.decisions == pytest.approx(10 * SKIP, rel=0.2)
    assert found.later.frames / found.later.decisions == pytest.approx(SKIP, rel=0.2)
    waking = sampled(toy_plan, 60, wakes=20).later  # which does more from there on
    assert 2 * SKIP < waking.simulated_frames / waking.decisions < 9 * SKIP


def test_a_few_decisions_do_where_they_take_long(toy_plan):
    found = sampled(toy_plan, 0, seconds=0.05)
    assert (found.first.decisions, found.later.decisions) == (1, 1)
    assert 0.05 <= found.later_seconds < 5


def test_an_episode_takes_its_first_decision_and_the_later_ones(monkeypatch, tmp_path):
    rules = protocol("ale-2013").override({"max_frames_per_episode": 1000})
    plan = make_plan(agent_specs("uct"), ["pong", "freeway"], rules, (0, 1), 3, emulator="ale")
    seconds_and_frames = {"pong": (10.0, 1.0, 200), "freeway": (4.0, 2.0, 500)}  # seconds of the first, and of others

    def measure(trials, *_):
        paces = []
        for trial, _ in trials:
            first, later, simulated = seconds_and_frames[trial.game]
            rates = 5 / later, simulated / later
            paces.append(speed.Pace("planner", (), *rates, 0.5, 1, 44, 5, 999, first))
        return paces

    monkeypatch.setattr(speed, "measure", measure)
    found = estimate(plan, tmp_path / "run", [1, 1000])
    pong, freeway = found.by_game
    assert pong.core_hours == pytest.approx(6 * (10 + 199 * 1) / 3600)
    assert freeway.core_hours == pytest.approx(6 * (4 + 199 * 2) / 3600)
    assert pong.simulated_frames == pytest.approx(6 * (999 + 199 * 200))
    assert (pong.decisions, freeway.decisions) == (6 * 200, 6 * 200)
    assert found.core_hours == pytest.approx(pong.core_hours + freeway.core_hours)
    assert found.simulated_frames == pytest.approx(6 * (2 * 999 + 199 * 700))
    one, many = (item.hours - 0.5 / 3600 for item in found.makespans)
    assert (one, many) == (pytest.approx(found.core_hours), pytest.approx((4 + 199 * 2) / 3600))  # an episode
    assert (found.at_most, found.frames) == (True, 12_000)


def test_what_cannot_be_measured_is_said(toy_plan, monkeypatch):
    monkeypatch.setattr(speed, "PATIENCE_SECONDS", 0.0)
    with pytest.raises(ArcadeMarkError, match="too little is played in 0 s to tell how fast; give --assume rate=N"):
        speed.measure([(toy_plan().trials[0], "ale")])
