"""Reads arrays from NumPy's files and from JSON, without running code that a file may hold.

A file's metadata is first checked against its content: an array must be as large as its bytes, and none is unpacked
beyond `arcademark.files.MAX_BYTES`.
"""

from __future__ import annotations

import io
import math
import re
import warnings
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arcademark import files
from arcademark.errors import ArcadeMarkError, one_line
from arcademark.scores.readers.content import MAX_JSON_BYTES, MAX_TEXT_BYTES, decode, read_bytes
from arcademark.scores.table import MAX_CELLS

NO_PICKLE = (
    "holds Python objects (pickle), which can run any code when they are read; save the arrays with "
    "numpy.savez(path, **arrays), or as JSON"
)
MAX_ARRAYS = 10_000
"""Largest number of arrays in one ``.npz`` file."""

_CUT = "the file may be cut short: write it again"
_MAX_AXES = 8
_READERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
    (3, 0): np.lib.format.read_array_header_2_0,  # which differs in names of fields alone
}


def archive_names(path: Path) -> list[str]:
    """Return the names of a zip archive's members."""
    return files.ZipArchive(read_bytes(path), path, "write it again", ".npz file").names


def load_npz(path: Path) -> dict[str, NDArray[Any]]:
    """Return the arrays of numbers of an ``.npz`` file by name."""
    arrays: dict[str, NDArray[Any]] = {}
    archive = files.ZipArchive(read_bytes(path), path, "write it again", ".npz file")
    _check_members(path, archive)
    for member in archive.names:
        name = member.removesuffix(".npy")
        arrays[name] = _array(f"{path}, {one_line(name, 100)!r}", archive.read(member))
    _check_cells(path, sum(array.size for array in arrays.values()))
    return arrays


def _check_members(path: Path, archive: files.ZipArchive) -> None:
    members = archive.members
    if len(members) > MAX_ARRAYS:
        raise ArcadeMarkError(f"{path}: holds {len(members):,} arrays, expected at most {MAX_ARRAYS:,}")
    name, times = next(iter(Counter(member.filename for member in members).most_common(1)), ("", 0))
    if times > 1:
        raise ArcadeMarkError(f"{path}: holds {one_line(name, 100)!r} twice; save each array once")
    for member in members:
        name = one_line(member.filename, 100)
        if not member.filename.endswith(".npy"):
            raise ArcadeMarkError(f"{path}: holds {name!r}, which is no array; save arrays alone")
        if member.flag_bits & 0x1 or member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ArcadeMarkError(
                f"{path}: {name!r} is encrypted, or compressed in a way that NumPy does not; save it with "
                "numpy.savez_compressed"
            )
    if archive.inflated_bytes > files.MAX_BYTES:
        raise ArcadeMarkError(
            f"{path}: holds {archive.inflated_bytes:,} bytes when it is unpacked, expected at most "
            f"{files.MAX_BYTES:,}; save fewer arrays in a file"
        )


def _check_cells(path: Path, number: int) -> None:
    if number > MAX_CELLS:
        raise ArcadeMarkError(f"{path}: holds {number:,} numbers, expected at most {MAX_CELLS:,}; save fewer in a file")


def load_npy(path: Path) -> NDArray[Any]:
    """Return the array of an ``.npy`` file."""
    array = _array(str(path), read_bytes(path))
    _check_cells(path, array.size)
    return array


def _array(place: str, content: bytes) -> NDArray[Any]:
    """Return the array of numbers in an ``.npy`` file, once its header fits its bytes."""
    stream = io.BytesIO(content)
    try:
        version = np.lib.format.read_magic(stream)
        with warnings.catch_warnings(action="ignore"):  # of headers that Python 2 wrote
            shape, fortran, dtype = _READERS[version](stream)
    except (LookupError, TypeError, ValueError, SyntaxError, TokenError, RecursionError, MemoryError) as error:
        raise ArcadeMarkError(
            f"{place}: not a whole NumPy file (its header is not one that NumPy writes); write it again"
        ) from error
    if dtype.hasobject:
        raise ArcadeMarkError(f"{place}: {NO_PICKLE}")
    if dtype.kind not in "fiub" or dtype.itemsize > 8:
        raise ArcadeMarkError(f"{place}: holds values of type {dtype}, expected numbers of at most 64 bits")
    if len(shape) > _MAX_AXES or not all(0 <= axis <= MAX_CELLS for axis in shape):
        raise ArcadeMarkError(
            f"{place}: not a whole NumPy file (expected up to {_MAX_AXES} axes of up to {MAX_CELLS:,} each); "
            "write it again"
        )
    claimed, there = math.prod(shape) * dtype.itemsize, len(content) - stream.tell()
    if claimed != there:
        raise ArcadeMarkError(
            f"{place}: not a whole NumPy file (an array of shape {shape} takes {claimed:,} bytes, and {there:,} are "
            "there); write it again"
        )
    return np.frombuffer(content, dtype, offset=stream.tell()).reshape(shape, order="F" if fortran else "C")


def load_json(path: Path) -> Any:
    """Return a JSON file's content."""
    return parse_json(path, decode(path, read_bytes(path, MAX_JSON_BYTES)), 1)


def parse_json(path: Path, text: str, row: int) -> Any:
    """Return the content of JSON text that begins in a row of the file."""
    return files.parse_json(text, path, _CUT, row)


def json_lines(path: Path, most: int = MAX_TEXT_BYTES) -> Iterator[tuple[int, str]]:
    """Yield the rows and texts of a file's lines that are not blank; the file has at most `most` bytes."""
    text = decode(path, read_bytes(path, most))
    for row, line in enumerate((found[0] for found in re.finditer(r".*\n?", text)), start=1):
        if len(line.encode()) > MAX_JSON_BYTES:
            raise ArcadeMarkError(
                f"{path}, row {row}: holds more than {MAX_JSON_BYTES:,} bytes, the most of JSON that is read; give less"
            )
        if line.strip():
            yield row, line


def json_records(path: Path, most: int = MAX_TEXT_BYTES) -> Iterator[tuple[int, Any]]:
    """Yield the rows and contents of a file's lines, but of a last one that a running job has not finished."""
    for row, line in json_lines(path, most):
        if row == 1 or line.endswith("\n") or line.rstrip().endswith("}"):
            yield row, parse_json(path, line.rstrip(), row)
