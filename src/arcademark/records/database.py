"""A run's SQLite file: its layout, the checks of its contents, which may be untrusted, and how it is opened.

It must consist of plain tables on sound pages. Each row is checked here, so that no reader has to: types, ranges, the
existence of its trial, and its checksum. Whether a row is true is checked by `arcademark.runs.replay.verify`. A file of
an older layout (rows have checksums since the fourth) is read through a migrated copy; the file itself is migrated when
the run is continued.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import os
import sqlite3
import stat
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

import msgspec

from arcademark.errors import ArcadeMarkError, one_line
from arcademark.suite.settings import MAX_EPISODES, MAX_FRAMES, MAX_FRAMES_PER_ACTION

DATABASE = "run.sqlite"
LOCK = "run.lock"
SHARDS, JOBS = "shards", "slurm"  # folders that may lie in that of a run: its shards, and logs of jobs that play them
BUSY_SECONDS = 10.0  # how long to wait for another program that locks the database

MAX_TRIALS = 1_000_000  # of a plan
MAX_NUMBER = 2**53  # of counts, and of a score's magnitude; floats are exact up to here
MAX_TEXT_CHARS = 100_000  # characters of a text
MAX_STORED = 2**63 - 1  # the largest integer in SQLite

PATIENCE_SECONDS = 60.0
BYTES_PER_SECOND = 5_000_000  # reading may take `PATIENCE_SECONDS`, and the time for the file's size at this rate
_SUPER_JOURNAL = bytes.fromhex("d9d505f920a163d7")
"""End of a journal that names another file, which SQLite deletes after a rollback."""
_OPCODES = 1_000_000  # between two checks of the clock


class TableColumn(NamedTuple):
    """A column: its type, and the SQL condition on its value, {}, and on the row of its trial, `owner`."""

    type: str
    rule: str = "TRUE"
    null: bool = False  # whether it may be NULL

    def holds(self, value: object) -> bool:
        """Return True if a value is of the type, as SQLite stored it; its range is not checked."""
        return self.null if value is None else type(value) is _PYTHON[self.type]


_PYTHON = {"TEXT": str, "INTEGER": int, "REAL": float, "BLOB": bytes}


def _number(least: int, most: int, *, type: str = "INTEGER", null: bool = False) -> TableColumn:
    return TableColumn(type, f"{{}} BETWEEN {least} AND {most}", null)


def _text(most: int = MAX_TEXT_CHARS, letters: str = "") -> TableColumn:
    named = f" AND {{0}} NOT GLOB '*[^{letters}]*'" if letters else ""
    return TableColumn("TEXT", f"length(CAST({{0}} AS BLOB)) BETWEEN 1 AND {most}{named}")


_TRIAL = TableColumn("TEXT", "owner.id IS NOT NULL")


APPLICATION_ID = 0x41524D4B  # "ARMK", which distinguishes other programs' databases
SCHEMA_VERSION = 4
TABLES: Mapping[str, Mapping[str, TableColumn]] = {
    # A trial is an agent with its parameters, a game, the run's protocol and a seed. Whether it is done is not stored:
    # it follows from its rows, so that no crash can make the two disagree.
    "trial": {
        "id": _text(250, "a-z0-9_-"),  # "random-pong-s0-1a2b3c4d", a part of a file's name
        "position": _number(0, MAX_NUMBER),  # its place in the plan
        "agent": _text(),  # the agent's label, "const(action=FIRE)"; the manifest has its reference
        "game": _text(100, "a-z0-9_"),  # the task's id, "pong"
        "seed": _number(0, MAX_STORED),
        "episodes": _number(1, MAX_EPISODES),  # requested evaluation episodes
        # A learner's budget in frames or in episodes; NULL if it has none or does not learn.
        "training_frames": _number(0, MAX_STORED, null=True),
        "training_episodes": _number(0, MAX_STORED, null=True),
        "learns": _number(0, 1, null=True),  # NULL until the agent was made for the first time
        "plans": _number(0, 1, null=True),  # likewise
        # Requested by the agent instead of the protocol's frame_skip.
        "frames_per_action": _number(1, MAX_FRAMES_PER_ACTION, null=True),
        "error": TableColumn("TEXT", null=True),  # why the trial failed, in one line
    },
    # A finished episode. Committed when it ends (a learner's training episodes: with the next checkpoint).
    "episode": {
        "trial": _TRIAL,
        "phase": TableColumn("TEXT", "{} IN ('training', 'evaluation')"),
        "episode": TableColumn(  # from 0 in each phase; with the seed it fixes every random draw
            "INTEGER",
            f"{{0}} BETWEEN 0 AND {MAX_FRAMES - 1} AND (phase = 'training' OR {{0}} < owner.episodes)",
        ),
        "score": _number(-MAX_NUMBER, MAX_NUMBER, type="REAL"),  # undiscounted sum of raw rewards
        "frames": _number(0, MAX_FRAMES),  # emulated, no-op start included
        "steps": _number(0, MAX_FRAMES),  # actions
        "end": TableColumn("TEXT", "{} IN ('terminated', 'truncated')"),
        # The only column that differs when a trial is played again.
        "wall_seconds": _number(0, MAX_NUMBER, type="REAL"),
        "simulated_frames": _number(0, MAX_FRAMES),  # by a planner's model to choose the actions
        "actions": TableColumn("BLOB"),  # see `encode_actions`; last, so that reading the others does not fetch it
    },
    # The last checkpoint of a learner, written together with the training episodes that led to it.
    "checkpoint": {
        "trial": _TRIAL,
        "episodes": _number(0, MAX_NUMBER),  # training episodes before it
        "frames": _number(0, MAX_NUMBER),  # likewise
        "finished": _number(0, 1),  # 1 once the training budget is spent
        "data": TableColumn("BLOB"),  # result of the learner's checkpoint()
    },
    # An evaluation episode of a planner that is in play, so that a killed run continues within it. Written every few
    # seconds, deleted once the episode is recorded.
    "unfinished": {
        "trial": _TRIAL,
        "episode": _number(0, MAX_EPISODES),
        "frames": _number(0, MAX_NUMBER),  # so far, as the following
        "simulated_frames": _number(0, MAX_NUMBER),
        "wall_seconds": _number(0, MAX_NUMBER, type="REAL"),
        "generator": _text(),  # the state of the agent's generator, JSON
        "actions": TableColumn("BLOB"),
        "checkpoint": TableColumn("BLOB"),  # a seal (see seal.py), then the result of the planner's checkpoint()
    },
    # When a trial was evaluated: a row for each command that recorded episodes of its score. What was evaluated, and
    # how, is in the trial and in the manifest; together they are the ledger (`arcademark.records.ledger`).
    "evaluation": {
        "trial": _TRIAL,
        "command": _number(0, MAX_EPISODES),  # 0 began the run, n continued it for the nth time
        "begun": _text(100),  # when the first was recorded, ISO 8601 with the zone
        "episodes": _number(0, MAX_EPISODES),  # how many; 0 for a learner with a training budget of 0
    },
}
KEYS: Mapping[str, tuple[str, ...]] = {
    "trial": ("id",),
    "episode": ("trial", "phase", "episode"),
    "checkpoint": ("trial",),
    "unfinished": ("trial", "episode"),
    "evaluation": ("trial", "command"),
}


CHECKSUM = "checksum"
"""The last column of each table. Its low 32 bits are a checksum of the row's values except blobs; the bits above are
one of its blobs, checked only where blobs are read. NULL in rows that were recorded before there were checksums."""
_LOW_BITS = 2**32 - 1
_encode = msgspec.msgpack.Encoder().encode


def _create(table: str, *, checksum: bool = True) -> str:
    columns = [f"{name} {one.type}{'' if one.null else ' NOT NULL'}" for name, one in TABLES[table].items()]
    columns += [f"{CHECKSUM} INTEGER"] if checksum else []
    columns.append(f"PRIMARY KEY ({', '.join(KEYS[table])})")
    if table != "trial":
        columns.append("FOREIGN KEY (trial) REFERENCES trial (id)")
    return f"CREATE TABLE {table} ({', '.join(columns)});\n"


def _checksum(table: str, place: Callable[[str], str] = str) -> str:
    """Return the SQL of the checksum of a row whose columns are at these places."""
    blobs = f" + (checksum_of_blobs({', '.join(some)}) << 32)" if (some := _arguments(table, place, blobs=True)) else ""
    return f"checksum_of_values({', '.join(_arguments(table, place))}){blobs}"


def _arguments(table: str, place: Callable[[str], str] = str, *, blobs: bool = False) -> list[str]:
    """Return in SQL a row's values, or its blobs; texts become blobs, and −0.0 becomes 0.0, as it is stored."""
    written = {"TEXT": "CAST({} AS BLOB)", "BLOB": "CAST({} AS BLOB)", "REAL": "{} + 0.0", "INTEGER": "{}"}
    return [
        written[column.type].format(place(name))
        for name, column in TABLES[table].items()
        if (column.type == "BLOB") is blobs
    ]


def intact_blobs(table: str) -> str:
    """Return the SQL condition that a row's blobs match its checksum, if it has one."""
    checksum = f"checksum_of_blobs({', '.join(_arguments(table, blobs=True))})"
    return f"({CHECKSUM} IS NULL OR {CHECKSUM} >> 32 = {checksum})"


def intact_values(table: str) -> str:
    """Return the SQL condition that a row's other values match its checksum, if it has one."""
    values = ", ".join(_arguments(table, f"{table}.{{}}".format))
    place = f"{table}.{CHECKSUM}"
    return f"({place} IS NULL OR ({place} & {_LOW_BITS}) = checksum_of_values({values}))"


def _checksum_of_values(*values: object) -> int:
    return zlib.crc32(_encode(values))


def _checksum_of_blobs(*blobs: bytes | None) -> int:
    """Return the upper 31 bits of a CRC-32: with those of the values they fit an integer of SQLite."""
    checksum = 0
    for blob in blobs:
        checksum = zlib.crc32(blob or b"", checksum)
    return checksum >> 1


MIGRATIONS: Mapping[int, str] = {
    1: "ALTER TABLE trial ADD COLUMN plans INTEGER;"
    " ALTER TABLE episode ADD COLUMN simulated_frames INTEGER NOT NULL DEFAULT 0;"
    + _create("unfinished", checksum=False),
    2: "ALTER TABLE trial ADD COLUMN training_episodes INTEGER;" + _create("evaluation", checksum=False),
    3: " ".join(f"ALTER TABLE {table} ADD COLUMN {CHECKSUM} INTEGER;" for table in TABLES),
}
"""Migrations from each older layout to the next."""

RESTORE = "restore it from a copy, or write what can be read into a new run: 'arcademark runs check RUN --salvage NEW'"


_IN_ORDER = {table: itemgetter(*columns) for table, columns in TABLES.items()}


def row_of(table: str, record: object, **more: object) -> tuple[object, ...]:
    """Return the parameters of `insert`: a record's attributes, and more values, in the order of the columns."""
    row: tuple[object, ...] = _IN_ORDER[table](vars(record) | more)
    return row


def insert(table: str, more: str = "") -> str:
    """Return the statement that adds a row of all columns, in the order of `TABLES`, and its checksum."""
    values = {name: f"?{number}" for number, name in enumerate(TABLES[table], 1)}
    checksum = _checksum(table, values.__getitem__)
    columns, places = ", ".join([*values, CHECKSUM]), ", ".join([*values.values(), checksum])
    return f"INSERT {more} INTO {table} ({columns}) VALUES ({places})"


def renew_checksums(database: sqlite3.Connection) -> None:
    """Have this connection's updates of a row renew its checksum."""
    for table in TABLES:
        checksum = _checksum(table, "NEW.{}".format)
        database.execute(
            f"CREATE TEMP TRIGGER {CHECKSUM}_of_{table} AFTER UPDATE ON main.{table}"
            f" BEGIN UPDATE {table} SET {CHECKSUM} = {checksum} WHERE rowid = NEW.rowid; END"
        )


@contextlib.contextmanager
def no_writer(directory: Path) -> Iterator[bool]:
    """Yield True if no process writes a run, and keep others from starting to, if its lock can be read."""
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
    """Refuse a run that a process is writing, and keep others from starting to."""
    with no_writer(directory) as free:
        if not free:
            raise ArcadeMarkError(f"{directory}: is being played; wait for it, or stop it")
        yield


@contextlib.contextmanager
def open_for_reading(
    directory: Path, *, checked: bool = True, keys: bool = False, damaged: bool = False
) -> Iterator[sqlite3.Connection]:
    """Open a run's database in one read transaction; sqlite's errors become clear ones.

    `checked`: whether each page is checked first, and each row except episodes, which `arcademark.records.rows` checks;
    False only for reading a few rows. `keys` is as in `_check_schema`. `damaged`: whether to open a truncated one, too.
    """
    path = directory / DATABASE
    with clear_errors(directory):
        check_files(path, follow=True)
    if not path.is_file():
        raise ArcadeMarkError(f"{directory}: nothing was recorded yet ({DATABASE} is missing); run it first")
    # A finished run may be on a read-only medium, where sqlite works only if the file is declared immutable.
    frozen = not os.access(directory, os.W_OK) and not path.with_name(f"{DATABASE}-wal").exists()
    uri = f"{path.resolve().as_uri()}?mode=ro{'&immutable=1' if frozen else ''}"
    with clear_errors(directory), contextlib.ExitStack() as stack:
        opened = sqlite3.connect(uri, uri=True, timeout=BUSY_SECONDS, isolation_level=None)
        database = stack.enter_context(contextlib.closing(opened))
        guard(database, path)
        if damaged:
            database.execute("PRAGMA writable_schema = ON")
        database.execute("BEGIN")
        version = check_version(directory, database)
        _check_plain(directory, database)
        if version < SCHEMA_VERSION:
            database = stack.enter_context(contextlib.closing(sqlite3.connect("", isolation_level=None)))  # temporary
            opened.backup(database)
            guard(database, path)
            if damaged:
                database.execute("PRAGMA writable_schema = ON")
            lay_out(directory, database)
        _check_schema(directory, database, keys=keys)
        if checked:
            if database.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
                raise damage(directory, "its pages fail the check of SQLite")
            check_rows(directory, database)
        yield database


def guard(database: sqlite3.Connection, path: Path) -> None:
    """Restrict a database to holding data, and bound the time of its queries by its size."""
    for function in (_checksum_of_values, _checksum_of_blobs):
        database.create_function(function.__name__[1:], -1, function, deterministic=True)
    for pragma in ("trusted_schema = OFF", "cell_size_check = ON", "ignore_check_constraints = ON"):
        database.execute(f"PRAGMA {pragma}")
    size = path.stat().st_size if path.exists() else 0
    until = time.monotonic() + PATIENCE_SECONDS + size / BYTES_PER_SECOND
    database.set_progress_handler(lambda: time.monotonic() > until, _OPCODES)


def check_version(directory: Path, database: sqlite3.Connection) -> int:
    """Refuse a database of another program or of a newer schema; return the version of its schema."""
    application = database.execute("PRAGMA application_id").fetchone()[0]
    version = database.execute("PRAGMA user_version").fetchone()[0]
    if application != APPLICATION_ID:
        empty = not database.execute("SELECT 1 FROM sqlite_master").fetchone()
        reason = "is still empty; run it first" if empty else "belongs to another program; choose another directory"
        raise ArcadeMarkError(f"{directory}: {DATABASE} {reason}")
    if version > SCHEMA_VERSION:
        raise ArcadeMarkError(
            f"{directory}: written by a newer ArcadeMark (schema {version}, this one reads up to {SCHEMA_VERSION});"
            " install the newer version"
        )
    if version < 1:
        raise damage(directory, f"its schema is {version}")
    return int(version)


def lay_out(directory: Path, database: sqlite3.Connection) -> None:
    """Create the tables in an empty database, and migrate older ones, in one transaction."""
    if not database.execute("SELECT 1 FROM sqlite_master").fetchone():
        steps = [*map(_create, TABLES), f"PRAGMA application_id = {APPLICATION_ID};"]
    else:
        steps = [MIGRATIONS[version] for version in range(check_version(directory, database), SCHEMA_VERSION)]
    if steps:
        script = "\n".join(steps)
        database.executescript(f"BEGIN IMMEDIATE; {script} PRAGMA user_version = {SCHEMA_VERSION}; COMMIT")


def _check_plain(directory: Path, database: sqlite3.Connection) -> None:
    """Refuse a database that contains anything but plain tables."""
    for kind, item, page, sql in database.execute("SELECT type, name, rootpage, sql FROM sqlite_master").fetchall():
        if not (kind == "table" and page) and not (kind == "index" and sql is None):
            raise ArcadeMarkError(
                f"{directory}: {DATABASE} has the {one_line(str(kind), 20)} {one_line(str(item), 100)!r}, which no "
                "run has; do not trust it, or remove what you added"
            )


def _check_schema(directory: Path, database: sqlite3.Connection, *, keys: bool = False) -> None:
    """Refuse a database whose tables differ from the layout; further tables are ignored.

    `keys`: whether each table must have its key, which a reader can do without.
    """
    for table, expected in TABLES.items():
        columns = database.execute(f"PRAGMA table_xinfo({table})").fetchall()
        key = tuple(column for _, column in sorted((rank, column) for _, column, _, _, _, rank, _ in columns if rank))
        plain = all(default in (None, "0") and not hidden for *_, default, _, hidden in columns)
        named = {column[1] for column in columns} == {*expected, CHECKSUM}
        if not (plain and named and (not keys or key == KEYS[table])):
            raise damage(directory, f"table {table} does not have a run's layout")


def check_rows(directory: Path, database: sqlite3.Connection, *, indices: bool = True) -> None:
    """Refuse a database with invalid rows, except those of episodes, or with `indices` that contradict rows."""
    for table in (name for name in TABLES if name != "episode"):
        if indices:
            check_index(directory, database, table)
        check_table(directory, database, table)


def check_table(directory: Path, database: sqlite3.Connection, table: str) -> None:
    """Refuse a table with an invalid row."""
    for _, why in wrong_rows(database, table):
        raise damage(directory, why)


def wrong_value(row: int, table: str, column: str) -> str:
    """Return the message about a row's value that is invalid or does not match its checksum."""
    wrong = "of the wrong type or range" if column != CHECKSUM else "that does not match its values: one was changed"
    return f"row {row:,} of table {table} has a {column} {wrong}"


def wrong_rows(database: sqlite3.Connection, table: str) -> Iterator[tuple[int, str]]:
    """Yield the invalid rows of a table by number, with the reason."""
    cases = ""
    for name, column in TABLES[table].items():
        place = f"({table}.{name} COLLATE BINARY)"  # not the collation of an untrusted table
        rule = f"typeof({place}) = '{column.type.lower()}' AND {column.rule.format(place)}"
        cases += f" WHEN NOT ({f'{place} IS NULL OR ' if column.null else ''}({rule})) THEN '{name}'"
    cases += f" WHEN NOT {intact_values(table)} THEN '{CHECKSUM}'"
    owner = f" LEFT JOIN main.trial AS owner ON owner.id = {table}.trial COLLATE BINARY" if table != "trial" else ""
    wrong = f"SELECT {table}.rowid AS row, CASE {cases} END AS wrong FROM main.{table} NOT INDEXED{owner}"
    for row, column in database.execute(f"SELECT row, wrong FROM ({wrong}) WHERE wrong IS NOT NULL"):
        yield row, wrong_value(row, table, column)


def wrong_blobs(database: sqlite3.Connection, table: str) -> Iterator[tuple[int, str]]:
    """Yield the rows whose blobs do not match their checksum, as `wrong_rows` does."""
    query = f"SELECT rowid FROM main.{table} NOT INDEXED WHERE NOT {intact_blobs(table)}"
    for (row,) in database.execute(query):
        yield row, wrong_value(row, table, CHECKSUM)


def check_blobs(directory: Path, database: sqlite3.Connection, table: str) -> None:
    """Refuse a table with a row whose blobs do not match its checksum."""
    for _, why in wrong_blobs(database, table):
        raise damage(directory, why)


def check_index(directory: Path, database: sqlite3.Connection, table: str) -> None:
    """Refuse a table that its index contradicts."""
    if database.execute(f"PRAGMA integrity_check({table})").fetchone()[0] != "ok":
        raise damage(directory, f"table {table} and its index contradict each other")


def damage(directory: Path, what: str) -> ArcadeMarkError:
    """Return the error about a damaged database of a run."""
    return ArcadeMarkError(f"{directory}: {DATABASE} is damaged: {what}; {RESTORE}")


def digest(directory: Path) -> str:
    """Return the SHA-256 of a run's database."""
    with clear_errors(directory), (directory / DATABASE).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def check_files(path: Path, *, follow: bool) -> None:
    """Refuse a database's files that are not regular, and a journal that could delete another file.

    `follow`: whether `path` may be a link to a file; sqlite's files beside it may not.
    """
    beside = (path.with_name(f"{path.name}-{ending}") for ending in ("wal", "shm", "journal"))
    for file in (path, *beside):
        with contextlib.suppress(FileNotFoundError):  # sqlite removes them when a writer closes
            mode = file.stat(follow_symlinks=follow and file is path).st_mode
            if stat.S_ISLNK(mode):
                raise ArcadeMarkError(f"{file}: is a link; expected a file: put the file itself in its place")
            if not stat.S_ISREG(mode):
                raise ArcadeMarkError(f"{file}: is not a regular file; remove it, or choose another directory")
            if file.name.endswith("journal") and _end(file) == _SUPER_JOURNAL:
                raise ArcadeMarkError(f"{file}: belongs to more than one database, as no run's does; do not trust it")


def _end(path: Path) -> bytes:
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - len(_SUPER_JOURNAL)))
        return file.read()


@contextlib.contextmanager
def clear_errors(directory: Path) -> Iterator[None]:
    """Turn sqlite's and the file system's errors into one clear line."""
    try:
        yield
    except sqlite3.IntegrityError as error:
        raise ArcadeMarkError(
            f"{directory}: new rows contradict those in {DATABASE} ({error}); was it changed? "
            "Restore it from a copy, or play the run in another directory"
        ) from None
    except (UnicodeError, OverflowError) as error:
        raise damage(directory, f"it contains text or a number that is not valid ({one_line(str(error))})") from None
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF  # Python's own errors concern the data
        what = _EXPLANATIONS.get(code, f"cannot be read or written ({one_line(str(error))}); check the disk")
        raise ArcadeMarkError(f"{directory}: {what}") from None
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        why = error.strerror or error
        what = f"cannot be read or written ({why}); check its permissions and the disk, or name another directory"
        raise ArcadeMarkError(f"{directory}: {_FULL if full else what}") from None


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
"""Meaning of sqlite's primary result codes for a run."""
