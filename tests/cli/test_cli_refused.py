"""Whatever is wrong with a command: one line that names it, exit code 2, nothing written.

The one place for what messages say is refused.txt: a line a case, the command and, behind a bar, what of it matters.
"""

import json
import os
import shlex
import shutil
from pathlib import Path

import numpy as np
import pytest

MODEL = {
    "schema": "arcademark.subset-model/2",
    "name": "own-2",
    "target": "mean",
    "citation": "made up",
    "tasks": ["a", "b"],
    "coefficients": [0.5, 0.5],
    "log_error": 0.1,
    "references": {"a": [100, 150], "b": [100, 150]},
}
MODELS = {
    "r2": MODEL | {"r_squared": 5},
    "no-references": MODEL | {"references": {}},
    "huge": MODEL | {"intercept": 1e300},
}
AGENT = "def make(env):\n    return lambda observation: 0\n\n\n"
TARGETS = (
    "def fails(scores):\n    return 1 / 0\n\n\ndef words(scores):\n    return 'much'\n\n\n"
    "def worst(scores):\n    return min(scores)\n"
)


def table(score, players=20):
    rows = [f"{chr(97 + row)} player,{task},{score(row, task)}" for row in range(players) for task in "abcde"]
    return "algorithm,task,score\n" + "\n".join(rows) + "\n"


def skill(row, task):
    luck = np.random.default_rng(10 * row + "abcde".index(task)).uniform(0.8, 1.2)
    return float(100 + 50 * (0.3 + 0.05 * row) * luck)


def papers(*owners):
    return "algorithm,paper\n" + "".join(f"{owner}\n" for owner in owners)


RUNS = "algorithm,game,run,score\n"
FILES = {
    "ok.csv": table(skill),
    "few.csv": table(skill, 5),
    "constant.csv": table(lambda row, task: 120.0),
    "empty.csv": "",
    "play.sh": "#!/bin/sh\necho hello\n",
    "refs.csv": "task,low,high\n" + "".join(f"{task},100,150\n" for task in "abcde"),
    "refs-no-row.csv": "task,low,high\n",
    "refs-other.csv": "task,low,high\nhopper,0,1\n",
    "me.csv": "algorithm,task,score\nme,a,120\n",
    "both.csv": "algorithm,task,score\nme,a,120\nme,b,130\n",
    "atari.csv": "game,Mine\nalien,2000\npong,18\n",
    "unknown.csv": "game,Mine\npnog,18\n",
    "elsewhere.csv": "game,Mine\nadventure,2\n",
    "gaps.csv": "game,DQN,PPO\npong,1,2\nqbert,3,\n",
    "good.csv": RUNS
    + "".join(f"{a},{g},{r},{r}\n" for a in ("mine", "yours") for g in ("pong", "qbert") for r in "123"),
    "one.csv": f"{RUNS}a,pong,0,1\n",
    "apart.csv": f"{RUNS}a,pong,0,1\nb,qbert,0,1\n",
    "game.csv": f"{RUNS}a,pnog,0,1\n",
    "cheetah.csv": f"{RUNS}a,HalfCheetah-v4,0,1\n",
    "protocols.csv": "algorithm,game,run,score,protocol\na,pong,0,1,saber\na,qbert,0,1,dqn-2015\n",
    "one-paper.csv": papers(*(f"{chr(97 + row)} player,p" for row in range(20))),
    "strangers.csv": papers("nobody,p"),
    "years.csv": "algorithm,year\na,2015\n",
    "no-paper.csv": papers("a,"),
    "two-papers.csv": papers("a,b", "a,c"),
    "frames-negative.csv": "game,frames\npong,-3\n",
    "frames-cost.csv": "game,cost\npong,1\n",
    "frames-unknown.csv": "game,frames\npnog,1\n",
    "frames-one.csv": "game,frames\npong,1\n",
    "own.py": TARGETS,
    "some.py": f'{AGENT}make.supports = lambda env: None if env.game == "pong" else "too hard for it"\n',
    "broken.json": "{",
    "file": "",
    "thesis/chapter.txt": "words",
    "page/index.html": "<!doctype html>\n<title>Mine</title>",
    "notes.html": "<!doctype html>\n<p>ArcadeMark",
    "film.gif": "GIF89a of somebody else",
    "mixed/scores.csv": "algorithm,game,score\nmine,pong,3\n",
    "empty/none/x": "",
    **{f"{name}.json": json.dumps(model) for name, model in MODELS.items()},
}

REFUSED = Path(__file__).with_name("refused.txt").read_text(encoding="utf-8")
CASES = [
    ('run random --name "\x1b[31m"', "expected up to 100 visible characters"),
    *(tuple(part.strip() for part in line.rsplit(" | ", 1)) for line in REFUSED.splitlines()),
]


def contents(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if "__pycache__" not in path.parts}


@pytest.fixture(scope="module")
def folder(tmp_path_factory, played_once):
    """A folder with all these files and a run, which no command here changes."""
    place = tmp_path_factory.mktemp("refused")
    for name, text in FILES.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text, encoding="utf-8")
    (place / "thesis.html").mkdir()
    for copy in ("run", "mixed/run"):
        shutil.copytree(played_once, place / copy)
    return place


@pytest.mark.parametrize(("command", "message"), CASES, ids=[command for command, _ in CASES])
def test_what_is_wrong_is_named_in_one_line_and_nothing_is_written(invoke, monkeypatch, folder, command, message):
    before = contents(folder)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PATH", os.devnull)
    answer = invoke(*shlex.split(command), code=2)
    assert answer.err.startswith("arcademark: ")
    assert message in answer.err
    assert answer.err.count("\n") == 1
    assert contents(folder) == before


@pytest.mark.parametrize(
    "command", ["run random --games", "score catalogue:review-2021 --algorithms", "verify", "score"]
)
def test_a_long_name_is_cut(invoke, command):
    answer = invoke(*command.split(), "a" * 10**6)
    assert (answer.code, len(answer.err) < 2000) == (2, True)
    assert "characters more)" in answer.err or "File name too long" in answer.err
