"""``arcademark submit``: play an agent as jobs of a SLURM cluster."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from arcademark.cli import jobs as of_jobs
from arcademark.cli import playing
from arcademark.cli.jobs import Jobs


@click.command("submit")
@playing.asked_of_one
@of_jobs.asked(required=True)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="The run's directory, which every node sees.  [default: as that of 'arcademark run']",
)
def command(agent: str | None, games: str, jobs: Jobs, out: Path | None, **asked: Any) -> int:
    """Play AGENT as 'arcademark run' does, divided into shards, each a job of a SLURM cluster; a last job merges them.

    A job that reaches its time limit or is preempted ends what it plays, goes back into the queue and continues. The
    same command again submits the shards that are not complete. 'arcademark tune' and 'robustness' take --slurm, too.
    """
    way, specs = playing.playing_one(agent, **asked)
    directory = out or playing.default_directory(agent or specs[0], way.protocol.name)
    plans = {"": way.plan(specs, games)}
    return jobs.submit(plans, directory, "run", asked["workers"], frozenset(plans), f"arcademark report {directory}")
