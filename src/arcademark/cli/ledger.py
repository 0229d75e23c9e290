"""``arcademark ledger``: what was evaluated on test games, and whether only once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from arcademark.cli import tables
from arcademark.cli.output import Output
from arcademark.cli.output import options as with_output


@click.command("ledger")
@click.argument("paths", nargs=-1, metavar="[RUNS]…", type=click.Path(path_type=Path))
@click.option(
    "--apart",
    default="features",
    show_default=True,
    metavar="NAMES",
    help="Parameters whose values make different algorithms, rather than settings of one.",
)
@click.option("--entries", is_flag=True, help="As --all: list every evaluation too.")
@with_output
def command(paths: tuple[Path, ...], apart: str, entries: bool, output: Output) -> int:
    """Show what RUNS evaluated on test games, and whether every algorithm with one setting only.

    RUNS are runs or folders with runs in them; 'runs' by default. Parameters are to be chosen on training games, and
    what was chosen is to be evaluated on the others once (Bellemare et al. 2013). Training games are the five of that
    paper, and those of atari-3-val and atari-5-val; all other games of suites are for testing. Exit code 1
    where a test game met several settings of an algorithm.
    """
    from arcademark.reports.present import ledger
    from arcademark.reports.render import json
    from arcademark.reports.runs import ledger as shown
    from arcademark.runs.ledger import read_ledger

    found = shown.view(read_ledger(paths or (Path("runs"),)), tables.names("apart", apart or None))
    if entries:
        output = replace(output, everything=True)
    output.show(lambda: json.render(found), lambda: ledger.document(found))
    return 0 if found.kept else 1
