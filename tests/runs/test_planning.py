"""Episodes of planners: what is counted, and that they go on exactly where they were kept."""

import dataclasses
import os
import signal
from pathlib import Path

import pytest

from arcademark.agents.loading import agent_specs
from arcademark.classic.planning.breadth_first import BreadthFirst
from arcademark.classic.planning.tree import TreePlanner
from arcademark.classic.planning.uct import UCT
from arcademark.errors import ArcadeMarkError
from arcademark.operations.planned import estimate
from arcademark.records.model import EpisodeResult, Unfinished, decode_actions
from arcademark.records.reading import read_run
from arcademark.runs.execution import execute
from arcademark.runs.plan import make_plan
from arcademark.runs.playing import planning
from arcademark.runs.playing.events import Begun, OfTrial, PlayedFrames, Progress
from arcademark.runs.playing.trial import TrialPlayer
from arcademark.runs.replay.verify import verify
from arcademark.runs.replay.watch import watch
from arcademark.runs.scheduling import speed
from arcademark.suite.protocols import protocol, step_protocol
from arcademark.suite.task_suites import load_suite

PLANNERS = Path(__file__).with_name("planners.py")
STICKY = {"repeat_action_probability": 0.25, "frame_skip": 1}
SHORT = STICKY | {"max_frames_per_episode": 30}
"""Too short to lose all lives of the toy game: 30 decisions."""


@pytest.fixture
def planner_plan(toy_plan):
    """Plan the toy game for a planner of planners.py."""

    def plan(name="Remembering", settings=None, **others):
        override = others.pop("override", STICKY)
        base = toy_plan(override=override, **others)
        specs = agent_specs(f"{PLANNERS}:{name}", settings or {})
        return make_plan(specs, ["toy"], base.protocol, base.seeds, episodes=base.episodes)

    return plan


@pytest.fixture
def every_time(monkeypatch):
    """Keep episodes wherever it can be done, however long that takes."""
    monkeypatch.setattr(planning, "MAX_TIME_SHARE", float("inf"))


@pytest.fixture
def stop_after():
    """Give a listener that interrupts once, when planners have decided so often."""

    def listener(decisions):
        sent = []

        def listen(event):
            if isinstance(event, Progress) and event.planning and event.planning.decisions >= decisions and not sent:
                sent.append(event)
                os.kill(os.getpid(), signal.SIGINT)

        return listen

    return listener


def told(trial, episodes, unfinished=()):
    return [untimed(item) for item in TrialPlayer(trial).play(episodes, unfinished=unfinished)]


def untimed(item):
    """Drop the wall time, which differs."""
    if isinstance(item, EpisodeResult):
        return EpisodeResult(dataclasses.replace(item.record, wall_seconds=0.0), item.actions)
    return dataclasses.replace(item, wall_seconds=0.0) if isinstance(item, Unfinished) else item


def of(kind, items):
    return [item for item in items if isinstance(item, kind)]


def test_every_simulated_frame_is_counted(planner_plan):
    (trial,) = planner_plan("Forgetful", override=SHORT | {"frame_skip": 3}).trials  # 10 decisions of 2 steps
    items = told(trial, [0, 1])
    records = [item.record for item in of(EpisodeResult, items)]
    assert [(record.frames, record.steps, record.simulated_frames) for record in records] == [(30, 10, 60)] * 2
    total = sum(of(PlayedFrames, items), PlayedFrames(0))
    assert total == PlayedFrames(60, simulated_frames=120, decisions=20)
    assert of(Begun, items) == [Begun("evaluation", 0), Begun("evaluation", 1)]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["Remembering", "Forgetful"])
def test_an_episode_goes_on_from_everywhere_it_is_kept(planner_plan, name, every_time):
    settings = {"checkpoint_seconds": "1e-9"} if name == "Remembering" else {}
    (trial,) = planner_plan(name, settings, override=STICKY | {"max_frames_per_episode": 14}).trials
    items = [item for item in told(trial, [3, 1]) if not isinstance(item, PlayedFrames)]
    kept = of(Unfinished, items)
    third, first = of(EpisodeResult, items)
    per_decision = 2 if name == "Remembering" else 1
    assert len(kept) == sum(per_decision * result.record.steps for result in (third, first)) - 2
    for place in kept:
        mine = third if place.episode == 3 else first
        again = [item for item in told(trial, [place.episode], [place]) if not isinstance(item, PlayedFrames)]
        assert again[-1] == mine
        assert again[0] == Begun("evaluation", place.episode)
        following = [item for item in kept if item.episode == place.episode]
        rest = following[following.index(place) + 1 :]
        # where it goes on within a decision it may be kept there again before it has done anything
        assert of(Unfinished, again) in (rest, [place, *rest])


RAM = {"observation": "ram", "screen_size": "none", "max_pool": "false", "frame_stack": "1"}
EMULATED = protocol("machado-2018").override({"max_frames_per_episode": 160, **RAM})
LAKE = step_protocol(load_suite("gymnasium:FrozenLake-v1")).override({"max_steps_per_episode": 12})
"""A lake that slips."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("agent", "settings", "games", "rules"),
    [
        (f"{PLANNERS}:Remembering", {}, ["qbert"], EMULATED),
        (f"{PLANNERS}:Remembering", {}, ["yars_revenge"], EMULATED),
        ("uct", {"simulations": 8, "horizon_frames": 6}, "all", LAKE),  # draws from the episode's generator
        ("breadth-first", {"frames_per_decision": 20}, "all", LAKE),  # from its models alone
    ],
)
def test_an_episode_of_the_emulator_or_another_task_goes_on(agent, settings, games, rules, every_time, monkeypatch):
    for kind in (TreePlanner, BreadthFirst, UCT):
        monkeypatch.setattr(kind, "checkpoint_seconds", 1e-9, raising=False)
    settings = settings or {"checkpoint_seconds": "1e-9"}
    (trial,) = make_plan(agent_specs(agent, settings), games, rules, episodes=3).trials
    items = told(trial, [0, 1, 2])
    expected = {result.record.episode: result for result in of(EpisodeResult, items)}
    assert of(EpisodeResult, told(trial, [2])) == [expected[2]]
    kept = of(Unfinished, items)
    assert len(kept) >= sum(result.record.steps - 1 for result in expected.values()) > 6
    for place in kept[:: len(kept) // 6]:
        assert of(EpisodeResult, told(trial, [place.episode], [place])) == [expected[place.episode]]


def test_what_was_kept_otherwise_is_refused(planner_plan, every_time):
    (trial,) = planner_plan("Forgetful").trials
    place = of(Unfinished, told(trial, [0]))[7]
    with pytest.raises(ArcadeMarkError, match="unfinished episode 0 does not replay as recorded"):
        told(trial, [0], [dataclasses.replace(place, frames=place.frames + 4)])


# Whole runs


@pytest.mark.slow
def test_the_same_rows_with_any_number_of_workers(tmp_path, planner_plan, rows):
    plan = planner_plan(seeds=(0, 1), episodes=3)
    for workers in (1, 2):
        assert execute(plan, tmp_path / str(workers), workers=workers).complete
    assert rows(tmp_path / "1") == rows(tmp_path / "2")
    run = read_run(tmp_path / "1")
    assert rows(tmp_path / "1")["unfinished"] == []
    assert [(trial.plans, trial.learns) for trial in run.trials] == [(True, False)] * 2
    assert all(episode.simulated_frames > episode.frames for episode in run.episodes)
    assert run.manifest["agents"][0]["plans"] is True


def test_verify_and_watch_need_no_planning(tmp_path, planner_plan, monkeypatch):
    plan = planner_plan(episodes=2)
    execute(plan, tmp_path / "run", workers=1)
    monkeypatch.setattr("arcademark.environments.registry.open_model", lambda *_, **__: pytest.fail("no model"))
    monkeypatch.setattr("arcademark.agents.loading.make_agent", lambda *_: pytest.fail("no agent"))
    assert verify(tmp_path / "run", workers=1).confirmed == 2
    assert watch(tmp_path / "run", out=tmp_path / "one.gif").stat().st_size > 0


@pytest.mark.slow
def test_a_run_that_is_stopped_goes_on_within_its_episodes(tmp_path, planner_plan, rows, monkeypatch, stop_after):
    monkeypatch.setenv("PACE", "0.01")
    plan = planner_plan(episodes=2)

    stopped = execute(plan, tmp_path / "run", workers=2, on_event=stop_after(20))
    assert stopped.interrupted
    assert (stopped.done, stopped.episodes) == (0, 0)
    kept = rows(tmp_path / "run")["unfinished"]
    assert kept
    assert read_run(tmp_path / "run").trials[0].status == "running"
    monkeypatch.setenv("PACE", "0")
    events = []
    summary = execute(plan, tmp_path / "run", workers=2, on_event=events.append)
    assert summary.complete
    assert execute(plan, tmp_path / "undisturbed", workers=1).complete
    assert rows(tmp_path / "run") == rows(tmp_path / "undisturbed")
    assert events[0].episodes_begun == len(kept)
    begun_before = sum(len(decode_actions(row[6])) for row in kept)
    all_decisions = sum(episode.steps for episode in read_run(tmp_path / "run").episodes)
    assert summary.decisions == all_decisions - begun_before < all_decisions


@pytest.mark.slow
def test_a_planner_that_dies_once_goes_on(tmp_path, planner_plan, rows):
    settings = {"at": "20", "once": str(tmp_path / "died")}
    plan = planner_plan("Dying", settings, episodes=1)
    events = []
    assert execute(plan, tmp_path / "run", workers=1, on_event=events.append).complete
    assert of(OfTrial, events)
    assert execute(plan, tmp_path / "undisturbed", workers=1).complete
    assert rows(tmp_path / "run") == rows(tmp_path / "undisturbed")


@pytest.mark.slow
def test_a_planner_that_always_dies_is_given_up(tmp_path, planner_plan, rows):
    events = []
    summary = execute(
        planner_plan("Dying", {"at": "5"}, episodes=1), tmp_path / "run", workers=1, on_event=events.append
    )
    (failed,) = summary.failed
    assert "died 3 times in a row (SIGKILL)" in failed.error
    assert len(of(OfTrial, events)) >= 3  # deaths count from where the episode last got further
    assert all(len(decode_actions(row[6])) <= 5 for row in rows(tmp_path / "run")["unfinished"])


# How fast planners are is measured by whole decisions, everywhere in an episode, of each game


SKIP = 4
"""Frames of a step."""


def sampled(toy_plan, most_seconds, **parameters):
    (spec,) = agent_specs(f"{PLANNERS}:Waking", {name: str(value) for name, value in parameters.items()})
    return speed.sample(TrialPlayer(make_plan(spec, ["toy"], toy_plan().protocol).trials[0]), most_seconds)


def test_decisions_are_sampled_apart_from_the_first_of_an_episode(toy_plan):
    found = sampled(toy_plan, 60)
    assert found.decisions > len(speed.EIGHTHS)
    assert found.first_simulated_frames == pytest.approx(110 * SKIP, rel=0.2)  # short at its end
    assert found.first_frames == pytest.approx(SKIP, rel=0.2)

    def simulated(pace):
        return pace.simulated_frames_per_second / pace.frames_per_second

    assert simulated(found) == pytest.approx(10, rel=0.2)
    assert 2 < simulated(sampled(toy_plan, 60, wakes=20)) < 9  # does more from there on


def test_a_few_decisions_do_where_they_take_long(toy_plan):
    found = sampled(toy_plan, 0, seconds=0.05)
    assert found.decisions == 2
    assert 0.05 <= SKIP / found.frames_per_second < 5


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
    with pytest.raises(ArcadeMarkError, match="played too little in 0 s to measure its speed; give --assume rate=N"):
        speed.measure([(toy_plan().trials[0], "ale")])
