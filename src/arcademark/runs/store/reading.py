"""What happened: the readers of a run's directory, also while it is played.

::

    runs/random/
      manifest.json   what was asked for and with what (arcademark.runs.store.manifest)
      run.sqlite      trials, a row an episode with its actions, checkpoints (arcademark.runs.store.database)
      run.lock        held by the one process that writes (arcademark.runs.store.recording)
"""

from __future__ import annotations

import contextlib
import hashlib
import math
import os
import sqlite3
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, overload

import numpy as np
from msgspec import Meta
from numpy.typing import ArrayLike, NDArray

from arcademark.errors import ArcadeMarkError, one_line
from arcademark.files import inflate
from arcademark.runs.store import manifest
from arcademark.runs.store.database import MAX_NUMBER, MAX_TEXT_CHARS, damage, intact_blobs, open_for_reading
from arcademark.runs.store.rows import Columns, check_counts, read_rows
from arcademark.suite.protocols import Protocol
from arcademark.suite.settings import ARRAY_ACTIONS, MAX_ACTION_DIMENSIONS, MAX_FRAMES

if TYPE_CHECKING:
    from arcademark.runs.plan import Trial

Phase = Literal["training", "evaluation"]
End = Literal["terminated", "truncated"]
Status = Literal["pending", "running", "done", "failed"]

MAX_ARRAY_BYTES = 2**28  # of an episode's actions that are arrays
MAX_STEPS = 10_000_000  # of an episode whose actions are read: 46 hours of play with an action a frame
MORE_STEPS = 1_000  # actions that are read beyond the steps recorded, so that what differs can be told
MAX_ERROR_CHARS = 4_000  # characters of why a trial failed
MAX_CHECKPOINT_BYTES = 999_000_000  # SQLite's own limit for a value is 1,000,000,000

Amount = Annotated[int, Meta(ge=0, le=MAX_FRAMES)]
Score = Annotated[float, Meta(ge=-MAX_NUMBER, le=MAX_NUMBER)]
Seconds = Annotated[float, Meta(ge=0, le=MAX_NUMBER)]
Bytes = Annotated[bytes, Meta(max_length=MAX_CHECKPOINT_BYTES)]
Ascii = Annotated[str, Meta(max_length=MAX_TEXT_CHARS, pattern="^[ -~]+$")]


@dataclass(frozen=True)
class TrialRecord:
    """One trial as stored.

    Its status says what is recorded: nothing yet; something; all; given up, with an error. "running" does not mean that
    a process is at work.
    """

    id: str  # stable name, "random-pong-s0-1a2b3c4d"
    agent: str  # the agent's label, parameters included: "const(action=FIRE)"
    game: str  # the task's id
    seed: int
    episodes: int  # evaluation episodes asked for
    training_frames: int | None  # a learner's budget; None if it is in episodes
    frames_per_action: int | None = None  # what the agent asks for instead of the protocol's ``frame_skip``
    status: Status = "pending"
    error: str | None = None  # why the trial failed, in one line
    learns: bool | None = None  # whether the agent is a learner; None until it was made for the first time
    plans: bool | None = None  # the same of a planner; None too in runs from before there were planners
    training_episodes: int | None = None  # a learner's budget; None if it is in frames
    evaluated: int = 0  # recorded evaluation episodes, of those that were asked for
    trained_frames: int = 0  # of training that the checkpoint holds
    trained_episodes: int = 0  # likewise
    trained: bool = False  # whether its training budget is spent

    @classmethod
    def from_plan(cls, trial: Trial) -> Self:
        """Return a trial of a plan as it is before it begins."""
        named = trial.id, trial.agent.label, trial.game, trial.seed
        return cls(*named, trial.episodes, trial.training_frames, training_episodes=trial.training_episodes)


@dataclass(frozen=True)
class EpisodeRecord:
    """One finished episode as stored."""

    trial_id: str
    phase: Phase
    episode: Amount  # from 0 in each phase
    score: Score  # undiscounted sum of raw rewards
    frames: Amount  # emulated, no-op start included
    steps: Amount  # actions taken
    end: End  # by the game, or by the frame cap
    wall_seconds: Seconds  # time it took to play
    simulated_frames: Amount = 0  # that a planner made its model emulate to choose the actions; 0 for other agents


@dataclass(frozen=True, eq=False)
class Episodes(Sequence[EpisodeRecord]):
    """Many finished episodes in columns, equally long; one by one they are an `EpisodeRecord` each."""

    trials: tuple[str, ...]  # the ids of the run's trials
    trial: NDArray[np.int32]  # the place of each episode's trial among them
    training: NDArray[np.bool_]  # played in training, not in evaluation
    episode: NDArray[np.int64]
    score: NDArray[np.float64]
    frames: NDArray[np.int64]
    steps: NDArray[np.int64]
    truncated: NDArray[np.bool_]  # ended by the frame cap, not by the game
    wall_seconds: NDArray[np.float64]
    simulated_frames: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.trial)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Episodes) and list(self) == list(other)

    @overload
    def __getitem__(self, index: int) -> EpisodeRecord: ...
    @overload
    def __getitem__(self, index: slice | NDArray[np.bool_]) -> Episodes: ...
    def __getitem__(self, index: int | slice | NDArray[np.bool_]) -> EpisodeRecord | Episodes:
        if isinstance(index, int):
            place = range(len(self))[index]
            return next(iter(self[place : place + 1]))
        return Episodes(self.trials, *(column[index] for column in self.columns().values()))

    def __iter__(self) -> Iterator[EpisodeRecord]:
        for trial, training, episode, score, frames, steps, truncated, seconds, simulated in zip(
            *(column.tolist() for column in self.columns().values()), strict=True
        ):
            phase: Phase = "training" if training else "evaluation"
            end: End = "truncated" if truncated else "terminated"
            yield EpisodeRecord(self.trials[trial], phase, episode, score, frames, steps, end, seconds, simulated)

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the columns by name, but for the trials' ids."""
        return {name: column for name, column in self.__dict__.items() if name != "trials"}


@dataclass(frozen=True)
class EpisodeResult:
    """A finished episode on its way to the store."""

    record: EpisodeRecord
    actions: Bytes  # as `encode_actions` gives them


@dataclass(frozen=True)
class EvaluationRecord:
    """What one command recorded of a trial's score."""

    trial_id: str
    command: int  # 0 began the run, n continued it for the nth time
    begun: str  # when it recorded the first episode, ISO 8601 with the zone
    episodes: int


@dataclass(frozen=True)
class RunRecord:
    """A run as stored: everything but the recorded actions."""

    directory: Path
    manifest: dict[str, Any]  # what was asked for and with what; `arcademark.runs.store.manifest` describes it
    protocol: Protocol  # the protocol in force, overrides included
    trials: tuple[TrialRecord, ...]  # in the plan's order
    episodes: Episodes  # in the order of trials, training before evaluation, then by number
    evaluations: tuple[EvaluationRecord, ...] = ()
    """In the order of trials, then of commands; none where the run was recorded before they were."""
    parts: tuple[Path, ...] = ()
    """The directories, `directory` first, where it was read from several; see `arcademark.runs.store.combined`."""

    @cached_property
    def by_trial(self) -> Mapping[str, Episodes]:
        """The episodes of each trial, by its id; their order is kept."""
        return {name: self.episodes[first:last] for name, (first, _, last) in self._edges.items()}

    @cached_property
    def _edges(self) -> Mapping[str, tuple[int, int, int]]:
        """Where each trial's training and its evaluation begin, and where it ends."""
        parts = 2 * self.episodes.trial + ~self.episodes.training
        edges = np.searchsorted(parts, np.arange(2 * len(self.trials) + 1)).tolist()
        return {trial.id: tuple(edges[2 * place : 2 * place + 3]) for place, trial in enumerate(self.trials)}

    def training(self, trial: TrialRecord) -> Episodes:
        """Return a trial's episodes of training."""
        first, evaluation, _ = self._edges[trial.id]
        return self.episodes[first:evaluation]

    def evaluation(self, trial: TrialRecord) -> Episodes:
        """Return a trial's episodes of evaluation."""
        _, evaluation, last = self._edges[trial.id]
        return self.episodes[evaluation:last]

    def scored_episodes(self, trial: TrialRecord) -> Episodes:
        """Return the episodes whose mean is the trial's score: its evaluation, or its last k of training.

        The latter where the protocol reports training and the agent learns. Empty while training goes on.
        """
        if scored_phase(self.protocol, bool(trial.learns)) == "evaluation":
            return self.evaluation(trial)
        rows = self.training(trial)
        return rows[-trial.episodes if trial.status == "done" else len(rows) :]


@dataclass(frozen=True)
class Checkpoint:
    """A learner between two training episodes."""

    episodes: Amount  # of training behind it
    frames: Amount  # likewise
    finished: bool  # whether the training budget is spent
    data: Bytes  # what the learner's ``checkpoint()`` gave


@dataclass(frozen=True)
class Unfinished:
    """An evaluation episode of a planner in play, with all that is needed to go on."""

    episode: Amount
    frames: Amount  # played so far
    simulated_frames: Amount  # emulated while planning, so far
    wall_seconds: Seconds  # so far
    generator: Ascii  # the state of the agent's generator, as JSON
    actions: Bytes  # so far, as `encode_actions` gives them
    checkpoint: Bytes  # what the planner's ``checkpoint()`` gave


def scored_phase(protocol: Protocol, learns: bool) -> Phase:
    """Tell which phase's episodes make the score: a protocol may report a learner's training itself."""
    return "training" if learns and protocol.reported_episodes == "training_last_k" else "evaluation"


def encode_actions(actions: ArrayLike) -> bytes:
    """Compress actions: one byte with the size of an item (1 or 2), then zlib's stream of the little-endian items.

    Actions that are arrays, shape (steps, …), are kept as they are: a 0, the type's kind and size, the number of
    dimensions of one and these, two bytes each, and zlib's stream.
    """
    array = np.asarray(actions)
    if array.ndim > 1:
        kind, sides = f"{array.dtype.kind}{array.dtype.itemsize}".encode(), np.array(array.shape[1:], "<u2")
        items = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
        return b"\0" + kind + bytes([sides.size]) + sides.tobytes() + zlib.compress(items.tobytes())
    size = 1 if array.size == 0 or array.max() < 256 else 2
    return bytes([size]) + zlib.compress(array.astype(f"<u{size}").tobytes())


def decode_actions(blob: object, most: int = MAX_STEPS) -> NDArray[Any]:
    """Undo `encode_actions`: uint16, shape (steps,), or arrays as they were."""
    if isinstance(blob, bytes) and blob[:1] == b"\0":
        return _decode_arrays(blob, most)
    if not isinstance(blob, bytes) or blob[:1] not in (b"\x01", b"\x02"):
        raise ValueError("unknown encoding")
    return np.frombuffer(inflate(blob[1:], blob[0] * most), f"<u{blob[0]}").astype(np.uint16)


def _decode_arrays(blob: bytes, most: int) -> NDArray[Any]:
    kind, rank = blob[1:3].decode("ascii"), blob[3] if len(blob) > 3 else 0
    start = 4 + 2 * rank
    if kind not in ARRAY_ACTIONS or not 1 <= rank <= MAX_ACTION_DIMENSIONS or len(blob) < start:
        raise ValueError("unknown encoding")
    sides = np.frombuffer(blob[4:start], "<u2").tolist()
    size = int(kind[1]) * math.prod(sides)
    if not size:
        raise ValueError("unknown encoding")
    return np.frombuffer(inflate(blob[start:], min(size * most, MAX_ARRAY_BYTES)), f"<{kind}").reshape(-1, *sides)


def read_run(directory: str | os.PathLike[str], *, whole: bool = True) -> RunRecord:
    """Read a run, also while it is being played.

    With `whole`, one that has lost episodes or has some twice is refused; without it, whoever reads tells of each.
    """
    path = Path(directory)
    with open_run(path) as (database, document, protocol):
        trials, columns = read_checked(path, database, document, protocol, whole=whole)
        if not trials:
            raise damage(path, "it holds no trial")
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
    """Open a run's database as `open_for_reading`, then read its manifest, which knows all that is in the database.

    What is asked for stands in the manifest before it is in the database.
    """
    manifest.read(directory)  # tells if it is no run
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
    """Read the trials and the episodes of a run; `whole` is as of `read_run`."""
    trials = read_trials(directory, database, document, protocol)
    columns = read_rows(directory, database, [trial.id for trial in trials])
    if whole:
        check_counts(directory, database, columns, trials, protocol)
    return trials, columns


def read_trials(
    directory: Path, database: sqlite3.Connection, document: manifest.Document, protocol: Protocol
) -> tuple[TrialRecord, ...]:
    """Read the trials of a run, which are all of the manifest's plan."""
    trials = tuple(select_trials(database, protocol))
    for trial, wrong in manifest.unplanned(document, protocol, trials):
        what = f"trial {one_line(trial.id, 100)} is not of the plan in {manifest.FILE}: {wrong}"
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
        raise damage(directory, f"the checkpoint of trial {one_line(trial_id, 100)} is not what was recorded")
    return Checkpoint(episodes, frames, bool(finished), data)


def read_actions(
    directory: str | os.PathLike[str], trial_id: str, episode: int, phase: Phase = "evaluation"
) -> NDArray[np.uint16]:
    """Read an episode's recorded actions."""
    path = Path(directory)
    with open_for_reading(path, checked=False) as database:
        row = database.execute(
            f"SELECT steps, actions, {intact_blobs('episode')} FROM episode"
            " WHERE trial = ? AND phase = ? AND episode = ?",
            (trial_id, phase, episode),
        ).fetchone()
    where = f"{path}: {phase} episode {episode} of trial {trial_id}"
    if row is None:
        raise ArcadeMarkError(f"{where} is not recorded; 'arcademark report {path} --to json' lists what is")
    steps, blob, intact = row
    try:
        if not intact:
            raise ValueError("their checksum is another")
        if not isinstance(steps, int) or not 0 <= steps <= MAX_STEPS:
            raise ValueError(f"{steps!r} steps; at most {MAX_STEPS:,} are read")
        return decode_actions(blob, steps + MORE_STEPS)
    except ValueError as error:
        raise ArcadeMarkError(f"{where}: its recorded actions are damaged ({error}); play the run again") from None


def action_digests(record: RunRecord, trial_id: str, phase: Phase = "evaluation") -> dict[int, bytes]:
    """Return by the number of each episode of a trial what only episodes of the same actions share."""
    query = f"SELECT episode, actions, {intact_blobs('episode')} FROM episode WHERE trial = ? AND phase = ?"
    digests = {}
    for directory in record.parts or (record.directory,):
        with open_for_reading(directory, checked=False) as database:
            for episode, actions, intact in database.execute(query, (trial_id, phase)):
                if not intact:
                    where = f"{phase} episode {episode} of trial {trial_id}"
                    raise damage(directory, f"the actions of {where} are not those that were recorded")
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
