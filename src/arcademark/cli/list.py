"""``arcademark list``: the runs below a folder."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from arcademark.cli import output as outputs
from arcademark.cli.output import Output


@click.command("list")
@click.argument("folders", nargs=-1, metavar="[FOLDER]…", type=click.Path(path_type=Path))
@outputs.options
def command(folders: tuple[Path, ...], output: Output) -> int:
    """List the runs below FOLDER, 'runs' by default: agents, games, protocol, and how far each is."""
    from arcademark.reports.present import listing as presenter
    from arcademark.reports.render import json
    from arcademark.reports.runs import listing

    found = listing.list_runs(folders or (Path("runs"),))
    output.show(partial(json.render, found), partial(presenter.present, found))
    return 1 if found.unread else 0
