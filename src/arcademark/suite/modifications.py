"""Modified games: writes to a game's memory during play, which make it easier or harder, or change its look.

A modification depends only on the memory, so that saved states need no further data.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
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
    """A write to some addresses of the memory: of a `value` or, if that is None, of the byte at the address `copy`.

    With `where`, (address, least, most), it is written only while the byte at that address is in this range.
    """

    at: Annotated[tuple[Address, ...], Meta(min_length=1)]
    value: Byte | None = None
    copy: Address | None = None
    where: tuple[Address, Byte, Byte] | None = None


@dataclass(frozen=True)
class Modification:
    """A modified game: a sentence on its effect, its writes in order, and the source of these facts."""

    game: str
    name: str
    what: str
    writes: tuple[Write, ...]
    source: str


@cache
def modifications() -> Mapping[str, Mapping[str, Modification]]:
    """Return the modifications of each game that has any, by their names."""

    def read(game: str, name: str, entry: Mapping[str, Any]) -> Modification:
        place = f"modifications.toml, {game}.{name}"
        return read_as(Modification, {**entry, "game": game, "name": name}, place, "correct that table")

    return {
        game: {name: read(game, name, entry) for name, entry in table.items()}
        for game, table in read_tables("modifications.toml").items()
    }
