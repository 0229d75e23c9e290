"""``arcademark merge``: runs that were played apart become one."""

from __future__ import annotations

from pathlib import Path

import click

from arcademark.cli import messages


@click.command("merge")
@click.argument("out", metavar="OUT", type=click.Path(path_type=Path))
@click.argument("directories", nargs=-1, required=True, metavar="RUN…", type=click.Path(path_type=Path))
def command(out: Path, directories: tuple[Path, ...]) -> int:
    """Make one run, OUT, of runs that were played apart: shards, single seeds, a copy continued elsewhere.

    They must be of the same agents, by the checksums of code and networks, under the same protocol, and episodes that
    two of them hold must be equal; else nothing is written. OUT may be a run, which then takes the others in. What is
    unfinished, trials of missing shards too, is continued by the command that began it, without --shard and with --out
    OUT. Exits with 1 if there is any.
    """
    from arcademark.reports import wording
    from arcademark.runs.merging import merge

    found = merge(out, directories)
    failed = f", {found.failed:,} failed" if found.failed else ""
    console = messages.open_console(stderr=False)
    console.print(
        f"{found.directory}: {wording.plural(found.added, 'episode')} of {wording.plural(len(found.sources), 'run')} "
        f"taken in; now {wording.plural(found.episodes, 'episode')}, {found.done:,} of "
        f"{wording.plural(found.trials, 'trial')} done{failed}; see 'arcademark report {found.directory}'"
    )
    if found.unfinished:
        trials = (f"{trial.agent} on {trial.game} with seed {trial.seed}" for trial in found.unfinished)
        console.print(f"not done: {wording.shortened(trials)}", style="red")
    return 1 if found.unfinished else 0
