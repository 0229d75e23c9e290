"""Seals that distinguish a user's own unfinished episodes from those that somebody else wrote.

A planner continues from states that the emulator does not check: forged ones could overwrite its memory. So an
unfinished episode is stored with a seal, a hash of its checkpoint and of the emulator's name, with a key in the user's
cache folder. Without a valid seal the episode begins again, with the same result.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import hmac
import os
import secrets
import stat
from dataclasses import replace
from pathlib import Path

from arcademark._version import __version__
from arcademark.errors import ArcadeMarkError
from arcademark.files import cache_folder, exposed, make_private, read_bytes, write_whole
from arcademark.records.model import Unfinished

SIZE = 32  # bytes of a seal, and of the key
KEY = "seal.key"


def sealed(trial_id: str, emulator: str, kept: Unfinished) -> Unfinished:
    """Put the seal before the checkpoint; `emulator` is the name and version of the trial's emulator."""
    return replace(kept, checkpoint=_seal(trial_id, emulator, kept) + kept.checkpoint)


def unsealed(trial_id: str, emulator: str, stored: Unfinished) -> Unfinished | None:
    """Return the checkpoint without its seal; None if the seal is missing, another user's, or does not match."""
    kept = replace(stored, checkpoint=stored.checkpoint[SIZE:])
    return kept if hmac.compare_digest(stored.checkpoint[:SIZE], _seal(trial_id, emulator, kept)) else None


def _seal(trial_id: str, emulator: str, kept: Unfinished) -> bytes:
    place = kept.episode, kept.frames, kept.simulated_frames, kept.wall_seconds, kept.generator, len(kept.actions)
    what = repr((__version__, trial_id, emulator, *place)).encode()
    seal = hashlib.blake2b(what, digest_size=SIZE, key=_key(cache_folder()))
    seal.update(kept.actions)
    seal.update(kept.checkpoint)
    return seal.digest()


@functools.cache
def _key(folder: Path | None) -> bytes:
    """Return the user's key, made at first use; a key of this process alone if it cannot be stored."""
    key = secrets.token_bytes(SIZE)

    def write(draft: Path) -> None:
        with open(draft, "xb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
            file.write(key)

    with contextlib.suppress(OSError, ArcadeMarkError):
        for _ in range(2 if folder else 0):
            path = Path(folder or "", KEY)
            make_private(path.parent)
            if not path.exists():
                write_whole(path, write)
            secret = not exposed(path) and not path.stat().st_mode & (stat.S_IRGRP | stat.S_IROTH)
            if secret and len(content := read_bytes(path, SIZE)) == SIZE:
                return content
            path.unlink()  # truncated by a full disk, or readable by others
    return key
