"""Read episode rows in columns, in one pass; each row is checked, and their number is compared with other records.

Valid pages of SQLite may have wrong contents, by a flipped bit or an untrusted author: no row is silently left out.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arcademark.errors import one_line
from arcademark.records.database import MAX_NUMBER, check_blobs, check_table, damage
from arcademark.records.model import TrialRecord
from arcademark.suite.protocols import Protocol

Columns = dict[str, NDArray[Any]]
"""Arrays of shape (episodes,) by name: trial (its index), training, truncated (bool), and the table's numbers."""

_BLOCK = 10_000  # rows that are Python objects at a time
_COLUMNS = {
    "trial": ("trial", np.int32),
    "training": ("phase = 'training'", np.bool_),
    "episode": ("episode", np.int64),
    "score": ("score", np.float64),
    "frames": ("frames", np.int64),
    "steps": ("steps", np.int64),
    "truncated": ("end = 'truncated'", np.bool_),
    "wall_seconds": ("wall_seconds", np.float64),
    "simulated_frames": ("simulated_frames", np.int64),
}
"""SQL of each column, and the type of its array."""


def read_rows(directory: Path, database: sqlite3.Connection, trials: Sequence[str]) -> Columns:
    """Read the episodes of a run, in the order of trials, training before evaluation, then by number.

    `trials` are their ids in the plan's order. ArcadeMarkError: a row is invalid.
    """
    blocks = [columns for columns, _ in read_blocks(directory, database, trials, _BLOCK, actions=False)]
    if not blocks:
        return {name: np.empty(0, kind) for name, (_, kind) in _COLUMNS.items()}
    columns = {name: np.concatenate([block[name] for block in blocks]) for name in _COLUMNS}
    order = np.lexsort((columns["episode"], ~columns["training"], columns["trial"]))
    return {name: values[order] for name, values in columns.items()}


def read_blocks(
    directory: Path, database: sqlite3.Connection, trials: Sequence[str], size: int, *, actions: bool
) -> Iterator[tuple[Columns, list[bytes]]]:
    """Yield the episodes of a run, `size` at a time, in the order of recording, with their actions."""
    check_table(directory, database, "episode")
    if actions:
        check_blobs(directory, database, "episode")
    selected = ", ".join(column for column, _ in _COLUMNS.values())
    rows = database.execute(f"SELECT {selected}, {'actions' if actions else 'NULL'} FROM episode NOT INDEXED")
    places = {identity: place for place, identity in enumerate(trials)}
    while block := rows.fetchmany(size):
        names, *others, blobs = zip(*block, strict=True)
        values = [places[name] for name in names], *others
        kinds = ((name, kind) for name, (_, kind) in _COLUMNS.items())
        yield {name: np.array(some, kind) for (name, kind), some in zip(kinds, values, strict=True)}, list(blobs)


def check_counts(
    directory: Path,
    database: sqlite3.Connection,
    columns: Columns,
    trials: Sequence[TrialRecord],
    protocol: Protocol,
) -> None:
    """Refuse episodes recorded twice, and trials that have lost or gained some.

    A trial's rows in the table are compared with those in its index, with the checkpoint that was written with its
    training, and with the number that each command recorded as evaluated.
    """
    names, numbers = [trial.id for trial in trials], columns["episode"]
    part = 2 * columns["trial"] + ~columns["training"]
    counts = np.bincount(part, minlength=2 * len(names))
    again = np.flatnonzero((part[1:] == part[:-1]) & (numbers[1:] == numbers[:-1])) + 1
    trained = np.flatnonzero(columns["training"])
    missing = trained[numbers[trained] != trained - (np.cumsum(counts) - counts)[part[trained]]]
    for problem, rows in (("is recorded twice", again), ("follows a missing one", missing)):
        if rows.size:
            row = int(rows[0])
            phase, trial = "training" if columns["training"][row] else "evaluation", names[columns["trial"][row]]
            raise damage(directory, f"{phase} episode {numbers[row]} of trial {trial} {problem}")
    check_noted(directory, database, trials, protocol, counts.reshape(-1, 2).tolist())


def check_noted(
    directory: Path,
    database: sqlite3.Connection,
    trials: Sequence[TrialRecord],
    protocol: Protocol,
    counts: Iterable[Sequence[int]] | None = None,
) -> None:
    """Refuse trials whose number of episodes contradicts other records.

    `counts` are those in the table, of training and of evaluation; those of its index by default.
    """
    grouped = database.execute("SELECT trial, phase, count(*) FROM episode GROUP BY trial, phase")
    index = {(trial, phase): count for trial, phase, count in grouped}
    if counts is None:
        counts = [[index.get((one.id, phase), 0) for phase in ("training", "evaluation")] for one in trials]
    checkpoints = dict(database.execute("SELECT trial, episodes FROM checkpoint"))
    grouped = database.execute("SELECT trial, min(command), total(episodes) FROM evaluation GROUP BY trial")
    notes = {trial: (first, int(min(count, MAX_NUMBER))) for trial, first, count in grouped}
    for one, (learnt, evaluated) in zip(trials, counts, strict=True):
        trial = one.id
        first, noted = notes.get(trial, (None, 0))
        if (one.learns and protocol.reported_episodes == "training_last_k") or (first != 0 and noted < evaluated):
            noted = evaluated  # these episodes are not noted, or some are older than the notes
        trained = checkpoints.get(trial, 0) if one.learns is not False and (one.learns or learnt) else 0
        for phase, recorded, count, witness in (
            ("training", learnt, index.get((trial, "training"), 0), "its index"),
            ("evaluation", evaluated, index.get((trial, "evaluation"), 0), "its index"),
            ("training", learnt, trained, "its checkpoint"),
            ("evaluation", evaluated, one.evaluated, "the requested numbers"),
            ("evaluation", evaluated, noted, "its commands' notes"),
        ):
            if count != recorded:
                what = f"trial {trial} has {recorded:,} {phase} episodes, but {count} by {witness}"
                raise damage(directory, one_line(what, 200))
