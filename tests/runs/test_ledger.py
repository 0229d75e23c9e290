"""The ledger of runs: what was evaluated, when, by which command."""

import contextlib
import dataclasses
import shutil
import sqlite3
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import pytest

from arcademark.errors import ArcadeMarkError
from arcademark.records import database
from arcademark.records.ledger import entries_beside, entries_of, find_runs, read_ledger
from arcademark.records.reading import read_actions, read_run
from arcademark.runs.execution import execute
from arcademark.runs.replay.verify import verify
from arcademark.runs.store.entering import ledger_entries
from arcademark.runs.store.merging import merge
from arcademark.runs.store.recording import Recorder
from arcademark.runs.store.salvage import salvage

pytestmark = pytest.mark.usefixtures("in_this_process")


def test_an_entry_says_which_agent_on_which_game_and_how_often(tmp_path, toy_plan, paced):
    plan = toy_plan(paced("Learner"), seeds=(0, 3), episodes=2, training_episodes=3)
    execute(plan, tmp_path / "run", workers=1, command="first")
    (entry,) = entries_of(read_run(tmp_path / "run"))
    assert (entry.directory, entry.algorithm, entry.game) == (str(tmp_path / "run"), "paced.py:Learner", "toy")
    assert (entry.seeds, entry.episodes, entry.commands) == ((0, 3), 4, ("first",))
    assert (entry.training_frames, entry.training_episodes, entry.parameters) == (None, 3, {})
    assert len(entry.code) == 64
    assert entry.protocol == plan.protocol.label
    assert datetime.fromisoformat(entry.begun) >= datetime.fromisoformat(read_run(tmp_path / "run").manifest["created"])


def test_each_command_stands_with_what_it_evaluated(tmp_path, toy_plan):
    directory = tmp_path / "run"
    execute(toy_plan(seeds=(0,), episodes=2), directory, workers=1, command="two")
    execute(toy_plan(seeds=(0,), episodes=2), directory, workers=1, command="nothing new")
    execute(toy_plan(seeds=(0, 1), episodes=3), directory, workers=1, command="more")
    record = read_run(directory)
    first, second = record.trials
    assert [(item.trial_id, item.command, item.episodes) for item in record.evaluations] == [
        (first.id, 0, 2),
        (first.id, 2, 1),
        (second.id, 2, 3),
    ]
    (entry,) = entries_of(record)
    assert (entry.commands, entry.begun) == (("two", "more"), record.evaluations[0].begun)


def test_training_that_is_scored_is_noted_when_it_ends(tmp_path, toy_plan, paced):
    plan = toy_plan(
        paced("Learner"), episodes=4, training_episodes=6, override={"reported_episodes": "training_last_k"}
    )
    execute(plan, tmp_path / "run", workers=1)
    record = read_run(tmp_path / "run")
    assert [(item.command, item.episodes) for item in record.evaluations] == [(0, 4)]
    assert [entry.episodes for entry in entries_of(record)] == [4]


def test_a_run_without_notes_has_its_begin_and_all_commands(tmp_path, toy_plan):
    execute(toy_plan(), tmp_path / "run", workers=1, command="one")
    record = dataclasses.replace(read_run(tmp_path / "run"), evaluations=())
    (entry,) = entries_of(record)
    assert (entry.begun, entry.commands) == (record.manifest["created"], ("one",))


@pytest.fixture
def project(tmp_path, toy_plan):
    """Three runs at different depths, one that cannot be read and folders that are none."""
    execute(toy_plan("random"), tmp_path / "b", workers=1)
    shutil.copytree(tmp_path / "b", tmp_path / "deep" / "er" / "a")
    shutil.copytree(tmp_path / "b", tmp_path / ".hidden")
    shutil.copytree(tmp_path / "b", tmp_path / "broken")
    (tmp_path / "broken" / "run.sqlite").write_bytes(b"no database, but longer than its header" * 40)
    (tmp_path / "not yet").mkdir()
    shutil.copy(tmp_path / "b" / "manifest.json", tmp_path / "not yet")
    (tmp_path / "empty").mkdir()
    return tmp_path


def test_runs_are_found_in_their_folder(project):
    found = [str(path.relative_to(project)) for path in find_runs(project)]
    assert found == ["b", "broken", "deep/er/a", "not yet"]
    assert find_runs(project / "b") == (project / "b",)
    ledger = read_ledger([project, project / "b"])
    assert ledger.runs == (str(project / "b"), str(project / "deep" / "er" / "a"))
    assert [entry.directory for entry in ledger.entries] == list(ledger.runs)
    assert [item.directory for item in ledger.unread] == [str(project / "broken")]
    assert "not a database" in ledger.unread[0].reason


def test_neighbours_are_read_as_far_as_they_are_of_interest(project, toy_plan, paced):
    assert [Path(entry.directory).name for entry in entries_beside(project / "new", {"random"})] == ["b"]
    assert entries_beside(project / "b", {"random"}) == ()
    assert entries_beside(project / "new", {"const"}) == ()
    assert entries_beside(project / "empty" / "new", {"random"}) == ()


def test_a_plan_adds_the_entries_that_its_run_will_have(tmp_path, toy_plan, paced):
    plan = toy_plan(paced("Learner"), "random", seeds=(0, 1), episodes=2, frames=100)
    foreseen = list(ledger_entries(plan, tmp_path / "run"))
    execute(plan, tmp_path / "run", workers=1, command="now")
    found = [dataclasses.replace(entry, begun="", commands=()) for entry in entries_of(read_run(tmp_path / "run"))]
    assert foreseen == found
    assert [entry.setting for entry in foreseen] == [entry.setting for entry in found]


# Runs of an older layout are read as they are, and brought up to date when they are continued


FIRST = """
CREATE TABLE trial (
    id TEXT PRIMARY KEY, position INTEGER NOT NULL, agent TEXT NOT NULL, game TEXT NOT NULL, seed INTEGER NOT NULL,
    episodes INTEGER NOT NULL, training_frames INTEGER, learns INTEGER, frames_per_action INTEGER, error TEXT
);
CREATE TABLE episode (
    trial TEXT NOT NULL REFERENCES trial (id), phase TEXT NOT NULL CHECK (phase IN ('training', 'evaluation')),
    episode INTEGER NOT NULL, score REAL NOT NULL, frames INTEGER NOT NULL, steps INTEGER NOT NULL,
    end TEXT NOT NULL CHECK (end IN ('terminated', 'truncated')), wall_seconds REAL NOT NULL, actions BLOB NOT NULL,
    PRIMARY KEY (trial, phase, episode)
);
CREATE TABLE checkpoint (
    trial TEXT PRIMARY KEY REFERENCES trial (id), episodes INTEGER NOT NULL, frames INTEGER NOT NULL,
    finished INTEGER NOT NULL, data BLOB NOT NULL
);
INSERT INTO trial SELECT id, position, agent, game, seed, episodes, training_frames, learns, frames_per_action, error
    FROM new.trial;
INSERT INTO episode SELECT trial, phase, episode, score, frames, steps, end, wall_seconds, actions FROM new.episode;
INSERT INTO checkpoint SELECT trial, episodes, frames, finished, data FROM new.checkpoint;
PRAGMA application_id = 1095912779;
PRAGMA user_version = 1;
"""


def version(directory):
    with contextlib.closing(sqlite3.connect(directory / "run.sqlite")) as connection:
        return int(connection.execute("PRAGMA user_version").fetchone()[0])


def columns(directory):
    with contextlib.closing(sqlite3.connect(directory / "run.sqlite")) as connection:
        tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {name: {row[1] for row in connection.execute(f"PRAGMA table_info({name})")} for name in tables}


@pytest.fixture(params=[1, 2, 3])
def old(request, tmp_path, finished):
    """A finished run in an older layout."""
    directory = shutil.copytree(finished, tmp_path / "old")
    (directory / "run.sqlite").rename(tmp_path / "new.sqlite")
    with contextlib.closing(sqlite3.connect(directory / "run.sqlite", isolation_level=None)) as connection:
        connection.execute("ATTACH ? AS new", (str(tmp_path / "new.sqlite"),))
        connection.executescript(FIRST)
        for number in range(1, request.param):
            connection.executescript(f"{database.MIGRATIONS[number]} PRAGMA user_version = {number + 1}")
    return directory


def test_an_older_layout_is_read_and_left_alone(old, run):
    before = version(old), (old / "run.sqlite").read_bytes()
    there, same = read_run(old), read_run(run)
    assert [(trial.id, trial.status, trial.learns, trial.plans) for trial in there.trials] == [
        (trial.id, "done", trial.learns, None) for trial in same.trials
    ]
    assert [(row.trial_id, row.episode, row.score, row.simulated_frames) for row in there.episodes] == [
        (row.trial_id, row.episode, row.score, 0) for row in same.episodes
    ]
    first = there.episodes[0]
    assert len(read_actions(old, first.trial_id, first.episode, first.phase)) == first.steps
    assert verify(old, workers=1).ok
    assert (version(old), (old / "run.sqlite").read_bytes()) == before


def test_a_run_of_an_older_layout_is_merged_or_salvaged(old, run, rows, tmp_path):
    merge(tmp_path / "out", [old])
    assert salvage(old, tmp_path / "salvaged").problems == ()
    for directory in (tmp_path / "out", tmp_path / "salvaged"):
        assert rows(directory)["episode"] == rows(run)["episode"]


def test_what_can_be_read_of_a_damaged_run_of_an_older_layout_is_salvaged(old, rows, run, tmp_path):
    content = (old / "run.sqlite").read_bytes()
    (old / "run.sqlite").write_bytes(content[:-4096])
    with pytest.raises(ArcadeMarkError, match=r"run\.sqlite is damaged"):
        read_run(old)
    salvaged = salvage(old, tmp_path / "salvaged")
    assert salvaged.problems
    kept = rows(tmp_path / "salvaged")["episode"]
    assert kept
    assert set(kept) <= set(rows(run)["episode"])


STOPPED = """
import os, sys
from pathlib import Path
from arcademark.runs.store import recording

def stop(sql):
    if "evaluation" in sql:
        os._exit(9)

opened = recording._connect
recording._connect = lambda path: (database := opened(path)).set_trace_callback(stop) or database
recording.Recorder(Path(sys.argv[1]))
"""


def test_a_layout_is_brought_up_to_date_whole_or_not_at_all(old, run):
    before = version(old), read_run(old).episodes
    stopped = subprocess.run([sys.executable, "-c", STOPPED, old], check=False)
    assert stopped.returncode == 9
    assert (version(old), read_run(old).episodes) == before
    Recorder(old).close()
    assert columns(old) == columns(run)
    assert (version(old), read_run(old).episodes) == (database.SCHEMA_VERSION, before[1])


@pytest.mark.slow
def test_a_run_of_an_older_layout_is_continued(old, run, toy_plan, paced, rows, tmp_path):
    grown = toy_plan("random", paced("Learner"), episodes=5, frames=300)
    assert execute(grown, old, workers=1).complete
    assert execute(grown, tmp_path / "at once", workers=1).complete
    assert version(old) == database.SCHEMA_VERSION == 4
    assert columns(old) == columns(run)
    found, expected = rows(old), rows(tmp_path / "at once")
    assert found["episode"] == expected["episode"]
    assert found["checkpoint"] == expected["checkpoint"]
    assert [trial.plans for trial in read_run(old).trials] == [False, False]
