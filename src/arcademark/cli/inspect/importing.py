"""``arcademark runs import``: logs of training made elsewhere become a run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from arcademark.cli import commands, messages, options, tables
from arcademark.cli.output import Output, with_output
from arcademark.errors import ArcadeMarkError


@commands.command("import", short_help="Make a run of training logs made elsewhere, labelled so.")
@click.argument("logs", nargs=-1, required=True, metavar="DIR…")
@click.option("--out", type=options.PATH, help="The run's directory.  [default: runs/imported-…]")
@click.option("--name", metavar="TEXT", help="What reports call the agent, as in --name 'PPO (ours)'.")
@click.option("--protocol", metavar="NAME", help="How it was trained.  [default: world-records, assumed]")
@click.option(
    "--frames-per-step",
    type=options.COUNT,
    help="Frames of a step in which the logs count an episode's length.  [default: as the environment's id says]",
)
@tables.read_as
@with_output
def command(
    logs: tuple[str, ...], out: Path | None, name: str | None, output: Output, reading: Mapping[str, Any], **how: Any
) -> int:
    """Make a run of the logs in DIR, made elsewhere and not verified, and show it.

    Stable-Baselines3's monitor.csv and evaluations.npz, CleanRL's TensorBoard files and RLlib's results, a file or
    folder a game and seed. 'report', 'compare', 'runs list' and --curves take it like a run played here, and say that
    it was not: its agent is called NAME [imported], and 'verify' refuses it.
    """
    from arcademark.cli.score.report import show
    from arcademark.reports.runs.importing import import_logs
    from arcademark.reports.tables.dataset import ScoreOptions

    given = dict(tables.read_options(None, (), reading))
    if name is not None:
        if given.get("algorithm", name) != name:
            raise ArcadeMarkError(
                f"--name {name} and --read algorithm={given['algorithm']} each name the agent; give one"
            )
        given["algorithm"] = name
    run = import_logs(logs, out, **how, **given)
    for note in run.notes:
        messages.say(f"note: {note}")
    messages.say(f"imported, not verified: {run.directory}")
    show([run.directory], ScoreOptions(), output)
    return 0
