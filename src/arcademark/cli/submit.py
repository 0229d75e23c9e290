"""``arcademark submit``: play an agent as jobs of a SLURM cluster."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from arcademark.cli import messages, options, playing
from arcademark.errors import one_line

OWN = frozenset({"parameters", "jobs", "dry_run", "out", "workers"})


@click.command("submit")
@playing.asked_of_one
@click.option(
    "--slurm",
    "parameters",
    multiple=True,
    required=True,
    metavar="NAME=VALUE,…",
    help="Parameters of a job: partition=gpu,time=4:00:00,cpus=4,mem=8G,gpus=1. Each of its cpus has a worker, "
    "unless --workers says how many. May be repeated.",
)
@click.option(
    "--jobs",
    type=options.COUNT,
    help="Shards to divide the trials into, a job each.  [default: as many as keep their workers busy, at most 256]",
)
@click.option("--dry-run", is_flag=True, help="Print the scripts that would be submitted; write and submit nothing.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="The run's directory, which every node sees.  [default: as that of 'arcademark run']",
)
@click.pass_context
def command(
    context: click.Context,
    /,
    agent: str | None,
    games: str,
    parameters: tuple[str, ...],
    jobs: int | None,
    dry_run: bool,
    out: Path | None,
    **asked: Any,
) -> int:
    """Play AGENT as 'arcademark run' does, divided into shards, each a job of a SLURM cluster; a last job merges them.

    A job that reaches its time limit or is preempted ends what it plays, goes back into the queue and continues. The
    same command again submits the shards that are not complete.
    """
    from arcademark.reports import wording
    from arcademark.reports.runs.ledger import foretold
    from arcademark.runs import slurm
    from arcademark.runs.recording import JOBS, SHARDS

    of_job = slurm.parameters(options.pairs("slurm", tuple(_apart(parameters))))
    way, specs = playing.playing_one(agent, **asked)
    plan = way.plan(specs, games)
    directory = out or playing.default_directory(agent or specs[0], way.protocol.name)
    workers = asked["workers"] or of_job.get("cpus_per_task", 1)
    run = [sys.executable, "-m", "arcademark", "run", *_given(context), f"--workers={workers}"]
    work = slurm.prepare(plan, directory.absolute(), run, of_job, workers, jobs)
    trials = f"{wording.plural(len(plan.trials), 'trial')} in {wording.plural(work.count, 'shard')}"
    if not work.left:
        merged = slurm.complete(directory, plan)
        see = f"report {directory}" if merged else f"merge {directory} {directory / SHARDS}/*"
        messages.tell(f"{directory}: {trials}, all complete; see 'arcademark {see}'")
        return 0
    complete = f", {work.count - len(work.left):,} complete" if work.count > len(work.left) else ""
    of_workers = wording.plural(workers, "worker")
    if dry_run:
        count = -(-len(work.left) // slurm.largest_array())
        divided = f" in {count:,} arrays, the first of which this is" if count > 1 else ""
        last = work.last_script([f"ARRAY{number + 1}" if count > 1 else "ARRAY" for number in range(count)])
        jobs_of = f"{wording.plural(len(work.left), 'job')} of {of_workers}{divided}"
        plays = shlex.join(work.play("K"))
        messages.write(_commented(work.script(), f"{trials}{complete}; {jobs_of}; for shard K it runs", plays))
        messages.write("\n" + _commented(last, "the job that merges the shards when all others have ended"))
        return 0
    for told in foretold(plan, directory):
        messages.say(f"warning: with this run, {told}")
    arrays, last = work.submit()
    if len(work.left) == 1:
        told = f"job {arrays[0]}: {of_workers}"
    else:
        told = f"job array{'s' * (len(arrays) > 1)} {', '.join(arrays)}: {len(work.left):,} jobs of {of_workers}"
    messages.tell(f"{directory}: {trials}{complete}; submitted {told}; job {last} merges the shards")
    messages.tell(f"logs: {directory / JOBS}; then 'arcademark report {directory}'")
    return 0


def _commented(script: str, *lines: str) -> str:
    """Put comments below a script's first line."""
    first, _, rest = script.partition("\n")
    return "\n".join([first, *(f"# {one_line(line)}" for line in lines), rest]).rstrip("\n") + "\n"


def _apart(texts: tuple[str, ...]) -> Iterator[str]:
    """Yield parameters one by one; a comma that no name follows is part of a value."""
    for text in texts:
        yield from re.split(r",(?=\s*\w+=)", text)


def _given(context: click.Context) -> Iterator[str]:
    """Yield the options that the user wrote as 'arcademark run' takes them, and the agent."""
    for option in context.command.params:
        assert option.name is not None
        if option.name in OWN or context.get_parameter_source(option.name) is not ParameterSource.COMMANDLINE:
            continue
        value = context.params[option.name]
        if not isinstance(option, click.Option):
            yield str(value)
        elif option.is_flag:
            yield option.opts[0]
        else:
            yield from (f"{option.opts[0]}={one}" for one in (value if option.multiple else (value,)))
