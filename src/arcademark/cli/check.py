"""``arcademark check``: whether a run is damaged, and a new run of what can be read."""

from __future__ import annotations

from pathlib import Path

import click

from arcademark.cli import messages, options


@click.command("check")
@options.run_directory
@click.option("--salvage", type=click.Path(path_type=Path), metavar="NEW", help="Write a new run of what can be read.")
@options.as_json
def command(run_directory: Path, salvage: Path | None, as_json: bool) -> int:
    """Say what is damaged in RUN: its pages, rows, counts, recorded actions, manifest and networks.

    With --salvage what can be read is written into a new run, which the run's own command continues with --out NEW.
    RUN itself is never written. 'arcademark verify' tells whether scores are real. Exits with 1 if anything is damaged.
    """
    from arcademark.runs import salvage as salvaging

    found = salvaging.salvage(run_directory, salvage) if salvage else None
    problems = found.problems if found else salvaging.check(run_directory)
    if as_json:
        from arcademark.reports.render import json
        from arcademark.reports.runs import verification

        messages.print_json(json.render(verification.checked(run_directory, problems, found)))
        return 1 if problems else 0
    console = messages.open_console(stderr=False)
    for problem in problems:
        console.print(problem, style="red")
    if found:
        console.print(
            f"{found.directory}: {found.episodes:,} intact episodes, {found.done:,} of {found.trials:,} trials done; "
            f"the command that played {run_directory} continues it with --out {found.directory}"
        )
    elif not problems:
        console.print(f"{run_directory}: nothing is damaged; 'arcademark verify' tells whether its scores are real")
    return 1 if problems else 0
