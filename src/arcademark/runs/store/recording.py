"""The only writer of a run's directory.

Every batch of results is one SQLite transaction in write-ahead mode. With ``synchronous=FULL`` a commit survives the
loss of power; it costs one flush of the disk, during which the workers play on.

Write-ahead mode needs readers and writer on one machine. On a shared file system the database can be on a local disk
(`scratch`) while it is written; the run's directory then always holds a whole copy, which newer ones replace.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import itertools
import os
import shutil
import sqlite3
import stat
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import IO, Self

from arcademark.errors import ArcadeMarkError, one_line
from arcademark.files import open_lock
from arcademark.records import database as layout
from arcademark.records import live, manifest
from arcademark.records.database import (
    DATABASE,
    JOBS,
    LOCK,
    SHARDS,
    TABLES,
    check_files,
    check_index,
    check_table,
    clear_errors,
    guard,
    insert,
    lay_out,
    open_for_reading,
    renew_checksums,
    row_of,
)
from arcademark.records.model import MAX_ERROR_CHARS, Checkpoint, EpisodeResult, TrialRecord, Unfinished
from arcademark.records.reading import read_checkpoint, read_trials, select_trials
from arcademark.runs.plan import Trial
from arcademark.runs.scheduling.progress import TrialStanding
from arcademark.runs.store import seal

MANY_PAGES = 1000  # unused pages above which the database is made smaller
COPY_SECONDS = 60.0  # minimum time between copies from a local disk
COPY_BYTES = 2**20  # at a time
COPY_SHARE = 0.1  # maximum share of the time that copying takes
NO_LOCKS = frozenset({errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP})  # errors of a file system without locks
MAX_LOCK_BYTES = 32  # of a lock file, which contains the number of a process


class Recorder:
    """Locks a run's directory, made if missing, for writing until `close`.

    `emulators` names each game's emulator with its version; unfinished episodes are restored on the same one only.
    `scratch` is a folder on a local disk that holds the database until `close`; `copy_home` copies it to the directory.
    """

    def __init__(
        self, directory: Path, emulators: Mapping[str, str] = MappingProxyType({}), scratch: Path | None = None
    ) -> None:
        self.directory = self._place = directory
        self._emulators = emulators
        self._unsaved = False
        with clear_errors(directory), contextlib.ExitStack() as undo:
            if scratch is not None:
                with clear_errors(scratch):
                    self._place = Path(tempfile.mkdtemp(prefix="arcademark-", dir=scratch))
                undo.callback(self._remove_place)
            _claim(directory)
            self._lock = undo.enter_context(_locked(directory))
            check_files(directory / DATABASE, follow=False)
            self.database = _connect(directory / DATABASE)
            undo.callback(lambda: self.database.close())
            _prepare(directory, self.database, "WAL" if scratch is None else "DELETE")
            if scratch is not None:
                self.database.close()
                with clear_errors(scratch):
                    shutil.copyfile(directory / DATABASE, self._place / DATABASE)
                self.database = _connect(self._place / DATABASE)
                self.database.executescript("PRAGMA synchronous = OFF; PRAGMA foreign_keys = ON")
                guard(self.database, self._place / DATABASE)
                self.database.set_progress_handler(None, 0)
            renew_checksums(self.database)
            self._copied, self._copy_due = self.database.total_changes, 0.0
            self._file = os.stat(self._place / DATABASE)
            self._undo = undo.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            self.close(empty=error is not None and not (self.directory / manifest.FILE).exists())
        except ArcadeMarkError as last:
            if error is None:
                raise
            for note in (str(last), *last.__notes__):
                error.add_note(note)

    def close(self, *, empty: bool = False) -> None:
        """Unlock the directory; a database without readers becomes a single file again.

        `empty`: whether to remove the files made, as no run was begun.
        """
        with self._undo:
            with contextlib.suppress(sqlite3.Error):
                self.database.execute("PRAGMA busy_timeout = 0")
                with contextlib.suppress(sqlite3.Error):
                    self._give_back()
                self.database.execute("PRAGMA journal_mode = DELETE")
            if empty:
                with contextlib.suppress(OSError):
                    self.database.close()
                    for name in (DATABASE, LOCK):
                        (self.directory / name).unlink(missing_ok=True)
                    self.directory.rmdir()
            else:
                self._copy_last()

    def _give_back(self) -> None:
        """Shrink the file if most of it is unused, as after checkpoints were deleted."""
        pages, free = (self.database.execute(f"PRAGMA {name}_count").fetchone()[0] for name in ("page", "freelist"))
        if free > max(MANY_PAGES, pages / 2):
            self.database.execute("VACUUM")

    def copy_home(self, *, due: bool = False) -> None:
        """Copy a database on another disk to the directory; with `due` only if a copy is due."""
        if self._place == self.directory or self._copied == self.database.total_changes:
            return
        if due and time.monotonic() < self._copy_due:
            return
        begun, draft = time.monotonic(), self.directory / f"{DATABASE}.draft"
        with clear_errors(self.directory):
            draft.unlink(missing_ok=True)
            with open(self._place / DATABASE, "rb") as played, draft.open("xb") as file:  # whole between transactions
                shutil.copyfileobj(played, file, COPY_BYTES)
                file.flush()
                os.fsync(file.fileno())
            draft.replace(self.directory / DATABASE)
        self._copied, took = self.database.total_changes, time.monotonic() - begun
        self._copy_due = begun + max(COPY_SECONDS, took / COPY_SHARE)

    def _copy_last(self) -> None:
        try:
            self.copy_home()
        except ArcadeMarkError as error:
            self._unsaved = True
            error.add_note(f"results since the last copy are in {self._place / DATABASE}; copy that file there")
            raise

    def _remove_place(self) -> None:
        if not self._unsaved:
            shutil.rmtree(self._place, ignore_errors=True)

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit all that the block records, or nothing."""
        self.check_there()
        with clear_errors(self._place):
            self.database.execute("BEGIN IMMEDIATE")
            try:
                yield
                self.database.execute("COMMIT")
            except BaseException:
                if self.database.in_transaction:
                    self.database.execute("ROLLBACK")
                raise

    def check_there(self) -> None:
        """Raise ArcadeMarkError if the database was deleted or moved, as writes would be lost silently."""
        with contextlib.suppress(OSError):
            if os.path.samestat(os.stat(self._place / DATABASE), self._file):
                return
        raise ArcadeMarkError(
            f"{self._place}: {DATABASE} was deleted, moved or replaced while the run was played, so the run ends here; "
            "put it back, or give the same command again to start over"
        )

    def any_episode(self) -> bool:
        """Return True if anything was played yet."""
        played = "SELECT 1 FROM episode UNION ALL SELECT 1 FROM unfinished LIMIT 1"
        return self.database.execute(played).fetchone() is not None

    def forget_trials(self) -> None:
        """Delete the trials of a run in which nothing was played, as its settings have changed."""
        for table in reversed([*TABLES]):
            self.database.execute(f"DELETE FROM {table}")

    def check_trials(self, document: manifest.Document) -> None:
        """Refuse trials outside of a manifest's plan; if nothing was played, delete all trials, left by a crash."""
        protocol = manifest.protocol_of(self.directory, document)
        try:
            read_trials(self.directory, self.database, document, protocol)
        except ArcadeMarkError:
            if self.any_episode():
                raise
            self.forget_trials()

    def add_trials(self, trials: Iterable[TrialRecord], *, again: bool = True) -> None:
        """Add trials after the others; of existing ones raise the episodes and, with `again`, delete the errors."""
        existing = {row[0] for row in self.database.execute("SELECT id FROM trial")}
        position = itertools.count(len(existing))
        self.database.executemany(
            f"{insert('trial')} ON CONFLICT (id) DO UPDATE SET episodes = max(episodes, excluded.episodes)"
            + ", error = NULL" * again,
            (row_of("trial", trial, position=0 if trial.id in existing else next(position)) for trial in trials),
        )

    def begin_trial(self, trial_id: str, frames_per_action: int | None, learns: bool, plans: bool = False) -> None:
        """Record the facts of a trial that are known once its agent was made."""
        self.database.execute(
            "UPDATE trial SET frames_per_action = ?, learns = ?, plans = ?,"
            " training_frames = iif(?, training_frames, NULL), training_episodes = iif(?, training_episodes, NULL)"
            " WHERE id = ?",
            (frames_per_action, learns, plans, learns, learns, trial_id),
        )

    def add_episodes(self, results: Iterable[EpisodeResult]) -> None:
        """Record finished episodes, and delete their checkpoints."""
        rows = [row_of("episode", one.record, trial=one.record.trial_id, actions=one.actions) for one in results]
        self.database.executemany(insert("episode"), rows)
        if self.database.execute("SELECT 1 FROM unfinished LIMIT 1").fetchone():
            evaluated = ((trial, episode) for trial, phase, episode, *_ in rows if phase == "evaluation")
            self.database.executemany("DELETE FROM unfinished WHERE trial = ? AND episode = ?", evaluated)

    def keep_episode(self, trial_id: str, kept: Unfinished) -> None:
        """Record a checkpoint of an episode, which replaces the previous one."""
        stored = seal.sealed(trial_id, self._emulator(trial_id), kept)
        self.database.execute(insert("unfinished", "OR REPLACE"), row_of("unfinished", stored, trial=trial_id))

    def add_training(self, trial_id: str, results: Iterable[EpisodeResult], checkpoint: Checkpoint) -> None:
        """Record training episodes together with the checkpoint after them."""
        self.add_episodes(results)
        self.database.execute(insert("checkpoint", "OR REPLACE"), row_of("checkpoint", checkpoint, trial=trial_id))

    def note_evaluations(self, episodes: Mapping[str, int], command: int, now: str) -> None:
        """Record the evaluations of a command: the time of its first one, and the episodes per trial."""
        self.database.executemany(
            insert("evaluation")
            + " ON CONFLICT (trial, command) DO UPDATE SET episodes = episodes + excluded.episodes",
            ((trial_id, command, now, count) for trial_id, count in episodes.items()),
        )

    def fail_trial(self, trial_id: str, error: str) -> None:
        """Record that a trial failed."""
        self.database.execute("UPDATE trial SET error = ? WHERE id = ?", (one_line(error, MAX_ERROR_CHARS), trial_id))

    def standings(self, trials: Sequence[Trial]) -> list[TrialStanding]:
        """Return the standings of these trials, at least one."""
        evaluation = "SELECT trial, sum(frames) FROM episode WHERE phase = 'evaluation' GROUP BY trial"
        with clear_errors(self.directory):
            records = {record.id: record for record in select_trials(self.database, trials[0].protocol)}
            frames: dict[str, int] = dict(self.database.execute(evaluation))
            begun = defaultdict[str, list[int]](list)
            for trial, episode in self.database.execute("SELECT trial, episode FROM unfinished"):
                begun[trial].append(episode)
        standings = []
        for one in trials:
            wanted = [number for number in begun[one.id] if number < one.episodes]
            kept = {item.episode: item.frames for item in self.unfinished(one.id, wanted)} if wanted else {}
            standings.append(TrialStanding.from_record(one, records[one.id], frames.get(one.id, 0), kept))
        return standings

    def evaluated(self, trial_id: str) -> Iterator[int]:
        """Yield the numbers of a trial's requested evaluation episodes that are recorded, in order."""
        with clear_errors(self.directory):
            for (number,) in self.database.execute(
                "SELECT episode FROM episode JOIN trial ON id = trial WHERE trial = ? AND phase = 'evaluation'"
                " AND episode < trial.episodes ORDER BY episode",
                (trial_id,),
            ):
                yield number

    def checkpoint(self, trial_id: str) -> Checkpoint | None:
        """Return a learner's last checkpoint."""
        with clear_errors(self.directory):
            return read_checkpoint(self.directory, self.database, trial_id)

    def unfinished(self, trial_id: str, episodes: Iterable[int]) -> tuple[Unfinished, ...]:
        """Return the checkpoints of these episodes by this user and emulator; see `seal`."""
        with clear_errors(self.directory):
            emulator = self._emulator(trial_id)
            query = f"SELECT {', '.join(Unfinished.__annotations__)} FROM unfinished WHERE trial = ? AND episode = ?"
            rows = (self.database.execute(query, (trial_id, episode)).fetchone() for episode in episodes)
            stored = [Unfinished(*row) for row in rows if row is not None]
        return tuple(filter(None, (seal.unsealed(trial_id, emulator, item) for item in stored)))

    def _emulator(self, trial_id: str) -> str:
        row = self.database.execute("SELECT game FROM trial WHERE id = ?", (trial_id,)).fetchone()
        return self._emulators.get(row[0], "") if row else ""


def _claim(directory: Path) -> None:
    """Make the directory, or check that it contains a run."""
    if directory.exists() and not directory.is_dir():
        raise ArcadeMarkError(f"{directory}: is a file; choose a directory")
    directory.mkdir(parents=True, exist_ok=True)
    if os.path.lexists(directory / manifest.FILE):
        manifest.read(directory)  # before anything is written
        return
    left_by_a_crash = (LOCK, f"{manifest.FILE}.draft", DATABASE, live.FILE)
    names = {path.name for path in directory.iterdir()} - {SHARDS, JOBS}
    others = sorted(name for name in names if not name.startswith(left_by_a_crash))
    if others:
        raise ArcadeMarkError(
            f"{directory}: contains other files ({others[0]}) and no run; choose an empty or a new directory"
        )


@contextlib.contextmanager
def _locked(directory: Path) -> Iterator[IO[str]]:
    """Hold the writer's lock, which the system releases when the process ends in any way."""
    path = directory / LOCK
    if os.path.lexists(path) and not (
        stat.S_ISREG((status := path.lstat()).st_mode) and status.st_size <= MAX_LOCK_BYTES
    ):
        raise ArcadeMarkError(f"{path}: is not the lock of a run; remove it, or choose another directory")
    with open_lock(path) as file:
        try:
            for wait in (0.02, 0.1, 0.5):  # a reader that checks the lock holds it briefly
                with contextlib.suppress(BlockingIOError):
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                time.sleep(wait)
            else:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if not os.path.lexists(path) or not os.path.samestat(path.lstat(), os.fstat(file.fileno())):
                raise BlockingIOError
        except BlockingIOError:
            file.seek(0)
            holder = f" (process {file.read().strip()})"
            raise ArcadeMarkError(
                f"{directory}: another ArcadeMark{holder} is playing this run; wait for it, or choose another directory"
            ) from None
        except OSError as error:
            if error.errno not in NO_LOCKS:
                raise
            raise ArcadeMarkError(
                f"{directory}: its file system has no locks (flock), which keep two commands from playing one run; "
                "choose a directory on another file system, or have this one mounted with locks (docs/cluster.md)"
            ) from None
        file.seek(0)
        file.truncate()
        file.write(str(os.getpid()))
        file.flush()
        yield file


def _connect(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path.resolve().as_uri(), uri=True, timeout=layout.BUSY_SECONDS, isolation_level=None)


def _prepare(directory: Path, database: sqlite3.Connection, journal: str) -> None:
    """Create the tables of an empty database, or check the others; set the kind of journal."""
    guard(database, directory / DATABASE)
    if database.execute("SELECT 1 FROM sqlite_master").fetchone():
        with open_for_reading(directory, keys=True) as reading:
            check_table(directory, reading, "episode")
            check_index(directory, reading, "episode")
            played = reading.execute("SELECT 1 FROM episode").fetchone()
        if played and not (directory / manifest.FILE).exists():
            raise ArcadeMarkError(f"{directory}: {manifest.FILE} is missing; restore it, or choose another directory")
    database.execute(f"PRAGMA journal_mode = {journal}")
    database.execute("PRAGMA synchronous = FULL")
    database.execute("PRAGMA foreign_keys = ON")
    lay_out(directory, database)
    database.set_progress_handler(None, 0)  # it was checked as a whole
