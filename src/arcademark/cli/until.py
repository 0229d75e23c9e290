"""``arcademark run --until-error``: play the most informative games first, until the median of all is known well."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arcademark.cli import messages
from arcademark.cli.playing import Playing
from arcademark.errors import ArcadeMarkError
from arcademark.reports.subsets import until
from arcademark.suite.subsets import LEVEL

if TYPE_CHECKING:
    from arcademark.agents.loading import AgentSpec


def run(
    error: float, specs: Sequence[AgentSpec], games: tuple[str, ...], way: Playing, directory: Path, *, as_json: bool
) -> int:
    """Play games in the order of what they tell per frame, show the report and the prediction, return the exit code.

    Raises
    ------
    ArcadeMarkError
        Where several agents are named, or the error cannot be reached whatever is played: before anything is; and as
        `make_plan` and `execute`.
    """
    if len(specs) != 1:
        raise ArcadeMarkError(
            f"--until-error is for one agent, and {len(specs)} are named: {specs[0].label}, "
            f"{specs[1].label}, …; choose one"
        )
    label = specs[0].label
    asked = until.Asked(
        error,
        label,
        games,
        way.protocol,
        directory,
        plan=lambda chosen: way.plan(specs, chosen),
        play=lambda plan: way.play(plan, directory, tell_all=False),
        say=messages.say,
    )
    outcome = until.UntilError(asked).run()
    if outcome.interrupted:
        return 130
    if not outcome.reached and outcome.steps[-1].known:
        messages.say(
            f"not reached: {label} has no game left to play; more episodes or seeds do not narrow this interval"
        )
    if as_json:
        messages.print_json(_document(outcome, directory, label))
    else:
        _render(outcome, directory, label)
    return 0 if outcome.reached and not outcome.failed else 1


def _document(outcome: until.Outcome, directory: Path, label: str) -> dict[str, Any]:
    """Return how it ended, the report and the prediction as JSON values."""
    from arcademark.reports.render import json
    from arcademark.reports.subsets import models, predicting
    from arcademark.reports.tables.analysis import analyse

    report = json.render(analyse(directory))
    prediction = None
    if outcome.steps[-1].known:
        shown = predicting.predicted([directory], models.ANY, algorithms=[label])
        prediction = json.render(shown)
    return {**json.render(outcome), "level": LEVEL, "report": report, "prediction": prediction}


def _render(outcome: until.Outcome, directory: Path, label: str) -> None:
    """Print the report, and below it what is predicted, if anything is."""
    from arcademark.cli.output import Output
    from arcademark.cli.report import show
    from arcademark.reports.layout import Console
    from arcademark.reports.present import prediction
    from arcademark.reports.render import terminal
    from arcademark.reports.subsets import models, predicting
    from arcademark.reports.tables.dataset import ScoreOptions

    show([directory], ScoreOptions(), Output())
    if not outcome.steps[-1].known:
        return
    shown = predicting.predicted([directory], models.ANY, algorithms=[label])
    terminal.render(prediction.document(dataclasses.replace(shown, sources=())), Console(), everything=True)
