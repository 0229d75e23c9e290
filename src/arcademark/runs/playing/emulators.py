"""What plays each game of a run: our own console where it can be had and is proven for the game, else ale-py.

Scores, frames and actions are the same, so this is no part of the protocol; saved states are each one's own.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable, Iterable

from arcademark.environments import toy
from arcademark.environments.registry import Emulator, choose_emulator
from arcademark.runs.plan import Plan


def choose(plan: Plan, on_compiling: Callable[[], None] = lambda: None) -> dict[str, Emulator | None]:
    """Return what plays each game of a plan, None of other tasks, once the console is compiled if it is to play.

    `on_compiling` is called before the console is compiled, once on a machine.
    """
    if plan.protocol.unit == "step":
        return dict.fromkeys(plan.games)
    games = list(dict.fromkeys(trial.game for trial in plan.trials))
    if plan.emulator != "ale" and _to_compile(games):
        on_compiling()
    return {game: choose_emulator(game, plan.emulator) for game in games}


def named(game: str, emulator: Emulator | None) -> str:
    """Name an emulator with its version, "console 5f43e732cb187f58" or "ale-py 0.12.1"; "" for what none emulates."""
    from arcademark.console import build

    if game == toy.NAME or emulator is None:
        return ""
    return f"console {build.version()}" if emulator == "console" else f"ale-py {importlib.metadata.version('ale-py')}"


def _to_compile(games: Iterable[str]) -> bool:
    """Whether the console is proven for any of the games, can be compiled here, and was not yet."""
    from arcademark.console import build, prove

    if not any(game in prove.proven() for game in games) or build.switch() == "off" or build.compiler() is None:
        return False
    return build.kept((build.version(),), build.CORE_FLAGS) is None
