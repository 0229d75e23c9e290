"""How far long work is."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from arcademark.cli.counting import LINE_SECONDS, SHORT_SECONDS, counting


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def told(clock: Clock, seconds: list[float]) -> str:
    console = Console(file=io.StringIO(), width=120)
    with counting("comparing", "pairs", console, clock) as follow:
        for done, at in enumerate(seconds, start=1):
            clock.now = at
            follow(done, 4000)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_short_work_is_silent(clock: Clock) -> None:
    assert told(clock, [0.1, SHORT_SECONDS - 0.1]) == ""


def test_long_work_has_a_line_now_and_then(clock: Clock) -> None:
    seconds = [1.0, SHORT_SECONDS, SHORT_SECONDS + 1, SHORT_SECONDS + LINE_SECONDS]
    assert told(clock, seconds) == "comparing pairs: 2 of 4,000\ncomparing pairs: 4 of 4,000\n"


def test_a_terminal_has_a_bar_that_goes_when_it_ends(clock: Clock) -> None:
    console = Console(file=io.StringIO(), force_terminal=True, width=120)
    with counting("comparing", "pairs", console, clock) as follow:
        clock.now = SHORT_SECONDS
        follow(30, 4000)
    assert isinstance(console.file, io.StringIO)
    assert "30/4000" in console.file.getvalue()
    assert console.file.getvalue().endswith("\x1b[2K")
