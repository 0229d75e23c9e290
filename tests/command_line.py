"""The command line in this process: what it imports, computes and compiles once serves all tests."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from arcademark.cli.main import main
from arcademark.runs import execution
from arcademark.runs.engines.base import Engine
from arcademark.runs.engines.here import InProcessEngine
from arcademark.runs.engines.local import LocalEngine


def engine(workers: int | None = None, episode_seconds: float | None = None) -> Engine:
    return LocalEngine(workers, episode_seconds) if workers or episode_seconds else InProcessEngine()


@contextmanager
def called(*words: object) -> Iterator[None]:
    """Set the command line; what is played is played in this process, too, unless workers or a limit are asked for."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", [str(word) for word in words])
        patch.setitem(execution.ENGINES, "local", engine)
        yield


def arcademark(*arguments: object) -> int:
    """Run a command and return its exit code."""
    with called("arcademark", *arguments), pytest.raises(SystemExit) as stopped:
        main()
    return int(stopped.value.code or 0)
