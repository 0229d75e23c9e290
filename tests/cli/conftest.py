"""The command line as its user meets it: arguments in, exit code and both streams out."""

import functools
import json
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from arcademark.operations.info import documents
from arcademark.pages.render import json as schemas
from command_line import arcademark
from json_schema import problems


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)

    @property
    def words(self):
        """What was printed, without its line breaks."""
        return " ".join(self.out.split())


@functools.cache
def schema(name):
    return schemas.schema(documents()[name])


def check_json(out):
    """Hold the JSON that a command printed against its schema, which it has unless it is one."""
    if out.startswith(("{", "[")) and "$schema" not in (document := json.loads(out)):
        assert problems(document, schema(document["schema"]), schema(document["schema"])) == []


@pytest.fixture
def invoke(monkeypatch, capfd, tmp_path):
    """Run a command in an empty folder, and expect its exit code where one is given."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments, code=None):
        ended = arcademark(*arguments)
        out, err = capfd.readouterr()
        check_json(out)
        assert code in (None, ended), err
        assert ended != 2 or out == "", "a command that is refused writes nothing"
        return Outcome(ended, out, err)

    return call


@pytest.fixture
def benchmark(tmp_path):
    """Write a benchmark: algorithms' scores by task, what 0 and 100 % are, and algorithms' papers."""

    def write(scores, low=100, high=150, **papers):
        rows = [f"{name},{task},{score}" for name, row in scores.items() for task, score in row.items()]
        tasks = dict.fromkeys(task for row in scores.values() for task in row)
        texts = {
            "scores.csv": ["algorithm,task,score", *rows],
            "references.csv": ["task,low,high", *(f"{task},{low},{high}" for task in tasks)],
            "papers.csv": ["algorithm,paper", *(f"{name},{paper}" for name, paper in papers.items())],
        }
        for name, lines in texts.items():
            (tmp_path / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
        return ("scores.csv", "--references", "references.csv")

    return write


@pytest.fixture(scope="session")
def short():
    """Options that keep episodes to ten seconds of play."""
    return ("--override", "max_frames_per_episode=600")


@pytest.fixture(scope="session")
def played_once(tmp_path_factory, short):
    """Two short episodes each of two games, which no test may change."""
    directory = tmp_path_factory.mktemp("played") / "run"
    assert arcademark("run", "random", "--games", "pong,qbert", "--episodes", 2, *short, "--out", directory) == 0
    return directory


@pytest.fixture
def played(invoke, played_once):
    """A run of two short episodes each of two games, in the test's own folder."""
    return Path(shutil.copytree(played_once, "run"))
