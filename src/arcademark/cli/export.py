"""``arcademark export``: the episodes of runs as a Parquet file, or as a Minari dataset."""

from __future__ import annotations

from pathlib import Path

import click

from arcademark.cli import messages, options
from arcademark.errors import ArcadeMarkError


@click.command("export")
@click.argument("directories", nargs=-1, required=True, metavar="RUN…", type=click.Path(path_type=Path))
@click.option(
    "--out",
    required=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="A new .parquet file; of --minari, folder.",
)
@click.option("--actions", is_flag=True, help="Also what was played: a byte an action.")
@click.option("--minari", is_flag=True, help="Write a Minari dataset: what one agent saw on a game, did and got.")
@options.combine(options.one_game, options.one_agent, options.one_seed, options.trusted_suite)
def command(
    directories: tuple[Path, ...],
    out: Path,
    actions: bool,
    minari: bool,
    game: str | None,
    agent: str | None,
    seed: int | None,
    suite: str | None,
) -> int:
    """Write every episode of RUN… into a Parquet file, a row each. RUN is a run's directory or a folder of runs.

    Its trial, agent, game, seed and protocol, and what was recorded of it. 'arcademark score RUN --export FILE' writes
    the scores of algorithms instead.

    With --minari the evaluation episodes of one RUN are replayed, and --out is a new folder, named like pong-human-v0;
    --game, --agent and --seed choose among them. Needs the extra 'minari'.
    """
    if minari:
        from arcademark.reports import wording
        from arcademark.runs import offline

        if len(directories) > 1 or actions:
            raise ArcadeMarkError("--minari takes one run, and always has its actions; leave the others out")
        episodes, steps = offline.export(directories[0], out, game=game, agent=agent, seed=seed, suite=suite)
        messages.tell(f"{out}: {wording.plural(episodes, 'episode')}, {wording.plural(steps, 'step')}")
        return 0
    if any(value is not None for value in (game, agent, seed, suite)):
        raise ArcadeMarkError("--game, --agent, --seed and --suite are for --minari; leave them out")
    from arcademark.runs.ledger import find_runs
    from arcademark.runs.parquet import export

    runs = dict.fromkeys(run for directory in directories for run in find_runs(directory))
    messages.tell(f"{out}: {export([*runs], out, actions=actions):,} episodes")
    return 0
