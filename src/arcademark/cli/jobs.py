"""What commands share that have something played as jobs of a SLURM cluster."""

from __future__ import annotations

import functools
import re
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from arcademark.cli import messages, options
from arcademark.cli.output import Output
from arcademark.errors import ArcadeMarkError, one_line

if TYPE_CHECKING:
    from arcademark.runs.plan import Plan

F = TypeVar("F", bound=Callable[..., Any])

NOT_OF_JOBS = frozenset({"slurm", "merge_slurm", "jobs", "python", "dry_run", "out", "workers"})
"""Parameters of a command that are of the submission, or are given anew to each job."""

_TO_THE_END = re.compile(r"(?:^|,)\s*(?=(?:setup|teardown)=)")


@dataclass(frozen=True)
class Jobs:
    """What jobs are asked for."""

    slurm: tuple[str, ...]
    merge_slurm: tuple[str, ...]
    jobs: int | None
    python: str | None
    dry_run: bool

    def submit(
        self,
        plans: Mapping[str, Plan],
        directory: Path,
        verb: str,
        workers: int | None,
        known: frozenset[str],
        see: str,
    ) -> int:
        """Have plans played as jobs, each of which gives the command `verb` with the options of this one.

        Parameters
        ----------
        plans : mapping of str to Plan
            By their directories' names, below `directory`; an only one has none. The first is dealt out.
        directory : Path
        verb : str
        workers : int, optional
            Of a job; as many as it has processors by default.
        known : frozenset of str
            Names of plans whose trials are known before anything is played.
        see : str
            The command that shows what was played, once all is merged.
        """
        from arcademark.reports import wording
        from arcademark.reports.runs.ledger import foretold
        from arcademark.runs import slurm
        from arcademark.runs.recording import JOBS, SHARDS

        asked = [list(_pairs(option, texts)) for option, texts in self._parameters]
        parameters = slurm.parameters(*asked)
        workers = workers or parameters[0].get("cpus_per_task", 1)
        python = shlex.split(self.python) if self.python else [sys.executable]
        command = ["-m", "arcademark", verb, *given(click.get_current_context()), f"--workers={workers}"]
        work = slurm.prepare(plans, directory.absolute(), python, command, parameters, workers, self.jobs)
        count = sum(len(plan.trials) for plan in plans.values())
        trials = f"{wording.plural(count, 'trial')} in {wording.plural(work.count, 'shard')}"
        if not work.left:
            parts = [(directory / name, directory / SHARDS / "*" / name) for name in plans]
            merge = "; ".join(f"arcademark merge {whole} {shards}" for whole, shards in parts)
            messages.tell(f"{directory}: {trials}, all complete; see '{see if work.complete else merge}'")
            return 0
        complete = f", {work.count - len(work.left):,} complete" if work.count > len(work.left) else ""
        of_workers = wording.plural(workers, "worker")
        if self.dry_run:
            most = slurm.largest_array()
            arrays = -(-len(work.left) // most)
            divided = f" in {arrays:,} arrays, the first of which this is" if arrays > 1 else ""
            last = work.last_script([f"ARRAY{number + 1}" if arrays > 1 else "ARRAY" for number in range(arrays)])
            jobs_of = f"{wording.plural(len(work.left), 'job')} of {of_workers}{divided}"
            plays = shlex.join(work.job.shard("K"))
            messages.write(_commented(work.script(), f"{trials}{complete}; {jobs_of}; for shard K it runs", plays))
            messages.write("\n" + _commented(last, "the job that merges the shards when all others have ended"))
            return 0
        for name in known:
            for told in foretold(plans[name], directory / name):
                messages.say(f"warning: with this run, {told}")

        numbers, last = work.submit(known)
        if len(work.left) == 1:
            told = f"job {numbers[0]}: {of_workers}"
        else:
            array = f"job array{'s' * (len(numbers) > 1)}"
            told = f"{array} {', '.join(numbers)}: {len(work.left):,} jobs of {of_workers}"
        messages.tell(f"{directory}: {trials}{complete}; submitted {told}; job {last} merges the shards")
        messages.tell(f"logs: {directory / JOBS}; meanwhile 'arcademark status {directory}', then '{see}'")
        return 0

    @property
    def _parameters(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        return ("slurm", self.slurm), ("merge-slurm", self.merge_slurm)


def asked(*, required: bool) -> Callable[[F], F]:
    """Give a command the options of jobs, as its parameter ``jobs``: None where none are asked for."""
    with_options = options.combine(
        click.option(
            "--slurm",
            multiple=True,
            required=required,
            metavar="NAME=VALUE,…",
            help=("Parameters of a job: " if required else "Play it as jobs of a SLURM cluster, with such parameters: ")
            + "partition=gpu,time=4:00:00,cpus=4,mem=8G,gpus=1. Each of its cpus has a worker, unless --workers says "
            "how many. May be repeated.",
        ),
        click.option(
            "--merge-slurm",
            multiple=True,
            metavar="NAME=VALUE,…",
            help="Other parameters for the last job, which merges and is given no GPU: partition=cpu,time=30.",
        ),
        click.option(
            "--jobs",
            type=options.COUNT,
            help="Shards to divide the trials into, a job each.  [default: as many as keep their workers busy, at most "
            "256]",
        ),
        click.option(
            "--python",
            metavar="COMMAND",
            help="What starts Python in a job: 'apptainer exec --nv image.sif python3'.  [default: this Python]",
        ),
        click.option(
            "--dry-run", is_flag=True, help="Print the scripts that would be submitted; write and submit nothing."
        ),
    )

    def decorate(command: F) -> F:
        @functools.wraps(command)
        def with_jobs(
            *,
            slurm: tuple[str, ...],
            merge_slurm: tuple[str, ...],
            jobs: int | None,
            python: str | None,
            dry_run: bool,
            **rest: Any,
        ) -> Any:
            found = Jobs(slurm, merge_slurm, jobs, python, dry_run)
            if not slurm and found != Jobs((), (), None, None, False):
                raise ArcadeMarkError("--merge-slurm, --jobs, --python, --dry-run: go with --slurm; give it, too")
            return command(jobs=found if slurm else None, **rest)

        return with_options(with_jobs)  # type: ignore[return-value]

    return decorate


def check_shown(output: Output, jobs: Jobs | None, shard: tuple[int, int] | None) -> None:
    """Refuse ways to show scores where none are shown: of a shard, or of what jobs are to play."""
    if (jobs or shard) and output != Output():
        which = "--slurm" if jobs else "--shard"
        raise ArcadeMarkError(f"{which}: no scores are shown before shards are merged; leave --html and the like out")


def given(context: click.Context) -> Iterator[str]:
    """Yield the options that the user wrote as a job's command takes them, and the agent."""
    for option in context.command.params:
        assert option.name is not None
        if option.name in NOT_OF_JOBS or context.get_parameter_source(option.name) is not ParameterSource.COMMANDLINE:
            continue
        value = context.params[option.name]
        if not isinstance(option, click.Option):
            yield str(value)
        elif option.is_flag:
            yield option.opts[0]
        else:
            yield from (f"{option.opts[0]}={one}" for one in (value if option.multiple else (value,)))


def _pairs(option: str, texts: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Yield parameters one by one; a comma that no name follows is part of a value, and so is all after ``setup=``."""
    for text in texts:
        head, *line = _TO_THE_END.split(text, 1)
        for part in (*re.split(r",(?=\s*\w+=)", head), *line):
            if part:
                yield from options.pairs(option, (part,)).items()


def _commented(script: str, *lines: str) -> str:
    """Put comments below a script's first line."""
    first, _, rest = script.partition("\n")
    return "\n".join([first, *(f"# {one_line(line)}" for line in lines), rest]).rstrip("\n") + "\n"
