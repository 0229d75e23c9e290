"""The command line as its user meets it: arguments in, exit code and both streams out."""

import functools
import json
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from arcademark.cli.main import main
from arcademark.reports.render import json as documents
from json_schema import problems


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str


Invoke = Callable[..., Outcome]


@functools.cache
def schema(name: str) -> dict[str, Any]:
    return documents.schema(documents.documents()[name])


def check_json(out: str) -> None:
    """Hold the JSON that a command printed against its schema, which it has unless it is one."""
    if out.startswith(("{", "[")) and "$schema" not in (document := json.loads(out)):
        assert problems(document, schema(document["schema"]), schema(document["schema"])) == []


@pytest.fixture
def invoke(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path) -> Invoke:
    """Run a command in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: object) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["arcademark", *map(str, arguments)])
        with pytest.raises(SystemExit) as stopped:
            main()
        out, err = capfd.readouterr()
        check_json(out)
        return Outcome(int(stopped.value.code or 0), out, err)

    return call


@pytest.fixture(scope="session")
def short() -> tuple[str, ...]:
    """Options that keep episodes to ten seconds of play."""
    return ("--override", "max_frames_per_episode=600")


@pytest.fixture(scope="session")
def played_once(tmp_path_factory: pytest.TempPathFactory, short: tuple[str, ...]) -> Path:
    """Two short episodes each of two games, which no test may change."""
    directory = tmp_path_factory.mktemp("played") / "run"
    command = ("run", "random", "--games", "pong,qbert", "--episodes", "2", *short, "--out", str(directory))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["arcademark", *command])
        with pytest.raises(SystemExit) as stopped:
            main()
    assert not stopped.value.code
    return directory


@pytest.fixture
def played(invoke: Invoke, played_once: Path) -> Path:
    """A run of two short episodes each of two games, in the test's own folder."""
    return Path(shutil.copytree(played_once, "run"))
