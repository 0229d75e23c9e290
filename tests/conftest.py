import contextlib
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
"""Before numpy is imported: in workers beside each other, threads that wait for small products take half the time."""

os.environ.pop("ARCADEMARK_CONSOLE", None)
"""Tests switch the console off themselves, where that is what they test."""


@pytest.fixture(autouse=True, scope="session")
def _cache_of_its_own(tmp_path_factory):
    """Keep what is cached away from the user's folder: one folder for all workers of a session, none for the next."""
    base = tmp_path_factory.getbasetemp()
    shared: Path = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ARCADEMARK_CACHE", str(shared / "cache"))
        yield


COLUMNS = {
    "trial": "*",
    "episode": "trial, phase, episode, score, frames, steps, end, actions, simulated_frames",
    "checkpoint": "*",
    "unfinished": "trial, episode, frames, simulated_frames, generator, checkpoint, actions",
}


@pytest.fixture(scope="session")
def rows() -> Callable[[Path], dict[str, list[tuple[Any, ...]]]]:
    """Read every column of every row but wall times."""

    def read(directory: Path) -> dict[str, list[tuple[Any, ...]]]:
        with contextlib.closing(sqlite3.connect(directory / "run.sqlite")) as database:
            return {
                table: database.execute(f"SELECT {columns} FROM {table} ORDER BY 1, 2, 3").fetchall()
                for table, columns in COLUMNS.items()
            }

    return read
