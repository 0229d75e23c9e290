"""Whatever is wrong: one line that names it, exit code 2, nothing written."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

FAKES = Path(__file__).parents[1] / "fakes"

BAD = {
    "command": (["rnu"], "did you mean 'run'"),
    "option": (["run", "random", "--gmaes", "pong"], "--gmaes"),
    "no agent": (["run"], "AGENT"),
    "agent": (["run", "randum"], "did you mean 'random'"),
    "agent's file": (["run", "nowhere.py:make"], "nowhere.py"),
    "agent's parameter": (["run", "perturb", "--set", "probabillity=1"], "did you mean 'probability'"),
    "agent's value": (["run", "perturb", "--set", "probability=often"], "probability"),
    "set without value": (["run", "perturb", "--set", "probability"], "name=value"),
    "game": (["run", "random", "--games", "pnog"], "did you mean 'pong'"),
    "no game": (["run", "random", "--games", ","], "no games"),
    "rom that ends the interpreter": (["run", "random", "--games", "joust"], "joust"),
    "protocol": (["run", "random", "--protocol", "saper"], "did you mean 'saber'"),
    "protocol that cannot be run": (["run", "random", "--protocol", "human-starts"], "cannot be run"),
    "override's field": (["run", "random", "--override", "frame_skp=5"], "frame_skip"),
    "override's value": (["run", "random", "--override", "frame_skip=many"], "frame_skip"),
    "seeds": (["run", "random", "--seeds", "x"], "--seeds"),
    "episodes": (["run", "random", "--episodes", "0"], "--episodes"),
    "workers": (["run", "random", "--workers", "none"], "--workers"),
    "engine": (["run", "random", "--engine", "locla"], "did you mean 'local'"),
    "topic": (["info", "gmaes"], "did you mean 'games'"),
    "name": (["info", "suites", "atari-75"], "did you mean 'atari-57'"),
    "schema": (["info", "schemas", "arcademark.report/1"], "did you mean 'arcademark.report/4'"),
    "games of a table": (["score", "catalogue:review-2021", "--games", ""], "--games '': names nothing"),
    "algorithms of a table": (
        ["score", "catalogue:review-2021", "--algorithms", ","],
        "--algorithms ',': names nothing",
    ),
    "games to compare": (["compare", "catalogue:review-2021", "--games", " "], "--games ' ': names nothing"),
    "metrics": (["score", "catalogue:review-2021", "--metric", ","], "--metric ',': names nothing"),
    "collections": (["score", "catalogue:"], "catalogue: '': names nothing"),
    "collections to search": (["subset", "search", "--catalogue", "", "--size", "2"], "--catalogue '': names nothing"),
    "collections to study": (["subset", "study", "catalogue:,"], "catalogue: ',': names nothing"),
    "models": (["subset", "study", "--models", ""], "--models '': names nothing"),
    "tasks to include": (
        ["subset", "search", "--catalogue", "atari-5-training", "--size", "2", "--include", ","],
        "--include ',': names nothing",
    ),
    "collections to list": (["catalogue", "list", "--collection", ""], "--collection '': names nothing"),
    "algorithms to list": (["catalogue", "list", "--algorithms", ","], "--algorithms ',': names nothing"),
    "kinds to list": (["catalogue", "list", "--where", "kind="], "--where kind '': names nothing"),
    "whose scores": (
        ["score", "catalogue:review-2021", "scores.csv", "--read", "algorithm="],
        "(--read algorithm=NAME) is empty",
    ),
    "decimal mark": (["score", "scores.csv", "--read", "decimal=;"], "--read decimal=;"),
    "run to report": (["report", "nowhere"], "nowhere"),
    "run to verify": (["verify", "nowhere"], "nowhere"),
    "run to watch": (["watch", "nowhere"], "nowhere"),
    "long game": (["run", "random", "--games", "a" * 10**6], "(999,900 characters more)"),
    "long algorithm": (["score", "catalogue:review-2021", "--algorithms", "a" * 10**6], "(999,900 characters more)"),
    "long place": (["verify", "a" * 10**6], "File name too long"),
    "long file": (["score", "a" * 10**6], "File name too long"),
}


@pytest.mark.parametrize(("arguments", "named"), BAD.values(), ids=BAD)
def test_bad_input_is_answered_in_one_line(invoke, tmp_path, arguments, named):
    answer = invoke(*arguments)
    assert answer.code == 2
    assert answer.out == ""
    assert answer.err.startswith("arcademark: ")
    assert answer.err.count("\n") == 1
    assert len(answer.err) < 2000
    assert named in answer.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_directory_of_something_else_is_left_alone(invoke, short):
    Path("thesis").mkdir()
    Path("thesis/chapter.txt").write_text("words")
    refused = invoke("run", "random", "--games", "pong", "--episodes", 1, *short, "--out", "thesis")
    assert refused.code == 2
    assert [path.name for path in Path("thesis").iterdir()] == ["chapter.txt"]


@pytest.mark.slow
@pytest.mark.parametrize("fake", ["raising", "wrong_action", "wrong_shape"])
def test_an_agent_that_fails_on_one_game_fails_its_trials_only(invoke, short, fake):
    ended = invoke("run", f"{FAKES / fake}.py:make_agent", "--games", "pong", "--episodes", 1, *short, "--out", "run")
    assert ended.code == 1
    assert "failed" in ended.err
    assert "Traceback" not in ended.err
    shown = invoke("report", "run")
    assert shown.code == 0
    assert "failed" in shown.out


def test_a_page_that_cannot_be_written_is_said(invoke, played):
    Path("file").write_text("")
    refused = invoke("report", played, "--to", "file/page.html")
    assert refused.code == 2
    assert "--to" in refused.err


@pytest.mark.parametrize("place", [".", "", "folder.html", "/"])
def test_a_page_is_no_directory_and_leaves_no_draft(invoke, played, place):
    Path("folder.html").mkdir()
    before = sorted(Path().iterdir())
    refused = invoke("report", played, "--to", place)
    assert refused.code == 2
    assert ("is a directory; name a file" if place == "folder.html" else "ends with .html") in refused.err
    assert sorted(Path().iterdir()) == before


def test_a_damaged_store_is_said(invoke, played):
    (played / "run.sqlite").write_bytes(b"not a database at all, just some bytes" * 100)
    refused = invoke("report", played)
    assert refused.code == 2
    assert "run.sqlite" in refused.err


@pytest.mark.parametrize("form", [[], ["--to=json"]])
def test_a_reader_that_leaves_is_no_bad_news(form):
    command = [sys.executable, "-c", "from arcademark.cli.main import main; main()", "info", "games", *form]
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "wb") as out:
        ended = subprocess.run(command, stdout=out, stderr=subprocess.PIPE, timeout=60, check=False)
    assert (ended.returncode, ended.stderr) == (141, b"")
