"""Weights as bytes: the rows that are not zero, compressed.

::

    header (JSON) ─ newline ─ zlib(number of each row, int32; its weights, as they are)
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

LEVEL = 1
"""Of compression: weights are noise, but those of actions never taken are zero."""


def pack(header: Mapping[str, Any], weights: NDArray[Any]) -> bytes:
    """Return a header and weights as bytes, the same for the same.

    Parameters
    ----------
    header : mapping
        As JSON.
    weights : float array, shape (F, A)
    """
    rows = np.flatnonzero(weights.any(axis=1)).astype(np.int32)
    body = zlib.compress(rows.tobytes() + weights[rows].tobytes(), LEVEL)
    return json.dumps({**header, "rows": len(rows)}, sort_keys=True).encode() + b"\n" + body


def unpack(data: bytes, weights: NDArray[Any], expected: Mapping[str, Any]) -> dict[str, Any]:
    """Write the weights that `pack` made into bytes, and return their header. On an error nothing is written.

    Parameters
    ----------
    data : bytes
    weights : float array, shape (F, A)
        Written to, zero where nothing was kept.
    expected : mapping
        What the header must say.

    Raises
    ------
    ValueError
        If the bytes are no such weights, or those of other features or actions.
    """
    try:
        first, _, body = data.partition(b"\n")
        header: dict[str, Any] = json.loads(first)
        wrong = [name for name, value in expected.items() if header.get(name) != value]
        content = b"" if wrong else zlib.decompress(body)
    except (ValueError, AttributeError, zlib.error):
        raise ValueError("it is damaged") from None
    for name in wrong:
        raise ValueError(f"its {name} is {header.get(name)!r}; expected {expected[name]!r}")
    count, width = header.pop("rows"), weights.shape[1] * weights.itemsize
    rows = np.frombuffer(content[: 4 * count], np.int32)
    if len(content) != count * (4 + width) or (count and not 0 <= rows.min() <= rows.max() < len(weights)):
        raise ValueError("it is damaged")
    weights[np.flatnonzero(weights.any(axis=1))] = 0
    weights[rows] = np.frombuffer(content, weights.dtype, offset=4 * count).reshape(count, weights.shape[1])
    return header
