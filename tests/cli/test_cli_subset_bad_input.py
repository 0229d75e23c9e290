"""Whatever is wrong with what ``arcademark subset`` is given: one line that names it, exit code 2, nothing written."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

MODEL = {
    "schema": "arcademark.subset-model/1",
    "name": "own-2",
    "target": "mean",
    "citation": "made up",
    "tasks": ["a", "b"],
    "coefficients": [0.5, 0.5],
    "relative_error": 0.1,
    "references": {"a": [100, 150], "b": [100, 150]},
}
OWN = ("--references", "refs.csv")
SIZE = ("--size", "2", "--out", "m.json")
TRAINING = ("predict", "me.csv", "--references", "refs.csv", "--training")


def table(score, players: int = 20) -> str:
    rows = [f"player {row:02},{task},{score(row, task)}" for row in range(players) for task in "abcde"]
    return "algorithm,task,score\n" + "\n".join(rows) + "\n"


def skill(row: int, task: str) -> float:
    luck = np.random.default_rng(10 * row + "abcde".index(task)).uniform(0.8, 1.2)
    return float(100 + 50 * (0.3 + 0.05 * row) * luck)


@pytest.fixture
def files(tmp_path: Path, invoke) -> frozenset[str]:
    texts = {
        "ok.csv": table(skill),
        "few.csv": table(skill, 5),
        "constant.csv": table(lambda row, task: 120.0),
        "missing.csv": table(lambda row, task: ""),
        "infinite.csv": table(lambda row, task: "inf"),
        "empty.csv": "",
        "header.csv": "algorithm,task,score\n",
        "twice.csv": table(skill) + "player 00,a,1\n",
        "two columns.csv": "task,x,x\na,1,2\nb,3,4\n",
        "two tasks.csv": "algorithm,a,a\nx,1,2\ny,3,4\n",
        "refs.csv": "task,low,high\n" + "".join(f"{task},100,150\n" for task in "abcde"),
        "refs twice.csv": "task,low,high\na,1,2\na,1,3\n",
        "refs equal.csv": "task,low,high\na,1,1\n",
        "me.csv": "algorithm,task,score\nme,a,120\n",
        "both.csv": "algorithm,task,score\nme,a,120\nme,b,130\n",
        "atari.csv": "game,Mine\nalien,2000\npong,18\n",
        "unknown.csv": "game,Mine\npnog,18\n",
        "elsewhere.csv": "game,Mine\nadventure,2\n",
        "one paper.csv": "algorithm,paper\n" + "".join(f"player {row:02},p\n" for row in range(20)),
        "strangers.csv": "algorithm,paper\nnobody,p\n",
        "frames.csv": "game,frames\npong,-3\n",
        "empty frames.csv": "",
        "target.py": "def fails(scores):\n    return 1 / 0\n",
        "broken.json": "{",
        "list.json": "[]",
    }
    models = {
        "no key": {name: value for name, value in MODEL.items() if name != "coefficients"},
        "negative error": MODEL | {"relative_error": -1},
        "r2": MODEL | {"r_squared": 5},
        "no references": MODEL | {"references": {}},
        "huge": MODEL | {"intercept": 1e300},
        "negative": MODEL | {"coefficients": [1, -1]},
        "short": MODEL | {"coefficients": [1]},
    }
    texts |= {f"{name}.json": json.dumps(model) for name, model in models.items()}
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return frozenset(texts)


SEARCH = {
    "fewer algorithms than folds": (("few.csv", *OWN), "10 folds of 5 algorithms"),
    "one algorithm": (("ok.csv", *OWN, "--algorithms", "player 00"), "only one algorithm takes part"),
    "constant tasks": (("constant.csv", *OWN), "0 of 5 tasks have 10 of these and tell them apart"),
    "all missing": (("missing.csv", *OWN), "no cell holds a score"),
    "infinite": (("infinite.csv", *OWN), "row 2, column 'score'"),
    "empty": (("empty.csv", *OWN), "the file is empty"),
    "no rows": (("header.csv", *OWN), "no rows below the header"),
    "a score twice": (("twice.csv", *OWN), "row 102: a second score"),
    "an algorithm twice": (("two columns.csv", *OWN), "column 'x' is named twice"),
    "a task twice": (("two tasks.csv", *OWN), "column 'a' is named twice"),
    "a table twice": (("ok.csv", "ok.csv", *OWN), "given twice"),
    "an algorithm chosen twice": (("ok.csv", *OWN, "--algorithms", "player 00,player 00"), "named twice"),
    "too large": (("ok.csv", *OWN, "--size", "6"), "size 6, expected from 1 to 5"),
    "too small": (("ok.csv", *OWN, "--size", "0"), "'--size'"),
    "one fold": (("ok.csv", *OWN, "--set", "folds=1"), "1 fold of 20"),
    "a task included twice": (("ok.csv", *OWN, "--include", "a,a"), "'a' is named twice"),
    "included and excluded": (("ok.csv", *OWN, "--include", "a", "--exclude", "a"), "included and excluded"),
    "an unknown task": (("ok.csv", *OWN, "--include", "z"), "unknown task 'z'"),
    "nobody has as many": (("ok.csv", *OWN, "--set", "minimum_tasks=6"), "minimum_tasks"),
    "references twice": (("ok.csv", "--references", "refs twice.csv"), "row 3: 'a' stands in row 2"),
    "references equal": (("ok.csv", "--references", "refs equal.csv"), "both 1"),
    "no references": (("ok.csv",), "give reference scores with --references"),
    "papers of nobody": (("ok.csv", *OWN, "--nested", "--papers", "strangers.csv"), "names none of the algorithms"),
    "one paper": (("ok.csv", *OWN, "--nested", "--papers", "one paper.csv"), "all algorithms come from 'p'"),
    "papers for nothing": (("ok.csv", *OWN, "--papers", "one paper.csv"), "--papers goes with --nested"),
    "no target": (("ok.csv", *OWN, "--target", "nowhere.py:f"), "--target nowhere.py:f: there is no such file"),
    "a target that fails": (("ok.csv", *OWN, "--target", "target.py:fails"), "ZeroDivisionError: division by zero"),
    "no function": (("ok.csv", *OWN, "--target", "target.py:fail"), "it has no 'fail'"),
    "a transform": (("ok.csv", *OWN, "--set", "transform=sqrt"), "unknown transform 'sqrt'"),
}


@pytest.mark.parametrize(("arguments", "told"), SEARCH.values(), ids=SEARCH)
def test_a_search(invoke, files, arguments, told):
    _refused(invoke("subset", "search", *SIZE, *arguments), files, told)


PREDICT = {
    "no key": (("both.csv", "--model", "no key.json"), "missing required field `coefficients`"),
    "an error below 0": (("both.csv", "--model", "negative error.json"), ">= 0.0 - at `$.relative_error`"),
    "an R² above 1": (("both.csv", "--model", "r2.json"), "<= 1.0 - at `$.r_squared`"),
    "neither games nor references": (("both.csv", "--model", "no references.json"), "no references"),
    "no finite number": (("both.csv", "--model", "huge.json"), "no finite number"),
    "a negative coefficient": (("both.csv", "--model", "negative.json"), "the coefficient of 'b' is -1"),
    "a coefficient too few": (("both.csv", "--model", "short.json"), "1 coefficients, expected 2"),
    "no JSON": (("both.csv", "--model", "broken.json"), "not JSON"),
    "a list": (("both.csv", "--model", "list.json"), "the schema is None"),
    "no such model": (("atari.csv", "--model", "nix"), "atari-5-val, any"),
    "another benchmark": (("me.csv",), "a table to learn from with --training"),
    "unknown games": (("unknown.csv",), "did you mean 'pong'"),
    "no game of the 57": (("elsewhere.csv",), "no score on any of Alien"),
    "empty": (("empty.csv",), "the file is empty"),
    "level 0": (("atari.csv", "--level", "0"), "0<x<1"),
    "level 1": (("atari.csv", "--level", "1"), "0<x<1"),
    "level nan": (("atari.csv", "--level", "nan"), "level nan"),
    "negative frames": (("atari.csv", "--frames", "frames.csv"), "row 2: expected each game once"),
    "no frames": (("atari.csv", "--frames", "empty frames.csv"), "empty frames.csv: the file is empty"),
    "references for nothing": (("me.csv", "--references", "refs.csv"), "--references goes with --training"),
    "papers for nothing": (("me.csv", "--papers", "one paper.csv"), "--papers goes with --training"),
    "a model and a table": ((*TRAINING[1:], "ok.csv", "--model", "r2.json"), "two ways to predict"),
    "few to learn from": ((*TRAINING[1:], "few.csv"), "0 of 5 tasks have 5 algorithms that differ"),
    "nothing to learn from": ((*TRAINING[1:], "constant.csv"), "0 of 5 tasks have 5 algorithms that differ"),
    "an empty table": ((*TRAINING[1:], "empty.csv"), "the file is empty"),
    "all of one paper": ((*TRAINING[1:], "ok.csv", "--papers", "one paper.csv"), "all of one paper, p"),
    "papers of nobody": ((*TRAINING[1:], "ok.csv", "--papers", "strangers.csv"), "names none of the algorithms"),
    "other tasks": (("atari.csv", *TRAINING[2:], "ok.csv"), "no score on any of a, b, c, d and e"),
}


@pytest.mark.parametrize(("arguments", "told"), PREDICT.values(), ids=PREDICT)
def test_a_prediction(invoke, files, arguments, told):
    _refused(invoke("subset", "predict", *arguments), files, told)


def _refused(answer, files: frozenset[str], told: str) -> None:
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith("arcademark: ")
    assert answer.err.count("\n") == 1
    assert told in answer.err
    assert {path.name for path in Path().iterdir()} - {"__pycache__"} == files


def test_a_study_without_any_true_median_says_so(invoke, files):
    answer = invoke("subset", "study", "atari.csv", "--models", "atari-1")
    assert answer.code == 2
    assert "no algorithm has all games of Atari-1" in answer.err
    Path("one.csv").write_text("game,Mine\nname_this_game,9000\n", encoding="utf-8")
    answer = invoke("subset", "study", "one.csv", "--models", "atari-1")
    assert (answer.code, answer.err) == (0, "")
    assert "No true median to compare with: no algorithm here has 40 tasks" in " ".join(answer.out.split())
