"""Plug-ins of other packages: agents, feature sets, suites, engines and readers, by entry points.

A package declares them in its pyproject.toml::

    [project.entry-points."arcademark.agents"]
    sticky = "my_package.agents:Sticky"

Names of ArcadeMark's own come first: whoever looks one up asks here only for those that are not.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from functools import lru_cache
from importlib.metadata import EntryPoint, EntryPoints, entry_points
from typing import Any

from arcademark.errors import ArcadeMarkError, one_line


def names(group: str) -> list[str]:
    """Return the names that installed packages declare in a group ("arcademark.agents"), sorted; imports nothing."""
    return sorted({point.name for point in _declared(group)})


def place(group: str, name: str) -> str | None:
    """Return where what an installed package declares by a name is, "package.module:thing"; None if none does.

    ArcadeMarkError if two packages declare it.
    """
    point = _point(group, name)
    return None if point is None else point.value


def named(group: str, name: str) -> Any | None:
    """Import what an installed package declares by a name; None if none does.

    ArcadeMarkError if two packages declare it, or it cannot be imported; with the package's name.
    """
    point = _point(group, name)
    if point is None:
        return None
    try:
        return point.load()
    except (Exception, SystemExit) as error:
        raise ArcadeMarkError(
            f"{group}: '{name}' of package {_package(point)} is {point.value}, and importing that raised "
            f"{type(error).__name__}: {one_line(str(error))}; update or uninstall {_package(point)}"
        ) from error


def installed() -> tuple[tuple[str, int], ...]:
    """Return what differs once a package was installed or removed: the folders that hold any, and when each changed."""
    changed = []
    for folder in sys.path:
        with suppress(OSError):
            changed.append((folder, os.stat(folder or ".").st_mtime_ns))
    return tuple(changed)


def _declared(group: str) -> EntryPoints:
    """Return what is declared in a group; packages are looked through again once one was installed or removed."""
    return _read(group, installed())


@lru_cache(maxsize=16)
def _read(group: str, changed: tuple[tuple[str, int], ...]) -> EntryPoints:  # noqa: ARG001
    return entry_points(group=group)


def _point(group: str, name: str) -> EntryPoint | None:
    points = list(_declared(group).select(name=name))
    if len(points) > 1:
        packages = " and ".join(map(_package, points))
        raise ArcadeMarkError(f"{group}: {packages} both declare '{name}'; uninstall one of them")
    return points[0] if points else None


def _package(point: EntryPoint) -> str:
    return point.dist.name if point.dist else point.module
