"""Episode rows in columns: read in one pass, each row checked, and their number against what else is recorded.

Pages that are valid SQLite may be wrong, by a flipped bit or a stranger's hand: no row is left out in silence.
"""

from __future__ import annotations

import sqlite3
from array import array
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arcademark.errors import ArcadeMarkError, one_line
from arcademark.runs.store.checks import MOST_NUMBER, damaged
from arcademark.suite.protocols import Protocol
from arcademark.suite.settings import MOST_FRAMES

Columns = dict[str, NDArray[Any]]
"""Equally long arrays, by name: trial (its place), training, truncated (bool), and the numbers as in the table."""

_BLOCK = 10_000  # rows that are Python objects at a time
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
_PHASES = {0: "evaluation", 1: "training"}
_TOLD = {"training": "phase", "truncated": "end"}


def read_rows(directory: Path, database: sqlite3.Connection, asked: Mapping[str, int]) -> Columns:
    """Read the episodes of a run, in the order of trials, training before evaluation, then by number.

    `asked` has each trial's evaluation episodes by its id, in the plan's order. An error names the first row that no
    episode can have.
    """
    blocks = [columns for columns, _ in read_blocks(directory, database, asked, _BLOCK, actions=False)]
    if not blocks:
        return {name: np.empty(0, np.bool_ if name in _TOLD else code) for name, (_, code, _) in _READ.items()}
    columns = {name: np.concatenate([block[name] for block in blocks]) for name in _READ}
    order = np.lexsort((columns["episode"], ~columns["training"], columns["trial"]))
    return {name: values[order] for name, values in columns.items()}


def read_blocks(
    directory: Path, database: sqlite3.Connection, asked: Mapping[str, int], size: int, *, actions: bool
) -> Iterator[tuple[Columns, list[bytes]]]:
    """Yield the episodes of a run as `read_rows`, but `size` at a time, as they were recorded, and their actions."""
    selected = ", ".join(column for column, _, _ in _READ.values())
    rows = database.execute(f"SELECT {selected}, {'CAST(actions AS BLOB)' if actions else 'NULL'} FROM episode")
    places = {identity.encode("utf-8", "surrogatepass"): place for place, identity in enumerate(asked)}
    while block := rows.fetchmany(size):
        trials, *others, blobs = zip(*block, strict=True)
        values = [places.get(identity, -1) for identity in trials], *others
        columns: Columns = {}
        for (name, (_, code, _)), some in zip(_READ.items(), values, strict=True):
            try:
                columns[name] = np.frombuffer(array(code, some), code)
            except TypeError:
                wanted = float | int if code == "d" else int
                row = next(row for row, value in zip(block, some, strict=True) if not isinstance(value, wanted))
                raise _wrong(directory, name, dict(zip(_READ, row, strict=False))) from None
        _check(directory, columns, asked)
        yield columns | {name: columns[name].astype(np.bool_) for name in _TOLD}, list(blobs)


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
