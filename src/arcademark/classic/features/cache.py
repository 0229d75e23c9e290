"""Cache of arrays that take seconds to compute and never change, in the user's cache folder.

::

    cached("background", {"game": "pong", …}, make) ─→ the file's arrays, if it has the same key
                                                    └→ otherwise make(), written to the file

The folder is that of `arcademark.files.cache_folder`; it may be deleted at any time. A file contains its whole key and
is replaced atomically. A file that is damaged or has another key is computed anew; if the folder is not writable,
nothing is cached, without an error.
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
"""Name of the key within a file."""


def cached(kind: str, key: Mapping[str, Any], make: Callable[[], Arrays]) -> Arrays:
    """Return arrays by name, from the cache or from `make`; no name is "key".

    `kind` is the prefix of the file's name; `key` contains everything that determines the arrays, as JSON values.
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
    """Return a file's arrays; None if it is missing, damaged (by its checksums), too large or of another key."""
    try:
        archive = ZipArchive(read_bytes(path), path)
        if archive.inflated_bytes > MAX_BYTES:
            return None
        members = {name.removesuffix(".npy"): io.BytesIO(archive.read(name)) for name in archive.names}
        arrays = {name: np.lib.format.read_array(member, allow_pickle=False) for name, member in members.items()}
        return arrays if arrays.pop(_KEY).item() == text else None
    except Exception:  # damaged
        return None


def _write(path: Path, text: str, arrays: Arrays) -> None:
    contents: dict[str, Any] = {_KEY: np.array(text), **arrays}
    with contextlib.suppress(OSError):
        make_private(path.parent)
        write_whole(path, lambda draft: np.savez_compressed(draft, **contents))
