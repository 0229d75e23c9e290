"""Plug-ins of other packages: agents, feature sets, suites, engines and readers, by entry points.

A package declares them in its pyproject.toml::

    [project.entry-points."arcademark.agents"]
    sticky = "my_package.agents:Sticky"

ArcadeMark's own names take precedence: only names that it does not have are looked up here.
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
    """Return the names that installed packages declare in a group ("arcademark.agents"), sorted, without importing."""
    return sorted({point.name for point in _declared(group)})


def place(group: str, name: str) -> str | None:
    """Return the place "package.module:object" that an installed package declares for a name; None if none does.

    ArcadeMarkError if two packages declare it.
    """
    point = _point(group, name)
    return None if point is None else point.value


def named(group: str, name: str) -> Any | None:
    """Import and return the object that an installed package declares for a name; None if none does.

    ArcadeMarkError, with the package's name, if two packages declare it, or it cannot be imported.
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
    """Return the folders of packages with the times of their last changes, which differ after an installation."""
    changed = []
    for folder in sys.path:
        with suppress(OSError):
            changed.append((folder, os.stat(folder or ".").st_mtime_ns))
    return tuple(changed)


def _declared(group: str) -> EntryPoints:
    """Return the entry points of a group; they are read again after a package was installed or removed."""
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
