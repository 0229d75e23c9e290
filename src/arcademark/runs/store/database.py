"""A run's SQLite file: its layout, what older layouts lack, and how it is opened.

Views stand for what an older layout lacks; it is brought up to date when the run is continued.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import sqlite3
import stat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from arcademark.errors import ArcadeMarkError, one_line
from arcademark.runs.store.checks import (
    DATABASE,
    RESTORE,
    check_files,
    check_pages,
    check_rows,
    check_schema,
    damaged,
    guard,
)

LOCK = "run.lock"
BUSY_SECONDS = 10.0  # how long to wait for another program that locks the database

APPLICATION_ID = 0x41524D4B  # "ARMK", so that another program's database is told apart
SCHEMA_VERSION = 3
UNFINISHED = """
-- An evaluation episode of a planner that is in play, so that a run that was killed goes on within it. Written every
-- few seconds, gone once the episode is recorded.
CREATE TABLE unfinished (
    trial             TEXT NOT NULL REFERENCES trial (id),
    episode           INTEGER NOT NULL,
    frames            INTEGER NOT NULL,   -- emulated frames so far, no-op start included
    simulated_frames  INTEGER NOT NULL,   -- emulated while planning, so far
    wall_seconds      REAL NOT NULL,      -- so far
    generator         TEXT NOT NULL,      -- the state of the agent's generator, JSON
    actions           BLOB NOT NULL,      -- so far; see encode_actions
    checkpoint        BLOB NOT NULL,      -- a seal (see seal.py), then what the planner's checkpoint() gave
    PRIMARY KEY (trial, episode)
);
"""
EVALUATION = """
-- When a trial was evaluated: a row for each command that recorded episodes of its score. What was evaluated, and how,
-- stands in the trial and in the manifest; together they are the ledger (arcademark.runs.store.ledger).
CREATE TABLE evaluation (
    trial             TEXT NOT NULL REFERENCES trial (id),
    command           INTEGER NOT NULL,   -- 0 began the run, n continued it for the nth time; see the manifest
    begun             TEXT NOT NULL,      -- when the first was recorded, ISO 8601 with the zone
    episodes          INTEGER NOT NULL,   -- how many
    PRIMARY KEY (trial, command)
);
"""
SCHEMA = f"""
-- A trial is an agent with its parameters, a game, the run's protocol and a seed. Whether it is done is not stored: it
-- follows from its rows, so that no crash can make the two disagree.
CREATE TABLE trial (
    id                TEXT PRIMARY KEY,   -- "random-pong-s0-1a2b3c4d", see runs/plan.py
    position          INTEGER NOT NULL,   -- its place in the plan, from 0
    agent             TEXT NOT NULL,      -- the agent's label, "const(action=FIRE)"; the manifest says what loads it
    game              TEXT NOT NULL,      -- the task's id, "pong"
    seed              INTEGER NOT NULL,
    episodes          INTEGER NOT NULL,   -- evaluation episodes asked for
    training_frames   INTEGER,            -- a learner's budget in frames; NULL if it has none or does not learn
    training_episodes INTEGER,            -- the same in episodes; NULL, too, in a layout that had no such column
    learns            INTEGER,            -- 0 or 1; NULL until the agent was made for the first time
    plans             INTEGER,            -- the same; 1 for a planner
    frames_per_action INTEGER,            -- asked for by the agent instead of the protocol's frame_skip; NULL if not
    error             TEXT                -- why the trial failed, one line; NULL if it did not
);

-- An episode that came to its end. Committed when it ends (a learner's training episodes: with the next checkpoint).
CREATE TABLE episode (
    trial             TEXT NOT NULL REFERENCES trial (id),
    phase             TEXT NOT NULL CHECK (phase IN ('training', 'evaluation')),
    episode           INTEGER NOT NULL,   -- from 0 in each phase; with the seed it fixes every random draw
    score             REAL NOT NULL,      -- undiscounted sum of raw rewards
    frames            INTEGER NOT NULL,   -- emulated frames, no-op start included
    steps             INTEGER NOT NULL,   -- actions
    end               TEXT NOT NULL CHECK (end IN ('terminated', 'truncated')),
    simulated_frames  INTEGER NOT NULL DEFAULT 0, -- emulated by a planner's model to choose the actions
    wall_seconds      REAL NOT NULL,      -- the only column that differs when a trial is played again
    actions           BLOB NOT NULL,      -- see encode_actions; last, so that reading the others does not fetch it
    PRIMARY KEY (trial, phase, episode)
);

-- The last checkpoint of a learner, written together with the training episodes that led to it.
CREATE TABLE checkpoint (
    trial             TEXT PRIMARY KEY REFERENCES trial (id),
    episodes          INTEGER NOT NULL,   -- training episodes behind it
    frames            INTEGER NOT NULL,   -- training frames behind it
    finished          INTEGER NOT NULL,   -- 1 once the training budget is spent
    data              BLOB NOT NULL       -- what the learner's checkpoint() gave
);
{UNFINISHED}
{EVALUATION}
"""

MIGRATIONS: Mapping[int, str] = {
    1: f"""
ALTER TABLE trial ADD COLUMN plans INTEGER;
ALTER TABLE episode ADD COLUMN simulated_frames INTEGER NOT NULL DEFAULT 0;
{UNFINISHED}
""",
    2: f"""
ALTER TABLE trial ADD COLUMN training_episodes INTEGER;
{EVALUATION}
""",
}
"""From each older layout to the next."""

_NEVER_TOLD = "CREATE TEMP VIEW evaluation AS SELECT NULL AS trial, 0 AS command, '' AS begun, 0 AS episodes WHERE 0"
_VIEWS: Mapping[int, Sequence[str]] = {
    1: (
        "CREATE TEMP VIEW trial AS SELECT *, NULL AS plans, NULL AS training_episodes FROM main.trial",
        "CREATE TEMP VIEW episode AS SELECT rowid, *, 0 AS simulated_frames FROM main.episode",
        "CREATE TEMP VIEW unfinished AS SELECT '' AS trial, 0 AS episode, 0 AS frames, 0 AS simulated_frames,"
        " 0 AS wall_seconds, '' AS generator, x'' AS actions, x'' AS checkpoint WHERE 0",
        _NEVER_TOLD,
    ),
    2: ("CREATE TEMP VIEW trial AS SELECT *, NULL AS training_episodes FROM main.trial", _NEVER_TOLD),
}
"""What shows a database of an older layout as one of this."""


@contextlib.contextmanager
def no_writer(directory: Path) -> Iterator[bool]:
    """Tell whether no process writes a run, and keep others from beginning to, as far as it has a lock to be read."""
    with contextlib.ExitStack() as stack:
        free = True
        with contextlib.suppress(OSError):
            file = os.open(directory / LOCK, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            stack.callback(os.close, file)
            if stat.S_ISREG(os.fstat(file).st_mode):
                try:
                    fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
                except BlockingIOError:
                    free = False
        yield free


@contextlib.contextmanager
def unplayed(directory: Path) -> Iterator[None]:
    """Refuse a run that a process is writing, and keep others from beginning to."""
    with no_writer(directory) as free:
        if not free:
            raise ArcadeMarkError(f"{directory}: is being played; wait for it, or stop it")
        yield


@contextlib.contextmanager
def open_for_reading(
    directory: Path, *, checked: bool = True, keys: bool = False, damaged: bool = False
) -> Iterator[sqlite3.Connection]:
    """Open a run's database in one read transaction; sqlite's errors become clear ones.

    `checked`: whether each page is checked first, and each row but those of episodes, which
    `arcademark.runs.store.rows`
    reads; as is right for whoever reads more than a few. `keys` is as of `check_schema`. `damaged`: whether to open one
    whose end is missing, too.
    """
    path = directory / DATABASE
    with clear_errors(directory):
        check_files(path, follow=True)
    if not path.is_file():
        raise ArcadeMarkError(f"{directory}: nothing was recorded yet ({DATABASE} is missing); run it first")
    # A finished run may lie on a medium that cannot be written, where sqlite needs to be told that nobody writes.
    frozen = not os.access(directory, os.W_OK) and not path.with_name(f"{DATABASE}-wal").exists()
    uri = f"{path.resolve().as_uri()}?mode=ro{'&immutable=1' if frozen else ''}"
    opened = sqlite3.connect(uri, uri=True, timeout=BUSY_SECONDS, isolation_level=None)
    with clear_errors(directory), contextlib.closing(opened) as database:
        guard(database, path)
        if damaged:
            database.execute("PRAGMA writable_schema = ON")
        database.execute("BEGIN")
        version = check_version(directory, database)
        check_schema(directory, database, version, keys=keys)
        if checked:
            check_pages(directory, database)
            check_rows(directory, database, version)
        for view in _VIEWS.get(version, ()):
            database.execute(view)
        yield database


def check_version(directory: Path, database: sqlite3.Connection) -> int:
    """Refuse a database of another program or of a newer schema; return the version of its schema."""
    application = database.execute("PRAGMA application_id").fetchone()[0]
    version = database.execute("PRAGMA user_version").fetchone()[0]
    if application != APPLICATION_ID:
        empty = not database.execute("SELECT 1 FROM sqlite_master").fetchone()
        reason = "holds nothing yet; run it first" if empty else "belongs to another program; choose another directory"
        raise ArcadeMarkError(f"{directory}: {DATABASE} {reason}")
    if version > SCHEMA_VERSION:
        raise ArcadeMarkError(
            f"{directory}: written by a newer ArcadeMark (schema {version}, this one reads up to {SCHEMA_VERSION});"
            " install the newer version"
        )
    if version < 1:
        raise damaged(directory, f"its schema is {version}")
    return int(version)


def lay_out(directory: Path, database: sqlite3.Connection) -> None:
    """Lay the schema in an empty database, and bring an older one up to date; all of it or nothing."""
    if not database.execute("SELECT 1 FROM sqlite_master").fetchone():
        steps = [f"{SCHEMA} PRAGMA application_id = {APPLICATION_ID};"]
    else:
        steps = [MIGRATIONS[version] for version in range(check_version(directory, database), SCHEMA_VERSION)]
    if steps:
        script = "\n".join(steps)
        database.executescript(f"BEGIN IMMEDIATE; {script} PRAGMA user_version = {SCHEMA_VERSION}; COMMIT")


@contextlib.contextmanager
def clear_errors(directory: Path) -> Iterator[None]:
    """Turn sqlite's and the file system's errors into one clear line."""
    try:
        yield
    except sqlite3.IntegrityError as error:
        raise ArcadeMarkError(
            f"{directory}: what was to be recorded contradicts what {DATABASE} holds ({error}); was it changed? "
            "Restore it from a copy, or play the run in another directory"
        ) from None
    except (UnicodeError, OverflowError) as error:
        raise damaged(directory, f"it holds text or a number that is not valid ({one_line(str(error))})") from None
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF  # Python's own are of what it read
        told = _EXPLANATIONS.get(code, f"cannot be read or written ({one_line(str(error))}); check the disk")
        raise ArcadeMarkError(f"{directory}: {told}") from None
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        told = f"cannot be read or written ({error}); check the disk and its permissions"
        raise ArcadeMarkError(f"{directory}: {_FULL if full else told}") from None


_DAMAGED = f"{DATABASE} is damaged; {RESTORE}"
_FULL = "the disk is full; free some space and give the same command again: all that is recorded is kept"
_LOCKED = "its database is locked by another program; close that program and give the same command again"
_EXPLANATIONS: Mapping[int, str] = {
    sqlite3.SQLITE_BUSY: _LOCKED,
    sqlite3.SQLITE_LOCKED: _LOCKED,
    sqlite3.SQLITE_FULL: _FULL,
    sqlite3.SQLITE_NOTADB: f"{DATABASE} is damaged (not a database); {RESTORE}",
    sqlite3.SQLITE_CORRUPT: _DAMAGED,
    sqlite3.SQLITE_ERROR: _DAMAGED,
    sqlite3.SQLITE_TOOBIG: _DAMAGED,
    sqlite3.SQLITE_INTERRUPT: f"{DATABASE} takes too long to read for its size: it is damaged; {RESTORE}",
    sqlite3.SQLITE_READONLY: "cannot be written; check its permissions or choose another directory",
    sqlite3.SQLITE_PERM: "cannot be written; check its permissions or choose another directory",
    sqlite3.SQLITE_CANTOPEN: f"{DATABASE} cannot be opened; check the permissions of the directory",
}
"""What sqlite's primary result codes mean for a run."""
