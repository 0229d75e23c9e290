"""``arcademark status``: the progress of runs, also while they play."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from arcademark.cli import commands, messages, options
from arcademark.cli.output import Output, with_output
from arcademark.errors import ArcadeMarkError

if TYPE_CHECKING:
    from arcademark.records.queue import ClusterJob

WATCH_SECONDS = 2.0
SLURM_SECONDS = 30.0  # between queries of SLURM


@commands.command("status")
@click.argument("folders", nargs=-1, required=True, metavar="RUN…", type=options.PATH)
@click.option(
    "--watch",
    is_flag=True,
    help="Refresh every two seconds until no process or job plays these runs, or until Ctrl-C.",
)
@with_output
def command(folders: tuple[Path, ...], watch: bool, output: Output) -> int:
    """Show the progress of runs: trials by game and seed, frames per second, failures, time left, jobs of SLURM.

    RUN is a run's directory, or a folder of several; each run is shown with its shards, and its jobs that are
    queued, running, or have failed. It only reads, so it is safe during a run. On a shared file system use it on
    the machine that plays, unless the run has --engine scratch=FOLDER (docs/cluster.md).
    """
    from arcademark.analysis.runs import status
    from arcademark.pages import presenter
    from arcademark.pages.render import terminal
    from arcademark.records import queue

    if watch and not output.plain:
        raise ArcadeMarkError("--watch works only with terminal output; leave out --watch or the output option")
    due = 0.0
    known: tuple[tuple[ClusterJob, ...], str] = (), ""

    def ask(homes: Sequence[Path]) -> tuple[tuple[ClusterJob, ...], str]:
        """Return SLURM's answer, updated after `SLURM_SECONDS`."""
        nonlocal due, known
        if time.monotonic() >= due:
            known, due = queue.jobs(homes), time.monotonic() + SLURM_SECONDS
        return known

    progress = status.status(folders, ask)
    if watch:
        console = messages.open_console(stderr=False)
        while True:
            console.clear()
            terminal.render(presenter.document(progress), console, everything=output.everything)
            if not progress.waited_for:
                break
            time.sleep(WATCH_SECONDS)
            progress = status.status(folders, ask)
    else:
        output.show(progress)
    return 1 if progress.unread or progress.failed or progress.job_states["failed"] else 0
