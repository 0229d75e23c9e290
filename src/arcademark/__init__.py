"""ArcadeMark measures how good a game-playing agent really is on the Arcade Learning Environment."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from arcademark._version import __version__

if TYPE_CHECKING:
    from arcademark.environments.gymnasium import make, make_vec
    from arcademark.report.tables.analysis import analyse
    from arcademark.report.tables.compare import compare_tables
    from arcademark.runs.execution import execute
    from arcademark.runs.plan import make_plan

_HOMES = {
    "analyse": "arcademark.report.tables.analysis",
    "compare_tables": "arcademark.report.tables.compare",
    "execute": "arcademark.runs.execution",
    "make": "arcademark.environments.gymnasium",
    "make_plan": "arcademark.runs.plan",
    "make_vec": "arcademark.environments.gymnasium",
}

__all__ = ["__version__", "analyse", "compare_tables", "execute", "make", "make_plan", "make_vec"]


def __getattr__(name: str) -> Any:
    """Load a public name from its home when it is first used, so that importing the package stays cheap."""
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """List the public names that are not loaded yet too, so that interactive shells complete them."""
    return sorted({*globals(), *__all__})
