"""Readers of a run's directory, also while it is played.

::

    runs/random/
      manifest.json   request and provenance (arcademark.records.manifest)
      run.sqlite      trials, one row per episode with its actions, checkpoints (arcademark.records.database)
      run.lock        held by the one process that writes (arcademark.runs.store.recording)
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from arcademark.errors import ArcadeMarkError, one_line
from arcademark.records import manifest
from arcademark.records.database import damage, intact_blobs, open_for_reading
from arcademark.records.model import (
    MAX_ERROR_CHARS,
    MAX_STEPS,
    Checkpoint,
    Episodes,
    EvaluationRecord,
    Phase,
    RunRecord,
    Status,
    TrialRecord,
    decode_actions,
    scored_phase,
)
from arcademark.records.rows import Columns, check_counts, read_rows
from arcademark.suite.protocols import Protocol

MORE_STEPS = 1_000  # actions that are read beyond the recorded steps, so that a difference can be reported


def read_run(directory: str | os.PathLike[str], *, whole: bool = True) -> RunRecord:
    """Read a run, also while it is being played.

    With `whole`, a run with lost or repeated episodes is refused; without it, the caller reports them.
    """
    path = Path(directory)
    with open_run(path) as (database, document, protocol):
        trials, columns = read_checked(path, database, document, protocol, whole=whole)
        if not trials:
            raise damage(path, "it contains no trial")
        noted = database.execute(
            "SELECT trial, command, begun, evaluation.episodes FROM evaluation JOIN trial ON trial.id = trial"
            " ORDER BY position, command"
        )
        episodes = Episodes(tuple(trial.id for trial in trials), **columns)
        return RunRecord(path, document, protocol, trials, episodes, tuple(EvaluationRecord(*row) for row in noted))


@contextlib.contextmanager
def open_run(
    directory: Path, *, checked: bool = True
) -> Iterator[tuple[sqlite3.Connection, manifest.Document, Protocol]]:
    """Open a run's database as `open_for_reading` does, then read its manifest, which covers the whole database.

    A request is written to the manifest before the database.
    """
    manifest.read(directory)  # raises if it is not a run
    with open_for_reading(directory, checked=checked) as database:
        document = manifest.read(directory)
        yield database, document, manifest.protocol_of(directory, document)


def read_checked(
    directory: Path,
    database: sqlite3.Connection,
    document: manifest.Document,
    protocol: Protocol,
    *,
    whole: bool = True,
) -> tuple[tuple[TrialRecord, ...], Columns]:
    """Read the trials and the episodes of a run; `whole` is as in `read_run`."""
    trials = read_trials(directory, database, document, protocol)
    columns = read_rows(directory, database, [trial.id for trial in trials])
    if whole:
        check_counts(directory, database, columns, trials, protocol)
    return trials, columns


def read_trials(
    directory: Path, database: sqlite3.Connection, document: manifest.Document, protocol: Protocol
) -> tuple[TrialRecord, ...]:
    """Read the trials of a run; each must be in the manifest's plan and have its own position."""
    trials = tuple(select_trials(database, protocol))
    places = "SELECT count(*), count(DISTINCT id), count(DISTINCT position), ifnull(max(position) + 1, 0) FROM trial"
    if len({*database.execute(places).fetchone()}) > 1:
        raise damage(directory, "a trial is missing or recorded twice")
    for trial, wrong in manifest.unplanned(document, protocol, trials):
        what = f"trial {one_line(trial.id, 100)} is not part of the plan in {manifest.FILE}: {wrong}"
        raise damage(directory, what)
    return trials


def read_checkpoint(directory: Path, database: sqlite3.Connection, trial_id: str) -> Checkpoint | None:
    """Read a learner's last checkpoint."""
    intact = intact_blobs("checkpoint")
    query = f"SELECT episodes, frames, finished != 0, data, {intact} FROM checkpoint WHERE trial = ?"
    row = database.execute(query, (trial_id,)).fetchone()
    if row is None:
        return None
    episodes, frames, finished, data, is_intact = row
    if not is_intact:
        raise damage(directory, f"the checkpoint of trial {one_line(trial_id, 100)} does not match its checksum")
    return Checkpoint(episodes, frames, bool(finished), data)


def read_actions(
    directory: str | os.PathLike[str], trial_id: str, episode: int, phase: Phase = "evaluation"
) -> NDArray[np.uint16]:
    """Read an episode's recorded actions; ArcadeMarkError: it is not recorded, or damaged."""
    path = Path(directory)
    with open_for_reading(path, checked=False) as database:
        row = database.execute(
            f"SELECT steps, actions, {intact_blobs('episode')} FROM episode"
            " WHERE trial = ? AND phase = ? AND episode = ?",
            (trial_id, phase, episode),
        ).fetchone()
    where = f"{path}: {phase} episode {episode} of trial {trial_id}"
    if row is None:
        raise ArcadeMarkError(f"{where} is not recorded; 'arcademark report {path} --format json' lists what is")
    steps, blob, intact = row
    try:
        if not intact:
            raise ValueError("their checksum differs")
        if not isinstance(steps, int) or not 0 <= steps <= MAX_STEPS:
            raise ValueError(f"{steps!r} steps; at most {MAX_STEPS:,} are read")
        return decode_actions(blob, steps + MORE_STEPS)
    except ValueError as error:
        raise ArcadeMarkError(f"{where}: its recorded actions are damaged ({error}); play the run again") from None


def action_digests(record: RunRecord, trial_id: str, phase: Phase = "evaluation") -> dict[int, bytes]:
    """Return a digest of each episode's actions, by its number in a trial."""
    query = f"SELECT episode, actions, {intact_blobs('episode')} FROM episode WHERE trial = ? AND phase = ?"
    digests = {}
    for directory in record.parts or (record.directory,):
        with open_for_reading(directory, checked=False) as database:
            for episode, actions, intact in database.execute(query, (trial_id, phase)):
                if not intact:
                    where = f"{phase} episode {episode} of trial {trial_id}"
                    raise damage(directory, f"the actions of {where} do not match their checksum")
                digests[episode] = hashlib.sha256(actions).digest()
    return digests


def select_trials(database: sqlite3.Connection, protocol: Protocol) -> Iterator[TrialRecord]:
    """Read the trials with the status that follows from their rows."""
    rows = database.execute(
        "SELECT id, agent, game, seed, trial.episodes AS episodes, training_frames, training_episodes, learns, plans,"
        " frames_per_action, substr(error, 1, 5000) AS error, ifnull(finished, 0) AS trained,"
        " ifnull(frames, 0) AS trained_frames, ifnull(checkpoint.episodes, 0) AS trained_episodes,"
        " (SELECT count(*) FROM episode WHERE trial = id AND phase = 'evaluation' AND episode < trial.episodes)"
        " AS evaluated, EXISTS (SELECT 1 FROM episode WHERE trial = id AND phase = 'training')"
        " OR EXISTS (SELECT 1 FROM unfinished WHERE trial = id) AS begun"
        " FROM trial LEFT JOIN checkpoint ON checkpoint.trial = id ORDER BY position"
    )
    names = [column[0] for column in rows.description]
    for row in rows.fetchall():
        trial = dict(zip(names, row, strict=True))
        for flag in ("learns", "plans", "trained"):
            trial[flag] = None if trial[flag] is None else bool(trial[flag])
        if trial["learns"] and trial["training_frames"] is None and trial["training_episodes"] is None:
            trial["training_episodes"] = protocol.training_episodes
        wanted = 0 if scored_phase(protocol, bool(trial["learns"])) == "training" else trial["episodes"]
        status: Status = "running" if trial.pop("begun") or trial["evaluated"] else "pending"
        if trial["error"] is not None:
            status, trial["error"] = "failed", one_line(trial["error"], MAX_ERROR_CHARS)
        elif trial["evaluated"] >= wanted and (trial["trained"] or not trial["learns"]):
            status = "done"
        yield TrialRecord(**trial, status=status)
