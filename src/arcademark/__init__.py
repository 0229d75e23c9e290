"""ArcadeMark measures how good a game-playing agent really is on the Arcade Learning Environment.

>>> import arcademark
>>> arcademark.run("random", "atari-5", episodes=3)  # doctest: +SKIP
>>> arcademark.report("runs/random").to_html()  # doctest: +SKIP
>>> arcademark.compare("catalogue:review-2021", "Rainbow", "Muesli")  # doctest: +SKIP
>>> env = arcademark.make("pong")  # doctest: +SKIP
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from arcademark._version import __version__

if TYPE_CHECKING:
    from arcademark import catalogue
    from arcademark.api import compare, predict, report, run, search, suite_protocol
    from arcademark.environments.interfaces.gymnasium import make, make_vec
    from arcademark.errors import ArcadeMarkError
    from arcademark.operations.judging import judge
    from arcademark.runs.execution import execute
    from arcademark.runs.plan import make_plan
    from arcademark.runs.replay.verify import verify
    from arcademark.scores.table import ScoreTable
    from arcademark.suite.protocols import protocol, protocols
    from arcademark.suite.tasks import games

_HOMES = {
    **dict.fromkeys(("compare", "predict", "report", "run", "search", "suite_protocol"), "arcademark.api"),
    **dict.fromkeys(("make", "make_vec"), "arcademark.environments.interfaces.gymnasium"),
    "ArcadeMarkError": "arcademark.errors",
    "ScoreTable": "arcademark.scores.table",
    "judge": "arcademark.operations.judging",
    "execute": "arcademark.runs.execution",
    "make_plan": "arcademark.runs.plan",
    "games": "arcademark.suite.tasks",
    **dict.fromkeys(("protocol", "protocols"), "arcademark.suite.protocols"),
    "verify": "arcademark.runs.replay.verify",
}

__all__ = [
    "ArcadeMarkError",
    "ScoreTable",
    "__version__",
    "catalogue",
    "compare",
    "execute",
    "games",
    "judge",
    "make",
    "make_plan",
    "make_vec",
    "predict",
    "protocol",
    "protocols",
    "report",
    "run",
    "search",
    "suite_protocol",
    "verify",
]


if not TYPE_CHECKING:  # a type checker would accept every name because of it

    def __getattr__(name):
        """Import a public name from its module when it is first used, so that importing the package is fast."""
        if name == "catalogue":  # a package with functions `load`, `entries`, …
            return importlib.import_module("arcademark.catalogue")
        if name in _HOMES:
            return getattr(importlib.import_module(_HOMES[name]), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return the public names, so that interactive shells complete them."""
    return sorted(__all__)
