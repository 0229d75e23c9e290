"""The store: what is written is read back; what cannot be read or written says so in one line."""

import contextlib
import os
import sqlite3
import subprocess
import sys

import numpy as np
import pytest

from altering import alter
from arcademark.errors import ArcadeMarkError
from arcademark.records import database, model
from arcademark.records.reading import read_actions, read_run
from arcademark.runs.execution import execute
from arcademark.runs.store import provenance, recording
from arcademark.runs.store.recording import Recorder

pytestmark = pytest.mark.usefixtures("in_this_process")


@pytest.fixture(scope="module")
def finished(tmp_path_factory, toy_plan):
    directory = tmp_path_factory.mktemp("store") / "run"
    execute(toy_plan("random", seeds=(0, 4)), directory, workers=1)
    return directory


@pytest.mark.parametrize("actions", [[], [0], [17, 0, 255, 3], [256, 0], list(range(0, 60000, 7))])
def test_actions_come_back(actions):
    blob = model.encode_actions(np.array(actions, dtype=np.int64))
    assert model.decode_actions(blob).tolist() == actions


ARRAYS = (b"\0", b"\0f4", b"\0f4\x01\x00\x00x", b"\0O8\x01\x01\x00x", b"\0f4\x09" + b"\1\0" * 9)


@pytest.mark.parametrize(
    "blob", [b"", b"\x03abc", b"\x01abc", model.encode_actions([1, 2, 3])[:-1], None, 7, "\x01", *ARRAYS]
)
def test_bytes_that_are_no_actions(blob):
    with pytest.raises(ValueError, match=r"encoding|Error|zlib|inflate|stream"):
        model.decode_actions(blob)


def test_a_run_is_read_back(finished):
    run = read_run(str(finished))
    assert [(trial.agent, trial.game, trial.seed, trial.status) for trial in run.trials] == [
        ("random", "toy", 0, "done"),
        ("random", "toy", 4, "done"),
    ]
    assert [episode.episode for episode in run.episodes] == [0, 1, 2, 0, 1, 2]
    assert {episode.phase for episode in run.episodes} == {"evaluation"}
    assert run.protocol.label == "world-records (max_frames_per_episode=120, reported_episodes=evaluation)"
    first = run.episodes[0]
    actions = read_actions(finished, first.trial_id, 0)
    assert len(actions) == first.steps > 1
    assert first.frames <= 120
    assert run.scored_episodes(run.trials[1]) == run.episodes[3:]


def test_the_manifest_says_with_what(finished):
    manifest = read_run(finished).manifest
    assert manifest["games"] == {"toy": ""}
    assert manifest["seeds"] == [0, 4]
    random = {"label": "random", "reference": "random", "parameters": {}, "source": None}
    peaks = manifest["agents"][0]["peak_bytes"]
    assert manifest["agents"][0] == random | {"files": {}, "checkpoints": {}, "draws": True, "peak_bytes": peaks}
    assert sorted(peaks) == ["toy 0", "toy 4"]
    assert {"arcademark", "ale-py", "numpy", "python"} <= manifest["versions"].keys()
    assert manifest["machine"]["cores"] >= 1
    assert manifest["command"] == provenance.command()


def test_a_missing_episode_and_damaged_actions(run):
    trial = read_run(run).trials[0].id
    with pytest.raises(ArcadeMarkError, match=r"evaluation episode 7 of trial .* is not recorded"):
        read_actions(run, trial, 7)
    alter(run, "UPDATE episode SET actions = x'0199' WHERE episode = 1")
    with pytest.raises(ArcadeMarkError, match=r"episode 1 of trial .* are damaged"):
        read_actions(run, trial, 1)


def test_places_that_are_no_run(tmp_path, run):
    (tmp_path / "file").write_text("x")
    (tmp_path / "other").mkdir()
    for place, message in {"nowhere": "no such directory", "file": "is a file", "other": "not a run"}.items():
        with pytest.raises(ArcadeMarkError, match=message):
            read_run(tmp_path / place)
    (run / "run.sqlite").unlink()
    with pytest.raises(ArcadeMarkError, match="nothing was recorded yet"):
        read_run(run)
    (run / "run.sqlite").write_bytes(b"")
    with pytest.raises(ArcadeMarkError, match="is still empty"):
        read_run(run)


def test_another_program_locks_the_database(run, monkeypatch, toy_plan):
    monkeypatch.setattr(database, "BUSY_SECONDS", 0.05)
    with contextlib.closing(sqlite3.connect(run / "run.sqlite", isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        for use in (read_run, lambda directory: execute(toy_plan("random", seeds=(0, 4)), directory)):
            with pytest.raises(ArcadeMarkError, match="locked by another program"):
                use(run)
    assert len(read_run(run).episodes) == 6


def test_two_writers_are_refused_and_reading_goes_on(run):
    with Recorder(run) as recorder:
        code = "import sys; from pathlib import Path; from arcademark.runs.store.recording import Recorder; "
        code += "Recorder(Path(sys.argv[1]))"
        other = subprocess.run([sys.executable, "-c", code, run], capture_output=True, text=True, check=False)
        assert f"another ArcadeMark (process {os.getpid()}) is playing this run" in other.stderr
        with recorder.transaction():
            recorder.fail_trial(read_run(run).trials[0].id, "why not")
            assert read_run(run).trials[0].status == "done"
        assert read_run(run).trials[0].status == "failed"
    with Recorder(run):
        pass


def test_a_directory_with_something_else(tmp_path, toy_plan):
    (tmp_path / "thesis.tex").write_text("x")
    with pytest.raises(ArcadeMarkError, match=r"contains other files \(thesis\.tex\)"):
        execute(toy_plan(), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]
    with pytest.raises(ArcadeMarkError, match="is a file"):
        execute(toy_plan(), tmp_path / "thesis.tex")


def test_a_run_without_its_manifest_is_not_overwritten(run, toy_plan):
    (run / "manifest.json").unlink()
    with pytest.raises(ArcadeMarkError, match=r"manifest\.json is missing; restore it"):
        execute(toy_plan("random", seeds=(0, 4)), run)


@pytest.mark.slow
def test_a_full_disk_keeps_what_is_recorded(tmp_path, monkeypatch, toy_plan, rows):
    def small(path):
        connection = plain(path)
        connection.execute("PRAGMA max_page_count = 11")
        return connection

    plain = recording._connect
    seeds = tuple(range(8))
    execute(toy_plan("random", seeds=seeds, episodes=2), tmp_path / "small", workers=1)
    before = rows(tmp_path / "small")["episode"]
    with monkeypatch.context() as patch:
        patch.setattr(recording, "_connect", small)
        with pytest.raises(ArcadeMarkError, match="the disk is full"):
            execute(toy_plan("random", seeds=seeds, episodes=40), tmp_path / "small", workers=1)
    kept = rows(tmp_path / "small")["episode"]
    assert set(before) <= set(kept)
    summary = execute(toy_plan("random", seeds=seeds, episodes=40), tmp_path / "small", workers=1)
    assert summary.complete
    assert summary.episodes == 320 - len(kept)
    execute(toy_plan("random", seeds=seeds, episodes=40), tmp_path / "large", workers=1)
    assert rows(tmp_path / "small") == rows(tmp_path / "large")


def test_a_learner_that_was_not_to_train_leaves_a_run_that_can_be_read_and_continued(tmp_path, toy_plan, paced):
    plan = toy_plan(paced("Learner"), episodes=3, frames=0, override={"reported_episodes": "training_last_k"})
    execute(plan, tmp_path / "run", workers=1)
    assert not len(read_run(tmp_path / "run").episodes)
    assert execute(plan, tmp_path / "run", workers=1).complete


def test_a_finished_run_can_lie_where_nothing_can_be_written(run, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    run.chmod(0o555)
    assert len(read_run(run).episodes) == 6
    assert sorted(path.name for path in run.iterdir()) == ["manifest.json", "run.sqlite"]
    run.chmod(0o755)
