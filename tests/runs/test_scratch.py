"""A run that is recorded on a local disk: its directory holds whole copies only, from which it continues."""

import contextlib
import errno
import fcntl
import os
import sqlite3
import subprocess
import sys

import pytest

from arcademark.errors import ArcadeMarkError
from arcademark.records.model import EpisodeRecord
from arcademark.records.reading import read_run
from arcademark.runs.execution import execute
from arcademark.runs.store import recording
from arcademark.runs.store.recording import Recorder


@pytest.fixture
def scratch(tmp_path):
    (tmp_path / "scratch").mkdir()
    return tmp_path / "scratch"


def failed(directory):
    return sum(trial.status == "failed" for trial in read_run(directory).trials)


def mark(recorder, place=0):
    with recorder.transaction():
        recorder.fail_trial(read_run(recorder.directory).trials[place].id, "why not")


def journal(directory):
    with contextlib.closing(sqlite3.connect(directory / "run.sqlite")) as database:
        return str(database.execute("PRAGMA journal_mode").fetchone()[0])


@pytest.mark.slow
def test_the_rows_are_those_of_a_run_without_and_nothing_is_left_behind(tmp_path, scratch, toy_plan, paced, rows):
    plan = toy_plan(paced("Paced"), paced("Learner"), seeds=(0, 1), episodes=4, frames=500)
    beside = set()

    def look(event):
        beside.update(path.name for path in (tmp_path / "run").glob("run.sqlite*"))

    assert execute(plan, tmp_path / "run", workers=2, scratch=scratch, on_event=look).complete
    assert beside == {"run.sqlite"}  # neither a journal nor an index of one
    assert list(scratch.iterdir()) == []
    assert execute(plan, tmp_path / "other", workers=2).complete
    assert rows(tmp_path / "run") == rows(tmp_path / "other")


def test_copying_takes_a_tenth_of_the_time_at_most(tmp_path, scratch, toy_plan, monkeypatch):
    now, copies, copyfileobj = 0.0, [], recording.shutil.copyfileobj

    def copy(*asked):
        nonlocal now
        copyfileobj(*asked)
        copies.append(now)
        now += 30

    execute(toy_plan(), tmp_path / "run", workers=1)
    monkeypatch.setattr(recording.shutil, "copyfileobj", copy)
    monkeypatch.setattr(recording.time, "monotonic", lambda: now)
    with Recorder(tmp_path / "run", scratch=scratch) as recorder:
        while now < 700:
            mark(recorder)
            recorder.copy_home(due=True)
            now += 10
    assert copies[:-1] == [0, 300, 600]


@pytest.mark.slow
def test_what_a_killed_run_had_not_yet_put_into_its_file_is_taken_over(tmp_path, scratch, toy_plan, rows):
    plan = toy_plan("random", seeds=(0, 1))
    execute(plan, tmp_path / "run", workers=1)
    code = (
        "import os, sys; from pathlib import Path; from arcademark.runs.store.recording import Recorder; "
        "recorder = Recorder(Path(sys.argv[1])); transaction = recorder.transaction(); transaction.__enter__(); "
        "recorder.database.execute('DELETE FROM evaluation'); "
        "recorder.database.execute('DELETE FROM episode WHERE episode = 2'); "
        "transaction.__exit__(None, None, None); os._exit(9)"
    )
    assert subprocess.run([sys.executable, "-c", code, tmp_path / "run"], check=False).returncode == 9
    assert (tmp_path / "run" / "run.sqlite-wal").stat().st_size > 0
    summary = execute(plan, tmp_path / "run", workers=1, scratch=scratch)
    assert (summary.complete, summary.episodes) == (True, 2)
    assert not (tmp_path / "run" / "run.sqlite-wal").exists()
    assert len(read_run(tmp_path / "run").episodes) == 6


def test_what_cannot_be_copied_at_the_end_is_kept_and_its_place_told(tmp_path, scratch, toy_plan, monkeypatch):
    execute(toy_plan(), tmp_path / "run", workers=1)
    recorder = Recorder(tmp_path / "run", scratch=scratch)
    mark(recorder)

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(recording.shutil, "copyfileobj", full)
    with pytest.raises(ArcadeMarkError, match="run: the disk is full") as caught:
        recorder.close()
    (kept,) = scratch.glob("*/run.sqlite")
    assert str(kept) in caught.value.__notes__[0]
    assert failed(tmp_path / "run") == 0
    kept.replace(tmp_path / "run" / "run.sqlite")
    assert failed(tmp_path / "run") == 1


def test_a_local_disk_that_is_full_or_missing_is_named(tmp_path, scratch, toy_plan, monkeypatch):
    with pytest.raises(ArcadeMarkError, match=f"{scratch}/none: cannot be read or written"):
        execute(toy_plan(), tmp_path / "new", workers=1, scratch=scratch / "none")
    assert not (tmp_path / "new").exists()

    def spoil(event):
        for path in scratch.glob("*/run.sqlite") if isinstance(event, EpisodeRecord) else ():
            path.unlink()

    with pytest.raises(ArcadeMarkError, match=rf"{scratch}/arcademark-\w+: run\.sqlite was deleted") as caught:
        execute(toy_plan(episodes=50), tmp_path / "run", workers=1, scratch=scratch, on_event=spoil)
    assert "cannot be read" in caught.value.__notes__[0]


def test_a_file_system_without_locks_is_told_of(tmp_path, toy_plan, monkeypatch):
    def flock(*_):
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))

    monkeypatch.setattr(fcntl, "flock", flock)
    with pytest.raises(ArcadeMarkError, match="its file system has no locks"):
        execute(toy_plan(), tmp_path / "run", workers=1)
