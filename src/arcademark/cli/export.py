"""``arcademark export``: the episodes of runs as a Parquet file."""

from __future__ import annotations

from pathlib import Path

import click

from arcademark.cli import messages


@click.command("export")
@click.argument("directories", nargs=-1, required=True, metavar="RUN…", type=click.Path(path_type=Path))
@click.option("--out", required=True, type=click.Path(path_type=Path), metavar="FILE", help="A new .parquet file.")
@click.option("--actions", is_flag=True, help="Also what was played: a byte an action.")
def command(directories: tuple[Path, ...], out: Path, actions: bool) -> int:
    """Write every episode of RUN… into a Parquet file, a row each. RUN is a run's directory or a folder of runs.

    Its trial, agent, game, seed and protocol, and what was recorded of it. 'arcademark score RUN --export FILE' writes
    the scores of algorithms instead.
    """
    from arcademark.runs.ledger import find_runs
    from arcademark.runs.parquet import export

    runs = dict.fromkeys(run for directory in directories for run in find_runs(directory))
    messages.tell(f"{out}: {export([*runs], out, actions=actions):,} episodes")
    return 0
