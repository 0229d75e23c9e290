"""Weights as bytes: the rows that are not zero, compressed.

::

    header (JSON) ─ newline ─ zlib(feature of each row, int32, ascending; its weights, as they are)
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arcademark.errors import ArcadeMarkError
from arcademark.files import inflate, parse_json

MOST_HEADER = 100_000
"""Bytes of a header."""
MOST_RATIO = 64
"""To which rows of weights can be compressed: each holds a number."""
LEVEL = 1
"""Of compression: weights are noise, but those of actions never taken are zero."""


def pack(header: Mapping[str, Any], weights: NDArray[Any], features: NDArray[np.int32] | None = None) -> bytes:
    """Return a header and weights as bytes, the same for the same; rows that are 0 are left out.

    `features`, int32, has the feature of each row, or of the first ones if the others are 0; None for 0, 1, 2, …
    """
    rows = np.flatnonzero(weights.any(axis=1)).astype(np.int32)
    numbers = rows
    if features is not None:
        rows = rows[np.argsort(features[rows])]
        numbers = features[rows]
    body = zlib.compress(numbers.tobytes() + weights[rows].tobytes(), LEVEL)
    return json.dumps({**header, "rows": len(rows)}, sort_keys=True).encode() + b"\n" + body


def unpack(
    data: bytes, expected: Mapping[str, Any], num_features: int, shape: tuple[int, ...], dtype: np.dtype[Any]
) -> tuple[dict[str, Any], NDArray[np.int32], NDArray[Any]]:
    """Return what `pack` made into bytes: the header, the features whose weights are not zero, and their weights.

    `expected` is what the header must say; features are below `num_features`; a row of weights has `shape` and `dtype`.
    ValueError if the bytes are no such weights, or those of other features or actions.
    """
    first, _, body = data.partition(b"\n") if b"\n" in data[:MOST_HEADER] else (b"", b"", b"")
    width = 4 + int(np.prod(shape)) * dtype.itemsize
    try:
        header: dict[str, Any] = parse_json(first.decode(), "its header")
        wrong = [name for name, value in expected.items() if header.get(name) != value]
        count = header.pop("rows")
        if not wrong and not (type(count) is int and 0 <= count <= num_features):
            raise ValueError
        content = b"" if wrong else inflate(body, min(count * width, MOST_RATIO * len(body)))
    except (ArcadeMarkError, ValueError, AttributeError, KeyError, TypeError):
        raise ValueError("it is damaged") from None
    for name in wrong:
        raise ValueError(f"its {name} is {header.get(name)!r}; expected {expected[name]!r}")
    if len(content) != count * width:
        raise ValueError("it is damaged")
    features = np.frombuffer(content[: 4 * count], np.int32)
    if count and not (features[0] >= 0 and features[-1] < num_features and (np.diff(features) > 0).all()):
        raise ValueError("it is damaged")
    return header, features, np.frombuffer(content, dtype, offset=4 * count).reshape(count, *shape)
