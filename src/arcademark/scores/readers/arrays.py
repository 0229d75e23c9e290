"""Reads arrays from NumPy's files and from JSON, without running code that a file may hold."""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arcademark.errors import ArcadeMarkError
from arcademark.scores.readers.base import read_bytes
from arcademark.scores.readers.sheet import decode

NO_PICKLE = (
    "holds Python objects (pickle), which can run any code when they are read; save the arrays with "
    "numpy.savez(path, **arrays), or as JSON"
)


def load_npz(path: Path) -> dict[str, NDArray[Any]]:
    """Return the arrays of an ``.npz`` file by name.

    Raises
    ------
    ArcadeMarkError
        Where it is damaged, cut short, or holds objects.
    """
    content = read_bytes(path)
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except (OSError, EOFError, KeyError, zipfile.BadZipFile, zlib.error) as error:
        raise ArcadeMarkError(f"{path}: not a whole .npz file ({error}); write it again") from error
    except ValueError as error:
        raise _damaged(path, error) from error


def load_npy(path: Path) -> NDArray[Any]:
    """Return the array of an ``.npy`` file; errors are those of `load_npz`."""
    try:
        array = np.load(io.BytesIO(read_bytes(path)), allow_pickle=False)
    except (OSError, EOFError) as error:
        raise ArcadeMarkError(f"{path}: not a whole .npy file ({error}); write it again") from error
    except ValueError as error:
        raise _damaged(path, error) from error
    return np.asarray(array)


def _damaged(path: Path, error: ValueError) -> ArcadeMarkError:
    reason = str(error).splitlines()[0]
    if "pickle" in reason.lower() or "object" in reason.lower():
        return ArcadeMarkError(f"{path}: {NO_PICKLE}")
    return ArcadeMarkError(f"{path}: not a whole NumPy file ({reason}); write it again")


def load_json(path: Path) -> Any:
    """Return what a JSON file holds.

    Raises
    ------
    ArcadeMarkError
        Where it is not JSON, or cut short; the message names row and column.
    """
    return parse_json(path, decode(path, read_bytes(path)), 1)


def parse_json(path: Path, text: str, row: int) -> Any:
    """Return what JSON text that begins in a row of the file holds; errors are those of `load_json`."""
    try:
        return json.loads(text, object_pairs_hook=lambda pairs: _unique(path, row, pairs))
    except json.JSONDecodeError as error:
        raise ArcadeMarkError(
            f"{path}, row {row + error.lineno - 1}, character {error.colno}: not JSON ({error.msg}); the file may be "
            "cut short: write it again"
        ) from error
    except RecursionError as error:
        raise ArcadeMarkError(f"{path}, row {row}: JSON nested too deeply; expected scores") from error


def _unique(path: Path, row: int, pairs: list[tuple[str, Any]]) -> Mapping[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ArcadeMarkError(f"{path}, at or after row {row}: {twice!r} is named twice in one object; name each once")
    return found
