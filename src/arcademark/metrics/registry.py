"""Registries of what reports show: statistics and metrics, by name and in order."""

from __future__ import annotations

from typing import Protocol, TypeVar

from arcademark.errors import ArcadeMarkError


class _Named(Protocol):
    """Something that has a stable name, and a title in print."""

    @property
    def name(self) -> str:
        """Return its stable name."""

    @property
    def title(self) -> str:
        """Return its title in print."""


T = TypeVar("T", bound=_Named)


def add(registry: dict[str, T], item: T, what: str) -> T:
    """Add an item to a registry under its name, unless it is there already.

    Raises
    ------
    ArcadeMarkError
        If there is another of its name or title, or its name is no identifier.
    """
    if any(item.name == other.name or item.title == other.title for other in registry.values() if other != item):
        raise ArcadeMarkError(f"{what} {item.name!r}: there is another of this name or title")
    if not item.name.isidentifier():
        raise ArcadeMarkError(f"{what} {item.name!r}: expected a name of letters, digits and underscores")
    return registry.setdefault(item.name, item)
