"""Lines of pages, run in this process."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path

import pytest

from command_line import arcademark, called


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Run `arcademark` or `python` with arguments in the test's folder; return what it prints, errors last."""
    monkeypatch.chdir(tmp_path)

    def run(program: str, *arguments: object) -> str:
        code = 0
        if program == "python":
            with called(*arguments):
                runpy.run_path(str(arguments[0]), run_name="__main__")
        else:
            assert program == "arcademark"
            code = arcademark(*arguments)
        out, err = capfd.readouterr()
        assert code == 0, f"{program} {arguments}\n{out}\n{err}"
        return out + err

    return run
