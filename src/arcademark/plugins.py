"""What other packages add: agents, feature sets, suites, engines and readers, by entry points of theirs.

A package declares them in its pyproject.toml::

    [project.entry-points."arcademark.agents"]
    sticky = "my_package.agents:Sticky"

Names of ArcadeMark's own come first: whoever looks one up asks here only for those that are not.
"""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import Any

from arcademark.errors import ArcadeMarkError, one_line


def names(group: str) -> list[str]:
    """Return the names that installed packages declare in a group ("arcademark.agents"), sorted; imports nothing."""
    return sorted({point.name for point in entry_points(group=group)})


def named(group: str, name: str) -> Any | None:
    """Import what an installed package declares by a name; None if none does.

    Raises
    ------
    ArcadeMarkError
        If two packages declare it, or it cannot be imported; with the package's name.
    """
    points = list(entry_points(group=group, name=name))
    if not points:
        return None
    packages = [point.dist.name if point.dist else point.module for point in points]
    if len(points) > 1:
        raise ArcadeMarkError(f"{group}: {' and '.join(packages)} both declare '{name}'; uninstall one of them")
    try:
        return points[0].load()
    except (Exception, SystemExit) as error:
        raise ArcadeMarkError(
            f"{group}: '{name}' of package {packages[0]} is {points[0].value}, and importing that raised "
            f"{type(error).__name__}: {one_line(str(error))}; update or uninstall {packages[0]}"
        ) from error
