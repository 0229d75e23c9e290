"""Options and submission of commands that play as jobs of a SLURM cluster."""

from __future__ import annotations

import functools
import re
import shlex
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from arcademark.cli import messages, options
from arcademark.cli.commands import WORDS
from arcademark.errors import ArcadeMarkError, one_line
from arcademark.runs.cluster.parameters import OF_LAST

if TYPE_CHECKING:
    from arcademark.records.queue import ClusterJob
    from arcademark.runs.cluster.slurm import Submission
    from arcademark.runs.plan import Plan

F = TypeVar("F", bound=Callable[..., Any])

OF_SUBMISSION = frozenset({"--slurm", "--out", "--workers"})
"""Options of a command that belong to the submission, or are set for each job."""

SWITCHES = ("dry_run", "wait")
"""Settings of --slurm for this submission alone."""

_SWITCH = re.compile(rf"(?:^|,)\s*({'|'.join(SWITCHES)})=(\w+)(?=,|$)")
_TO_THE_END = re.compile(rf"(?:^|,)\s*(?=(?:{OF_LAST})?(?:setup|teardown|python)=)")


@dataclass(frozen=True)
class Jobs:
    """Requested jobs."""

    slurm: tuple[str, ...]
    dry_run: bool
    wait: bool

    def submit(
        self,
        plans: Mapping[str, Plan],
        directory: Path,
        verb: str,
        workers: int | None,
        see: str,
        known: Collection[str] | None = None,
    ) -> int:
        """Submit plans as jobs, each of which runs the command `verb` with the options of this one.

        Parameters
        ----------
        plans : mapping of str to Plan
            By their directories' names, below `directory`; "" for a single one. The first is divided into shards.
        directory : Path
        verb : str
        workers : int, optional
            Workers per job; by default the number of its processors.
        see : str
            The command that shows the results after the merge.
        known : collection of str, optional
            Names of plans whose trials are known before anything is played; all by default.
        """
        from arcademark import wording
        from arcademark.cli.play.playing import warn
        from arcademark.records import queue
        from arcademark.records.database import JOBS, SHARDS, clear_errors
        from arcademark.runs.cluster import slurm

        typed = click.get_current_context().meta[WORDS]
        requested = (word for text in self.slurm for word in ("--slurm", text))
        words, again = [verb, *given(typed)], [verb, *requested, *given(typed, {"--slurm"})]
        with clear_errors(directory):
            work = slurm.submission(self._parameters(), plans, directory, words, again, workers)
        if self.wait and queue.active(directory.absolute()):
            return self._wait(work, directory, see)
        count = sum(len(plan.trials) for plan in plans.values())
        trials = f"{wording.plural(count, 'trial')} in {wording.plural(work.count, 'shard')}"
        if not work.left:
            parts = [(directory / name, directory / SHARDS / "*" / name) for name in plans]
            merge = "; ".join(f"arcademark runs merge {whole} {shards}" for whole, shards in parts)
            messages.tell(f"{directory}: {trials}, all complete; see '{see if work.complete else merge}'")
            return 0
        complete = f", {work.count - len(work.left):,} complete" if work.count > len(work.left) else ""
        of_workers = wording.plural(work.workers, "worker")
        if self.dry_run:
            _write_scripts(work, f"{trials}{complete}; {wording.plural(len(work.left), 'job')} of {of_workers}")
            return 0
        known = frozenset(plans if known is None else known)
        for name in known:
            warn(plans[name], directory / name)
        with clear_errors(directory):
            numbers, last = work.submit(known)
        if len(work.left) == 1:
            jobs = f"job {numbers[0]}: {of_workers}"
        else:
            array = f"job array{'s' * (len(numbers) > 1)}"
            jobs = f"{array} {', '.join(numbers)}: {len(work.left):,} jobs of {of_workers}"
        messages.tell(f"{directory}: {trials}{complete}; submitted {jobs}; job {last} merges the shards")
        messages.tell(f"logs: {directory / JOBS}; meanwhile 'arcademark status {directory}', then '{see}'")
        return self._wait(work, directory, see) if self.wait else 0

    def _wait(self, work: Submission, directory: Path, see: str) -> int:
        """Wait until the jobs have ended, and print the result; return 0 if all is played and merged, otherwise 1."""
        from arcademark.records import queue

        last = ""

        def hear(jobs: Sequence[ClusterJob]) -> None:
            nonlocal last
            counts = Counter(job.state for job in jobs)
            if (now := ", ".join(f"{number:,} {state}" for state, number in sorted(counts.items()))) != last:
                messages.say(f"jobs: {now}")
                last = now

        try:
            queue.wait(work.folder, hear)
        except KeyboardInterrupt:
            messages.say(f"the jobs continue; 'arcademark runs cancel {directory}' ends them")
            return 130
        done = work.complete
        messages.tell(f"{directory}: {'all trials are played' if done else 'trials are missing'}; see '{see}'")
        return 0 if done else 1

    def _parameters(self) -> list[tuple[str, str]]:
        """Return the parameters one by one, those of the last job alone with their prefix."""
        return [
            (f"{OF_LAST}{name}" if text.startswith(OF_LAST) else name, value)
            for text in self.slurm
            for name, value in _pairs(text.removeprefix(OF_LAST))
        ]


def with_jobs(command: F) -> F:
    """Add --slurm to a command that shows scores, as its parameter ``jobs``; None if no jobs are requested.

    No scores are shown for a shard, or before jobs have played.
    """
    with_option = click.option(
        "--slurm",
        multiple=True,
        metavar="NAME=VALUE,…",
        help="Play as jobs of a SLURM cluster. time=4:00:00,partition=gpu,gpus=1,mem=8G are the resources of each, "
        f"jobs=20 their number, python=COMMAND starts Python in them, {OF_LAST}partition=cpu is for the job that "
        "merges. dry_run=yes prints the scripts and submits nothing; wait=yes waits until the jobs have ended, and "
        "exits with 1 if trials are missing. May be repeated (docs/cluster.md).",
    )

    @functools.wraps(command)
    def call(*, slurm: tuple[str, ...], **rest: Any) -> Any:
        switches, kept = zip(*map(_switches, slurm), strict=True) if slurm else ((), ())
        on = {name: _on(name, value) for found in switches for name, value in found}
        slurm = tuple(filter(None, kept))
        if on and not slurm:
            raise ArcadeMarkError(f"--slurm {next(iter(on))}=yes: give the jobs' resources, too, as in partition=cpu")
        if slurm and "address" in rest["engine"]:
            raise ArcadeMarkError(
                "--slurm: its jobs play on their own nodes, and each would play on the Ray cluster; give --engine "
                "ray,address=… in one job that starts the cluster (docs/ray.md), or leave it out"
            )
        shard = "shard" in rest["engine"]
        if slurm and shard:
            raise ArcadeMarkError("--slurm makes the shards itself; leave --engine shard=… out")
        if (slurm or shard) and (rest["form"] or rest["saved"] or rest.get("everything") or rest.get("quiet")):
            which = "--slurm" if slurm else "--engine shard=…"
            raise ArcadeMarkError(
                f"{which}: no scores are shown before shards are merged; leave --format, --save, --all and --quiet out"
            )
        return command(jobs=Jobs(slurm, **{name: on.get(name, False) for name in SWITCHES}) if slurm else None, **rest)

    return with_option(call)  # type: ignore[return-value]


def given(words: Iterable[str], left_out: Collection[str] = OF_SUBMISSION) -> Iterator[str]:
    """Yield the user's arguments without some options; by default those of the submission."""
    left = iter(words)
    for text in left:
        name, equals, _ = text.partition("=")
        if text == "--":
            yield from (text, *left)
        elif name not in left_out:
            yield text
        elif not equals:
            next(left)  # its value


def _on(name: str, value: str) -> bool:
    """Read yes or no."""
    try:
        return bool(click.BOOL.convert(value, None, None))
    except click.BadParameter as error:
        raise ArcadeMarkError(f"--slurm {name}={value}: expected yes or no") from error


def _switches(text: str) -> tuple[list[tuple[str, str]], str]:
    """Return the settings of a --slurm that are of this submission alone, and the text without them."""
    head, *line = _TO_THE_END.split(text, 1)
    return _SWITCH.findall(head), ",".join(filter(None, (_SWITCH.sub("", head).lstrip(","), *line)))


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    """Yield parameters one by one; a comma that no name follows is part of a value, and so is all after ``setup=``."""
    head, *line = _TO_THE_END.split(text, 1)
    for part in (*re.split(r",(?=\s*\w+=)", head), *line):
        if part:
            yield from options.pairs("slurm", (part,)).items()


def _write_scripts(work: Submission, about: str) -> None:
    """Print the scripts of the first array, described by `about`, and of the job that merges."""
    from arcademark.runs.cluster import slurm

    arrays = -(-len(work.left) // slurm.largest_array())
    divided = f" in {arrays:,} arrays, of which this is the first" if arrays > 1 else ""
    last = work.last_script([f"ARRAY{number + 1}" if arrays > 1 else "ARRAY" for number in range(arrays)])
    plays = shlex.join(work.job.shard("K"))
    messages.write(_commented(work.script(), f"{about}{divided}; for shard K it runs", plays))
    messages.write("\n" + _commented(last, "the job that merges the shards when all others have ended"))


def _commented(script: str, *lines: str) -> str:
    """Put comments below a script's first line."""
    first, _, rest = script.partition("\n")
    return "\n".join([first, *(f"# {one_line(line)}" for line in lines), rest]).rstrip("\n") + "\n"
