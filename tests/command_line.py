"""The command line in this process: what it imports, computes and compiles once serves all tests."""

import io
import runpy
import shlex
import sys
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout

import pytest

from arcademark.cli.main import main
from arcademark.runs import execution
from arcademark.runs.engines.here import InProcessEngine
from arcademark.runs.engines.pool import LocalEngine


def engine(workers=None, episode_seconds=None):
    return LocalEngine(workers, episode_seconds) if workers or episode_seconds else InProcessEngine()


@contextmanager
def called(*words):
    """Set the command line; what is played is played in this process, too, unless workers or a limit are asked for."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", [str(word) for word in words])
        patch.setitem(execution.ENGINES, "local", engine)
        yield


def arcademark(*arguments):
    """Run a command and return its exit code."""
    with called("arcademark", *arguments), pytest.raises(SystemExit) as stopped:
        main()
    return int(stopped.value.code or 0)


def execute(folder, command):
    """Run `arcademark` or `python` with arguments, which must succeed, in a folder; return what it prints."""
    program, *arguments = command
    code = 0
    with chdir(folder), redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as errors:
        if program == "python":
            with called(*arguments):
                runpy.run_path(arguments[0], run_name="__main__")
        else:
            assert program == "arcademark"
            code = arcademark(*arguments)
    assert code == 0, f"{shlex.join(command)}\n{out.getvalue()}\n{errors.getvalue()}"
    return out.getvalue() + errors.getvalue()
