"""Groups values by a key."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TypeVar

_Key = TypeVar("_Key", bound=Hashable)
_Value = TypeVar("_Value")


def grouped(pairs: Iterable[tuple[_Key, _Value]]) -> dict[_Key, list[_Value]]:
    """Return the second elements of pairs grouped by the first, in order."""
    result: dict[_Key, list[_Value]] = {}
    for key, value in pairs:
        result.setdefault(key, []).append(value)
    return result
