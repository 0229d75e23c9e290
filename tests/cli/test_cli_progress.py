"""What is told of a run while it plays, and when it ends."""

import io
import time
from pathlib import Path

import pytest
from rich.console import Console

from arcademark.cli.counting import LINE_SECONDS, SHORT_SECONDS, counting
from arcademark.cli.play import progress
from arcademark.cli.play.progress import Display
from arcademark.records.model import TrialRecord
from arcademark.runs.playing.events import (
    LearnerBegun,
    Learning,
    Note,
    Planning,
    Progress,
    RunBegun,
    RunSummary,
    Stopping,
)
from arcademark.suite.protocols import protocol

ALE = protocol("ale-2013")
PLANNING = Planning(132, 1_980_000, 61_234.5)
ONE = Learning(episodes=12, frames=216_000, wanted_episodes=5_000, wanted_frames=None, recent=(("freeway", 12.34),))


def learning(what):
    return Progress(0, 500, 0, 30, 216_000, 3_100.0, 0.01, 3_600.0, learning=what)


def begun(done, *more):
    return RunBegun(Progress(done, 10, 0, 1, 0, 0.0, None, None), (), *more)


def ended(**how):
    usual = {"failed": (), "episodes": 1, "interrupted": False}
    known = {"directory": Path("run"), "trials": 2, "done": 2, "frames": 600, "wall_seconds": 1.0, "left_out": ()}
    return RunSummary(**known | usual | how)


def told(event, console=None):
    """What a display prints of an event, or of how a run ended."""
    console = console or Console(file=io.StringIO(), width=80, soft_wrap=True)
    display = Display(console)
    if isinstance(event, RunSummary):
        display.close(event)
    else:
        display.hear(event)
    return console.file.getvalue()


def learner(frames, episodes):
    return TrialRecord("id", "sarsa", "pong", 0, 500, frames, training_episodes=episodes)


LEARNS = "sarsa trains for {}, {} 500 episodes, 30 trials per game{}\n"
SCORES = " · 0/500 episodes · 3,100 frames/s · 0/30 trials\n"


@pytest.mark.parametrize(
    ("event", "line"),
    [
        (
            LearnerBegun(learner(None, 5000), ALE, 30),
            LEARNS.format("5,000 episodes", "then", ", as in ale-2013"),
        ),
        (
            LearnerBegun(learner(1000, None), protocol("world-records"), 30),
            LEARNS.format(
                "1,000 frames", "scored on its last", "; world-records: 200,000,000 frames, 100 episodes and 30 trials"
            ),
        ),
        (Note("ale-py plays"), "note: ale-py plays\n"),
        (Note("random does not learn", warning=True), "warning: random does not learn\n"),
        (begun(3), "continuing: 3 of 10 episodes were played before\n"),
        (begun(0, 1), "continuing: 0 of 10 episodes were played before, 1 more in part\n"),
        (begun(0, 0, 1700), "training continues after 1,700 episodes\n"),
        (Stopping(12), "Ctrl-C again stops at once and loses the last 12 training episodes\n"),
        (
            learning(ONE),
            f"1 h 00 min left · trained 12/5,000 episodes · recent score 12.3{SCORES}",
        ),
        (
            Progress(0, 10, 0, 1, 660, 20.4, 0.01, 8000.0, at_most=True, planning=PLANNING),
            "at most 2 h 13 min left · 0/10 episodes · 132 decisions · 0/1 trials · 1,980,000 frames simulated",
        ),
        (Progress(3, 10, 0, 1, 660, 20.4, 0.5, 8.0), "8 s left · 3/10 episodes · 20 frames/s · 0/1 trials\n"),
        (ended(), "1 episode, 600 frames"),
        (ended(failed=("a",)), "1 of 2 trials failed; the rest"),
        (ended(failed=("a", "b")), "nothing is left to score"),
        (ended(interrupted=True), "stopped  everything finished is kept; the"),
        (ended(interrupted=True, unkept=1), "is kept but the last 1 training episode; the"),
        (ended(interrupted=True, kept=(120_000, 1_000_000)), "120,000 of 1,000,000 frames of training are kept; the"),
        (ended(interrupted=True, decisions=100), "planners' unfinished episodes continue from their last checkpoints"),
    ],
)
def test_each_event_is_told_in_a_line(monkeypatch, event, line):
    monkeypatch.setattr(progress, "LINE_SECONDS", 0.0)
    assert line in told(event)


@pytest.mark.parametrize("columns", [45, 80, 160])
@pytest.mark.parametrize("planning", [None, PLANNING])
def test_the_time_left_is_in_sight_on_any_terminal(columns, planning):
    console = Console(file=io.StringIO(), width=columns, force_terminal=True, color_system=None)
    display = Display(console)
    display.hear(Progress(10, 550, 5, 55, 99_660, 4020.4, 0.01, 8000.0, at_most=True, planning=planning))
    with console.capture() as shown:
        console.print(display._bar.get_renderable())
    (line,) = shown.get().splitlines()
    assert "  1% at most 2 h 13 min left" in line


def test_messages_break_between_words_on_a_terminal_and_nowhere_else():
    error = "its factory raised: " + 12 * "long words "
    failed = TrialRecord("id", "mine.py:Learner(sizes=[1, 2])", "freeway", 0, 1, None, error=error)
    for terminal in (True, False):
        console = Console(file=io.StringIO(), width=40, force_terminal=terminal, color_system=None)
        console.soft_wrap = not terminal
        shown = told(failed, console)
        assert "mine.py:Learner(sizes=[1, 2]) on" in " ".join(shown.split())
        assert shown.count("\n") == (6 if terminal else 1)
        assert {word for word in shown.split() if word.startswith(("lo", "wo", "ng"))} == {"long", "words"}


def counted(console, *seconds):
    """What is printed of work of which a pair is done at each of these moments."""
    now = [0.0]
    with counting("comparing", "pairs", console, lambda: now[0]) as follow:
        for done, now[0] in enumerate(seconds, start=1):
            follow(done, 4000)
    return console.file.getvalue()


def test_long_work_has_a_line_now_and_then_or_a_bar_that_goes_and_short_work_none():
    at = (0.5, SHORT_SECONDS, SHORT_SECONDS + 1, SHORT_SECONDS + LINE_SECONDS)
    assert counted(Console(file=io.StringIO(), width=120), *at[:1]) == ""
    lines = counted(Console(file=io.StringIO(), width=120), *at)
    assert lines == "comparing pairs: 2 of 4,000\ncomparing pairs: 4 of 4,000\n"
    bar = counted(Console(file=io.StringIO(), force_terminal=True, width=120), *at)
    assert "4/4000" in bar
    assert bar.endswith("\x1b[2K")


def test_a_bar_appears_in_time_though_nothing_is_counted_yet(monkeypatch):
    monkeypatch.setattr("arcademark.cli.counting.SHORT_SECONDS", 0.01)
    file = io.StringIO()
    with counting("summing up", "algorithms", Console(file=file, force_terminal=True, width=120)):
        until = time.monotonic() + 20
        while "summing up algorithms" not in file.getvalue() and time.monotonic() < until:
            time.sleep(0.01)
    assert "summing up algorithms" in file.getvalue()
    assert file.getvalue().endswith("\x1b[2K")
