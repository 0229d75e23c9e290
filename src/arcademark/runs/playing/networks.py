"""Trainers' checkpoints, their files in a run's directory, and agents that were trained in another run.

The file is ``checkpoints/<trial>.zip``. A checkpoint is the length of a text, this text (JSON of the finished games
that wait for an earlier one to be recorded), and the trainer's own checkpoint.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

import msgspec

from arcademark.errors import ArcadeMarkError
from arcademark.files import write_whole
from arcademark.records.database import open_for_reading
from arcademark.records.model import Checkpoint, EpisodeResult
from arcademark.records.reading import read_checkpoint, read_run
from arcademark.runs.plan import Learnt, Plan

FOLDER = "checkpoints"
_LENGTH = 8
"""Bytes of the length."""


def packed(waiting: Iterable[EpisodeResult], kept: bytes) -> bytes:
    """Return the data of a checkpoint."""
    text = msgspec.json.encode(list(waiting))
    return len(text).to_bytes(_LENGTH, "little") + text + kept


def opened(checkpoint: Checkpoint, trial_id: str) -> tuple[list[EpisodeResult], bytes]:
    """Return the games that wait to be recorded, and the trainer's own checkpoint.

    Raises
    ------
    ArcadeMarkError
        If the games are not of the trial.
    """
    data = checkpoint.data
    end = _LENGTH + int.from_bytes(data[:_LENGTH], "little")
    waiting: list[EpisodeResult] | None = None
    with contextlib.suppress(msgspec.DecodeError, ValueError):
        waiting = msgspec.json.decode(data[_LENGTH:end], type=list[EpisodeResult])
    if waiting is None or any(
        (result.record.trial_id, result.record.phase) != (trial_id, "training")
        or result.record.episode < checkpoint.episodes
        for result in waiting
    ):
        raise ArcadeMarkError(f"trial {trial_id}: its checkpoint is damaged; train again in another directory")
    return waiting, data[end:]


def path_of(directory: Path, trial_id: str) -> Path:
    """Return the path of a trial's file."""
    return directory / FOLDER / f"{trial_id}.zip"


def write(directory: Path, trial_id: str, checkpoint: Checkpoint) -> None:
    """Write the network of a trial whose training is over, whole or not at all.

    Raises
    ------
    ArcadeMarkError
        If another kind of file is in its place.
    OSError
        If it cannot be written.
    """
    path = path_of(directory, trial_id)
    kept = opened(checkpoint, trial_id)[1]
    for place in (path.parent, path):
        if place.is_symlink() or (place is path.parent and place.exists() and not place.is_dir()):
            raise ArcadeMarkError(f"{place}: was not written by this run; remove it, and give the same command again")
    path.parent.mkdir(exist_ok=True)
    write_whole(path, kept)


def learnt_in(directory: Path) -> Mapping[tuple[str, str, int], Learnt | None]:
    """Return the results of a run's training, by agent, game and seed; None for agents that do not learn.

    Trials whose training is not over are left out. ArcadeMarkError: the run cannot be read.
    """
    run = read_run(directory)
    by_trial: dict[tuple[str, str, int], Learnt | None] = {}
    for trial in run.trials:
        kept = _finished(directory, trial.id) if trial.learns else None
        if kept is not None:
            learnt = Learnt(directory, trial.id, run.protocol, kept.frames, digest(kept))
            by_trial[trial.agent, trial.game, trial.seed] = learnt
        elif trial.learns is False:
            by_trial[trial.agent, trial.game, trial.seed] = None
    return by_trial


def trained_in(plan: Plan, learnt: Mapping[tuple[str, str, int], Learnt | None]) -> Plan:
    """Return a plan whose learning agents play with the results of `learnt_in`, without trials that have none."""
    keyed = ((trial, (trial.agent.label, trial.game, trial.seed)) for trial in plan.trials)
    return replace(plan, trials=tuple(replace(trial, learnt=learnt[key]) for trial, key in keyed if key in learnt))


def digest(checkpoint: Checkpoint) -> str:
    """Return the SHA-256 of a checkpoint's data."""
    return hashlib.sha256(checkpoint.data).hexdigest()


def brought(learnt: Learnt) -> Checkpoint:
    """Return the initial checkpoint of a trial whose agent was trained in another run.

    ArcadeMarkError: the other run has no such checkpoint any more.
    """
    kept = _finished(learnt.run, learnt.trial)
    if kept is None or digest(kept) != learnt.sha256:
        raise ArcadeMarkError(f"{learnt.run}: the result of trial {learnt.trial} has changed; give the command again")
    return Checkpoint(0, 0, True, kept.data)


def _finished(directory: Path, trial_id: str) -> Checkpoint | None:
    with open_for_reading(directory, checked=False) as database:
        kept = read_checkpoint(directory, database, trial_id)
    return kept if kept is not None and kept.finished else None
