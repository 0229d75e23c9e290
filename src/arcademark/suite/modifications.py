"""Modified games: what is written into a game's memory while it is played, so that it is easier, harder or looks other.

A modification depends on nothing but the memory, so that saved states need nothing besides.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources.abc import Traversable
from types import MappingProxyType
from typing import Any

from arcademark.errors import ArcadeMarkError
from arcademark.suite.tables import read_tables

MEMORY = 128
"""Bytes of the console's memory."""


@dataclass(frozen=True)
class Write:
    """What goes to some addresses of the memory: a `value`, or if that is None what the address `copy` holds.

    With `where`, (address, least, most), it is written only while what that address holds is in this range.
    """

    at: tuple[int, ...]
    value: int | None
    copy: int | None
    where: tuple[int, int, int] | None


@dataclass(frozen=True)
class Modification:
    """A modified game: what it does in a sentence, its writes in their order, and where these facts are from."""

    game: str
    name: str
    what: str
    writes: tuple[Write, ...]
    source: str


@cache
def modifications(directory: Traversable | None = None) -> Mapping[str, Mapping[str, Modification]]:
    """Return the modifications of each game that has any, by their names.

    They are in ``modifications.toml`` of `directory`, by default the package's own. ArcadeMarkError: an address or a
    value is out of the memory's bounds, or a write is not as these are.
    """
    tables = read_tables("modifications.toml", directory)
    return MappingProxyType(
        {
            game: MappingProxyType({name: _modification(game, name, entry) for name, entry in table.items()})
            for game, table in tables.items()
        }
    )


def _modification(game: str, name: str, entry: Mapping[str, Any]) -> Modification:
    try:
        writes = tuple(_write(**write) for write in entry["writes"])
        return Modification(game, name, entry["what"], writes, entry["source"])
    except (KeyError, TypeError, ValueError) as error:
        raise ArcadeMarkError(f"modifications.toml, {game}.{name}: {error!r}; correct that table") from None


def _write(at: list[int], value: int | None = None, copy: int | None = None, where: list[int] | None = None) -> Write:
    if (value is None) == (copy is None):
        raise ValueError("expected a value or an address to copy")
    address, least, most = where or (0, 0, 255)
    addresses = [*at, address] if copy is None else [*at, address, copy]
    if not at or not all(0 <= place < MEMORY for place in addresses):
        raise ValueError(f"expected addresses from 0 to {MEMORY - 1}")
    if not 0 <= least <= most <= 255 or not 0 <= (value or 0) <= 255:
        raise ValueError("expected values from 0 to 255")
    return Write(tuple(at), value, copy, (address, least, most) if where else None)
