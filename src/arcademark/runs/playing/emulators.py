"""Choice of each game's emulator: our own if it is available and proven for the game, otherwise ale-py.

Scores, frames and actions are the same on both, so the emulator is no part of the protocol; saved states differ.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable

from arcademark.environments.registry import (
    EmulatorName,
    choose_emulator,
    core_missing,
    environment_spec,
    open_environment,
)
from arcademark.runs.plan import Plan
from arcademark.runs.playing.events import Event, Note
from arcademark.suite.tasks import TOY


def choose(plan: Plan, tell: Callable[[Event], object] = lambda _: None) -> dict[str, EmulatorName | None]:
    """Return the emulator of each game of a plan, None of other tasks; ours is compiled first if it is chosen.

    `tell` receives a note if it has to be compiled, once on a machine, or is not available. ArcadeMarkError: the
    requested one is not available, or a user-defined game cannot be played as it is described.
    """
    from arcademark.emulator import build, prove

    if plan.protocol.unit == "step":
        return dict.fromkeys(plan.games)
    games = list(dict.fromkeys(trial.game for trial in plan.trials))
    suite = plan.protocol.suite
    if plan.emulator != "ale" and build.switch() != "off" and any(suite or game in prove.proven() for game in games):
        if build.kept((build.version(),), build.CORE_FLAGS) is None and build.compiler() is not None:
            tell(Note("the emulator is compiled; this takes about ten seconds, once on this machine"))
        if plan.emulator is None and (missing := core_missing(True, build.switch())) is not None:
            tell(Note(f"ale-py plays, more slowly, because our emulator is not available: {missing}"))
    chosen: dict[str, EmulatorName | None] = {game: choose_emulator(game, plan.emulator, suite=suite) for game in games}
    if suite is not None:  # a run with a wrong description could not be continued with the right one
        for game, emulator in chosen.items():
            open_environment(environment_spec(game, plan.protocol), emulator=emulator).close()
    return chosen


def named(game: str, emulator: EmulatorName | None) -> str:
    """Name an emulator with its version, "console 5f43e732cb187f58" or "ale-py 0.12.1"; "" for tasks without one."""
    from arcademark.emulator import build

    if game == TOY or emulator is None:
        return ""
    return f"console {build.version()}" if emulator == "console" else f"ale-py {importlib.metadata.version('ale-py')}"
