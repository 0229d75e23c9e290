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
from arcademark.reports.subsets import predictors
from arcademark.reports.subsets.until import PlayedUntil, UntilError
from arcademark.runs.until import play_in_turn
from arcademark.suite import tasks
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
    plan = way.plan(specs, list(dict.fromkeys([*games, *tasks.suite(predictors.ATARI).tasks])))
    for left in plan.left_out:
        if left.game in games:
            messages.say(f"left out  {left.agent} on {left.game}: {left.reason}")
    until = UntilError(error, label, plan, messages.say)
    interrupted, failed = play_in_turn(
        plan, directory, games, lambda part: way.play(part, directory, tell_all=False), until.choose
    )
    if interrupted:
        return 130
    if not until.reached and until.steps[-1].known:
        messages.say(
            f"not reached: {label} has no game left to play; more episodes or seeds do not narrow this interval"
        )
    _show(until, failed, directory, output)
    return 0 if until.reached and not failed else 1


def _show(until: UntilError, failed: bool, directory: Path, output: Output) -> None:
    """Show the report, and below it what is predicted, if anything is."""
    from arcademark.reports import presenter
    from arcademark.reports.subsets import models, predicting
    from arcademark.reports.tables.analysis import analyse

    report, last = analyse(directory, every_variant=output.everything), until.steps[-1]
    predicted = predicting.predicted([directory], models.ANY, algorithms=[until.agent]) if last.known else None

    def present() -> Document:
        document = presenter.document(report)
        if predicted is None:
            return document
        below = presenter.document(dataclasses.replace(predicted, sources=())).blocks
        return dataclasses.replace(document, blocks=(*document.blocks, *below))

    ended = (until.error, last.error, until.reached, False, failed, tuple(until.steps))
    output.show(PlayedUntil(*ended, LEVEL, report, predicted), present)
