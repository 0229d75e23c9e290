"""``arcademark run --until-error``: play the most informative games first, until the median of all is known well."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from arcademark.cli import messages
from arcademark.cli.output import Output
from arcademark.cli.play.playing import Playing
from arcademark.errors import ArcadeMarkError
from arcademark.reports.subsets import until
from arcademark.suite.subsets import LEVEL

if TYPE_CHECKING:
    from arcademark.agents.loading import AgentSpec
    from arcademark.reports.blocks import Document


def run(
    error: float, specs: Sequence[AgentSpec], games: tuple[str, ...], way: Playing, directory: Path, *, output: Output
) -> int:
    """Play games in the order of what they tell per frame, show the report and the prediction, return the exit code."""
    if len(specs) != 1:
        raise ArcadeMarkError(
            f"--until-error is for one agent, and {len(specs)} are named: {specs[0].label}, "
            f"{specs[1].label}, …; choose one"
        )
    label = specs[0].label
    outcome = until.UntilError(
        error,
        label,
        games,
        directory,
        plan=lambda chosen: way.plan(specs, chosen),
        play=lambda plan: way.play(plan, directory, tell_all=False),
        say=messages.say,
    ).run()
    if outcome.interrupted:
        return 130
    if not outcome.reached and outcome.steps[-1].known:
        messages.say(
            f"not reached: {label} has no game left to play; more episodes or seeds do not narrow this interval"
        )
    _show(outcome, directory, label, output)
    return 0 if outcome.reached and not outcome.failed else 1


def _show(outcome: until.Outcome, directory: Path, label: str, output: Output) -> None:
    """Show the report, and below it what is predicted, if anything is."""
    from arcademark.reports import presenter
    from arcademark.reports.present import prediction
    from arcademark.reports.subsets import models, predicting
    from arcademark.reports.tables.analysis import analyse

    report = analyse(directory, every_variant=output.everything)
    predicted = None
    if outcome.steps[-1].known:
        predicted = predicting.predicted([directory], models.ANY, algorithms=[label])

    def present() -> Document:
        document = presenter.document(report)
        if predicted is None:
            return document
        below = prediction.document(dataclasses.replace(predicted, sources=())).blocks
        return dataclasses.replace(document, blocks=(*document.blocks, *below))

    output.show(until.PlayedUntil(**vars(outcome), level=LEVEL, report=report, prediction=predicted), present)
