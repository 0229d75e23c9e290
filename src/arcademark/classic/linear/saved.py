"""Serialization of weights: the nonzero rows, compressed.

::

    header (JSON) ─ newline ─ zlib(feature of each row, int32, ascending; its weights, in their type)
"""

from __future__ import annotations

import json
import zlib
from typing import Annotated, Any

import msgspec
import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from arcademark.files import inflate

VERSION = 1
MAX_HEADER = 100_000
"""Maximum bytes of a header."""
MAX_RATIO = 64
"""Maximum compression ratio of rows of weights, each of which has a nonzero number."""
LEVEL = 1
"""Level of compression: weights are noise, except the zeros of actions that were never taken."""

Count = Annotated[int, Meta(ge=0, le=2**60)]


class Header(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """Header of saved weights: the agent's features and actions, and the other state of learning."""

    version: int = VERSION
    features: str
    feature_parameters: dict[str, Any] = msgspec.field(default_factory=dict)
    num_features: int
    num_actions: int
    most_active: Count
    reward_scale: Annotated[float, Meta(gt=0)] | None
    episodes: Count
    steps: Count
    rows: Count = 0


_SAME = ("version", "features", "feature_parameters", "num_features", "num_actions")


def pack(header: Header, weights: NDArray[Any], features: NDArray[np.int32] | None = None) -> bytes:
    """Return a header and weights as bytes, deterministically; rows of zeros are omitted.

    `features`, int32, is the feature of each row, or of the first rows if the others are 0; None for 0, 1, 2, …
    """
    rows = np.flatnonzero(weights.any(axis=1)).astype(np.int32)
    numbers = rows
    if features is not None:
        rows = rows[np.argsort(features[rows])]
        numbers = features[rows]
    body = zlib.compress(numbers.tobytes() + weights[rows].tobytes(), LEVEL)
    return json.dumps(msgspec.to_builtins(header) | {"rows": len(rows)}, sort_keys=True).encode() + b"\n" + body


def unpack(data: bytes, mine: Header, like: NDArray[Any]) -> tuple[Header, NDArray[np.int32], NDArray[Any]]:
    """Return the contents of bytes from `pack`: the header, the features with nonzero weights, and their weights.

    `mine` contains the expected features and actions; rows of weights have the shape and type of `like`. ValueError if
    the bytes are damaged, or of other features or actions.
    """
    first, _, body = data.partition(b"\n") if b"\n" in data[:MAX_HEADER] else (b"", b"", b"")
    try:
        header = msgspec.json.decode(first, type=Header)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        raise ValueError("it is damaged") from None
    for name in _SAME:
        if (theirs := getattr(header, name)) != (ours := getattr(mine, name)):
            raise ValueError(f"its {name} is {theirs!r}; expected {ours!r}")
    width = 4 + like[0].nbytes
    content = inflate(body, min(width * min(header.rows, mine.num_features), MAX_RATIO * len(body)))
    if len(content) != header.rows * width:
        raise ValueError("it is damaged")
    features = np.frombuffer(content[: 4 * header.rows], np.int32)
    weights = np.frombuffer(content, like.dtype, offset=4 * header.rows).reshape(header.rows, *like.shape[1:])
    if len(features) and not (features[0] >= 0 and features[-1] < mine.num_features and (np.diff(features) > 0).all()):
        raise ValueError("it is damaged")
    return header, features, weights
