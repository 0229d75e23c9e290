"""Reads arrays from NumPy's files and from JSON, without running code that a file may hold.

What a file says of itself is held against what it holds before anything is made of it: an array is as large as its
bytes, and none is unpacked beyond `arcademark.files.MOST_BYTES`.
"""

from __future__ import annotations

import io
import math
import re
import zipfile
import zlib
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arcademark import files
from arcademark.errors import ArcadeMarkError
from arcademark.scores.readers.base import MOST_JSON, read_bytes
from arcademark.scores.readers.delimited import decode
from arcademark.scores.table import MOST_CELLS

NO_PICKLE = (
    "holds Python objects (pickle), which can run any code when they are read; save the arrays with "
    "numpy.savez(path, **arrays), or as JSON"
)
MOST_ARRAYS = 10_000
"""In one ``.npz`` file."""

_CUT = "the file may be cut short: write it again"
_HEADER = re.compile(
    rb"\{'descr': '([<>|=]?)([A-Za-z])(\d{0,9})(?:\[\w+\])?', 'fortran_order': (True|False), "
    rb"'shape': \(((?:\d{1,18}L?, ?)*(?:\d{1,18}L?)?)\), *\} *\n?"
)
_STRUCTURED = b"{'descr': ["
_TYPES = frozenset({"f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "b1"})
_MOST_AXES = 8


def load_npz(path: Path) -> dict[str, NDArray[Any]]:
    """Return the arrays of numbers of an ``.npz`` file by name."""
    found: dict[str, NDArray[Any]] = {}
    try:
        with zipfile.ZipFile(io.BytesIO(read_bytes(path))) as archive:
            members = archive.infolist()
            _check_members(path, members)
            for member in members:
                name = member.filename.removesuffix(".npy")
                found[name] = _array(f"{path}, {name!r}", archive.read(member))
    except (OSError, EOFError, ValueError, NotImplementedError, zipfile.BadZipFile, zlib.error) as error:
        raise ArcadeMarkError(f"{path}: not a whole .npz file ({error}); write it again") from error
    _check_cells(path, sum(array.size for array in found.values()))
    return found


def _check_members(path: Path, members: list[zipfile.ZipInfo]) -> None:
    if len(members) > MOST_ARRAYS:
        raise ArcadeMarkError(f"{path}: holds {len(members):,} arrays, expected at most {MOST_ARRAYS:,}")
    name, times = next(iter(Counter(member.filename for member in members).most_common(1)), ("", 0))
    if times > 1:
        raise ArcadeMarkError(f"{path}: holds {name!r} twice; save each array once")
    for member in members:
        if not member.filename.endswith(".npy"):
            raise ArcadeMarkError(f"{path}: holds {member.filename!r}, which is no array; save arrays alone")
        if member.flag_bits & 0x1:
            raise ArcadeMarkError(f"{path}: {member.filename!r} is encrypted; save it without a password")
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ArcadeMarkError(
                f"{path}: {member.filename!r} is compressed in a way that NumPy does not; save it with "
                "numpy.savez_compressed"
            )
    unpacked = sum(member.file_size for member in members)
    if unpacked > files.MOST_BYTES:
        raise ArcadeMarkError(
            f"{path}: holds {unpacked:,} bytes when it is unpacked, expected at most {files.MOST_BYTES:,}; "
            "save fewer arrays in a file"
        )


def _check_cells(path: Path, number: int) -> None:
    if number > MOST_CELLS:
        raise ArcadeMarkError(
            f"{path}: holds {number:,} numbers, expected at most {MOST_CELLS:,}; save fewer in a file"
        )


def load_npy(path: Path) -> NDArray[Any]:
    """Return the array of an ``.npy`` file."""
    found = _array(str(path), read_bytes(path))
    _check_cells(path, found.size)
    return found


def _array(place: str, content: bytes) -> NDArray[Any]:
    """Make an array of what an ``.npy`` file holds; its header is matched, not evaluated."""
    wide = content[6:7] in (b"\x02", b"\x03")
    begin = 12 if wide else 10
    end = begin + int.from_bytes(content[8:begin], "little")
    header = content[begin:end]
    known = content[:6] == b"\x93NUMPY" and content[6:8] in (b"\x01\x00", b"\x02\x00", b"\x03\x00")
    found = _HEADER.fullmatch(header)
    if not known or len(content) < end or (found is None and not header.startswith(_STRUCTURED)):
        raise ArcadeMarkError(
            f"{place}: not a whole NumPy file (its header is not one that NumPy writes); write it again"
        )
    if found is None:
        raise ArcadeMarkError(f"{place}: holds rows of named fields, expected numbers; save an array a field")
    order, kind, size = (part.decode() for part in found.group(1, 2, 3))
    if kind == "O":
        raise ArcadeMarkError(f"{place}: {NO_PICKLE}")
    if kind + size not in _TYPES:
        raise ArcadeMarkError(f"{place}: holds values of type {kind}{size}, expected numbers of at most 64 bits")
    shape = tuple(int(axis.strip(b" L")) for axis in found[5].split(b",") if axis.strip())
    claimed = math.prod(shape) * int(size)
    if len(shape) > _MOST_AXES or max(shape, default=0) > MOST_CELLS or claimed != len(content) - end:
        raise ArcadeMarkError(
            f"{place}: not a whole NumPy file (an array of shape {shape} takes {claimed:,} bytes, and "
            f"{len(content) - end:,} are there); write it again"
        )
    dtype = np.dtype(f"{order}{kind}{size}")
    return np.frombuffer(content, dtype, offset=end).reshape(shape, order="F" if found[4] == b"True" else "C")


def load_json(path: Path) -> Any:
    """Return what a JSON file holds."""
    return parse_json(path, decode(path, read_bytes(path, MOST_JSON)), 1)


def parse_json(path: Path, text: str, row: int) -> Any:
    """Return what JSON text that begins in a row of the file holds."""
    return files.parse_json(text, path, _CUT, row)
