"""Planners on the command line: played by their names, their decisions and simulated frames told."""

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from arcademark.cli.play import progress
from arcademark.cli.play.progress import Display
from arcademark.runs.playing.events import Planning, Progress, RunBegun, Summary

UCT = ("run", "uct", "--games", "seaquest", "--protocol", "ale-2013", "--set", "simulations=8")
SHORT = ("--set", "horizon_frames=50", "--override", "max_frames_per_episode=60", "--episodes", "1")


def test_a_planner_is_played_verified_and_watched(invoke):
    played = invoke(*UCT, *SHORT)
    assert played.code == 0, played.err
    assert "1 episode, 12 decisions, 60 frames played and " in played.err
    words = " ".join(played.out.split())
    assert "Planning on the emulator" in words
    assert "ale-2013 counts those of the episodes played: 60." in words
    assert "UCT" in Path("runs/uct-ale-2013/manifest.json").read_text().upper()
    document = json.loads(invoke("report", "runs/uct-ale-2013", "--to=json").out)
    (score,) = document["algorithms"][0]["scores"]
    assert score["played"]["planning"]["decisions"] == 12
    assert score["played"]["planning"]["simulated_frames"] == document["runs"][0]["simulated_frames"] > 12 * 5
    assert f"{score['played']['planning']['simulated_frames']:,} simulated" in played.err
    assert invoke("verify", "runs/uct-ale-2013").code == 0
    assert invoke("watch", "runs/uct-ale-2013", "--out", "uct.gif").code == 0
    again = invoke(*UCT, *SHORT)
    assert "complete already" in again.err
    other = invoke(*UCT[:3], "tic_tac_toe_3d", *UCT[4:], "--engine", "emulator=ale", "--out", "other")
    assert "nothing can be planned" in other.err


def told(*events, summary=None):
    """What a display that is no terminal prints."""
    console = Console(file=io.StringIO(), width=200)
    display = Display(console)
    with display:
        for event in events:
            display.hear(event)
    if summary:
        display.close(summary)
    return console.file.getvalue()


def test_progress_is_told_in_decisions_and_frames(monkeypatch):
    monkeypatch.setattr(progress, "LINE_SECONDS", 0.0)
    planning = Planning(132, 1_980_000, 61_234.5)
    event = Progress(0, 10, 0, 1, 660, 20.4, 0.01, 8000.0, at_most=True, planning=planning)
    assert told(event) == (
        "0/10 episodes · 0/1 trials · 132 decisions · 1,980,000 frames simulated, 61,234/s · at most 2 h 13 min left\n"
    )
    plain = Progress(3, 10, 0, 1, 660, 20.4, 0.5, 8.0)
    assert told(plain) == "3/10 episodes · 0/1 trials · 20 frames/s · 8 s left\n"


@pytest.mark.parametrize("columns", [45, 60, 80, 120, 160])
@pytest.mark.parametrize("planning", [None, Planning(132, 1_980_000, 61_234.5)])
def test_the_time_left_is_in_sight_on_any_terminal(columns, planning):
    console = Console(file=io.StringIO(), width=columns, force_terminal=True, color_system=None)
    display = Display(console)
    display.hear(Progress(10, 550, 5, 55, 99_660, 4020.4, 0.01, 8000.0, at_most=True, planning=planning))
    with console.capture() as shown:
        console.print(display._bar.get_renderable())
    (line,) = shown.get().splitlines()
    assert line.rstrip().endswith("at most 2 h 13 min left")
    assert "  1% " in line
    assert ("10/550 episodes · " in line) is (columns >= 60)
    assert ("5/55 trials · " in line) is (columns >= 120)


@pytest.mark.parametrize(
    ("done", "begun", "line"),
    [
        (3, 0, "continuing: 3 of 10 episodes were played before\n"),
        (3, 2, "continuing: 3 of 10 episodes were played before, 2 more in part\n"),
        (0, 1, "continuing: 0 of 10 episodes were played before, 1 more in part\n"),
        (0, 0, ""),
        (10, 0, ""),
    ],
)
def test_what_goes_on_is_told(done, begun, line):
    assert told(RunBegun(Progress(done, 10, 0, 1, 0, 0.0, None, None), (), begun)) == line


def test_training_that_goes_on_is_told():
    assert (
        told(RunBegun(Progress(0, 10, 0, 1, 0, 0.0, None, None), (), 0, 1700))
        == "training goes on after 1,700 episodes\n"
    )


def test_a_stopped_planner_is_said_to_go_on():
    stopped = Summary(Path("run"), 1, 0, (), 0, 500, 10.0, True, (), decisions=100, simulated_frames=50_000)
    assert "episodes that planners had begun go on where they were last kept" in told(summary=stopped)
    other = Summary(Path("run"), 1, 0, (), 0, 500, 10.0, True, ())
    assert "planners" not in told(summary=other)
