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
    from arcademark.reports.present import listing as presenter
    from arcademark.reports.runs import listing

    result = listing.list_runs(folders or (Path("runs"),))
    output.show(result, lambda: presenter.present(result))
    return 1 if result.unread else 0


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

    run = merging.merge(out, directories)
    failed = f", {run.failed:,} failed" if run.failed else ""
    console = messages.open_console(stderr=False)
    console.print(
        f"{run.directory}: {wording.plural(run.added, 'episode')} of {wording.plural(len(run.sources), 'run')} "
        f"taken in; now {wording.plural(run.episodes, 'episode')}, {run.done:,} of "
        f"{wording.plural(run.trials, 'trial')} done{failed}; see 'arcademark report {run.directory}'"
    )
    if run.unfinished:
        trials = (f"{trial.agent} on {trial.game} with seed {trial.seed}" for trial in run.unfinished)
        console.print(f"not done: {wording.shortened(trials)}", style="red")
    return 1 if run.unfinished else 0


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

    result = salvaging.salvage(run_directory, salvage) if salvage else None
    problems = result.problems if result else salvaging.check(run_directory)
    if as_json:
        from arcademark.reports.runs import verification

        messages.print_json(verification.checked(run_directory, problems, result))
        return 1 if problems else 0
    console = messages.open_console(stderr=False)
    for problem in problems:
        console.print(problem, style="red")
    if result:
        console.print(
            f"{result.directory}: {result.episodes:,} intact episodes, "
            f"{result.done:,} of {result.trials:,} trials done; "
            f"the command that played {run_directory} continues it with --out {result.directory}"
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
    from arcademark.reports.present import ledger as presenter
    from arcademark.reports.runs import ledger as ledgers
    from arcademark.runs.store.ledger import read_ledger

    result = ledgers.view(read_ledger(paths or (Path("runs"),)), tables.names("apart", apart or None))
    output.show(result, lambda: presenter.document(result))
    return 0 if result.kept else 1
