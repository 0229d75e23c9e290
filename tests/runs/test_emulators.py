"""What plays a run's games: the same rows on either emulator, what the manifest says, and going on with the other."""

import dataclasses
import json

import pytest
from unfinished import keep

from arcademark.agents.loading import agent_specs
from arcademark.emulator import build
from arcademark.environments import registry
from arcademark.environments.registry import choose_emulator
from arcademark.errors import ArcadeMarkError
from arcademark.runs.execution import execute
from arcademark.runs.plan import make_plan
from arcademark.runs.playing import emulators, planning
from arcademark.runs.playing.events import Note, RunBegun
from arcademark.runs.replay.verify import verify
from arcademark.suite.protocols import protocol

ALE = emulators.named("pong", "ale")
CONSOLE = emulators.named("pong", "console")


@pytest.fixture
def console():
    """Skip where there is none."""
    if choose_emulator("pong") == "ale":
        pytest.skip("the console cannot be had here")


def planned(*agents, games="freeway,seaquest", emulator=None, episodes=2, **others):
    specs = [spec for name, settings in agents or (("random", {}),) for spec in agent_specs(name, settings)]
    rules = protocol("ale-2013").override({"max_frames_per_episode": 240})
    return make_plan(specs, games, rules, episodes=episodes, emulator=emulator, **others)


def played_on(directory):
    return json.loads((directory / "manifest.json").read_text())["emulators"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("agent", "others"),
    [
        (("random", {}), {}),
        (("sarsa", {"features": "basic", "background": "false"}), {"training_episodes": 2}),
        (("uct", {"simulations": "6", "horizon_frames": "60"}), {"games": "qbert,seaquest", "episodes": 1}),
    ],
)
def test_the_same_rows_on_either(console, tmp_path, rows, agent, others):
    for emulator in ("ale", "console"):
        plan = planned(agent, emulator=emulator, **others)
        assert execute(plan, tmp_path / emulator, workers=1).complete
    assert rows(tmp_path / "ale") == rows(tmp_path / "console")
    assert played_on(tmp_path / "ale") == {game: [ALE] for game in plan.games}
    assert played_on(tmp_path / "console") == {game: [CONSOLE] for game in plan.games}


@pytest.mark.slow
def test_the_referee_confirms_what_the_console_played(console, tmp_path, monkeypatch):
    execute(planned(emulator="console"), tmp_path / "run", workers=1)
    monkeypatch.setattr("arcademark.environments.native.NativeEmulator", None)  # whoever asks it for a score fails
    assert verify(tmp_path / "run", workers=1).confirmed == 4


def test_without_a_console_ale_py_plays(tmp_path, monkeypatch):
    monkeypatch.setenv("ARCADEMARK_CONSOLE", "off")
    events = []
    assert execute(planned(), tmp_path / "run", workers=1, on_event=events.append).complete
    assert isinstance(events[0], RunBegun)
    assert played_on(tmp_path / "run") == {"freeway": [ALE], "seaquest": [ALE]}
    monkeypatch.delenv("ARCADEMARK_CONSOLE")
    monkeypatch.setenv("ARCADEMARK_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(build, "compiler", lambda: None)
    for cached in (build.core, registry.core_missing):
        cached.cache_clear()
    chosen = emulators.choose(planned(), events.append)
    for cached in (build.core, registry.core_missing):
        cached.cache_clear()
    assert set(chosen.values()) == {"ale"}
    assert events[-1] == Note(f"ale-py plays, more slowly, because our emulator is not available: {build.NO_COMPILER}")
    monkeypatch.setenv("ARCADEMARK_CONSOLE", "off")
    with pytest.raises(ArcadeMarkError, match=r"'freeway'.* switched off by ARCADEMARK_CONSOLE; .*emulator=ale"):
        execute(planned(emulator="console"), tmp_path / "other")
    assert not (tmp_path / "other").exists()


def test_a_game_that_is_not_proven_is_ale_pys(console, tmp_path, monkeypatch):
    proven = {"seaquest": {"cut": "0"}}
    monkeypatch.setattr("arcademark.emulator.prove.proven", lambda: proven)
    assert emulators.choose(planned()) == {"freeway": "ale", "seaquest": "console"}
    with pytest.raises(ArcadeMarkError, match="'freeway': our emulator is not proven for it"):
        emulators.choose(planned(games="seaquest,freeway", emulator="console"))


def test_what_can_be_planned_in_depends_on_what_plays(console):
    uct = ("uct", {"simulations": "2"})
    for emulator, count in (("ale", 0), ("console", 1), (None, 1)):
        plan = planned(uct, ("random", {}), games="tic_tac_toe_3d", emulator=emulator)
        assert len(plan.trials) == 1 + count
        assert all("do not replay exactly" in left.reason for left in plan.left_out)


@pytest.mark.slow
@pytest.mark.parametrize("emulators_in_turn", [("ale", "console"), ("console", "ale"), ("console", "console")])
def test_an_unfinished_episode_goes_on_or_is_begun_again(console, tmp_path, rows, monkeypatch, emulators_in_turn):
    monkeypatch.setattr(planning, "MAX_TIME_SHARE", float("inf"))
    first, second = emulators_in_turn
    plan = planned(("best-path", {"frames_per_decision": "40"}), games="seaquest", emulator=first)
    assert execute(plan, tmp_path / "run", workers=1).complete
    keep(plan, tmp_path / "run", 1, 60, first, {"seaquest": emulators.named("seaquest", first)})
    events = []
    other = dataclasses.replace(plan, emulator=second)
    assert execute(other, tmp_path / "run", workers=1, on_event=events.append).complete
    begun = next(event for event in events if isinstance(event, RunBegun))
    assert begun.episodes_begun == (first == second)
    assert execute(other, tmp_path / "undisturbed", workers=1).complete
    assert rows(tmp_path / "run") == rows(tmp_path / "undisturbed")
    names = {"ale": ALE, "console": CONSOLE}
    assert played_on(tmp_path / "run")["seaquest"] == [names[emulator] for emulator in dict.fromkeys(emulators_in_turn)]


@pytest.mark.slow
def test_training_on_lives_is_the_same_on_either(console, tmp_path, rows, fake):
    """Whole games of a trainer that sees lives for episodes, and games that it left to be played out."""
    rules = protocol("dqn-2015").override({"max_frames_per_episode": 1000})
    trainer = agent_specs(fake("trainer").replace("make_agent", "CountingTrainer"))
    for emulator in ("ale", "console"):
        plan = make_plan(trainer, ["breakout"], rules, episodes=1, frames=4000, emulator=emulator)
        assert execute(plan, tmp_path / emulator, workers=1).complete
    there, here = (rows(tmp_path / emulator) for emulator in ("ale", "console"))
    assert there["episode"] == here["episode"]
    assert verify(tmp_path / "console", workers=1).ok
    assert sum(row[1] == "training" for row in there["episode"]) > 4
