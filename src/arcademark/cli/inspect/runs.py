"""``arcademark runs``: list, merge, check, cancel, import and export runs, and show the ledger of test games."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from arcademark.cli import messages, options, tables
from arcademark.cli.commands import CommandGroup
from arcademark.cli.output import Output, with_output, with_whole_output
from arcademark.errors import ArcadeMarkError


@click.group("runs", cls=CommandGroup, invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> Any:
    """List, merge, check, cancel, import and export runs; show their evaluations on test games. By default, list."""
    return ctx.invoke(list_) if ctx.invoked_subcommand is None else None


command.folder = (
    "'arcademark runs list {0}' lists its runs; check, ledger and export take a folder, too, and 'arcademark report "
    "{0}' shows scores"
)


@command.command("list", short_help="List the runs below a folder.")
@click.argument("folders", nargs=-1, metavar="[FOLDER]…", type=options.PATH)
@with_output
def list_(folders: tuple[Path, ...], output: Output) -> int:
    """List the runs below FOLDER, 'runs' by default: agents, games, protocol, progress."""
    from arcademark.analysis.runs import listing

    runs = listing.list_runs(folders or (Path("runs"),))
    output.show(runs)
    return 1 if runs.unread else 0


@command.command("merge", short_help="Merge runs that were played separately.")
@click.argument("out", metavar="OUT", type=options.PATH)
@click.argument("directories", nargs=-1, required=True, metavar="RUN…", type=options.PATH)
def merge(out: Path, directories: tuple[Path, ...]) -> int:
    """Merge runs that were played separately into one run, OUT: shards, single seeds, a copy continued elsewhere.

    The runs must have the same agents (by checksums of code and networks) and the same protocol, and common episodes
    must be equal; otherwise nothing is written. If OUT is an existing run, the others are added to it. To finish
    missing trials, also those of missing shards, repeat their command without shard= and with --out OUT. The exit code
    is 1 if trials are missing.
    """
    from arcademark import wording
    from arcademark.runs.store import merging

    merged = merging.merge(out, directories)
    failed = f", {merged.failed:,} failed" if merged.failed else ""
    console = messages.open_console(stderr=False)
    console.print(
        f"{merged.directory}: added {wording.plural(merged.added, 'episode')} of "
        f"{wording.plural(len(merged.sources), 'run')}; now {wording.plural(merged.episodes, 'episode')}, "
        f"{merged.done:,} of {wording.plural(merged.trials, 'trial')} done{failed}; "
        f"see 'arcademark report {merged.directory}'"
    )
    if merged.unfinished:
        trials = (f"{trial.agent} on {trial.game} with seed {trial.seed}" for trial in merged.unfinished)
        console.print(f"not done: {wording.shortened(trials)}", style="red")
    return 1 if merged.unfinished else 0


@command.command("cancel", short_help="Cancel a run's jobs.")
@click.argument("folder", metavar="RUN", type=options.PATH)
def cancel(folder: Path) -> int:
    """Cancel the queued and running SLURM jobs of RUN; recorded episodes are kept.

    The command that submitted them submits the remaining trials.
    """
    from arcademark.records import queue

    result = "has no jobs in the queue"
    if numbers := queue.cancel(folder):
        result = f"cancelled jobs {', '.join(numbers)}; the same command submits the remaining trials"
    messages.tell(f"{folder}: {result}")
    return 0


@command.command("check", short_help="Find damage in a run, and salvage intact episodes.")
@options.run_directory
@click.option("--salvage", type=options.PATH, metavar="NEW", help="Copy all intact data into a new run.")
@with_whole_output
def check(run_directory: Path, salvage: Path | None, output: Output) -> int:
    """Report damage in RUN: in its pages, rows, counts, recorded actions, manifest and networks.

    With --salvage intact episodes are copied into a new run, which the run's command resumes with --out NEW. RUN is
    never changed. 'arcademark verify' confirms scores by replay. The exit code is 1 if anything is damaged.
    """
    from arcademark.runs.store import salvage as salvaging

    checked = salvaging.salvage(run_directory, salvage) if salvage else salvaging.check(run_directory)
    output.show(checked)
    return 0 if checked.ok else 1


@command.command("import", short_help="Import training logs as a run that is labelled as imported.")
@click.argument("logs", nargs=-1, required=True, metavar="DIR…")
@click.option("--out", type=options.PATH, help="The run's directory.  [default: runs/imported-…]")
@click.option("--name", metavar="TEXT", help="Name of the agent in reports, as in --name 'PPO (ours)'.")
@click.option("--protocol", metavar="NAME", help="Protocol of the training.  [default: world-records, assumed]")
@click.option(
    "--frames-per-step",
    type=options.COUNT,
    help="Frames per step of the logs' episode lengths.  [default: from the environment's id]",
)
@tables.read_as
@with_output
def import_(
    logs: tuple[str, ...], out: Path | None, name: str | None, output: Output, reading: Mapping[str, Any], **how: Any
) -> int:
    """Import training logs in DIR as a run, which cannot be verified, and show it.

    It reads Stable-Baselines3's monitor.csv and evaluations.npz, CleanRL's TensorBoard files and RLlib's results, one
    file or folder per game and seed. 'report', 'compare' and 'runs list' treat the run like any other; its agent is
    called NAME [imported], and 'verify' rejects it.
    """
    from arcademark.analysis.tables.dataset import ScoreOptions
    from arcademark.cli.score.report import show
    from arcademark.operations.importing import import_logs

    given = dict(tables.read_options(None, (), reading))
    if name is not None:
        if given.get("algorithm", name) != name:
            raise ArcadeMarkError(
                f"--name {name} and --read algorithm={given['algorithm']} each name the agent; give one"
            )
        given["algorithm"] = name
    run = import_logs(logs, out, **how, **given)
    for note in run.notes:
        messages.say(f"note: {note}")
    messages.say(f"imported, not verified: {run.directory}")
    show([run.directory], ScoreOptions(), output)
    return 0


@command.command("export", short_help="Write the episodes of runs as a Parquet file.")
@click.argument("directories", nargs=-1, required=True, metavar="RUN…", type=options.PATH)
@click.option(
    "--out", required=True, type=options.PATH, metavar="FILE", help="A new .parquet file, or a new folder NAME-v0."
)
@click.option("--actions", is_flag=True, help="Include the actions, one byte each.")
@options.only("game", "agent", "seed")
@options.trusted_suite
def export(
    directories: tuple[Path, ...], out: Path, actions: bool, choice: Mapping[str, Any], suite: str | None
) -> int:
    """Write every episode of RUN… into a Parquet file, one row each, or one run as a Minari dataset.

    RUN is a run's directory or a folder of runs.

    A row has the trial, agent, game, seed, protocol, and all recorded values. 'arcademark report RUN --export FILE'
    writes the scores of algorithms instead.

    If --out is named like pong-human-v0, it is a new folder: the evaluation episodes of one agent on one game of RUN
    are replayed into it as a Minari dataset; --only selects them. Needs the extra 'minari'.
    """
    if re.fullmatch(r".+-v\d+", out.name):
        from arcademark import wording
        from arcademark.runs.replay import offline

        if len(directories) > 1 or actions:
            raise ArcadeMarkError(
                f"--out {out}: a Minari dataset has one run, with its actions; leave out other runs and --actions"
            )
        episodes, steps = offline.export(directories[0], out, suite=suite, **choice)
        messages.tell(f"{out}: {wording.plural(episodes, 'episode')}, {wording.plural(steps, 'step')}")
        return 0
    if choice or suite is not None:
        raise ArcadeMarkError(
            f"--out {out}: --only and --suite are for Minari datasets; leave them out, or name --out like pong-human-v0"
        )
    from arcademark.records.ledger import find_runs
    from arcademark.runs.replay import parquet

    runs = dict.fromkeys(run for directory in directories for run in find_runs(directory))
    messages.tell(f"{out}: {parquet.export([*runs], out, actions=actions):,} episodes")
    return 0


@command.command("ledger", short_help="Show evaluations on test games, and whether each was made once.")
@click.argument("paths", nargs=-1, metavar="[RUNS]…", type=options.PATH)
@click.option(
    "--apart",
    default="features",
    metavar="NAMES",
    help="Parameters that distinguish algorithms rather than settings of one algorithm.",
)
@with_output
def ledger(paths: tuple[Path, ...], apart: str, output: Output) -> int:
    """Show which algorithms of RUNS played test games, and whether each used a single setting.

    RUNS are runs or folders of runs; 'runs' by default. Parameters should be chosen on training games, and the choice
    evaluated on the others once (Bellemare et al. 2013). Training games are the five of that paper, and those of
    atari-3-val and atari-5-val; all others are test games. Exit code 1 if an algorithm played a test game with several
    settings.
    """
    from arcademark.analysis.runs.ledger import view
    from arcademark.records.ledger import read_ledger

    evaluated = view(read_ledger(paths or (Path("runs"),)), tables.names("apart", apart or None))
    output.show(evaluated)
    return 0 if evaluated.kept else 1
