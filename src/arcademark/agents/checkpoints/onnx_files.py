"""ONNX models: the files with their weights, and checks before a model runs.

A model names such files relative to its own path. They are part of the checkpoint, and are read from its folder only.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from arcademark.errors import ArcadeMarkError
from arcademark.files import read_bytes
from arcademark.importing import needing, said

MAX_PARTS = 1_000_000
"""Messages in a model's file: its nodes, their attributes, tensors and types."""
_LOOPS = ("Loop", "Scan", "SequenceMap")
"""Operators that repeat others a number of times that their inputs determine."""


def is_onnx(data: bytes) -> bool:
    """Return True if a file begins like an ONNX file: with the version of the format, a small number."""
    return data[:1] == b"\x08" and b"\x01" <= data[1:2] <= b"\x7f"


def files_of(data: bytes, path: Path) -> list[Path]:
    """Return the files beside an ONNX model that contain its tensors, each once.

    ArcadeMarkError: it is damaged, or names a file that is not in its folder.
    """
    return list(dict.fromkeys(_place(tensor, path) for tensor in _outside(_parts(data, path))))


def whole(data: bytes, path: Path, most: int) -> bytes:
    """Return an ONNX model that contains all its tensors, none of them in a file beside it.

    ArcadeMarkError: as in `files_of`; a file is shorter than stated; the model repeats operators in a loop, which need
    not end; it holds more than `most` bytes; or its weights are not finite.
    """
    parts = _parts(data, path)
    if loops := [part.op_type for part in parts if part.DESCRIPTOR.name == "NodeProto" and part.op_type in _LOOPS]:
        raise ArcadeMarkError(f"{path}: its operator {loops[0]} repeats others, maybe without end; export it without")
    contents: dict[Path, bytes] = {}
    size = len(data)
    for tensor in _outside(parts):
        if (place := _place(tensor, path)) not in contents:
            contents[place] = read_bytes(place, most)
        content, entries = contents[place], _entries(tensor)
        try:
            offset = int(entries.get("offset", 0))
            end = offset + int(entries.get("length", len(content) - offset))
        except ValueError:
            offset = end = -1
        if not 0 <= offset <= end <= len(content):
            name = said(str, tensor.name)
            raise ArcadeMarkError(f"{path}: '{name}' does not lie within {place.name}; copy both, or export it again")
        size += end - offset
        if size > most:
            raise ArcadeMarkError(f"{path}: its tensors have more than {most:,} bytes, the most that is read")
        tensor.raw_data = content[offset:end]
        tensor.data_location = tensor.DEFAULT
        tensor.ClearField("external_data")
    for tensor in (part for part in parts if part.DESCRIPTOR.name == "TensorProto"):
        _check_numbers(tensor, path)
    return parts[0].SerializeToString() if contents else data


def _check_numbers(tensor: Any, path: Path) -> None:
    """Refuse weights that are not finite; -infinity among numbers is a mask, and a single infinity a bound."""
    from onnx import numpy_helper

    if tensor.data_type not in (tensor.FLOAT, tensor.FLOAT16, tensor.DOUBLE):
        return
    try:
        array = numpy_helper.to_array(tensor)
    except (ValueError, TypeError, OverflowError, MemoryError) as error:
        raise ArcadeMarkError(
            f"{path}: '{said(str, tensor.name)}' is damaged ({said(str, error)}); export it again"
        ) from None
    kept = array[~np.isneginf(array)] if array.size > 1 else array[np.isnan(array)]
    if (array.size > 1 and not kept.size) or not np.isfinite(kept).all():
        name = said(str, tensor.name)
        raise ArcadeMarkError(f"{path}: '{name}' contains NaN or infinity; its training has diverged")


def _parts(data: bytes, path: Path) -> list[Any]:
    """Return a model and all messages that it consists of."""
    with needing(f"{path}: needs onnx and onnxruntime", "deep"):
        import onnx
        from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
    try:
        parts = list(islice(_within(onnx.ModelProto.FromString(data)), MAX_PARTS + 1))
    except DecodeError:
        raise ArcadeMarkError(f"{path}: cannot be read as ONNX; export it again") from None
    if len(parts) > MAX_PARTS:
        raise ArcadeMarkError(f"{path}: contains more than {MAX_PARTS:,} parts, the most that are read")
    return parts


def _within(message: Any) -> Iterator[Any]:
    yield message
    for field, value in message.ListFields():
        if field.message_type is not None:
            for part in [value] if field.message_type is getattr(value, "DESCRIPTOR", None) else value:
                yield from _within(part)


def _outside(parts: list[Any]) -> Iterator[Any]:
    """Yield the tensors whose numbers are in other files."""
    return (part for part in parts if part.DESCRIPTOR.name == "TensorProto" and part.data_location == part.EXTERNAL)


def _entries(tensor: Any) -> dict[str, str]:
    return {entry.key: entry.value for entry in tensor.external_data}


def _place(tensor: Any, path: Path) -> Path:
    name = _entries(tensor).get("location", "")
    place = path.parent / name
    try:
        inside = place.resolve().is_relative_to(path.parent.resolve()) and place.is_file()
    except (OSError, ValueError):
        inside = False
    if not inside:
        raise ArcadeMarkError(
            f"{path}: keeps '{said(str, tensor.name)}' in {said(str, name)!r}, which is not a file in its folder; copy "
            "it there, or export the model as one file"
        )
    return place
