"""``arcademark status``: the progress of runs, also while they play."""

from __future__ import annotations

import time
from pathlib import Path

import click

from arcademark.cli import commands, messages, options
from arcademark.cli.output import Output, with_output
from arcademark.errors import ArcadeMarkError

WATCH_SECONDS = 2.0


@commands.command("status")
@click.argument("folders", nargs=-1, required=True, metavar="RUN…", type=options.PATH)
@click.option(
    "--watch", is_flag=True, help="Show it again every two seconds, until no process plays these runs, or Ctrl-C."
)
@with_output
def command(folders: tuple[Path, ...], watch: bool, output: Output) -> int:
    """Show the progress of runs: trials by game and seed, frames a second, failures, time left.

    RUN is a run's directory, or a folder of several, as of shards; the trials of all are shown together. Safe at any
    time and from anywhere that sees the directory: it only reads.
    """
    from arcademark.reports.present import status as presenter
    from arcademark.reports.render import terminal
    from arcademark.reports.runs import status

    if watch and not output.plain:
        raise ArcadeMarkError("--watch works only with terminal output; leave out --watch or the output option")
    result = status.status(folders)
    if watch:
        console = messages.open_console(stderr=False)
        while True:
            console.clear()
            terminal.render(presenter.present(result), console, everything=output.everything)
            if result.idle:
                break
            time.sleep(WATCH_SECONDS)
            result = status.status(folders)
    else:
        output.show(result, lambda: presenter.present(result))
    return 1 if result.unread or result.states.get("failed") else 0
