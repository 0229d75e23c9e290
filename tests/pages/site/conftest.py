"""A leaderboard of four collections, two runs and a table with hostile names, made once for all workers."""

import json
import os
import time

import pytest
from hostile_names import HOSTILE

from command_line import arcademark

PATIENCE_SECONDS = 180


def build(folder):
    short = ("--override", "max_frames_per_episode=600")
    assert not arcademark(
        *("run", "random", "--games", "pong,qbert", "--seeds", "2", "--episodes", "2", *short),
        *("--out", folder / "random"),
    )
    assert not arcademark(
        *("run", "sarsa", "--set", "features=ram-bits", "--games", "freeway", "--protocol", "ale-2013"),
        *("--training-episodes", "4", "--episodes", "1", *short, "--out", folder / "sarsa"),
    )
    rows = [f'"{name}",pong,{place}' for place, name in enumerate(HOSTILE) if name.isprintable()]
    (folder / "hostile.csv").write_text("\n".join(["algorithm,game,score", *rows]), encoding="utf-8")
    sources = (folder / "random", folder / "sarsa", folder / "hostile.csv")
    published = ("--collection", "review-2021,dopamine-2018,diamond-2024,iris-2023")
    assert not arcademark("site", *sources, *published, "--out", folder / "site", "--workers", "1")


@pytest.fixture(scope="session")
def pages(tmp_path_factory):
    """The folder of the pages; a worker that finds another making them waits."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "leaderboard"
    try:
        folder.mkdir()
    except FileExistsError:
        end = time.monotonic() + PATIENCE_SECONDS
        while not (folder / "site" / "index.html").exists():
            assert time.monotonic() < end, "the worker that makes the pages has failed"
            time.sleep(0.2)
    else:
        build(folder)
    return folder / "site"


@pytest.fixture(scope="session")
def data(pages):
    """What the pages are drawn from."""
    text = (pages / "data.js").read_text(encoding="ascii")
    return json.loads(text.removeprefix("window.ARCADEMARK=").rstrip(";\n"))
