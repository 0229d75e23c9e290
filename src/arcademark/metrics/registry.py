"""Registries of the statistics and metrics that reports show, by name and in order."""

from __future__ import annotations

from typing import Protocol, TypeVar

from arcademark.errors import ArcadeMarkError


class _Named(Protocol):
    """An item with a stable name, and a title in print."""

    @property
    def name(self) -> str:
        """Return its stable name."""

    @property
    def title(self) -> str:
        """Return its title in print."""


T = TypeVar("T", bound=_Named)


def add(registry: dict[str, T], item: T, what: str) -> T:
    """Add an item to a registry under its name, unless the registry has it already; return it.

    Raises
    ------
    ArcadeMarkError
        If another item has its name or title, or its name is not an identifier.
    """
    if any(item.name == other.name or item.title == other.title for other in registry.values() if other != item):
        raise ArcadeMarkError(f"{what} {item.name!r}: another one has this name or title")
    if not item.name.isidentifier():
        raise ArcadeMarkError(f"{what} {item.name!r}: expected a name of letters, digits and underscores")
    return registry.setdefault(item.name, item)
