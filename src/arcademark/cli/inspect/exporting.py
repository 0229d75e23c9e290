"""``arcademark runs export``: the episodes of runs as a Parquet file, or as a Minari dataset."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from arcademark.cli import commands, messages, options
from arcademark.errors import ArcadeMarkError


@commands.command("export", short_help="Write the episodes of runs as a Parquet file.")
@click.argument("directories", nargs=-1, required=True, metavar="RUN…", type=options.PATH)
@click.option(
    "--out", required=True, type=options.PATH, metavar="FILE", help="A new .parquet file; of --minari, folder."
)
@click.option("--actions", is_flag=True, help="Also what was played: a byte an action.")
@click.option("--minari", is_flag=True, help="Write a Minari dataset: what one agent saw on a game, did and got.")
@options.only("game", "agent", "seed")
@options.trusted_suite
def command(
    directories: tuple[Path, ...], out: Path, actions: bool, minari: bool, choice: Mapping[str, Any], suite: str | None
) -> int:
    """Write every episode of RUN… into a Parquet file, a row each. RUN is a run's directory or a folder of runs.

    Its trial, agent, game, seed and protocol, and what was recorded of it. 'arcademark score RUN --export FILE' writes
    the scores of algorithms instead.

    With --minari the evaluation episodes of one RUN are replayed, and --out is a new folder, named like pong-human-v0;
    --only chooses among them. Needs the extra 'minari'.
    """
    if minari:
        from arcademark.reports import wording
        from arcademark.runs.replay import offline

        if len(directories) > 1 or actions:
            raise ArcadeMarkError("--minari takes one run, and always has its actions; leave the others out")
        episodes, steps = offline.export(directories[0], out, suite=suite, **choice)
        messages.tell(f"{out}: {wording.plural(episodes, 'episode')}, {wording.plural(steps, 'step')}")
        return 0
    if choice or suite is not None:
        raise ArcadeMarkError("--only and --suite are for --minari; leave them out")
    from arcademark.runs.replay.parquet import export
    from arcademark.runs.store.ledger import find_runs

    runs = dict.fromkeys(run for directory in directories for run in find_runs(directory))
    messages.tell(f"{out}: {export([*runs], out, actions=actions):,} episodes")
    return 0
