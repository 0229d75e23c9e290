"""SLURM's commands, and the state of a run's jobs; nothing here needs submitit.

A submission leaves in the run's folder `arcademark.records.database.JOBS` a link for each job, ``shard-3-of-8.log`` or
``merge.log``, to the log of the job that was last submitted for it, whose name contains the job's number.
"""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal

from arcademark.errors import ArcadeMarkError, one_line
from arcademark.files import read_start
from arcademark.records.database import JOBS

COMMAND_SECONDS = 60.0  # that a command of SLURM may take
LOOK_SECONDS = 10.0  # the same if its answer is optional
POLL_SECONDS = 10.0  # between two queries while waiting
MAX_UNANSWERED = 30  # failed queries in a row
MAX_LOG_BYTES = 4096  # read of a log's end
MAX_LINKS = 100_000  # read of a folder

KEPT = frozenset({"SLURM_CONF", "SLURM_CONF_SERVER", "SLURM_JWT", "SLURM_CLUSTERS", "SUBMITIT_PREEMPT_SIGNAL"})
"""Variables with SLURM's or submitit's prefixes that configure the use of SLURM, not a job."""

_OF_JOBS = ("SLURM_", "SLURMD_", "SRUN_", "SUBMITIT_")
_OF_COMMANDS = ("SQUEUE_", "SACCT_", "SCANCEL_", "SINFO_")  # defaults of options, which would hide jobs
_OURS = ("ARRAY_INX", "NO_REQUEUE", "OPEN_MODE", "REQUEUE", "SIGNAL", "TIMELIMIT", "WAIT")  # of sbatch, always given
_GPUS = frozenset({"CUDA_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL", "ROCR_VISIBLE_DEVICES", "ZE_AFFINITY_MASK"})

JobState = Literal["running", "queued", "requeued", "completed", "cancelled", "failed", "unknown"]

_STATES: Mapping[str, JobState] = {
    "PENDING": "queued",
    "REQUEUED": "queued",
    "REQUEUE_HOLD": "queued",
    "REQUEUE_FED": "queued",
    "SPECIAL_EXIT": "queued",
    "COMPLETED": "completed",
    "CANCELLED": "cancelled",
    **dict.fromkeys(
        ("BOOT_FAIL", "DEADLINE", "FAILED", "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED", "TIMEOUT"), "failed"
    ),
}
"""SLURM's states by our names; all others mean that a job runs."""

_WORDS = {
    "Dependency": "waits for the others",
    "JobHeldAdmin": "held by an administrator",
    "JobHeldUser": "held: 'scontrol release' releases it",
    "NonZeroExitCode": "exit code other than 0",
    "PartitionConfig": "its partition has no such node: cancel it and request less",
    "PartitionDown": "its partition is down",
    "PartitionTimeLimit": "its time is above the partition's limit: cancel it and request less",
    "Priority": "others come first",
    "Resources": "waits for room",
}
"""Meaning of SLURM's reasons."""

_LINK = re.compile(r"(?:shard-(?P<number>\d{1,7})-of-(?P<count>\d{1,7})|merge)\.log")
_ARRAY = re.compile(r"(?P<array>\d{1,10})_\[(?P<places>\d{1,7}(?:-\d{1,7})?(?:,\d{1,7}(?:-\d{1,7})?)*)(?:%\d+)?\]")
_LOG = re.compile(r"(?P<id>\d{1,10}(?:_\d{1,7})?)_0_log\.out")
_OF_SRUN = re.compile(r"srun: (error: \S+: tasks? |Force|forcing|got SIG|Job step aborted)")  # less specific


@dataclass(frozen=True)
class ClusterJob:
    """The job that was last submitted for a shard of a run, as SLURM reports it.

    folder: Folder of the run.
    shard: Shard that it plays, of how many; None for the job that merges.
    state: "requeued": it waits to begin again; "unknown": SLURM no longer knows it, or cannot be queried.
    reason: Reason for waiting, or the way it ended.
    begins: Time when a requeued one begins again, ISO 8601 in local time; "" for others.
    said: Last line of the log if it failed, was cancelled or is unknown.
    """

    id: str
    folder: str
    shard: tuple[int, int] | None
    state: JobState
    reason: str
    begins: str
    log: str
    said: str


def environment(options: Collection[str] = ()) -> dict[str, str]:
    """Return the environment for SLURM's commands, without the variables of the job in which this process runs.

    SLURM's commands read such variables as options, and would submit jobs with that job's resources. Those of sbatch
    stay, unless they contradict one of its `options` (submitit's ``clean_env`` drops them all, and the location of
    SLURM's configuration).
    """
    inside = "SLURM_JOB_ID" in os.environ
    given = {f"SBATCH_{name.upper().replace('-', '_')}" for name in options}
    given |= {f"SBATCH_{name}" for name in _OURS}
    if any(name.startswith("mem") for name in options):
        given |= {"SBATCH_MEM_PER_CPU", "SBATCH_MEM_PER_GPU", "SBATCH_MEM_PER_NODE"}

    def kept(name: str) -> bool:
        if name.startswith((*_OF_JOBS, *_OF_COMMANDS)):
            return name in KEPT
        return name not in given and not (inside and (name in _GPUS or re.match("SBATCH_(CPU|MEM)_BIND", name)))

    return {name: value for name, value in os.environ.items() if kept(name)}


@contextlib.contextmanager
def outside(options: Collection[str]) -> Iterator[None]:
    """Use `environment` in place of this process's within the block."""
    before = dict(os.environ)
    for name in before.keys() - environment(options):
        del os.environ[name]
    try:
        yield
    finally:
        os.environ.update(before)


def ask(*command: str, text: str | None = None, options: Collection[str] = (), seconds: float = COMMAND_SECONDS) -> str:
    """Return the output of a SLURM command.

    Raises
    ------
    ArcadeMarkError
        If the command is missing, takes longer than `seconds` or fails, with its message.
    """
    surroundings = {**environment(options), "SLURM_TIME_FORMAT": "standard"}
    try:
        done = subprocess.run(
            command, input=text, capture_output=True, text=True, timeout=seconds, check=False, env=surroundings
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ArcadeMarkError(f"SLURM's {command[0]} cannot be used ({one_line(str(error))})") from None
    if done.returncode:
        if command[0] == "squeue":  # its query is always valid
            why = plain(done.stderr.strip().partition("\n")[0])
            raise ArcadeMarkError(f"SLURM does not answer (squeue: {why}); run this on a login node of the cluster")
        raise ArcadeMarkError(f"SLURM refuses ({command[0]}): {plain(done.stderr)}")
    return done.stdout


def plain(text: str) -> str:
    """Return a SLURM command's standard error in one line, without its name before each message."""
    lines = [re.sub(r"^\w+: (error: )?", "", line.strip()) for line in text.splitlines()]
    return one_line("; ".join(filter(None, lines)))


def active(folder: Path, *, look: bool = False) -> list[str]:
    """Return the numbers of a folder's jobs and arrays that are queued or running, except this process's job.

    ArcadeMarkError: SLURM does not answer; with `look` none are returned then, as on a machine without SLURM.
    """
    owner, names = os.getuid(), []
    with contextlib.suppress(OSError):
        owner, names = (folder / JOBS).stat().st_uid, os.listdir(folder / JOBS)
    submitted = {name.partition("_")[0] for name in names if name.endswith("_submission.sh")}
    submitted -= {os.environ.get("SLURM_JOB_ID", "")}
    if look and not submitted:
        return []
    options = ("--noheader", "--user", str(owner), "--format", "%F")
    try:
        listed = ask("squeue", *options, seconds=LOOK_SECONDS if look else COMMAND_SECONDS).split()
    except ArcadeMarkError:
        if look:
            return []
        raise
    return sorted(submitted & {*listed}, key=lambda number: (len(number), number))


def check_idle(folder: Path, *, look: bool = False) -> None:
    """Refuse to continue while jobs of a run's folder are `active`."""
    if numbers := active(folder, look=look):
        raise ArcadeMarkError(
            f"{folder}: its jobs are in the queue ({', '.join(numbers)}) and play it; wait for them ('arcademark "
            f"status {folder}' shows them), or 'arcademark runs cancel {folder}'"
        )


def cancel(folder: Path) -> list[str]:
    """Cancel the `active` jobs of a run's folder, and return their numbers; their episodes are kept."""
    if numbers := active(folder):
        ask("scancel", *numbers)
    return numbers


def wait(
    folder: Path, hear: Callable[[Sequence[ClusterJob]], None] = lambda _: None, seconds: float = POLL_SECONDS
) -> tuple[ClusterJob, ...]:
    """Wait until no job of a run's folder is queued or running, and return them as `jobs` does.

    `hear` is called with all jobs after each query of SLURM, every `seconds`. ArcadeMarkError: `MAX_UNANSWERED` queries
    in a row fail.
    """
    unanswered = 0
    while True:
        found, failure = jobs([folder])
        unanswered = unanswered + 1 if failure else 0
        if unanswered >= MAX_UNANSWERED:
            raise ArcadeMarkError(f"{failure}; the jobs continue: 'arcademark status {folder}' shows them")
        if not failure:
            hear(found)
            if not any(job.state in ("running", "queued", "requeued") for job in found):
                return found
        time.sleep(seconds)


def name_logs(logs: Mapping[tuple[int, int] | None, Path]) -> None:
    """Link each job's log by the name of its shard, or of the merge; remove links of former divisions."""
    folder = next(iter(logs.values())).parent
    count = next(shard[1] for shard in logs if shard)
    for path in folder.glob("shard-*-of-*.log"):
        if (match := _LINK.fullmatch(path.name)) and int(match["count"]) != count:
            path.unlink()
    for shard, log in logs.items():
        link = folder / (f"shard-{shard[0]}-of-{shard[1]}.log" if shard else "merge.log")
        link.unlink(missing_ok=True)
        link.symlink_to(log.name)


def jobs(folders: Sequence[Path]) -> tuple[tuple[ClusterJob, ...], str]:
    """Return the jobs of runs' folders, and the reason if SLURM does not answer, else "".

    It is queried once for all of them: its queue, and its accounting for jobs that have left the queue.
    """
    links = [(folder, *link) for folder in folders for link in _links(folder)]
    if not links:
        return (), ""
    failure, known = "", {}
    try:
        known = _queue(tuple(sorted({(folder / JOBS).stat().st_uid for folder, *_ in links})))
    except (ArcadeMarkError, OSError) as error:
        failure = str(error)
    if missing := sorted({number for _, _, number, _ in links} - known.keys()):
        with contextlib.suppress(ArcadeMarkError):  # not every cluster has accounting
            known = known | _accounts(tuple(missing))
    whole = {number: job for number, job in known.items() if job[0].startswith("CANCELLED")}  # arrays that never began
    found = (
        _job(folder, shard, number, log, known.get(number) or whole.get(number.partition("_")[0]))
        for folder, shard, number, log in links
    )
    return tuple(found), failure


def _links(folder: Path) -> Iterator[tuple[tuple[int, int] | None, str, Path]]:
    """Yield the shard, the job's number and the log of each job that was last submitted, shard by shard."""
    found = []
    with contextlib.suppress(OSError), os.scandir(folder / JOBS) as listing:
        for entry in (entry for entry, _ in zip(listing, range(MAX_LINKS), strict=False)):
            if (match := _LINK.fullmatch(entry.name)) and entry.is_symlink():
                log = os.readlink(entry.path)
                if number := _LOG.fullmatch(log):
                    shard = (int(match["number"]), int(match["count"])) if match["number"] else None
                    found.append((shard, number["id"], folder / JOBS / log))
    yield from sorted(found, key=lambda link: link[0] or (MAX_LINKS, 0))


def _queue(users: tuple[int, ...]) -> dict[str, tuple[str, str, str]]:
    """Return the state, reason and beginning of each job of users that the queue knows, by its number."""
    options = ("--noheader", "--array", "--states=all", f"--user={','.join(map(str, users))}", "--format=%i|%T|%r|%S")
    lines = (line.strip().split("|") for line in ask("squeue", *options, seconds=LOOK_SECONDS).splitlines())
    return {number: (line[1], line[2], line[3]) for line in lines if len(line) == 4 for number in _expanded(line[0])}


def _accounts(numbers: tuple[str, ...]) -> dict[str, tuple[str, str, str]]:
    """Return the same from SLURM's accounting, with the exit code as the reason."""
    arrays = ",".join(dict.fromkeys(number.partition("_")[0] for number in numbers))
    options = ("--noheader", "--parsable2", "--allocations", f"--jobs={arrays}", "--format=JobID,State,ExitCode")
    lines = (line.strip().split("|") for line in ask("sacct", *options, seconds=LOOK_SECONDS).splitlines())
    return {
        number: (line[1], f"exit code {line[2].partition(':')[0]}", "")
        for line in lines
        if len(line) == 3
        for number in _expanded(line[0])
    }


def _expanded(number: str) -> Iterator[str]:
    """Yield the numbers of an array's jobs, as in ``7_[0-2,5%4]``; for a single job its own."""
    if (match := _ARRAY.fullmatch(number)) is None:
        yield number
        return
    for part in match["places"].split(","):
        first, _, last = part.partition("-")
        for place in range(int(first), min(int(last or first), int(first) + MAX_LINKS) + 1):
            yield f"{match['array']}_{place}"


def _job(
    folder: Path, shard: tuple[int, int] | None, number: str, log: Path, known: tuple[str, str, str] | None
) -> ClusterJob:
    state: JobState = "unknown"
    reason = begins = last_line = ""
    if known is not None:
        word, reason, start = known[0].partition(" ")[0].rstrip("+"), known[1], known[2]
        state = _STATES.get(word, "running")
        if state == "queued" and reason == "BeginTime" and log.exists():
            state, reason = "requeued", ""
            with contextlib.suppress(ValueError):
                begins = datetime.fromisoformat(start).isoformat()
        elif state in ("running", "completed", "cancelled"):
            reason = ""
        elif "UnavailableNodes" in reason or "DRAINED" in reason:
            nodes = reason.partition("UnavailableNodes:")[2]
            reason = f"all suitable nodes are down or drained{nodes and f' ({nodes})'}"
        elif state == "failed" and word not in ("FAILED", "PREEMPTED"):
            reason = word.lower().replace("_", " ")
        reason = one_line(_WORDS.get(reason, reason))
    if state in ("failed", "cancelled", "unknown"):
        with contextlib.suppress(ArcadeMarkError, OSError):
            lines = [
                line
                for line in read_start(log, MAX_LOG_BYTES, end=True).decode(errors="replace").splitlines()
                if line.strip()
            ]
            informative = [line for line in lines if not _OF_SRUN.match(line)]
            last_line = one_line((informative or lines or [""])[-1].strip())
    return ClusterJob(number, str(folder), shard, state, reason, begins, str(log), last_line)
