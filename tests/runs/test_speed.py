"""How fast planners are is told by whole decisions, everywhere in an episode, of each game."""

import math
from collections.abc import Callable
from pathlib import Path

import pytest

from arcademark.agents.loading import agent_specs
from arcademark.errors import ArcadeMarkError
from arcademark.reports.runs.planned import planned
from arcademark.runs.engines.base import Opened
from arcademark.runs.plan import Plan, Trial, make_plan
from arcademark.runs.playing import speed
from arcademark.runs.playing.slot import Played
from arcademark.runs.playing.trial import Player
from arcademark.suite.protocols import protocol

PLANNERS = Path(__file__).with_name("planners.py")
SKIP = 4
"""Frames of a step."""


def waking(toy_plan: Callable[..., Plan], **parameters: object) -> Player:
    settings = {name: str(value) for name, value in parameters.items()}
    (spec,) = agent_specs(f"{PLANNERS}:Waking", settings)
    return Player(make_plan(spec, ["toy"], toy_plan().protocol).trials[0])


def test_decisions_are_sampled_apart_from_the_first_of_an_episode(toy_plan: Callable[..., Plan]) -> None:
    found = speed.sample(waking(toy_plan), 60)
    assert 1 < found.first.count <= len(speed.EIGHTHS)
    assert found.first.simulated_frames / found.first.count == pytest.approx(110 * SKIP, rel=0.2)  # short at its end
    assert len(found.later) == found.first.count
    later = sum(found.later, speed.Decisions())
    assert later.simulated_frames / later.count == pytest.approx(10 * SKIP, rel=0.2)
    assert later.frames / later.count == pytest.approx(SKIP, rel=0.2)


def test_all_parts_of_an_episode_are_sampled(toy_plan: Callable[..., Plan]) -> None:
    found = speed.sample(waking(toy_plan, wakes=20), 60)
    each = [some.simulated_frames / some.count for some in found.later]
    assert 2 * SKIP < sum(each) / len(each) < 9 * SKIP


def test_a_few_decisions_do_where_they_take_long(toy_plan: Callable[..., Plan]) -> None:
    found = speed.sample(waking(toy_plan, seconds=0.05), 0)
    assert [found.first.count, *(some.count for some in found.later)] == [1, 1]
    assert 0.05 <= found.later[0].seconds < 5


def test_an_episode_takes_its_first_decision_and_the_later_ones(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    rules = protocol("ale-2013").override({"max_frames_per_episode": 1000})
    plan = make_plan(agent_specs("uct"), ["pong", "freeway"], rules, (0, 1), 3, emulator="ale")
    seconds_and_frames = {"pong": (10.0, 1.0, 200), "freeway": (4.0, 2.0, 500)}  # seconds of the first, and of others

    def measure(asked: list[tuple[Trial, object]], *_: object) -> list[speed.Speed]:
        found = []
        for trial, _ in asked:
            first, later, simulated = seconds_and_frames[trial.game]
            low = speed.Decisions(40, 200, 0, 0.0)  # places count alike, however many decisions were taken there
            high = speed.Decisions(2, 10, 2 * 2 * simulated, 2 * 2 * later)
            sampled = speed.Sampled(speed.Decisions(2, 10, 2 * 999, 2 * first), (low, high))
            opened = Opened(None, learns=False, batch_size=1, plans=True)
            found.append(speed.Speed(opened, 0.5, 9.0, Played(220, 9, 44), sampled))
        return found

    monkeypatch.setattr(speed, "measure", measure)
    found = planned(plan, tmp_path / "run", [1])
    pong, freeway = found.by_game
    assert pong.core_hours == pytest.approx(6 * (10 + 199 * 1) / 3600)
    assert freeway.core_hours == pytest.approx(6 * (4 + 199 * 2) / 3600)
    assert pong.simulated_frames == pytest.approx(6 * (999 + 199 * 200))
    assert (pong.decisions, freeway.decisions) == (6 * 200, 6 * 200)
    assert found.core_hours == pytest.approx(pong.core_hours + freeway.core_hours)
    assert found.simulated_frames == pytest.approx(6 * (2 * 999 + 199 * 700))
    assert pong.core_hours_error == pytest.approx(pong.core_hours)  # standard error of 0 and 2 is 1, their mean
    assert found.core_hours_error == pytest.approx(math.hypot(pong.core_hours, freeway.core_hours))
    assert found.makespans[0].hours == pytest.approx(found.core_hours + 0.5 / 3600)
    assert (found.at_most, found.frames) == (True, 12_000)


def test_what_cannot_be_measured_is_told(toy_plan: Callable[..., Plan], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speed, "PATIENCE_SECONDS", 0.0)
    monkeypatch.setattr(speed, "PLANNER_PATIENCE_SECONDS", 0.0)
    with pytest.raises(ArcadeMarkError, match="too little is played in 0 s to tell how fast; give --assume rate=N"):
        speed.measure([(toy_plan().trials[0], "ale")])
