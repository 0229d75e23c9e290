"""``arcademark status``: runs that are complete, failed, killed, played now, and in parts."""

import shutil
from pathlib import Path

import altering
from altering import alter
from arcademark.records import live
from arcademark.records.reading import read_run
from arcademark.runs.store.recording import Recorder


def status(invoke, *arguments, code=0):
    answer = invoke("status", *arguments, "--format=json")
    assert (answer.code, answer.err) == (code, "")
    return answer.json


def test_a_complete_run(invoke, played):
    before = {path: path.read_bytes() for path in played.iterdir()}
    found = status(invoke, "run")
    (run,) = found["runs"]
    assert (run["running"], run["done"], run["episodes"], run["frames_per_second"]) == (False, 2, 4, None)
    assert {(trial["game"], trial["state"], trial["episodes"]) for trial in found["trials"]} == {
        ("Pong", "done", 2),
        ("Q*bert", "done", 2),
    }
    assert {path: path.read_bytes() for path in played.iterdir()} == before


def test_one_that_is_played_failed_or_killed(invoke, played):
    with altering.manifest(played) as document:
        document["episodes"] = 5
    alter(
        played,
        "UPDATE trial SET episodes = 5",
        "UPDATE trial SET error = 'it raised' WHERE game = 'qbert'",
        "DELETE FROM episode WHERE episode = 1",
        "UPDATE evaluation SET episodes = 1",
    )
    pong, qbert = status(invoke, "run", code=1)["trials"]
    assert (pong["state"], pong["episodes"], pong["planned_episodes"]) == ("started", 1, 5)
    assert (qbert["state"], qbert["error"]) == ("failed", "it raised")
    identity = read_run("run", whole=False).trials[0].id
    live.write(played, {"trials": [identity], "frames_per_second": 1234.0, "seconds_left": 90.0, "at_most": True})
    assert status(invoke, "run", code=1)["frames_per_second"] is None  # left by one that was killed
    with Recorder(played):
        found = status(invoke, "run", code=1)
        assert [trial["state"] for trial in found["trials"]] == ["playing", "failed"]
        assert (found["frames_per_second"], found["seconds_left"], found["at_most"]) == (1234, 90, True)
        shown = invoke("status", "run").out
    for told in ("1,234 frames/s", "at most 1 min 30 s", "1 of 5", "failed", "it raised"):
        assert told in shown


def test_runs_are_shown_together(invoke, played):
    shutil.copytree(played, "runs/it-1-of-3")
    shutil.copytree(played, "runs/it-2-of-3")
    with altering.manifest(Path("runs/it-1-of-3")) as document:
        document["episodes"] = 9
    alter(Path("runs/it-1-of-3"), "UPDATE trial SET episodes = 9 WHERE game = 'pong'")
    more = ("--games", "qbert", "--seeds", "1,", "--episodes", "2", "--override", "max_frames_per_episode=600")
    assert invoke("run", "random", *more, "--out", "runs/it-2-of-3").code == 0
    Path("runs/broken").mkdir()
    Path("runs/broken/manifest.json").write_text("{}")
    found = status(invoke, "runs", code=1)
    assert [(run["directory"], run["done"]) for run in found["runs"]] == [("runs/it-1-of-3", 1), ("runs/it-2-of-3", 3)]
    assert [(trial["game"], trial["seed"], trial["state"]) for trial in found["trials"]] == [
        ("Pong", 0, "done"),
        ("Q*bert", 0, "done"),
        ("Q*bert", 1, "done"),
    ]
    assert [item["directory"] for item in found["unread"]] == ["runs/broken"]
    assert "seed 1" in invoke("status", "runs/it-1-of-3", "runs/it-2-of-3").out


def test_to_watch_a_run_that_nobody_plays_is_to_look_once(invoke, played):
    watched, looked = invoke("status", "run", "--watch"), invoke("status", "run")
    assert (watched.code, watched.out) == (0, looked.out)


def test_what_was_said_is_gone_at_the_end_and_nobody_else_is_believed(invoke, played):
    assert not (played / live.FILE).exists()
    for text in ("", "{}", '{"trials": 1}', "[" * 100):
        (played / live.FILE).write_text(text)
        with Recorder(played):
            assert status(invoke, "run")["frames_per_second"] is None


def test_runs_are_listed_with_how_far_they_are(invoke, played):
    shutil.copytree(played, "runs/mine")
    Path("runs/broken").mkdir()
    Path("runs/broken/manifest.json").write_text("{}")
    shown = invoke("runs", "list")
    assert shown.code == 1  # one cannot be read
    (row,) = (line.split() for line in shown.out.splitlines() if line.startswith("runs/mine"))
    assert row == ["runs/mine", "random", "Pong", "and", "Q*bert", "1", "4"]
    assert "Not read" in shown.out
    document = invoke("runs", "list", "runs", "--format=json").json
    (run,) = document["runs"]
    assert (run["agents"], run["games"], run["status"]) == (["random"], ["Pong", "Q*bert"], "complete")
    assert [item["directory"] for item in document["unread"]] == ["runs/broken"]
