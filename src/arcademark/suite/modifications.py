"""Modified games: what is written into a game's memory while it is played, so that it is easier, harder or looks other.

A modification depends on nothing but the memory, so that saved states need nothing besides.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources.abc import Traversable
from types import MappingProxyType
from typing import Annotated, Any

from msgspec import Meta

from arcademark.files import read_as
from arcademark.suite.tables import read_tables

MEMORY = 128
"""Bytes of the console's memory."""


Address = Annotated[int, Meta(ge=0, lt=MEMORY)]
Byte = Annotated[int, Meta(ge=0, le=255)]


@dataclass(frozen=True)
class Write:
    """What goes to some addresses of the memory: a `value`, or if that is None what the address `copy` holds.

    With `where`, (address, least, most), it is written only while what that address holds is in this range.
    """

    at: Annotated[tuple[Address, ...], Meta(min_length=1)]
    value: Byte | None = None
    copy: Address | None = None
    where: tuple[Address, Byte, Byte] | None = None

    def __post_init__(self) -> None:
        if (self.value is None) == (self.copy is None):
            raise ValueError("expected a value or an address to copy")
        if self.where is not None and self.where[1] > self.where[2]:
            raise ValueError("expected a range from its least value to its most")


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

    def read(game: str, name: str, entry: Mapping[str, Any]) -> Modification:
        place = f"modifications.toml, {game}.{name}"
        return read_as(Modification, {**entry, "game": game, "name": name}, place, "correct that table")

    tables = read_tables("modifications.toml", directory)
    return MappingProxyType(
        {
            game: MappingProxyType({name: read(game, name, entry) for name, entry in table.items()})
            for game, table in tables.items()
        }
    )
