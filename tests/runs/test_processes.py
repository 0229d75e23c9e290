import os
import signal
import sys

import pytest

from arcademark.errors import ArcadeMarkError
from arcademark.runs import processes
from arcademark.runs.engines import worker


def test_a_process_serves_until_this_end_closes() -> None:
    process, connection = processes.start(worker.main)
    try:
        assert connection.receive() == worker.Ready()
        assert os.getpgid(process.pid) == process.pid, "Ctrl-C must not reach it"
        connection.close()
        assert process.wait(timeout=20) == 0
    finally:
        process.kill()
        process.wait()


def test_a_process_that_dies_ends_the_pipe() -> None:
    process, connection = processes.start(worker.main)
    assert connection.receive() == worker.Ready()
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    with pytest.raises((EOFError, OSError)):
        connection.receive()
    connection.close()


def test_a_process_that_cannot_be_started_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with pytest.raises(ArcadeMarkError, match=r"no worker process can be started .* fewer --workers"):
        processes.start(worker.main)
