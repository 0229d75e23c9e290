"""``arcademark run``: play an agent, and show its score."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from arcademark.cli import messages, options, playing
from arcademark.cli import output as outputs
from arcademark.cli.output import Output
from arcademark.errors import ArcadeMarkError

if TYPE_CHECKING:
    from arcademark.agents.loading import AgentSpec


@click.command("run")
@playing.asked_of_one
@options.shard
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="The run's directory.  [default: runs/ and the agent's name, with another protocol's]",
)
@click.option(
    "--until-error",
    type=options.SHARE,
    metavar="SHARE",
    help="Play games, the most informative first, until the median's 90 % interval reaches no further: 15%.",
)
@click.option(
    "--tensorboard",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Also write scores as they happen, as TensorBoard's event files.",
)
@click.option("--wandb", metavar="PROJECT", help="Also log them in a project of W&B (pip install wandb).")
@outputs.options
def command(
    agent: str | None,
    games: str,
    out: Path | None,
    shard: tuple[int, int] | None,
    until_error: float | None,
    tensorboard: Path | None,
    wandb: str | None,
    output: Output,
    **asked: Any,
) -> int:
    """Play AGENT on games under a protocol and show its score.

    AGENT is a built-in agent ('arcademark info agents'), your own, path/to/file.py:factory or package.module:factory,
    or a trained network's file, or a pattern of files, one for each game and seed: 'models/{game}/seed{seed}.zip'.
    Programs in any language are played with --agent-command, beside it or without.

    Every episode is kept with its actions in the run's directory. The same command again continues where it stopped, a
    planner even within an episode; with more games, seeds or episodes the run grows. A shard's scores are shown once
    it is merged.

    With --until-error games are chosen one by one, after those of --games if given, for most taken off the uncertainty
    of the 57-game median per frame, until the truth is within SHARE of the estimate at 90 %; the prediction follows the
    report.
    """
    from arcademark.cli.jobs import check_shown
    from arcademark.cli.report import show
    from arcademark.reports.runs.ledger import foretold
    from arcademark.reports.tables.dataset import ScoreOptions
    from arcademark.runs import scheduling
    from arcademark.suite.subsets import resolve_tasks

    check_shown(output, None, shard)
    way, specs = playing.playing_one(agent, **asked)
    way = replace(way, tensorboard=tensorboard, wandb=wandb)
    directory = out or directory_of(agent or specs[0], way.protocol.name, shard)
    if tensorboard is not None:
        messages.say(f"TensorBoard: tensorboard --logdir {tensorboard}")
    if until_error is not None:
        if shard is not None:
            raise ArcadeMarkError("--shard and --until-error: games that are chosen one by one cannot be dealt out")
        from arcademark.cli import until

        first = resolve_tasks(games) if options.given("games") else ()
        return until.run(until_error, specs, first, way, directory, output=output)
    plan = way.plan(specs, games)
    if shard is not None:
        plan = scheduling.shard(plan, *shard)
    for told in foretold(plan, directory):
        messages.say(f"warning: with this run, {told}")
    summary = way.play(plan, directory)
    if summary.interrupted:
        return 130
    if shard is None:
        show([directory], ScoreOptions(), output)
    return 1 if summary.failed else 0


def directory_of(agent: str | AgentSpec, protocol: str, shard: tuple[int, int] | None) -> Path:
    """Name the directory of a run, or of one shard of it."""
    whole = playing.default_directory(agent, protocol)
    return whole if shard is None else whole.with_name(f"{whole.name}-{shard[0]}-of-{shard[1]}")
