"""Reads a series of scalars from TensorBoard's event files.

Conventions
-----------
* Values stand in the order of their steps. Where a run was resumed, each part has a file in the same folder.
* Which series is taken, and what its values are, is as in `arcademark.scores.readers.logs.series`.
"""

from __future__ import annotations

import math
import struct
from pathlib import Path
from typing import Any

import numpy as np

from arcademark.errors import ArcadeMarkError
from arcademark.grouping import grouped
from arcademark.scores.readers.base import LARGEST, Log, Options, UnrecognisedError
from arcademark.scores.readers.content import read_bytes
from arcademark.scores.readers.logs.series import choose_tag, unit_of

MAX_VALUES = 2_000_000
"""Events and values in them that are read of a file."""


def is_events(content: bytes) -> bool:
    """Return whether a file begins as an event file: with a short record that holds the format's version."""
    if len(content) < 16:
        return False
    (length,) = struct.unpack("<Q", content[:8])
    return length < 256 and b"brain.Event:" in content[12 : 12 + length]


def read_events(path: Path, options: Options) -> list[Log]:
    """Read one series of an event file."""
    events, damage = _events(path, read_bytes(path))
    result = grouped((tag, (step, value)) for tag, step, value in events)
    if not result:
        raise UnrecognisedError(
            f"{path}: an event file without scalars{f' ({damage})' if damage else ''}; expected a series of scores"
        )
    tag, notes = choose_tag(str(path), list(result), options)
    points = sorted(result[tag], key=lambda point: point[0])
    for step, value in points:
        if abs(value) > LARGEST:
            raise ArcadeMarkError(f"{path}, {tag} at step {step:.0f}: {value} is no score; expected a number")
    finite = [(step, value) for step, value in points if not math.isnan(value)]
    if len(finite) < len(points):
        notes = (*notes, f"values of {tag} that are NaN are left out")
    if damage:
        notes = (*notes, f"the file is damaged ({damage}): what follows is lost")
    steps, values = (np.array(part, dtype=np.float64) for part in (zip(*finite, strict=True) if finite else ((), ())))
    return [Log(path, values, unit_of(tag), times=steps, notes=notes, steps=steps, series=tag)]


def _events(path: Path, content: bytes) -> tuple[list[tuple[str, float, float]], str]:
    """Return the scalars as (tag, step, value), and why the file is not whole, if it is not.

    A record is its length (8 bytes), a checksum (4), the event and another checksum (4).
    """
    try:
        from google.protobuf.message import DecodeError  # type: ignore[import-untyped,unused-ignore]
        from tensorboard.compat.proto.event_pb2 import Event
        from tensorboard.util.tensor_util import make_ndarray
    except ImportError:
        raise ArcadeMarkError(f"{path}: reading event files needs tensorboard; pip install '.[readers]'") from None
    result: list[tuple[str, float, float]] = []
    at = number_read = 0
    while at < len(content):
        length = int.from_bytes(content[at : at + 8], "little")
        if at + 16 + length > len(content):
            return result, f"it breaks off in the record at byte {at}"
        try:
            event = Event.FromString(content[at + 12 : at + 12 + length])
        except DecodeError:
            return result, f"the record at byte {at} is no event"
        number_read += 1 + len(event.summary.value)
        if number_read > MAX_VALUES:
            raise ArcadeMarkError(
                f"{path}: holds more than {MAX_VALUES:,} events, the most that are read; export the series of scores "
                "as CSV"
            )
        numbers = ((value.tag, _scalar(value, make_ndarray)) for value in event.summary.value)
        result += [(tag, float(event.step), number) for tag, number in numbers if number is not None]
        at += 16 + length
    return result, ""


def _scalar(value: Any, make_ndarray: Any) -> float | None:
    if value.HasField("simple_value"):
        return float(value.simple_value)
    scalar = value.metadata.plugin_data.plugin_name in ("", "scalars") and not value.tensor.tensor_shape.dim
    if not value.HasField("tensor") or not scalar:
        return None
    try:
        array = make_ndarray(value.tensor)
    except (TypeError, ValueError, IndexError):  # of no type, or of another size than it says
        return None
    return float(array) if array.ndim == 0 and array.dtype.kind in "fiu" else None
