"""What a trainer's checkpoint holds, and the file of it in the run's directory, ``checkpoints/<trial>.zip``.

A checkpoint is the length of a text, this text, JSON with the games that have ended and wait for an earlier one to be
recorded, then what the trainer kept.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from pathlib import Path

import msgspec

from arcademark.errors import ArcadeMarkError
from arcademark.files import write_whole
from arcademark.runs.store import Checkpoint, EpisodeResult

FOLDER = "checkpoints"
_LENGTH = 8
"""Bytes that tell the length."""


def packed(waiting: Iterable[EpisodeResult], kept: bytes) -> bytes:
    """Return the data of a checkpoint."""
    text = msgspec.json.encode(list(waiting))
    return len(text).to_bytes(_LENGTH, "little") + text + kept


def opened(checkpoint: Checkpoint, trial_id: str) -> tuple[list[EpisodeResult], bytes]:
    """Return the games that wait to be recorded, and what the trainer kept.

    Raises
    ------
    ArcadeMarkError
        If they are no games of the trial.
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
    """Return where the file of a trial lies."""
    return directory / FOLDER / f"{trial_id}.zip"


def write(directory: Path, trial_id: str, checkpoint: Checkpoint) -> None:
    """Write what a trial's training ended with, whole or not at all.

    Raises
    ------
    ArcadeMarkError
        If there is something else in its place.
    OSError
        If it cannot be written.
    """
    path = path_of(directory, trial_id)
    kept = opened(checkpoint, trial_id)[1]
    for place in (path.parent, path):
        if place.is_symlink() or (place is path.parent and place.exists() and not place.is_dir()):
            raise ArcadeMarkError(f"{place}: is none of this run's; remove it, and give the same command again")
    path.parent.mkdir(exist_ok=True)

    def fill(draft: Path) -> None:
        draft.write_bytes(kept)

    write_whole(path, fill)
