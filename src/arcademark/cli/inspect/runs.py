"""``arcademark runs``: the runs below a folder, one made of several, what is damaged, what met test games."""

from __future__ import annotations

from pathlib import Path

import click

from arcademark.cli import messages, options, tables
from arcademark.cli.commands import Group
from arcademark.cli.inspect import exporting, importing
from arcademark.cli.output import Output, with_output


@click.group("runs", cls=Group)
def command() -> None:
    """List, merge, check, import and export runs; what they evaluated on test games."""


@command.command("list", short_help="List the runs below a folder.")
@click.argument("folders", nargs=-1, metavar="[FOLDER]…", type=options.PATH)
@with_output
def list_(folders: tuple[Path, ...], output: Output) -> int:
    """List the runs below FOLDER, 'runs' by default: agents, games, protocol, and how far each is."""
    from arcademark.reports.runs import listing

    runs = listing.list_runs(folders or (Path("runs"),))
    output.show(runs)
    return 1 if runs.unread else 0


@command.command("merge", short_help="Make one run of runs that were played apart.")
@click.argument("out", metavar="OUT", type=options.PATH)
@click.argument("directories", nargs=-1, required=True, metavar="RUN…", type=options.PATH)
def merge(out: Path, directories: tuple[Path, ...]) -> int:
    """Make one run, OUT, of runs that were played apart: shards, single seeds, a copy continued elsewhere.

    They must be of the same agents, by the checksums of code and networks, under the same protocol, and episodes that
    two of them hold must be equal; else nothing is written. OUT may be a run, which then takes the others in. What is
    unfinished, trials of missing shards too, is continued by the command that began it, without --shard and with --out
    OUT. Exits with 1 if there is any.
    """
    from arcademark.reports import wording
    from arcademark.runs.store import merging

    merged = merging.merge(out, directories)
    failed = f", {merged.failed:,} failed" if merged.failed else ""
    console = messages.open_console(stderr=False)
    console.print(
        f"{merged.directory}: {wording.plural(merged.added, 'episode')} of "
        f"{wording.plural(len(merged.sources), 'run')} taken in; now {wording.plural(merged.episodes, 'episode')}, "
        f"{merged.done:,} of {wording.plural(merged.trials, 'trial')} done{failed}; "
        f"see 'arcademark report {merged.directory}'"
    )
    if merged.unfinished:
        trials = (f"{trial.agent} on {trial.game} with seed {trial.seed}" for trial in merged.unfinished)
        console.print(f"not done: {wording.shortened(trials)}", style="red")
    return 1 if merged.unfinished else 0


@command.command("check", short_help="Find damage in a run, and salvage what is intact.")
@options.run_directory
@click.option("--salvage", type=options.PATH, metavar="NEW", help="Write a new run of all that is intact.")
@options.as_json
def check(run_directory: Path, salvage: Path | None, as_json: bool) -> int:
    """Say what is damaged in RUN: its pages, rows, counts, recorded actions, manifest and networks.

    With --salvage every intact episode is written into a new run, which the run's own command continues with --out NEW.
    RUN itself is never written. 'arcademark verify' tells whether scores are real. Exits with 1 if anything is damaged.
    """
    from arcademark.runs.store import salvage as salvaging

    salvaged = salvaging.salvage(run_directory, salvage) if salvage else None
    problems = salvaged.problems if salvaged else salvaging.check(run_directory)
    if as_json:
        from arcademark.reports.runs import verification

        messages.print_json(verification.checked(run_directory, problems, salvaged))
        return 1 if problems else 0
    console = messages.open_console(stderr=False)
    for problem in problems:
        console.print(problem, style="red")
    if salvaged:
        console.print(
            f"{salvaged.directory}: {salvaged.episodes:,} intact episodes, {salvaged.done:,} of "
            f"{salvaged.trials:,} trials done; the command that played {run_directory} continues it with --out "
            f"{salvaged.directory}"
        )
    elif not problems:
        console.print(f"{run_directory}: nothing is damaged; 'arcademark verify' tells whether its scores are real")
    return 1 if problems else 0


for member in (importing, exporting):
    command.add_command(member.command)


@command.command("ledger", short_help="What was evaluated on test games, and whether only once.")
@click.argument("paths", nargs=-1, metavar="[RUNS]…", type=options.PATH)
@click.option(
    "--apart",
    default="features",
    metavar="NAMES",
    help="Parameters whose values make different algorithms, rather than settings of one.",
)
@with_output
def ledger(paths: tuple[Path, ...], apart: str, output: Output) -> int:
    """Show what RUNS evaluated on test games, and whether every algorithm with one setting only.

    RUNS are runs or folders with runs in them; 'runs' by default. Parameters are to be chosen on training games, and
    what was chosen is to be evaluated on the others once (Bellemare et al. 2013). Training games are the five of that
    paper, and those of atari-3-val and atari-5-val; all other games of suites are for testing. Exit code 1
    where a test game met several settings of an algorithm.
    """
    from arcademark.reports.runs.ledger import view
    from arcademark.runs.store.ledger import read_ledger

    evaluated = view(read_ledger(paths or (Path("runs"),)), tables.names("apart", apart or None))
    output.show(evaluated)
    return 0 if evaluated.kept else 1
