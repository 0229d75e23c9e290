"""``arcademark run``: play an agent, and show its score."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from arcademark.cli import commands, messages, options
from arcademark.cli.output import Output, with_figure, with_output
from arcademark.cli.play import playing
from arcademark.cli.play.jobs import Jobs, with_jobs
from arcademark.errors import ArcadeMarkError

if TYPE_CHECKING:
    from arcademark.pages.render.blocks import Document
    from arcademark.runs.request import Request


@commands.command("run", usual="games protocol settings seeds episodes frames workers out form saved")
@playing.for_one
@with_jobs
@click.option(
    "--out",
    type=options.PATH,
    help="The run's directory.  [default: runs/AGENT, or runs/AGENT-PROTOCOL]",
)
@click.option(
    "--until-error",
    type=options.SHARE,
    metavar="SHARE",
    help="Play the most informative games first, until the 57-game median is known to within this share: 15%.",
)
@click.option(
    "--tensorboard",
    type=options.PATH,
    metavar="FOLDER",
    help="Also log scores during the run as TensorBoard's event files.",
)
@click.option("--wandb", metavar="PROJECT", help="Also log scores during the run to W&B (pip install wandb).")
@options.quiet
@with_output
@with_figure
def command(
    agent: str | None,
    games: str | None,
    jobs: Jobs | None,
    until_error: float | None,
    output: Output,
    quiet: bool,
    **given: Any,
) -> int:
    """Play AGENT on games under a protocol and show its score.

    AGENT is a built-in agent ('arcademark info agents'); your own, path/to/file.py:factory or package.module:factory;
    a trained network's file; or a pattern of files, one per game and seed: 'models/{game}/seed{seed}.zip'.
    --agent-command plays programs in any language, with or without AGENT.

    Every episode is recorded with its actions in the run's directory. The same command resumes an interrupted run, a
    planner's even within an episode; more games, seeds or episodes extend it. A shard's scores are reported after the
    merge.

    With --slurm the trials are divided into shards, each a job of a SLURM cluster; a last job merges them. A job that
    reaches its time limit or is preempted saves, requeues itself and resumes. The same command submits incomplete
    shards.

    With --until-error games are played one at a time, those of --games first: always the one that most reduces the
    uncertainty of the 57-game median per frame, until its 90 % interval is within SHARE of the estimate. The report
    and the prediction follow.
    """
    from arcademark.analysis.tables.dataset import ScoreOptions
    from arcademark.cli.score.report import show

    wanted = playing.request(agent, **given)
    directory = wanted.directory
    if jobs is not None:
        if until_error or given["tensorboard"] or given["wandb"]:
            raise ArcadeMarkError(
                "--slurm: leave out --until-error, --tensorboard and --wandb, which apply to one process"
            )
        see = f"arcademark report {directory}"
        return jobs.submit({"": wanted.plan(games)}, directory, "run", given["workers"], see)
    if given["tensorboard"]:
        messages.say(f"TensorBoard: tensorboard --logdir {given['tensorboard']}")
    if until_error is not None:
        return _until(until_error, wanted, games, output, quiet=quiet)
    plan = wanted.of_shard(wanted.plan(games))
    playing.warn(plan, directory)
    summary = playing.play(wanted, plan)
    if summary.interrupted:
        return 130
    if "shard" not in given["engine"]:
        show([directory], ScoreOptions(), output, quiet=quiet)
    return 1 if summary.failed else 0


def _until(error: float, wanted: Request, games: str | None, output: Output, *, quiet: bool) -> int:
    """Play the most informative games first, and show the report followed by the prediction."""
    from arcademark.analysis.scoring.analysis import analyse
    from arcademark.analysis.subsets import models, predicting
    from arcademark.operations.until import InformativePlay, PlayedUntil
    from arcademark.pages import presenter
    from arcademark.suite.subsets import LEVEL, resolve_tasks

    first = () if games is None else resolve_tasks(games)
    until = InformativePlay(error, wanted, first, lambda plan: playing.play(wanted, plan, tell_all=False), messages.say)
    interrupted, failed = until.run()
    if interrupted:
        return 130
    last = until.steps[-1]
    if not until.reached and last.known:
        messages.say(
            f"not reached: {until.agent} has no game left to play; more episodes or seeds do not narrow this interval"
        )
    report = analyse(wanted.directory, every_variant=output.everything)
    predicted = predicting.predicted([wanted.directory], models.ANY, algorithms=[until.agent]) if last.known else None

    def present() -> Document:
        document = presenter.document(report)
        below = presenter.document(replace(predicted, sources=())).blocks if predicted else ()
        return replace(document, blocks=(*document.blocks, *below))

    ended = (error, last.error, until.reached, False, failed, tuple(until.steps))
    output.show_as(PlayedUntil(*ended, LEVEL, report, predicted), present, (lambda: report.brief) if quiet else None)
    return 0 if until.reached and not failed else 1
