"""What happened: a run's directory, its schema and its readers.

::

    runs/random/
      manifest.json   what was asked for and with what (arcademark.runs.manifest)
      run.sqlite      trials, a row an episode with its actions, learners' checkpoints
      run.lock        held by the one process that writes

Only `arcademark.runs.recording` writes. Reading works while a run is being played, and reaches no emulator.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sqlite3
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arcademark.errors import ArcadeMarkError
from arcademark.runs import manifest
from arcademark.suite.protocols import Protocol

Phase = Literal["training", "evaluation"]
End = Literal["terminated", "truncated"]
Status = Literal["pending", "running", "done", "failed"]

DATABASE = "run.sqlite"
LOCK = "run.lock"
BUSY_SECONDS = 10.0
"""How long to wait for another program that locks the database."""

APPLICATION_ID = 0x41524D4B  # "ARMK", so that another program's database is told apart
SCHEMA_VERSION = 1
SCHEMA = """
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
    learns            INTEGER,            -- 0 or 1; NULL until the agent was made for the first time
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
"""


@dataclass(frozen=True)
class TrialRecord:
    """One trial as stored.

    Parameters
    ----------
    id : str
        Stable name, "random-pong-s0-1a2b3c4d".
    agent : str
        The agent's label, parameters included: "const(action=FIRE)".
    game : str
        The task's id.
    seed : int
    episodes : int
        Evaluation episodes asked for.
    training_frames : int or None
        A learner's training budget in frames; None if the agent does not learn or its budget is in episodes.
    frames_per_action : int or None
        Frames an action where the agent asks for another number than the protocol's ``frame_skip``.
    status : {"pending", "running", "done", "failed"}
        Nothing recorded yet; begun; complete; given up with an `error`. "running" says what is recorded, not whether a
        process is at work right now.
    error : str or None
        Why the trial failed, in one line.
    learns : bool or None
        Whether the agent is a learner; None until it was made for the first time.
    """

    id: str
    agent: str
    game: str
    seed: int
    episodes: int
    training_frames: int | None
    frames_per_action: int | None
    status: Status
    error: str | None
    learns: bool | None


@dataclass(frozen=True)
class EpisodeRecord:
    """One finished episode as stored.

    Parameters
    ----------
    trial_id : str
    phase : {"training", "evaluation"}
    episode : int
        From 0 in each phase.
    score : float
        Undiscounted sum of raw rewards.
    frames, steps : int
        Emulated frames, no-op start included; actions taken.
    end : {"terminated", "truncated"}
        By the game, or by the frame cap.
    wall_seconds : float
        Time it took to play.
    """

    trial_id: str
    phase: Phase
    episode: int
    score: float
    frames: int
    steps: int
    end: End
    wall_seconds: float


@dataclass(frozen=True)
class EpisodeResult:
    """A finished episode on its way to the store.

    Parameters
    ----------
    record : EpisodeRecord
    actions : bytes
        As `encode_actions` gives them.
    """

    record: EpisodeRecord
    actions: bytes


@dataclass(frozen=True)
class RunRecord:
    """A run as stored: everything but the recorded actions.

    Parameters
    ----------
    directory : Path
    manifest : dict
        What was asked for and with what; `arcademark.runs.manifest` describes it.
    protocol : Protocol
        The protocol in force, overrides included.
    trials : tuple of TrialRecord
        In the plan's order.
    episodes : tuple of EpisodeRecord
        In the order of trials, training before evaluation, then by number.
    """

    directory: Path
    manifest: dict[str, Any]
    protocol: Protocol
    trials: tuple[TrialRecord, ...]
    episodes: tuple[EpisodeRecord, ...]

    @cached_property
    def by_trial(self) -> Mapping[str, tuple[EpisodeRecord, ...]]:
        """The episodes of each trial, by its id; their order is kept."""
        found: dict[str, list[EpisodeRecord]] = {trial.id: [] for trial in self.trials}
        for row in self.episodes:
            found[row.trial_id].append(row)
        return {trial_id: tuple(rows) for trial_id, rows in found.items()}

    def scored_episodes(self, trial: TrialRecord) -> tuple[EpisodeRecord, ...]:
        """Return the episodes whose mean is the trial's score: its evaluation, or its last k of training.

        The latter where the protocol reports training and the agent learns. Empty while training goes on.
        """
        phase = scored_phase(self.protocol, bool(trial.learns))
        found = tuple(row for row in self.by_trial[trial.id] if row.phase == phase)
        if phase == "evaluation":
            return found
        return found[-trial.episodes :] if trial.status == "done" else ()


@dataclass(frozen=True)
class Checkpoint:
    """A learner between two training episodes.

    Parameters
    ----------
    episodes, frames : int
        Training episodes and frames behind it.
    finished : bool
        Whether the training budget is spent.
    data : bytes
        What the learner's ``checkpoint()`` gave.
    """

    episodes: int
    frames: int
    finished: bool
    data: bytes


def scored_phase(protocol: Protocol, learns: bool) -> Phase:
    """Tell which phase's episodes make the score: a protocol may report a learner's training itself."""
    return "training" if learns and protocol.reported_episodes == "training_last_k" else "evaluation"


def encode_actions(actions: ArrayLike) -> bytes:
    """Compress actions: one byte with the size of an item (1 or 2), then zlib's stream of the little-endian items."""
    array = np.asarray(actions)
    size = 1 if array.size == 0 or array.max() < 256 else 2
    return bytes([size]) + zlib.compress(array.astype(f"<u{size}").tobytes())


def decode_actions(blob: object) -> NDArray[np.uint16]:
    """Undo `encode_actions`.

    Raises
    ------
    ValueError
        If the bytes are no such encoding.
    """
    if not isinstance(blob, bytes) or blob[:1] not in (b"\x01", b"\x02"):
        raise ValueError("unknown encoding")
    try:
        return np.frombuffer(zlib.decompress(blob[1:]), f"<u{blob[0]}").astype(np.uint16)
    except zlib.error as error:
        raise ValueError(str(error)) from None


def read_run(directory: str | os.PathLike[str]) -> RunRecord:
    """Read a run, also while it is being played.

    Raises
    ------
    ArcadeMarkError
        If there is no run, or it is damaged, locked, or written by a newer version.
    """
    path = Path(directory)
    document = manifest.read(path)
    with open_for_reading(path) as database:
        protocol = manifest.protocol_of(path, document)
        trials = tuple(select_trials(database, protocol))
        rows = database.execute(
            "SELECT trial, phase, episode, score, frames, steps, end, wall_seconds FROM episode"
            " JOIN trial ON trial.id = trial ORDER BY position, phase = 'evaluation', episode"
        )
        return RunRecord(path, document, protocol, trials, tuple(EpisodeRecord(*row) for row in rows))


def read_actions(
    directory: str | os.PathLike[str], trial_id: str, episode: int, phase: Phase = "evaluation"
) -> NDArray[np.uint16]:
    """Read an episode's recorded actions.

    Returns
    -------
    uint16 array, shape (steps,)

    Raises
    ------
    ArcadeMarkError
        If the run cannot be read or has no such episode, or the recording is damaged.
    """
    path = Path(directory)
    with open_for_reading(path) as database:
        row = database.execute(
            "SELECT actions FROM episode WHERE trial = ? AND phase = ? AND episode = ?", (trial_id, phase, episode)
        ).fetchone()
    where = f"{path}: {phase} episode {episode} of trial {trial_id}"
    if row is None:
        raise ArcadeMarkError(f"{where} is not recorded; 'arcademark report {path} --json' lists what is")
    try:
        return decode_actions(row[0])
    except ValueError as error:
        raise ArcadeMarkError(f"{where}: its recorded actions are damaged ({error}); play the run again") from None


def select_trials(database: sqlite3.Connection, protocol: Protocol) -> Iterator[TrialRecord]:
    """Read the trials with the status that follows from their rows."""
    rows = database.execute(
        "SELECT id, agent, game, seed, episodes, training_frames, frames_per_action, error, learns,"
        " (SELECT finished FROM checkpoint WHERE trial = id),"
        " (SELECT count(*) FROM episode WHERE trial = id AND phase = 'training'),"
        " (SELECT count(*) FROM episode WHERE trial = id AND phase = 'evaluation' AND episode < episodes)"
        " FROM trial ORDER BY position"
    ).fetchall()
    for identity, agent, game, seed, episodes, budget, frames, error, learns, trained, training, evaluated in rows:
        wanted = 0 if scored_phase(protocol, bool(learns)) == "training" else episodes
        status: Status = "running" if training or evaluated else "pending"
        if error is not None:
            status = "failed"
        elif evaluated >= wanted and (trained or not learns):
            status = "done"
        learner = None if learns is None else bool(learns)
        yield TrialRecord(identity, agent, game, seed, episodes, budget, frames, status, error, learner)


@contextlib.contextmanager
def open_for_reading(directory: Path) -> Iterator[sqlite3.Connection]:
    """Open a run's database in one read transaction; sqlite's errors become clear ones."""
    path = directory / DATABASE
    if not path.is_file():
        raise ArcadeMarkError(f"{directory}: nothing was recorded yet ({DATABASE} is missing); run it first")
    # A finished run may lie on a medium that cannot be written, where sqlite needs to be told that nobody writes.
    frozen = not os.access(directory, os.W_OK) and not path.with_name(f"{DATABASE}-wal").exists()
    uri = f"{path.resolve().as_uri()}?mode=ro{'&immutable=1' if frozen else ''}"
    with clear_errors(directory), contextlib.closing(_connect(uri)) as database:
        database.execute("BEGIN")
        check_version(directory, database)
        yield database


def check_version(directory: Path, database: sqlite3.Connection) -> None:
    """Refuse a database of another program or of a newer schema.

    Raises
    ------
    ArcadeMarkError
    """
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


@contextlib.contextmanager
def clear_errors(directory: Path) -> Iterator[None]:
    """Turn sqlite's and the file system's errors into one clear line."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        raise ArcadeMarkError(f"{directory}: {_explain(str(error))}") from None
    except OSError as error:
        reason = "database or disk is full" if error.errno in (errno.ENOSPC, errno.EDQUOT) else str(error)
        raise ArcadeMarkError(f"{directory}: {_explain(reason)}") from None


def _connect(uri: str) -> sqlite3.Connection:
    return sqlite3.connect(uri, uri=True, timeout=BUSY_SECONDS, isolation_level=None)


_EXPLANATIONS: Sequence[tuple[str, str]] = (
    ("locked", "its database is locked by another program; close that program and give the same command again"),
    ("is full", "the disk is full; free some space and give the same command again: all that is recorded is kept"),
    ("not a database", f"{DATABASE} is damaged (not a database); restore it from a copy or choose another directory"),
    ("malformed", f"{DATABASE} is damaged; restore it from a copy or choose another directory"),
    ("readonly", "cannot be written; check its permissions or choose another directory"),
    ("unable to open", f"{DATABASE} cannot be opened; check the permissions of the directory"),
    ("no such", f"{DATABASE} is damaged: what a run must have is missing; restore it or choose another directory"),
)


def _explain(message: str) -> str:
    for part, explanation in _EXPLANATIONS:
        if part in message:
            return explanation
    return f"cannot be read or written ({message}); check the disk and its permissions"
