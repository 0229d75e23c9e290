"""Checks for damage in a run, and salvage of the rows that can be read and are valid.

An episode is intact if its values are in range and its actions, whose stream ends with a checksum, are as many as its
steps. Lost episodes are played again. Nothing is written to the damaged run.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from arcademark.errors import ArcadeMarkError, one_line
from arcademark.records import manifest
from arcademark.records.combined import planned
from arcademark.records.database import (
    CHECKSUM,
    DATABASE,
    TABLES,
    check_index,
    insert,
    intact_blobs,
    intact_values,
    open_for_reading,
    unplayed,
    wrong_blobs,
    wrong_rows,
    wrong_value,
)
from arcademark.records.model import MAX_STEPS, Checkpoint, decode_actions, scored_phase
from arcademark.records.reading import read_checked, select_trials
from arcademark.runs.playing import networks
from arcademark.runs.store.merging import note, of_added, put_in_order
from arcademark.runs.store.recording import Recorder
from arcademark.suite.protocols import Protocol
from arcademark.suite.settings import MAX_EPISODES

_MAX_SKIPPED = 2**40  # maximum number of rows that are skipped at once

_COUNTS = """
SELECT id, learns, ifnull((SELECT episodes FROM checkpoint WHERE trial = id), 0),
    (SELECT count(*) FROM episode WHERE trial = id AND phase = 'training'),
    (SELECT ifnull(max(episode) + 1, 0) FROM episode WHERE trial = id AND phase = 'training'),
    (SELECT count(*) FROM episode WHERE trial = id AND phase = 'evaluation'),
    (SELECT total(episodes) FROM evaluation WHERE trial = id)
FROM trial
"""


@dataclass(frozen=True)
class Salvaged:
    """New run of the intact rows: its numbers of episodes, trials and completed trials."""

    directory: str
    episodes: int
    trials: int
    done: int


@dataclass(frozen=True)
class Checked:
    """Damage found in a run.

    ok: True if nothing is damaged.
    problems: Damaged or lost parts, one line each.
    salvaged: None where no new run was requested.
    """

    SCHEMA: ClassVar[str] = "arcademark.check/1"

    directory: str
    ok: bool
    problems: tuple[str, ...]
    salvaged: Salvaged | None = None


def check(directory: str | os.PathLike[str]) -> Checked:
    """Look for damage in a run: in pages, rows, indices, counts, actions, the manifest, and files of trained networks.

    `arcademark.runs.replay.verify` checks whether the scores are real.

    Raises
    ------
    ArcadeMarkError
        If the directory holds no run.
    """
    path = Path(directory)
    if not os.path.lexists(path / DATABASE) and not os.path.lexists(path / manifest.FILE):
        manifest.read(path)  # raises the error
    problems, known = [], None
    try:
        known = _read_manifest(path)
    except ArcadeMarkError as error:
        problems.append(str(error))
    try:
        with open_for_reading(path, keys=True) as database:
            wrong = [why for _, why in wrong_rows(database, "episode")]
            problems += (f"{path}: {why}" for why in wrong)
            check_index(path, database, "episode")
            if known is not None and not wrong:
                read_checked(path, database, *known)
            database.set_progress_handler(None, 0)  # it was checked as a whole
            imported = known is not None and "imported" in known[0]
            for table in ("episode", "checkpoint"):
                problems += (f"{path}: {why}" for _, why in wrong_blobs(database, table))
            problems += (f"{path}: {why}" for _, why in _wrong_actions(database, imported))
            problems += _networks(path, database)
    except ArcadeMarkError as error:
        problems.append(str(error))
    return Checked(str(path), not problems, tuple(problems))


def salvage(directory: str | os.PathLike[str], out: str | os.PathLike[str]) -> Checked:
    """Write every intact episode into a new run, which the run's own command continues in `out`.

    Training continues from its checkpoint only if all episodes before it are intact; otherwise it begins again.

    Raises
    ------
    ArcadeMarkError
        If the manifest is missing or damaged, nothing can be read, a process writes the run, or `out` is not new.
    """
    path, place = Path(directory), Path(out)
    if os.path.lexists(place / manifest.FILE):
        raise ArcadeMarkError(f"{place}: contains a run; name a new directory for the result")
    document, protocol = _read_manifest(path)
    problems = [*check(path).problems]
    with unplayed(path), open_for_reading(path, checked=False, damaged=True) as source, Recorder(place) as recorder:
        recorder.database.execute("PRAGMA foreign_keys = OFF")
        with recorder.transaction():
            problems += (f"{path}: {why}" for why in _copy(source, recorder, document, protocol))
            problems += (f"{path}: {why}" for why in _make_consistent(recorder.database, protocol))
            put_in_order(recorder.database, document)
            if not recorder.database.execute("SELECT 1 FROM trial").fetchone():
                raise ArcadeMarkError(f"{path}: nothing in it can be read; restore it from a copy, or play it again")
        manifest.write(place, document)
        trials = list(select_trials(recorder.database, protocol))
        episodes = recorder.database.execute("SELECT count(*) FROM episode").fetchone()[0]
    done = sum(trial.status == "done" for trial in trials)
    salvaged = Salvaged(str(place), episodes, len(trials), done)
    return Checked(str(path), not problems, tuple(dict.fromkeys(problems)), salvaged)


def _read_manifest(path: Path) -> tuple[manifest.Document, Protocol]:
    try:
        if os.path.lexists(path / DATABASE) and not os.path.lexists(path / manifest.FILE):
            raise ArcadeMarkError(f"{path}: {manifest.FILE} is missing")
        document = manifest.read(path)
        return document, manifest.protocol_of(path, document)
    except ArcadeMarkError as error:
        raise ArcadeMarkError(
            f"{error}. Without it, it is unknown how the episodes were played: if there is no copy, give the run's "
            f"'arcademark run' command with another --out, stop it, and copy the {manifest.FILE} that it made"
        ) from None


def _rows(database: sqlite3.Connection, table: str) -> Iterator[tuple[int, tuple[Any, ...], bool]]:
    """Yield the readable rows: number, values, and whether they are intact.

    After an unreadable one, 1, 2, 4, … numbers are skipped.
    """
    after, step = -1, 1
    intact = " AND ".join([intact_values(table)] + [intact_blobs(table)] * (table in ("episode", "checkpoint")))
    while step < _MAX_SKIPPED:
        try:
            columns = ", ".join(TABLES[table])
            rows = database.execute(
                f"SELECT rowid, {columns}, {intact} FROM main.{table} WHERE rowid > ? ORDER BY rowid", (after,)
            )
            for number, *values, is_intact in rows:
                after, step = number, 1
                yield number, tuple(values), bool(is_intact)
            return
        except sqlite3.DatabaseError as error:
            if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_INTERRUPT:
                raise
            after, step = after + step, 2 * step


def _wrong_actions(database: sqlite3.Connection, imported: bool) -> Iterator[tuple[int, str]]:
    """Yield the episodes whose numbers of actions and steps differ, as `wrong_rows`; imported ones have no actions."""
    columns = "rowid, trial, phase, episode, steps, actions"
    query = f"SELECT {columns} FROM episode WHERE typeof(steps) = 'integer' AND typeof(phase) = 'text'"
    for number, trial, phase, episode, steps, actions in database.execute(query) if not imported else ():
        try:
            count = len(decode_actions(actions, min(steps, MAX_STEPS)))
            why = "" if count == steps else f"it has {count:,} actions and {steps:,} steps"
        except ValueError as error:
            why = f"its actions are damaged ({error})"
        if why:
            yield number, one_line(f"{phase} episode {episode} of trial {trial}: {why}", 300)


def _copy(
    source: sqlite3.Connection, recorder: Recorder, document: manifest.Document, protocol: Protocol
) -> Iterator[str]:
    """Copy intact rows, and yield the damage; lost trials are restored from the plan by their ids."""
    database, imported = recorder.database, "imported" in document
    for table in TABLES:
        for number, row, is_intact in _rows(source, table):
            values = zip(TABLES[table].items(), row, strict=True)
            wrong = [name for (name, column), value in values if not column.holds(value)]
            if wrong := wrong or [CHECKSUM] * (not is_intact):
                yield wrong_value(number, table, wrong[0])
            elif not database.execute(insert(table, "OR IGNORE"), row).rowcount:
                yield f"row {number:,} of table {table} occurs twice"
    yield from _without(database, "trial", wrong_rows(database, "trial"))
    for trial, unplanned in [*manifest.unplanned(document, protocol, select_trials(database, protocol))]:
        database.execute("DELETE FROM trial WHERE id = ?", (trial.id,))
        yield f"trial {one_line(trial.id, 100)} is not part of the plan: {unplanned}"
    if not imported:
        lost = {name for (name,) in database.execute("SELECT trial FROM episode EXCEPT SELECT id FROM trial")}
        recorder.add_trials(trial for trial in planned(document, protocol) if trial.id in lost)
    for table in (name for name in TABLES if name != "trial"):
        yield from _without(database, table, wrong_rows(database, table))
    yield from _without(database, "episode", _wrong_actions(database, imported))


def _without(database: sqlite3.Connection, table: str, wrong: Iterable[tuple[int, str]]) -> Iterator[str]:
    """Delete the wrong rows, and yield their errors."""
    for number, why in [*wrong]:
        database.execute(f"DELETE FROM {table} WHERE rowid = ?", (number,))
        yield why


def _make_consistent(database: sqlite3.Connection, protocol: Protocol) -> Iterator[str]:
    """Delete training with lost parts, and limit evaluations to existing episodes; yield texts on what is deleted."""
    evaluated: dict[str, int] = {}
    for trial, learns, due, trained, last, played, noted in database.execute(_COUNTS).fetchall():
        begins_again, scored = not due == trained == last, scored_phase(protocol, bool(learns))
        if begins_again:
            database.execute("DELETE FROM checkpoint WHERE trial = ?", (trial,))
            database.execute("DELETE FROM episode WHERE trial = ? AND phase = 'training'", (trial,))
            yield f"trial {trial}: its checkpoint or an episode before it is lost, so its training begins again"
        if begins_again or scored == "evaluation":
            evaluated[trial] = played if scored == "evaluation" and noted >= played else 0
    notes = database.execute(
        "SELECT trial, command, begun, episodes FROM evaluation ORDER BY trial, command"
    ).fetchall()
    database.execute("DELETE FROM evaluation")
    note(database, of_added(notes, evaluated), range(MAX_EPISODES))


def _networks(directory: Path, database: sqlite3.Connection) -> Iterator[str]:
    """Yield the files of trained networks that differ from the run's checkpoints."""
    for trial, episodes, frames, data in database.execute(
        "SELECT trial, episodes, frames, data FROM checkpoint WHERE finished"
    ):
        path = networks.path_of(directory, trial)
        if path.is_file():
            kept = networks.opened(Checkpoint(episodes, frames, True, data), trial)[1]
            if path.stat().st_size != len(kept) or path.read_bytes() != kept:
                yield f"{path}: differs from the network in the run's checkpoint of trial {one_line(trial, 100)}"
