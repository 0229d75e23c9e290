"""What a run's database may be and hold, whoever wrote it: plain tables, sound pages, in each row what belongs there.

What lies behind a rule no reader has to ask again: types, ranges, rows of no trial. That a row says what was played,
`arcademark.runs.replay.verify` finds out.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import stat
import time
from collections.abc import Collection, Mapping
from pathlib import Path

from arcademark.errors import ArcadeMarkError, one_line
from arcademark.suite.settings import MOST_EPISODES, MOST_FRAMES_PER_ACTION

DATABASE = "run.sqlite"
MOST_TRIALS = 1_000_000  # of a plan
MOST_NUMBER = 2**53  # of whatever is counted, and of a score's magnitude: up to here floats are exact
MOST_TEXT = 100_000  # characters of a text

PATIENCE_SECONDS = 60.0
BYTES_PER_SECOND = 5_000_000  # how long reading may take, and how much longer where there is more to read
_SUPER_JOURNAL = bytes.fromhex("d9d505f920a163d7")
"""The end of a journal that names a file to be deleted once it was undone."""
_OPCODES = 1_000_000  # between two looks at the clock


def _whole(column: str, least: int, most: int) -> str:
    return f"typeof({column}) = 'integer' AND {column} BETWEEN {least} AND {most}"


def _real(column: str, least: int, most: int) -> str:
    return f"typeof({column}) = 'real' AND {column} BETWEEN {least} AND {most}"


def _text(column: str, most: int = MOST_TEXT) -> str:
    return f"typeof({column}) = 'text' AND length(CAST({column} AS BLOB)) BETWEEN 1 AND {most}"


def _or_null(rule: str, column: str) -> str:
    return f"{column} IS NULL OR ({rule})"


def _blob(column: str) -> str:
    return f"typeof({column}) = 'blob'"


_COUNTS = ("training_frames", "training_episodes")
_FLAGS = ("learns", "plans")
RULES: Mapping[str, Mapping[str, str]] = {
    "trial": {
        "id": f"{_text('id', 250)} AND id NOT GLOB '*[^a-z0-9_-]*'",  # the name of a file
        "agent": _text("agent"),
        "game": f"{_text('game', 100)} AND game NOT GLOB '*[^a-z0-9_]*'",  # a part of files' names
        "position": _whole("position", 0, MOST_NUMBER),
        "seed": _whole("seed", 0, 2**63 - 1),
        "episodes": _whole("episodes", 1, MOST_EPISODES),
        **{column: _or_null(_whole(column, 0, 2**63 - 1), column) for column in _COUNTS},
        **{column: _or_null(_whole(column, 0, 1), column) for column in _FLAGS},
        "frames_per_action": _or_null(_whole("frames_per_action", 1, MOST_FRAMES_PER_ACTION), "frames_per_action"),
        "error": _or_null("typeof(error) = 'text'", "error"),
    },
    "checkpoint": {
        "episodes": _whole("episodes", 0, MOST_NUMBER),
        "frames": _whole("frames", 0, MOST_NUMBER),
        "finished": _whole("finished", 0, 1),
        "data": _blob("data"),
    },
    "unfinished": {
        "episode": _whole("episode", 0, MOST_EPISODES),
        "frames": _whole("frames", 0, MOST_NUMBER),
        "simulated_frames": _whole("simulated_frames", 0, MOST_NUMBER),
        "wall_seconds": _real("wall_seconds", 0, MOST_NUMBER),
        "generator": _text("generator"),
        "actions": _blob("actions"),
        "checkpoint": _blob("checkpoint"),
    },
    "evaluation": {
        "command": _whole("command", 0, MOST_EPISODES),
        "begun": _text("begun", 100),
        "episodes": _whole("episodes", 0, MOST_EPISODES),  # 0 of a learner that was not to train
    },
}
"""What each column of each table holds, as a condition; `arcademark.runs.store.rows` has those of episodes."""

COLUMNS: Mapping[str, Collection[str]] = {
    **RULES,
    "episode": ("phase", "episode", "score", "frames", "steps", "end", "simulated_frames", "wall_seconds", "actions"),
}
"""Of each table, without `trial` where it is a part of the key."""

SINCE: Mapping[tuple[str, str | None], int] = {
    ("trial", "plans"): 2,
    ("episode", "simulated_frames"): 2,
    ("unfinished", None): 2,
    ("trial", "training_episodes"): 3,
    ("evaluation", None): 3,
}
"""The version of the layout that brought what not all have: a column, or a table."""

KEYS: Mapping[str, tuple[str, ...]] = {
    "trial": ("id",),
    "episode": ("trial", "phase", "episode"),
    "checkpoint": ("trial",),
    "unfinished": ("trial", "episode"),
    "evaluation": ("trial", "command"),
}


RESTORE = "restore it from a copy, or write what can be read into a new run: 'arcademark runs check RUN --salvage NEW'"


def guard(database: sqlite3.Connection, path: Path) -> None:
    """Let a database do nothing but hold data, and take no longer than its size justifies."""
    for pragma in ("trusted_schema = OFF", "cell_size_check = ON", "ignore_check_constraints = ON"):
        database.execute(f"PRAGMA {pragma}")
    size = path.stat().st_size if path.exists() else 0
    until = time.monotonic() + PATIENCE_SECONDS + size / BYTES_PER_SECOND
    database.set_progress_handler(lambda: time.monotonic() > until, _OPCODES)


def check_schema(directory: Path, database: sqlite3.Connection, version: int, *, keys: bool = False) -> None:
    """Refuse a database that is anything but the plain tables of a layout; more tables do no harm.

    `keys`: whether each table must have its key, which a reader can do without.
    """
    where = f"{directory}: {DATABASE}"
    listed = database.execute("SELECT type, name, rootpage, sql FROM sqlite_master").fetchall()
    for kind, item, page, sql in listed:
        if not (kind == "table" and page) and not (kind == "index" and sql is None):
            raise ArcadeMarkError(
                f"{where} holds the {one_line(str(kind), 20)} {one_line(str(item), 100)!r}, which no run does; "
                "do not trust it, or remove what you added"
            )
    for table, known in COLUMNS.items():
        if SINCE.get((table, None), 1) > version:
            continue
        expected = {column for column in known if SINCE.get((table, column), 1) <= version} | (
            {"trial"} & {*KEYS[table]}
        )
        columns = database.execute(f"PRAGMA table_xinfo({table})").fetchall()
        key = tuple(column for _, column in sorted((rank, column) for _, column, _, _, _, rank, _ in columns if rank))
        plain = all(default in (None, "0") and not hidden for *_, default, _, hidden in columns)
        if not (plain and {column[1] for column in columns} == expected and (not keys or key == KEYS[table])):
            raise damaged(directory, f"what a run must have is missing (table {table}, as it was laid out)")


def check_pages(directory: Path, database: sqlite3.Connection) -> None:
    """Refuse a database with damaged pages, whose number is that of episodes."""
    if database.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
        raise damaged(directory, "its pages fail the check of SQLite")


def check_rows(directory: Path, database: sqlite3.Connection, version: int, *, indices: bool = True) -> None:
    """Refuse a database with rows, but those of episodes, that hold what no run's do, or other `indices` than rows."""
    for table, rules in RULES.items():
        if SINCE.get((table, None), 1) > version:
            continue
        if indices:
            check_index(directory, database, table)
        known = {column: rule for column, rule in rules.items() if SINCE.get((table, column), 1) <= version}
        cases = " ".join(f"WHEN NOT ({rule}) THEN '{column}'" for column, rule in known.items())
        wrong = f"SELECT rowid AS row, CASE {cases} END AS wrong FROM main.{table}"
        queries = [f"SELECT row, wrong FROM ({wrong}) WHERE wrong IS NOT NULL LIMIT 1"]
        if table != "trial":
            of_none = f"main.{table} LEFT JOIN main.trial ON id = trial WHERE id IS NULL LIMIT 1"
            queries.append(f"SELECT {table}.rowid, 'trial' FROM {of_none}")
        for query in queries:
            for row, column in database.execute(query):
                raise damaged(directory, f"row {row:,} of table {table} has a {column} of the wrong type or range")


def check_index(directory: Path, database: sqlite3.Connection, table: str) -> None:
    """Refuse a table whose index says something else."""
    if database.execute(f"PRAGMA integrity_check({table})").fetchone()[0] != "ok":
        raise damaged(directory, f"table {table} and its index contradict each other")


def damaged(directory: Path, what: str) -> ArcadeMarkError:
    """Return the error of a run's database that is wrong."""
    return ArcadeMarkError(f"{directory}: {DATABASE} is damaged: {what}; {RESTORE}")


def check_files(path: Path, *, follow: bool) -> None:
    """Refuse a database's files that are none, and a journal that could have another file deleted.

    `follow`: whether `path` may be a link to a file; what sqlite keeps beside it may not.
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
