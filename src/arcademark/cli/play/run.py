"""``arcademark run``: play an agent, and show its score."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from arcademark.cli import commands, messages, options
from arcademark.cli.output import Output, with_output
from arcademark.cli.play import jobs as of_jobs
from arcademark.cli.play import playing
from arcademark.cli.play.jobs import Jobs
from arcademark.errors import ArcadeMarkError

if TYPE_CHECKING:
    from arcademark.agents.loading import AgentSpec


@commands.command("run", usual="games protocol settings seeds episodes frames workers name out forms")
@playing.asked_of_one
@of_jobs.asked
@click.option(
    "--out",
    type=options.PATH,
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
    type=options.PATH,
    metavar="FOLDER",
    help="Also write scores as they happen, as TensorBoard's event files.",
)
@click.option("--wandb", metavar="PROJECT", help="Also log them in a project of W&B (pip install wandb).")
@with_output
def command(
    agent: str | None,
    games: str,
    out: Path | None,
    shard: tuple[int, int] | None,
    jobs: Jobs | None,
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

    With --slurm the trials are divided into shards, each a job of a SLURM cluster; a last job merges them. A job that
    reaches its time limit or is preempted ends what it plays, goes back into the queue and continues. The same command
    again submits the shards that are not complete.

    With --until-error games are chosen one by one, after those of --games if given, for most taken off the uncertainty
    of the 57-game median per frame, until the truth is within SHARE of the estimate at 90 %; the prediction follows the
    report.
    """
    from arcademark.cli.score.report import show
    from arcademark.reports.runs import ledger
    from arcademark.reports.tables.dataset import ScoreOptions
    from arcademark.runs.playing import scheduling
    from arcademark.suite.subsets import resolve_tasks

    of_jobs.check_shown(output, jobs, shard)
    way, specs = playing.playing_one(agent, **asked)
    way = replace(way, tensorboard=tensorboard, wandb=wandb)
    directory = out or directory_of(agent or specs[0], way.protocol.name, shard)
    if jobs is not None:
        if until_error is not None or tensorboard is not None or wandb is not None:
            raise ArcadeMarkError(
                "--slurm: leave --until-error, --tensorboard and --wandb out, which are of one process"
            )
        plans, see = {"": way.plan(specs, games)}, f"arcademark report {directory}"
        return jobs.submit(plans, directory, "run", asked["workers"], frozenset(plans), see)
    if tensorboard is not None:
        messages.say(f"TensorBoard: tensorboard --logdir {tensorboard}")
    if until_error is not None:
        if shard is not None:
            raise ArcadeMarkError("--shard and --until-error: games that are chosen one by one cannot be dealt out")
        from arcademark.cli.play import until

        first = resolve_tasks(games) if options.given("games") else ()
        return until.run(until_error, specs, first, way, directory, output=output)
    plan = way.plan(specs, games)
    if shard is not None:
        plan = scheduling.shard(plan, *shard)
    for warning in ledger.warnings(plan, directory):
        messages.say(f"warning: with this run, {warning}")
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
