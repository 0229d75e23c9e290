"""The records of a run: trials, episodes in columns, checkpoints, and how actions are encoded."""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, overload

import numpy as np
from msgspec import Meta
from numpy.typing import ArrayLike, NDArray

from arcademark.files import inflate
from arcademark.records.database import MAX_NUMBER, MAX_TEXT_CHARS
from arcademark.suite.protocols import Protocol
from arcademark.suite.settings import ARRAY_ACTIONS, MAX_ACTION_DIMENSIONS, MAX_FRAMES

Phase = Literal["training", "evaluation"]
End = Literal["terminated", "truncated"]
Status = Literal["pending", "running", "done", "failed"]

MAX_ARRAY_BYTES = 2**28  # of an episode's actions that are arrays
MAX_STEPS = 10_000_000  # of an episode whose actions are read: 46 hours of play with one action per frame
MAX_ERROR_CHARS = 4_000  # of the error of a failed trial
MAX_CHECKPOINT_BYTES = 999_000_000  # SQLite's own limit for a value is 1,000,000,000

Amount = Annotated[int, Meta(ge=0, le=MAX_FRAMES)]
Score = Annotated[float, Meta(ge=-MAX_NUMBER, le=MAX_NUMBER)]
Share = Annotated[float, Meta(ge=0, le=1)]
Seconds = Annotated[float, Meta(ge=0, le=MAX_NUMBER)]
Bytes = Annotated[bytes, Meta(max_length=MAX_CHECKPOINT_BYTES)]
Ascii = Annotated[str, Meta(max_length=MAX_TEXT_CHARS, pattern="^[ -~]+$")]


@dataclass(frozen=True)
class TrialRecord:
    """One trial as stored.

    The status depends on what is recorded: "pending" is nothing yet; "running" a part, whether or not a process plays
    it now; "done" everything; "failed" an error.
    """

    id: str  # stable name, "random-pong-s0-1a2b3c4d"
    agent: str  # the agent's label, parameters included: "const(action=FIRE)"
    game: str  # the task's id
    seed: int
    episodes: int  # requested evaluation episodes
    training_frames: int | None  # a learner's budget; None if it is in episodes
    frames_per_action: int | None = None  # requested by the agent instead of the protocol's ``frame_skip``
    status: Status = "pending"
    error: str | None = None  # why the trial failed, in one line
    learns: bool | None = None  # whether the agent is a learner; None until it was made for the first time
    plans: bool | None = None  # whether it is a planner; None also in runs older than planners
    training_episodes: int | None = None  # a learner's budget; None if it is in frames
    evaluated: int = 0  # recorded ones of the requested evaluation episodes
    trained_frames: int = 0  # of training, up to the checkpoint
    trained_episodes: int = 0  # likewise
    trained: bool = False  # whether its training budget is spent


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
    simulated_frames: Amount = 0  # emulated by a planner's model to choose the actions; 0 for other agents


@dataclass(frozen=True, eq=False)
class Episodes(Sequence[EpisodeRecord]):
    """Finished episodes in columns of shape (episodes,); as a sequence, each is an `EpisodeRecord`."""

    trials: tuple[str, ...]  # the ids of the run's trials
    trial: NDArray[np.int32]  # the index of each episode's trial among them
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
        """Return the columns by name, without the trials' ids."""
        return {name: column for name, column in self.__dict__.items() if name != "trials"}


@dataclass(frozen=True)
class EpisodeResult:
    """A finished episode with its actions."""

    record: EpisodeRecord
    actions: Bytes  # encoded by `encode_actions`


@dataclass(frozen=True)
class EvaluationRecord:
    """Evaluation episodes of a trial that one command recorded."""

    trial_id: str
    command: int  # 0 began the run, n continued it for the nth time
    begun: str  # when it recorded the first episode, ISO 8601 with the zone
    episodes: int


@dataclass(frozen=True)
class RunRecord:
    """A run as stored: everything but the recorded actions."""

    directory: Path
    manifest: dict[str, Any]  # request and provenance; see `arcademark.records.manifest`
    protocol: Protocol  # the protocol in force, overrides included
    trials: tuple[TrialRecord, ...]  # in the plan's order
    episodes: Episodes  # in the order of trials, training before evaluation, then by number
    evaluations: tuple[EvaluationRecord, ...] = ()
    """Evaluations in the order of trials, then of commands; none in runs of versions that did not record them."""
    parts: tuple[Path, ...] = ()
    """The directories, `directory` first, where it was read from several; see `arcademark.records.combined`."""

    @cached_property
    def by_trial(self) -> Mapping[str, Episodes]:
        """The episodes of each trial, by its id; their order is kept."""
        return {name: self.episodes[first:last] for name, (first, _, last) in self._edges.items()}

    @cached_property
    def _edges(self) -> Mapping[str, tuple[int, int, int]]:
        """The first row of each trial's training, that of its evaluation, and its end."""
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
        """Return the episodes whose mean is the trial's score: its evaluation, or the last k of its training.

        The latter if the protocol reports training and the agent learns. Empty until the training has ended.
        """
        if scored_phase(self.protocol, bool(trial.learns)) == "evaluation":
            return self.evaluation(trial)
        rows = self.training(trial)
        return rows[-trial.episodes if trial.status == "done" else len(rows) :]


@dataclass(frozen=True)
class Checkpoint:
    """State of a learner between two training episodes."""

    episodes: Amount  # of training before it
    frames: Amount  # likewise
    finished: bool  # whether the training budget is spent
    data: Bytes  # result of the learner's ``checkpoint()``


@dataclass(frozen=True)
class Unfinished:
    """An evaluation episode of a planner in play, with everything needed to continue it."""

    episode: Amount
    frames: Amount  # played so far
    simulated_frames: Amount  # emulated while planning, so far
    wall_seconds: Seconds  # so far
    generator: Ascii  # the state of the agent's generator, as JSON
    actions: Bytes  # so far, encoded by `encode_actions`
    checkpoint: Bytes  # result of the planner's ``checkpoint()``


def scored_phase(protocol: Protocol, learns: bool) -> Phase:
    """Return the phase whose episodes make the score: a protocol may report a learner's training itself."""
    return "training" if learns and protocol.reported_episodes == "training_last_k" else "evaluation"


def encode_actions(actions: ArrayLike) -> bytes:
    """Compress actions: one byte with the size of an item (1 or 2), then zlib's stream of the little-endian items.

    Actions that are arrays, shape (steps, …), keep their type: a zero byte, the type's kind and size, the number of an
    action's dimensions, each dimension in two bytes, and zlib's stream.
    """
    array = np.asarray(actions)
    if array.ndim > 1:
        kind, sides = f"{array.dtype.kind}{array.dtype.itemsize}".encode(), np.array(array.shape[1:], "<u2")
        items = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
        return b"\0" + kind + bytes([sides.size]) + sides.tobytes() + zlib.compress(items.tobytes())
    size = 1 if array.size == 0 or array.max() < 256 else 2
    return bytes([size]) + zlib.compress(array.astype(f"<u{size}").tobytes())


def decode_actions(blob: object, most: int = MAX_STEPS) -> NDArray[Any]:
    """Decode actions of `encode_actions`: uint16, shape (steps,), or arrays of their type; ValueError: damaged."""
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
