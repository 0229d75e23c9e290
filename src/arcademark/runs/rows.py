"""Episode rows in columns: read in one pass, each row checked, and their number against what else is recorded.

Python takes longer to take rows over than SQLite to read them: values of many rows pass as one text, and large tables
are read in parts, by several processes. Pages that are valid SQLite may be wrong, by a flipped bit or a stranger's
hand: no row is left out in silence.
"""

from __future__ import annotations

import sqlite3
import warnings
from array import array
from collections.abc import Iterator, Mapping, Sequence
from itertools import repeat
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arcademark.errors import ArcadeMarkError, one_line
from arcademark.runs import processes
from arcademark.runs.checks import MOST_NUMBER, damaged
from arcademark.runs.database import open_for_reading
from arcademark.suite.protocols import Protocol
from arcademark.suite.settings import MOST_FRAMES

Columns = dict[str, NDArray[Any]]
"""Equally long arrays, by name: trial (its place), training, truncated (bool), and the numbers as in the table."""

MANY_ROWS = 1_000_000  # that are worth a process of their own
_SENT = 2**20  # rows in a message
_BLOCK = 500  # rows that are Python objects at a time: fewer than make its garbage collector look
_TEXT = 2**14  # rows whose values pass as one text
_READ: Mapping[str, tuple[str, str, str]] = {
    "trial": ("CAST(trial AS BLOB)", "i", "a trial of this run"),
    "training": (
        "CASE phase WHEN 'training' THEN 1 WHEN 'evaluation' THEN 0 ELSE 2 END",
        "b",
        "training or evaluation",
    ),
    "episode": ("episode", "q", "a number from 0, below the number of episodes asked for"),
    "score": ("score", "d", "a number within ±2^53"),
    "frames": ("frames", "q", "a whole number from 0 to 2^40"),
    "steps": ("steps", "q", "a whole number from 0 to 2^40"),
    "truncated": (
        "CASE end WHEN 'truncated' THEN 1 WHEN 'terminated' THEN 0 ELSE 2 END",
        "b",
        "terminated or truncated",
    ),
    "wall_seconds": ("wall_seconds", "d", "a number of seconds from 0"),
    "simulated_frames": ("simulated_frames", "q", "a whole number from 0 to 2^40"),
}
"""From a column's name to how it is selected, the type code of its array, and what is expected."""
_NANOSECONDS = "CAST(wall_seconds * 1e9 + 0.5 AS INTEGER)"
_AS_TEXT = {name: selected for name, (selected, _, _) in _READ.items()} | {
    "trial": "trial",
    "score": "CAST(score AS INTEGER)",
    "wall_seconds": _NANOSECONDS,
}
_NOT_AS_TEXT = f"score IS NOT CAST(score AS INTEGER) OR wall_seconds IS NOT {_NANOSECONDS} / 1e9"
"""Rows that a text does not tell exactly: it has whole scores, and whole nanoseconds, as runs record them."""
EXPECTED = {name: expected for name, (_, _, expected) in _READ.items()}
_PHASES = {0: "evaluation", 1: "training"}
_TOLD = {"training": "phase", "truncated": "end"}


def read_rows(directory: Path, database: sqlite3.Connection, asked: Mapping[str, int]) -> Columns:
    """Read the episodes of a run, in the order of trials, training before evaluation, then by number.

    `asked` has each trial's evaluation episodes by its id, in the plan's order. An error names the first row that no
    episode can have.
    """
    names = [identity.encode("utf-8", "surrogatepass") for identity in asked]
    columns = _read_in_parts(directory, database, names)
    _check(directory, columns, asked)
    columns |= {name: columns[name].astype(np.bool_) for name in _TOLD}
    key = columns["trial"].astype(np.int64)
    key *= 2
    key += ~columns["training"]
    key <<= 40
    key += columns["episode"]  # below 2^40
    if (key[1:] < key[:-1]).any():
        order = np.argsort(key, kind="stable")  # merges runs that are in order, as trials mostly are
        del key
        for name, values in columns.items():  # one after the other, for there may be many rows
            if values.any():
                columns[name] = values[order]
    return columns


def _read_in_parts(directory: Path, database: sqlite3.Connection, names: Sequence[bytes]) -> Columns:
    """Read all rows, with other processes where there are many and nobody writes, so that all see the same."""

    def ask(query: str) -> Any:
        return database.execute(query).fetchone()[0]

    first, last = (ask(f"SELECT ifnull({bound}(rowid), 0) FROM main.episode") for bound in ("min", "max"))
    alone = ask("PRAGMA journal_mode") == "wal"
    parts = 1 if alone else max(1, min(processes.available_cores(), (last + 1 - first) // MANY_ROWS))
    bounds = [first + (last + 1 - first) * part // parts for part in range(parts + 1)]
    others = [processes.start(serve) for _ in range(parts - 1)]
    try:
        for (_, channel), begin, end in zip(others, bounds[1:], bounds[2:], strict=False):
            channel.send((directory, tuple(names), (begin, end - 1)))
        read = _read(directory, database, names, (first, bounds[1] - 1))
        for _, channel in others:
            while message := channel.receive():
                if isinstance(message, str):
                    raise ArcadeMarkError(message)
                for name, values in message.items():
                    read[name].frombytes(values)
    except (EOFError, OSError, processes.GarbledError):
        raise ArcadeMarkError(f"{directory}: a process that reads it died; is there memory enough?") from None
    finally:
        for process, channel in others:
            process.kill()
            process.wait()
            channel.close()
    return _columns(read)


def serve(descriptor: int) -> None:
    """Read rows and send them in blocks, or what is wrong: a process of `read_rows`."""
    channel = processes.serving(descriptor)
    directory, names, part = channel.receive()
    try:
        with open_for_reading(directory, checked=False) as database:
            read = _read(directory, database, names, part)
    except ArcadeMarkError as error:
        channel.send(str(error))
        return
    for start in range(0, len(read["trial"]), _SENT):
        channel.send({name: values[start : start + _SENT].tobytes() for name, values in read.items()})
    channel.send(None)


def _empty() -> dict[str, array[Any]]:
    return {name: array(code) for name, (_, code, _) in _READ.items()}


def _columns(read: Mapping[str, array[Any]]) -> Columns:
    return {name: np.frombuffer(values, np.dtype(values.typecode)) for name, values in read.items()}


def _read(
    directory: Path, database: sqlite3.Connection, names: Sequence[bytes], part: tuple[int, int]
) -> dict[str, array[Any]]:
    """Read the rows from the first to the last number that a part has in the table."""
    read = _empty()
    places = {identity: place for place, identity in enumerate(names)}
    within = "FROM episode WHERE rowid BETWEEN ? AND ?"
    block = f"(SELECT rowid AS number {within} ORDER BY rowid LIMIT {_TEXT})"
    texts = ", ".join(f"CAST(group_concat({column}) AS BLOB)" for column in _AS_TEXT.values())
    (begin, last), as_text = part, True
    while begin <= last:
        end = database.execute(f"SELECT max(number) FROM {block}", (begin, last)).fetchone()[0]
        if end is None:
            break
        if as_text:
            asked = f"SELECT count(*), total({_NOT_AS_TEXT}), {texts} {within}"
            count, others, *found = database.execute(asked, (begin, end)).fetchone()
            as_text = not others and _append_texts(read, count, found, places)
        if not as_text:
            columns = ", ".join(column for column, _, _ in _READ.values())
            rows = database.execute(f"SELECT {columns} {within}", (begin, end))
            while some := rows.fetchmany(_BLOCK):
                _append(directory, read, some, places)
        begin = end + 1
    return read


def _append_texts(read: Mapping[str, Any], count: int, texts: Sequence[bytes], places: Mapping[bytes, int]) -> bool:
    """Append as many values of each column as `count`, written with commas; none if a text says anything else."""
    trials = texts[0].split(b",")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            columns = [np.fromstring(text, np.int64, sep=",") for text in texts[1:]]
        except (DeprecationWarning, ValueError):
            return False
    if {len(trials), *map(len, columns)} != {count}:
        return False
    read["trial"].extend(map(places.get, trials, repeat(-1)))
    for name, values in zip(list(_READ)[1:], columns, strict=True):
        scaled = values / 1e9 if name == "wall_seconds" else values
        read[name].frombytes(scaled.astype(read[name].typecode).tobytes())
    return True


def read_blocks(
    directory: Path, database: sqlite3.Connection, asked: Mapping[str, int], size: int, *, actions: bool
) -> Iterator[tuple[Columns, list[bytes]]]:
    """Yield the episodes of a run as `read_rows`, but `size` at a time, as they were recorded, and their actions."""
    columns = ", ".join(column for column, _, _ in _READ.values())
    rows = database.execute(f"SELECT {columns}, {'CAST(actions AS BLOB)' if actions else 'NULL'} FROM episode")
    places = {identity.encode("utf-8", "surrogatepass"): place for place, identity in enumerate(asked)}
    while block := rows.fetchmany(size):
        read = _empty()
        _append(directory, read, [row[:-1] for row in block], places)
        found = _columns(read)
        _check(directory, found, asked)
        yield found, [row[-1] for row in block]


def _append(
    directory: Path, read: Mapping[str, Any], block: Sequence[tuple[Any, ...]], places: Mapping[bytes, int]
) -> None:
    trials, *others = zip(*block, strict=True)
    read["trial"].extend([places.get(identity, -1) for identity in trials])
    for name, values in zip(list(_READ)[1:], others, strict=True):
        try:
            read[name].extend(values)
        except TypeError:
            wanted = float | int if read[name].typecode == "d" else int
            row = next(row for row, value in zip(block, values, strict=True) if not isinstance(value, wanted))
            raise _wrong(directory, name, dict(zip(_READ, row, strict=True))) from None


def _check(directory: Path, columns: Columns, asked: Mapping[str, int]) -> None:
    """Refuse the first row that no episode can have."""
    names = list(asked)
    low = {"trial": 0, "score": -MOST_NUMBER}
    high = {"training": 1, "truncated": 1, "score": MOST_NUMBER, "wall_seconds": MOST_NUMBER, "trial": len(names)}
    for name, values in columns.items():
        right = (values >= low.get(name, 0)) & (values <= high.get(name, MOST_FRAMES))  # neither holds of NaN
        if name == "episode":
            right &= (columns["training"] == 1) | (values < np.array([*asked.values(), 0])[columns["trial"]])
            right &= values < MOST_FRAMES
        if not right.all():
            row = {other: found[int(np.argmin(right))].item() for other, found in columns.items()}
            row["trial"] = names[row["trial"]] if row["trial"] >= 0 else None
            raise _wrong(directory, name, row)


def _wrong(directory: Path, name: str, row: Mapping[str, Any]) -> ArcadeMarkError:
    """Say which row is wrong, as read or with its trial's id, and what was expected."""
    trial = row["trial"].decode("utf-8", "replace") if isinstance(row["trial"], bytes) else row["trial"]
    phase = _PHASES.get(row["training"], "an")
    where = f"{phase} episode {row['episode']!r}" + (f" of trial {trial}" if trial is not None else "")
    value = f" {row[name]!r}" if name not in ("trial", *_TOLD) else ""
    what = f"{where}: its {_TOLD.get(name, name)}{value} is not {_READ[name][2]}"
    return damaged(directory, one_line(what, 200))


def check_counts(
    directory: Path,
    database: sqlite3.Connection,
    columns: Columns,
    learners: Mapping[str, bool | None],
    protocol: Protocol,
) -> None:
    """Refuse episodes recorded twice, and trials that have lost or gained some.

    A trial's rows in the table are held against those in its index, against the checkpoint that was written with its
    training, and against what each command noted that it evaluated. `learners` says of each trial, in the plan's order,
    whether it learns.
    """
    names, numbers = list(learners), columns["episode"]
    part = 2 * columns["trial"] + ~columns["training"]
    counts = np.bincount(part, minlength=2 * len(names))
    again = np.flatnonzero((part[1:] == part[:-1]) & (numbers[1:] == numbers[:-1])) + 1
    trained = np.flatnonzero(columns["training"])
    missing = trained[numbers[trained] != trained - (np.cumsum(counts) - counts)[part[trained]]]
    for problem, found in (("is recorded twice", again), ("follows on one that is missing", missing)):
        if found.size:
            row = int(found[0])
            phase, trial = _PHASES[columns["training"][row]], names[columns["trial"][row]]
            raise damaged(directory, f"{phase} episode {numbers[row]} of trial {trial} {problem}")
    grouped = database.execute("SELECT trial, phase, count(*) FROM episode GROUP BY trial, phase")
    index = {(trial, phase): count for trial, phase, count in grouped}
    checkpoints = dict(database.execute("SELECT trial, episodes FROM checkpoint"))
    grouped = database.execute("SELECT trial, min(command), total(episodes) FROM evaluation GROUP BY trial")
    notes = {trial: (first, int(np.clip(count, -1, MOST_NUMBER))) for trial, first, count in grouped}
    if unknown := (checkpoints.keys() | notes.keys()) - learners.keys():
        raise damaged(directory, one_line(f"it knows of a trial {min(map(str, unknown))} that is not there", 200))
    for (trial, learns), (learnt, evaluated) in zip(learners.items(), counts.reshape(-1, 2).tolist(), strict=True):
        first, noted = notes.get(trial, (None, 0))
        if (learns and protocol.reported_episodes == "training_last_k") or (first != 0 and noted < evaluated):
            noted = evaluated  # not told of these episodes, or not of those before there were notes
        for phase, there, count, witness in (
            ("training", learnt, index.get((trial, "training"), 0), "its index"),
            ("evaluation", evaluated, index.get((trial, "evaluation"), 0), "its index"),
            ("training", learnt, checkpoints.get(trial, 0) if learns or learnt else 0, "its checkpoint"),
            ("evaluation", evaluated, noted, "what its commands noted"),
        ):
            if count != there:
                what = f"trial {trial} has {there:,} {phase} episodes, and {count} by {witness}"
                raise damaged(directory, one_line(what, 200))
