"""Arrays that take seconds to make and never change: made once, kept in the user's cache folder.

::

    cached("background", {"game": "pong", …}, make) ─→ the file's arrays, if it was made with this very key
                                                    └→ else make(), and written for the next time

The folder is that of `arcademark.files.cache_folder`; it may be deleted at any time. A file holds its whole key and is
put in place in one step. A file that is damaged or of another key is made anew; where nothing can be written, nothing
is kept, and that is no error.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arcademark.files import MAX_BYTES, ZipArchive, cache_folder, make_private, read_bytes, write_whole

Arrays = dict[str, NDArray[Any]]

FORMAT = 1
"""Version of the files' layout, part of every key."""

_KEY = "key"
"""Name under which a file holds its key."""


def cached(kind: str, key: Mapping[str, Any], make: Callable[[], Arrays]) -> Arrays:
    """Return arrays by name, from the cache if they are there, else from `make`, under any names but "key".

    `kind` begins the file's name; `key` is all that the arrays depend on, as JSON values.
    """
    text = json.dumps({"kind": kind, "format": FORMAT, "key": dict(key)}, sort_keys=True)
    folder = cache_folder()
    if folder is None:
        return make()
    path = folder / f"{kind}-{hashlib.sha256(text.encode()).hexdigest()[:32]}.npz"
    arrays = _read(path, text)
    if arrays is None:
        arrays = make()
        _write(path, text, arrays)
    return arrays


def _read(path: Path, text: str) -> Arrays | None:
    """Return a file's arrays; None if it is missing, damaged (the archive's checksums tell), too large or another's."""
    try:
        archive = ZipArchive(read_bytes(path), path)
        if archive.inflated_bytes > MAX_BYTES:
            return None
        members = {name.removesuffix(".npy"): io.BytesIO(archive.read(name)) for name in archive.names}
        arrays = {name: np.lib.format.read_array(member, allow_pickle=False) for name, member in members.items()}
        return arrays if arrays.pop(_KEY).item() == text else None
    except Exception:  # of damage
        return None


def _write(path: Path, text: str, arrays: Arrays) -> None:
    contents: dict[str, Any] = {_KEY: np.array(text), **arrays}
    with contextlib.suppress(OSError):
        make_private(path.parent)
        write_whole(path, lambda draft: np.savez_compressed(draft, **contents))
