"""A run directory of somebody else's: whatever lies in it, it is refused in one line or does no harm."""

import contextlib
import os
import pickle
import socket
import sqlite3
import struct
import tracemalloc
import zlib
from dataclasses import replace
from pathlib import Path

import pytest
from unfinished import keep

import altering
from altering import alter
from arcademark import files
from arcademark.agents.loading import agent_specs
from arcademark.errors import ArcadeMarkError, ArcadeMarkWarning
from arcademark.records import database
from arcademark.records.ledger import read_ledger
from arcademark.records.model import Unfinished, encode_actions
from arcademark.records.reading import read_actions, read_run
from arcademark.runs.execution import execute
from arcademark.runs.plan import make_plan
from arcademark.runs.playing import planning
from arcademark.runs.replay.verify import verify
from arcademark.runs.store import seal
from arcademark.runs.store.recording import Recorder

pytestmark = pytest.mark.usefixtures("in_this_process")

FILES = ("manifest.json", "run.sqlite")
TABLES = ("trial", "episode", "checkpoint", "unfinished", "evaluation")
NAMING = ("episode", "checkpoint", "evaluation")  # that name trials


@pytest.fixture
def plan(toy_plan, paced):
    return toy_plan("random", paced("Learner"), frames=300)


def refused(directory, plan, match, *, writing=True):
    """Check that no one reads or continues the run, and that each is told why in one line."""
    before = {
        path.name: path.read_bytes() for path in directory.iterdir() if path.is_file() and path.name != "run.lock"
    }
    uses = (read_run, verify, lambda path: execute(plan, path, workers=1))
    for use in uses if writing else uses[:2]:
        with pytest.raises(ArcadeMarkError, match=match) as error:
            use(directory)
        assert "\n" not in str(error.value)
    after = {path.name: path.read_bytes() for path in directory.iterdir() if path.is_file() and path.name != "run.lock"}
    assert after == before


def reason(use, directory):
    """Return why the run cannot be used, "" if it can; anything but one clear line fails."""
    try:
        use(directory)
    except ArcadeMarkError as error:
        return ("\n" not in str(error) and str(error)) or pytest.fail("more than one line")
    return ""


# What is refused


def sql(*statements):
    return lambda run: alter(run, *statements)


def content(name, change):
    def spoil(run):
        before = (run / name).read_bytes()
        (run / name).write_bytes(change(before))
        assert (run / name).read_bytes() != before

    return spoil


def fields(**changes):
    """Change fields of a manifest; `settings` are those of its protocol."""

    def spoil(run):
        with altering.manifest(run) as document:
            document["protocol"]["settings"] |= changes.pop("settings", {})
            document |= changes

    return spoil


def bind(path):
    with contextlib.closing(socket.socket(socket.AF_UNIX)) as server, contextlib.chdir(path.parent):
        server.bind(path.name)  # the name of a socket is short


KINDS = {
    "pipe": os.mkfifo,
    "socket": bind,
    "folder": Path.mkdir,
    "link to itself": lambda path: path.symlink_to(path),
    "link to a device": lambda path: path.symlink_to("/dev/zero"),
}


def special(name, kind):
    """Put what is no file in a file's place."""

    def spoil(run):
        (run / name).unlink(missing_ok=True)
        KINDS[kind](run / name)

    return spoil


RECURSIVE = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n)"
COLUMNS = ", ".join([*(name for name in database.TABLES["trial"] if name not in ("id", "seed")), database.CHECKSUM])


def laid_out(declared, copied):
    """Lay the table of trials out otherwise."""
    return [
        "ALTER TABLE trial RENAME TO old",
        f"CREATE TABLE trial ({declared}, {COLUMNS})",
        f"INSERT INTO trial ({copied}, {COLUMNS}) SELECT {copied}, {COLUMNS} FROM old",
        "DROP TABLE old",
    ]


LAST = "(SELECT id FROM trial WHERE position = 1)"
LAID_OUT = {
    **{
        f"a {kind}": (statements, rf"run\.sqlite has the {kind} '.*', which no run has")
        for kind, *statements in (
            ("view", "DROP TABLE unfinished", f"CREATE VIEW unfinished AS {RECURSIVE} SELECT 'a' AS trial, x FROM n"),
            ("trigger", "CREATE TRIGGER t AFTER UPDATE ON trial BEGIN DELETE FROM episode; END"),
            ("index", "CREATE INDEX i ON episode (abs(score))"),
            ("table", "CREATE VIRTUAL TABLE other USING fts4(a)"),
        )
    },
    **{
        column: (laid_out(f"id TEXT PRIMARY KEY, {column}", "id"), r"table trial does not have|is damaged")
        for column in (
            "seed INTEGER GENERATED ALWAYS AS (length(zeroblob(900000000)))",
            "seed INTEGER NOT NULL DEFAULT (length(zeroblob(900000000)))",
            "seeds INTEGER",
        )
    },
    **{
        f"a trial {name}": (
            (
                *(f"UPDATE {table} SET trial = '{name}' WHERE trial = {LAST}" for table in NAMING),
                f"UPDATE trial SET id = '{name}' WHERE position = 1",
            ),
            "is damaged",
        )
        for name in ("../../elsewhere", "/elsewhere", ".", "a b")
    },
    **{
        f"version {version}": (
            (f"PRAGMA user_version = {version}",),
            rf"run\.sqlite is damaged: its schema is {version}",
        )
        for version in (-1, 0, -(2**31))
    },
    "names that are alike": (
        [*laid_out("id TEXT COLLATE NOCASE PRIMARY KEY, seed", "id, seed"), "UPDATE episode SET trial = upper(trial)"],
        "has a trial of the wrong type or range",
    ),
    "a newer version": (("PRAGMA user_version = 99",), "newer ArcadeMark"),
    "another program's": (("PRAGMA application_id = 7",), "another program"),
}
DAMAGED = r"run\.sqlite is damaged"
REFUSED = {
    **{name: (sql(*statements), match) for name, (statements, match) in LAID_OUT.items()},
    "no database": (content("run.sqlite", lambda _: b"not a database" * 1000), DAMAGED),
    "pages overwritten": (content("run.sqlite", lambda there: there[:4096] + b"\xa5" * (len(there) - 4096)), DAMAGED),
    "cut short": (content("run.sqlite", lambda there: there[: len(there) // 2]), DAMAGED),
    "a layout whose text is none": (
        content("run.sqlite", lambda there: there.replace(b"wall_seconds REAL", b"\xffall_seconds REAL")),
        DAMAGED,
    ),
    **{
        f"a {kind} as {name}": (special(name, kind), r"is a |is no|cannot be read|cannot read|missing|not a run")
        for kind in KINDS
        for name in ("manifest.json", "run.sqlite", "run.sqlite-wal", "run.sqlite-journal")
    },
    **{
        match: (fields(**changes), rf"manifest\.json.*{match}")
        for changes, match in (
            ({"schema": 0}, "no 'schema'"),
            ({"schema": 10**30}, "newer ArcadeMark"),
            ({"agents": [{"label": 3}]}, r"\$\.agents\[0\]\.label`"),
            ({"seeds": ["0"]}, r"\$\.seeds\[0\]`"),
            ({"episodes": True}, r"got `bool` - at `\$\.episodes`"),
            ({"episodes": 2**63 - 1}, r"\$\.episodes`"),
            ({"continued": [{"command": "x"}]}, r"`started` - at `\$\.continued\[0\]`"),
            ({"protocol": {"name": "x"}}, r"`title` - at `\$\.protocol`"),
        )
    },
    **{
        text[:40]: (content("manifest.json", lambda _, text=text: text.encode()), r"manifest\.json")
        for text in (
            *('{"schema": ' + "9" * 5000 + "}", '{"schema": 1e400}', "[" * 100_000, '{"schema": 1, "schema": 1}'),
            *('{"schema": 1, "protocol": ' + "[" * 900 + "]" * 900 + "}", '{"schema": 1', "\0"),
        )
    },
}


@pytest.mark.parametrize(("spoil", "match"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_run_is_refused_and_left_alone(run, plan, spoil, match):
    spoil(run)
    refused(run, plan, match)


@pytest.mark.parametrize("setting", ["frame_skip", "frame_stack", "mode", "max_frames_per_episode"])
def test_a_setting_that_is_none_is_refused(run, plan, setting):
    fields(settings={setting: 2**70})(run)
    refused(run, plan, rf"damaged \(.*{setting}=\d+: expected a whole number from", writing=False)


def test_a_run_is_not_continued_where_a_key_is_missing(run, plan):
    alter(run, "CREATE TABLE t AS SELECT * FROM episode", "DROP TABLE episode", "ALTER TABLE t RENAME TO episode")
    with pytest.raises(ArcadeMarkError, match="table episode does not have"):
        execute(plan, run, workers=1)


def test_reading_is_given_up_where_it_takes_longer_than_the_size_tells(run, monkeypatch):
    monkeypatch.setattr(database, "PATIENCE_SECONDS", -1e6)
    monkeypatch.setattr(database, "_OPCODES", 10)
    with pytest.raises(ArcadeMarkError, match="takes too long to read"):
        read_run(run)


# What the rows hold


WRONG = ("'text'", "''", "x'00ff'", "-1", "0.5", "1e300", "-1e300", "NULL", f"{2**63 - 1}", f"-{2**63}")


@pytest.mark.parametrize("table", TABLES)
def test_every_column_holds_what_belongs_there(run, table):
    """Whatever a reader or the writer meets is refused in one line, or taken."""
    if table == "unfinished":
        trial = read_run(run).trials[0].id
        alter(run, "DELETE FROM episode WHERE episode = 2 AND phase = 'evaluation'")
        with Recorder(run) as recorder, recorder.transaction():
            recorder.keep_episode(trial, Unfinished(2, 4, 4, 0.5, "{}", encode_actions([1]), b"x"))
    sound = (run / "run.sqlite").read_bytes()
    damaged = 0
    for column in database.TABLES[table]:
        for value in WRONG:
            (run / "run.sqlite").write_bytes(sound)
            with contextlib.suppress(sqlite3.IntegrityError):
                alter(run, f"UPDATE {table} SET {column} = {value}")
            for use in (read_run, lambda path: Recorder(path).close()):
                damaged += "is damaged" in reason(use, run)
    assert damaged > 10


@pytest.mark.slow
def test_actions_inflate_to_no_more_than_the_steps_recorded(run):
    trial = read_run(run).trials[0].id
    bomb = b"\x01" + zlib.compress(bytes(300_000_000))
    alter(run, "UPDATE episode SET actions = ? WHERE episode = 1", values=(bomb,))
    tracemalloc.start()
    with pytest.raises(ArcadeMarkError, match=r"actions are damaged .*inflates to more than"):
        read_actions(run, trial, 1)
    assert tracemalloc.get_traced_memory()[1] < 20_000_000
    tracemalloc.stop()
    problems = verify(run, workers=1).problems
    assert [(finding.episode, finding.outcome) for finding in problems] == [(1, "unverifiable")] * len(problems)
    alter(run, "UPDATE episode SET steps = 1000000000000000 WHERE episode = 1")
    with pytest.raises(ArcadeMarkError, match="at most 10,000,000 are read"):
        read_actions(run, trial, 1)


@pytest.mark.parametrize("number", [10**7, 2**40 - 1])
def test_made_up_numbers_of_training_episodes_are_not_counted_up_to(run, number):
    alter(run, f"UPDATE episode SET episode = {number} WHERE episode = 1 AND phase = 'training'")
    found = verify(run, workers=1)
    assert 1 <= sum(one.detail == "is not recorded, though training continued" for one in found.problems) <= 1000


# Files that are none


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["run.lock", "manifest.json.draft"])
def test_only_files_are_written(run, plan, name, kind):
    special(name, kind)(run)
    with contextlib.suppress(ArcadeMarkError):
        execute(plan, run, workers=1)
    assert len(read_run(run).episodes) > 3
    assert (run / "manifest.json").is_file()


@pytest.mark.parametrize(
    "name", ["run.lock", "manifest.json.draft", "run.sqlite", "run.sqlite-wal", "run.sqlite-shm", "run.sqlite-journal"]
)
def test_no_link_leads_to_another_file_being_written(run, plan, name, tmp_path):
    precious = tmp_path / "precious"
    precious.write_text("mine")
    (run / name).unlink(missing_ok=True)
    (run / name).symlink_to(precious)
    with contextlib.suppress(ArcadeMarkError):
        execute(plan, run, workers=1)
    with contextlib.suppress(ArcadeMarkError):
        read_run(run)
    assert precious.read_text() == "mine"


def test_a_lock_that_holds_more_than_a_number_is_left_alone(run, plan):
    (run / "run.lock").write_text("all that I wrote since spring\n" * 9)
    with pytest.raises(ArcadeMarkError, match=r"run\.lock: is not the lock of a run"):
        execute(plan, run, workers=1)
    assert (run / "run.lock").read_text() == "all that I wrote since spring\n" * 9


def test_no_journal_has_another_file_deleted(run, plan, tmp_path):
    """A rollback journal may name a file that sqlite deletes once it has undone what the journal holds."""
    precious = tmp_path / "precious"
    precious.write_text("mine")
    content = (run / "run.sqlite").read_bytes()
    (size,) = struct.unpack(">H", content[16:18])
    magic, page = bytes.fromhex("d9d505f920a163d7"), content[size : 2 * size]
    checksum = 7 + sum(page[i] for i in range(size - 200, 0, -200))
    header = magic + struct.pack(">IIIII", 1, 7, len(content) // size, 512, size)
    name = bytes(precious)
    journal = header.ljust(512, b"\0") + struct.pack(">I", 2) + page + struct.pack(">I", checksum)
    journal += struct.pack(">I", 0x40000000 // size + 1) + name + struct.pack(">II", len(name), sum(name)) + magic
    (run / "run.sqlite-journal").write_bytes(journal)
    refused(run, plan, "belongs to more than one database")
    assert precious.read_text() == "mine"


def test_runs_are_read_through_links(run, tmp_path):
    linked = tmp_path / "linked"
    linked.mkdir()
    for name in FILES:
        (linked / name).symlink_to(run / name)
    assert read_run(linked).episodes == read_run(run).episodes


def test_a_folder_that_links_to_everything_is_searched_all_the_same(run, tmp_path):
    (tmp_path / "proc").symlink_to("/proc")
    (tmp_path / "itself").symlink_to(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    assert str(run) in read_ledger([tmp_path]).runs


# Unfinished episodes in a run directory of somebody else's: they are gone on with by who kept them alone


@pytest.fixture
def planned(tmp_path, monkeypatch):
    """A planner's run with an unfinished episode, its plan, and what it is when it was never disturbed."""
    monkeypatch.setattr(planning, "MAX_TIME_SHARE", float("inf"))
    return make_plan(agent_specs("best-path", {"frames_per_decision": "40"}), ["toy"], episodes=2)


class Bomb:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


def test_only_what_this_user_kept_is_gone_on_with(tmp_path, planned, rows, monkeypatch):
    execute(planned, tmp_path / "run", workers=1)
    kept = keep(planned, tmp_path / "run", frames=20)
    (trial,) = planned.trials
    before = rows(tmp_path / "run")["unfinished"]
    with Recorder(tmp_path / "run") as recorder:
        assert recorder.unfinished(trial.id, [0]) == (kept,)
    monkeypatch.setenv("ARCADEMARK_CACHE", str(tmp_path / "somebody else"))
    with Recorder(tmp_path / "run") as recorder:
        assert recorder.unfinished(trial.id, [0]) == ()
    assert rows(tmp_path / "run")["unfinished"] == before
    events = []
    assert execute(planned, tmp_path / "run", workers=1, on_event=events.append).complete
    assert events[0].episodes_begun == 0
    assert execute(planned, tmp_path / "undisturbed", workers=1).complete
    assert rows(tmp_path / "run") == rows(tmp_path / "undisturbed")


def test_a_seal_is_of_all_that_is_kept():
    kept = Unfinished(0, 4, 8, 0.5, "{}", b"actions", b"kept")
    stored = seal.sealed("trial", "console 1", kept)
    assert seal.unsealed("trial", "console 1", stored) == kept
    assert seal.unsealed("another", "console 1", stored) is None
    assert seal.unsealed("trial", "console 2", stored) is None
    for other in ({"episode": 1}, {"frames": 5}, {"generator": "{} "}, {"actions": b"actions\0"}):
        assert seal.unsealed("trial", "console 1", replace(stored, **other)) is None
    for place in range(len(stored.checkpoint)):
        changed = bytearray(stored.checkpoint)
        changed[place] ^= 1
        assert seal.unsealed("trial", "console 1", replace(stored, checkpoint=bytes(changed))) is None


def test_a_pickle_in_a_store_is_never_opened(tmp_path, planned, rows):
    execute(planned, tmp_path / "run", workers=1)
    keep(planned, tmp_path / "run", frames=20)
    for bomb in (pickle.dumps(Bomb(tmp_path / "ran")), bytes(32) + pickle.dumps(Bomb(tmp_path / "ran"))):
        with Recorder(tmp_path / "run") as recorder, recorder.transaction():
            recorder.database.execute("UPDATE unfinished SET checkpoint = ?", (bomb,))
    assert execute(planned, tmp_path / "run", workers=1).complete
    assert not (tmp_path / "ran").exists()
    assert execute(planned, tmp_path / "undisturbed", workers=1).complete
    assert rows(tmp_path / "run") == rows(tmp_path / "undisturbed")


def test_the_key_is_the_users_alone(tmp_path, monkeypatch):
    monkeypatch.setenv("ARCADEMARK_CACHE", str(tmp_path / "cache"))
    kept = Unfinished(0, 4, 4, 0.5, "{}", b"", b"x")
    stored = seal.sealed("a", "", kept)
    (key,) = (tmp_path / "cache").iterdir()
    assert (len(key.read_bytes()), key.stat().st_mode & 0o777) == (32, 0o600)
    seal._key.cache_clear()
    assert seal.unsealed("a", "", stored) == kept
    key.write_bytes(b"")
    seal._key.cache_clear()
    assert seal.unsealed("a", "", stored) is None
    assert len(key.read_bytes()) == 32
    (tmp_path / "file").touch()
    monkeypatch.setenv("ARCADEMARK_CACHE", str(tmp_path / "file"))
    assert seal.unsealed("a", "", seal.sealed("a", "", kept)) == kept


@pytest.mark.parametrize("mode", [0o777, 0o770])
def test_no_key_is_taken_from_a_folder_that_others_can_write_to(tmp_path, monkeypatch, mode):
    cache = tmp_path / "cache"
    cache.mkdir()
    (cache / "seal.key").write_bytes(bytes(32))
    (cache / "seal.key").chmod(0o600)
    cache.chmod(mode)
    monkeypatch.setenv("ARCADEMARK_CACHE", str(cache))
    monkeypatch.setattr(files, "_own_group", lambda: None)
    with pytest.warns(ArcadeMarkWarning, match="others can write"):
        assert seal._key(files.cache_folder()) != bytes(32)
    assert (cache / "seal.key").read_bytes() == bytes(32)


def test_a_key_that_others_could_read_is_replaced(tmp_path, monkeypatch):
    (tmp_path / "seal.key").write_bytes(bytes(32))
    (tmp_path / "seal.key").chmod(0o644)
    assert seal._key(tmp_path) != bytes(32)
    assert (tmp_path / "seal.key").stat().st_mode & 0o777 == 0o600
