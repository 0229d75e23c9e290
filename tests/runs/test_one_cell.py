"""One value of a good run is changed: every reader says so, or shows what it showed before.

``ARCADEMARK_FUZZ=20000`` changes so many, ``ARCADEMARK_FUZZ_SEED`` others.
"""

import contextlib
import os
import random
import shutil
import sqlite3
import struct
from dataclasses import replace

import numpy as np
import pyarrow.parquet
import pytest
from unfinished import keep

import altering
from arcademark.agents.loading import agent_specs
from arcademark.analysis.runs import ledger, listing, status
from arcademark.analysis.scoring.analysis import analyse
from arcademark.errors import ArcadeMarkError
from arcademark.pages.render import json
from arcademark.records import imported
from arcademark.records.database import CHECKSUM, TABLES
from arcademark.records.ledger import read_ledger
from arcademark.records.reading import read_run
from arcademark.runs.execution import execute
from arcademark.runs.replay import parquet
from arcademark.runs.replay.verify import verify
from arcademark.runs.scheduling.lengths import shard
from arcademark.runs.store import importing
from arcademark.runs.store.entering import begin
from arcademark.runs.store.merging import merge
from arcademark.runs.store.recording import Recorder
from arcademark.runs.store.salvage import check
from arcademark.suite.protocols import protocol

pytestmark = pytest.mark.usefixtures("in_this_process")

INPUTS = int(os.environ.get("ARCADEMARK_FUZZ", "200"))
SEED = int(os.environ.get("ARCADEMARK_FUZZ_SEED", "0"))

PLAUSIBLE = {
    "agent": ["MuZero", "randon", "const(action=FIRE)"],
    "game": ["alien", "pong"],
    "seed": [0, 1, 2, 7],
    "phase": ["training", "evaluation"],
    "end": ["terminated", "truncated"],
    "error": ["it gave up", "its factory raised ValueError: no"],
    **dict.fromkeys(("learns", "plans", "finished"), (0, 1)),
    **dict.fromkeys(("score", "wall_seconds"), (0.0, 1.0, 21.0, 864.0, 1e6)),
    **dict.fromkeys(("frames", "steps", "episodes", "training_frames", "training_episodes"), (0, 1, 30, 300, 10**6)),
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory, toy_plan, paced):
    """Good runs by what they are: directories that are read together, and the plan that continues the first."""
    folder = tmp_path_factory.mktemp("good")
    short = {"max_frames_per_episode": 60}
    plan = toy_plan("random", paced("Learner"), seeds=(0, 1), episodes=2, frames=120, override=short)
    halves = [shard(plan, number, 2) for number in (1, 2)]
    for number, half in enumerate(halves):
        execute(half, folder / f"shard {number}", workers=1)
    merge(folder / "merged", [folder / "shard 0", folder / "shard 1"])
    begun = toy_plan("random", paced("Learner"), seeds=(0, 1, 2), episodes=3, frames=120, override=short)
    shutil.copytree(folder / "merged", folder / "begun")
    begin(begun, folder / "begun")
    altering.alter(folder / "begun", "UPDATE trial SET error = 'it raised' WHERE seed = 1 AND agent = 'random'")
    planner = agent_specs("uct", {"simulations": "4", "horizon_frames": "10"})
    planning = toy_plan("random", episodes=2, override=short)
    planning = replace(
        planning,
        agents=planner,
        trials=tuple(replace(trial, agent=planner[0]) for trial in planning.trials),
    )
    execute(planning, folder / "planning", workers=1)
    altering.alter(folder / "planning", "DELETE FROM evaluation", "DELETE FROM episode")
    keep(planning, folder / "planning")
    logs = imported.LoggedRows(np.array([1.0, 3.0]), np.array([40, 50]), np.array([10, 12]))
    rules = protocol("world-records").override({"reported_episodes": "training_last_k"})
    trials = [
        imported.ImportedTrial("PPO", "pong", seed, logs, imported.LoggedRows(*np.zeros((3, 0))), 2) for seed in (0, 1)
    ]
    source = {"formats": [], "files": {}, "averages": [], "assumed": [], "doubts": []}
    with Recorder(folder / "imported") as recorder:
        importing.write(recorder, trials, rules, source, {})
    return {
        "begun": (begun, folder / "begun"),
        "merged": (plan, folder / "merged"),
        "shards": (halves[0], folder / "shard 0", folder / "shard 1"),
        "planning": (planning, folder / "planning"),
        "imported": (plan, folder / "imported"),
    }


def readers(plan, directories, out):
    """Yield what shows something of runs, by name; `out` is an empty folder."""
    first = directories[0]

    def exported():
        parquet.export(directories, out / "episodes.parquet", actions=True)
        return pyarrow.parquet.read_table(out / "episodes.parquet").to_pylist()

    def merged():
        merge(out / "merged", directories)
        return read_run(out / "merged").episodes, exported_actions(out / "merged")

    def continued():
        shutil.copytree(first, out / "continued")
        execute(plan, out / "continued", workers=1)
        record = read_run(out / "continued")
        return [replace(episode, wall_seconds=0) for episode in record.episodes], record.trials

    yield "report", lambda: json.render(analyse(directories))
    yield "verify", lambda: verify(first, workers=1)
    yield "status", lambda: json.render(status.status(directories))
    yield "list", lambda: json.render(listing.list_runs(directories))
    yield "ledger", lambda: json.render(ledger.view(read_ledger(directories)))
    yield "export", exported
    yield "merge", merged
    yield "continue", continued
    yield "check", lambda: check(first).problems


def exported_actions(directory):
    with contextlib.closing(sqlite3.connect(directory / "run.sqlite")) as database:
        return database.execute("SELECT trial, phase, episode, actions FROM episode ORDER BY 1, 2, 3").fetchall()


def shown(plan, directories, folder):
    """Return by reader what it shows, or the error that it raises."""
    found = {}
    for name, read in readers(plan, directories, folder):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        try:
            found[name] = repr(read())
        except ArcadeMarkError as error:
            found[name] = error
    return found


def changed(value, others, column, rng):
    """Return another value in place of one: a bit flipped, a plausible one, nothing, or one of another type."""
    kind = rng.choice(["bit", "bit", "plausible", "plausible", "nothing", "type"])
    if kind == "plausible":
        return rng.choice([*others, *PLAUSIBLE.get(column, ())])
    if kind == "nothing" or value is None:
        return None if kind == "nothing" else rng.choice([0, 1, 120, "x"])
    if kind == "type":
        return rng.choice([str(value), f"{value}x".encode(), 0.5, 3])
    content = struct.pack("<d", value) if isinstance(value, float) else value
    if isinstance(value, int):
        return value ^ 1 << rng.randrange(63)
    content = bytearray(content.encode() if isinstance(content, str) else content)
    if content:
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    if isinstance(value, float):
        return struct.unpack("<d", content)[0]
    return bytes(content)


def change(directory, rng):
    """Change one cell; return in words what, None where nothing came of it."""
    with altering.database(directory, renewed=False) as database:
        tables = [name for name in TABLES if database.execute(f"SELECT 1 FROM {name}").fetchone()]
        table = rng.choice(tables)
        column = rng.choice([*TABLES[table], CHECKSUM])
        cells = database.execute(f"SELECT rowid, {column}, typeof({column}) FROM {table}").fetchall()
        row, before, type_before = rng.choice(cells)
        value = changed(before, [other for _, other, _ in cells], column, rng)
        new = "CAST(? AS TEXT)" if isinstance(before, str) and isinstance(value, bytes) else "?"
        try:
            database.execute(f"UPDATE {table} SET {column} = {new} WHERE rowid = ?", (value, row))
        except (sqlite3.IntegrityError, OverflowError):
            return None
        query = f"SELECT {column} IS ?, typeof({column}) FROM {table} WHERE rowid = ?"
        same, type_after = database.execute(query, (before, row)).fetchone()
        if same and type_before == type_after:
            return None
        return f"row {row} of {table}: {column} is {str(value)[:60]!r} in place of {str(before)[:60]!r}"


def missed(plan, directories, folder, rng, before):
    """Change a cell of a copy; return what was changed, and the readers that show something else and say nothing."""
    copies = [shutil.copytree(directory, folder / directory.name) for directory in directories]
    done = None
    while done is None:
        done = change(copies[0], rng)
    silent = []
    for name, now in shown(plan, copies, folder / "out").items():
        if isinstance(now, ArcadeMarkError):
            assert str(now).isprintable()
            continue
        was = before[name].replace(str(directories[0].parent), str(folder)) if isinstance(before[name], str) else ""
        told = {
            "check": now != "()",
            "verify": "outcome='unverifiable'" in now,
            **dict.fromkeys(("list", "ledger", "status"), "is damaged" in now),
        }.get(name, False)
        silent += [] if told or now == was else [(name, was, now)]
    shutil.rmtree(folder)
    return done, silent


@pytest.mark.slow
def test_one_cell_is_told_by_every_reader_or_changes_nothing_that_is_shown(runs, tmp_path):
    """A run's checksums are not renewed here: who renews them too is found out by `verify` alone."""
    before = {name: shown(plan, directories, tmp_path / "out") for name, (plan, *directories) in runs.items()}
    for name in runs:
        assert before[name]["check"] == "()"
    assert "imported from logs" in str(before["imported"]["verify"])
    for number in range(INPUTS):
        rng = random.Random(f"{SEED} {number}")
        name = rng.choice(sorted(runs))
        plan, *directories = runs[name]
        done, silent = missed(plan, directories, tmp_path / "changed", rng, before[name])
        assert not silent, f"input {number}, {name}: {done}: {silent[0]}"


UNPLANNED = {
    "UPDATE trial SET agent = 'MuZero'": "it has no agent 'MuZero'",
    "UPDATE trial SET agent = 'randon' WHERE agent = 'random' AND seed = 1": "it has no agent 'randon'",
    "UPDATE trial SET agent = 'random' WHERE seed = 1": "the trial's id should be random-toy-s1-",
    "UPDATE trial SET game = 'alien' WHERE seed = 1": "it has no game 'alien'",
    "UPDATE trial SET seed = 9 WHERE seed = 1": "it has no seed 9",
    "UPDATE trial SET episodes = 7": "the trial has 7 episodes, more than 2",
    "UPDATE trial SET training_frames = 121 WHERE learns": "the trial trains for 121 frames, not for 120 frames",
}


@pytest.mark.parametrize("renewed", [True, False], ids=["summed anew", "of an older layout"])
@pytest.mark.parametrize("statement", UNPLANNED)
def test_a_row_that_is_not_of_the_manifests_plan_is_damage(runs, tmp_path, statement, renewed):
    plan, good = runs["merged"]
    directory = shutil.copytree(good, tmp_path / "run")
    if not renewed:
        altering.alter(directory, *(f"UPDATE {table} SET {CHECKSUM} = NULL" for table in TABLES), renewed=False)
        assert check(directory).problems == ()
    altering.alter(directory, statement, renewed=renewed)
    for name, found in shown(plan, [directory], tmp_path / "out").items():
        told = found.replace("\\'", "'") if isinstance(found, str) else str(found)
        assert "is not part of the plan in manifest.json: " + UNPLANNED[statement] in told, name


def test_a_trial_that_is_gone_with_all_its_rows_is_missed(runs, tmp_path):
    plan, good = runs["merged"]
    directory = shutil.copytree(good, tmp_path / "run")
    gone = "IN (SELECT id FROM trial WHERE position = 1)"
    rows = [f"DELETE FROM {table} WHERE trial {gone}" for table in TABLES if table != "trial"]
    altering.alter(directory, *rows, f"DELETE FROM trial WHERE id {gone}")
    for name, found in shown(plan, [directory], tmp_path / "out").items():
        assert "a trial is missing or recorded twice" in str(found), name


def test_status_counts_no_episode_that_was_not_asked_for(runs, tmp_path):
    directory = shutil.copytree(runs["merged"][1], tmp_path / "run")
    altering.alter(
        directory, "UPDATE episode SET episode = 77 WHERE phase = 'evaluation' AND episode = 1", renewed=False
    )
    (unread,) = status.status([directory]).unread
    assert "has 2 evaluation episodes, but 1 by the requested numbers" in unread.reason


@pytest.mark.parametrize(
    ("table", "statement"),
    [
        ("trial", "UPDATE trial SET agent = 'MuZero'"),
        ("episode", "UPDATE episode SET steps = steps + 2 WHERE episode = 1"),
        ("episode", "UPDATE episode SET score = score + 1 WHERE episode = 1"),
        ("checkpoint", "UPDATE checkpoint SET frames = frames + 1"),
        ("evaluation", "UPDATE evaluation SET begun = '2020-01-01T00:00:00+00:00'"),
    ],
)
def test_a_value_that_was_not_recorded_is_named_by_row_and_table(runs, tmp_path, table, statement):
    plan, good = runs["merged"]
    directory = shutil.copytree(good, tmp_path / "run")
    altering.alter(directory, statement, renewed=False)
    for name, found in shown(plan, [directory], tmp_path / "out").items():
        if (name, table) != ("status", "episode"):  # it shows none of their values
            assert f"of table {table} has a checksum that does not match its values: one" in str(found), name
