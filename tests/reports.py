"""Reports that tests of analyses and of pages share, and the golden files that texts are compared with."""

import os
import re
from pathlib import Path

import pytest

from arcademark.analysis.scoring.analysis import analyse
from arcademark.suite.protocols import protocol
from made_up import ATARI_5, OWN_AGENT, collected, made_up_run

LAST_DIGITS = re.compile(r"(?<=\.\d{9})\d+")
"""Of numbers, those that depend on the processor."""


@pytest.fixture(scope="session")
def report_one():
    """One agent, one run, nothing unusual."""
    return analyse(collected(made_up_run()))


@pytest.fixture(scope="session")
def report_two():
    """Two runs that differ in a setting, with an agent of a user's own, a hard game and a failed trial."""
    games = (*ATARI_5, "montezuma_revenge")
    modified = protocol("world-records").override({"repeat_action_probability": 0.0})
    return analyse(
        collected(
            made_up_run("runs/mine", (OWN_AGENT,), games, using=modified, failed=[(OWN_AGENT, "qbert", 1)]),
            made_up_run("runs/random", ("random",), games),
        )
    )


@pytest.fixture
def golden():
    """Compare a text with the golden file of that name, or renew it: see golden/README.md."""

    def compare(name, text):
        path = Path(__file__).parent / "pages" / "golden" / name
        if os.environ.get("ARCADEMARK_RENEW_GOLDEN"):
            path.write_text(text, encoding="utf-8")
        expected = path.read_text(encoding="utf-8")
        assert LAST_DIGITS.sub("", text) == LAST_DIGITS.sub("", expected)

    return compare
