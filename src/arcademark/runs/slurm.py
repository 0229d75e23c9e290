"""Play a plan's shards as jobs of a SLURM cluster, by submitit; needs ``pip install '.[slurm]'``.

Each job runs ``arcademark run … --shard K/N`` in a folder of its own, below the run's. Before its time limit, and where
it is preempted, it ends that gently and puts itself back into the queue, where the same command continues; a last job
merges all shards. submitit keeps what a job is to call as a pickle in the folder ``slurm``.
"""

from __future__ import annotations

import contextlib
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from arcademark.errors import ArcadeMarkError, one_line
from arcademark.runs import manifest
from arcademark.runs.database import open_for_reading
from arcademark.runs.execution import describe
from arcademark.runs.plan import Plan
from arcademark.runs.recording import JOBS, SHARDS
from arcademark.runs.scheduling import shard
from arcademark.runs.store import read_run

MOST_JOBS = 256  # that are made unless more are asked for
MOST_IN_ARRAY = 1001  # SLURM's own default for MaxArraySize
SIGNAL_SECONDS = 90  # before the limit that a job is told to end; submitit's own default
ROUNDS_WITHOUT_PROGRESS = 3  # of half the time limit or more, after which a job is not put back into the queue
COMMAND_SECONDS = 60.0  # that a command of SLURM may take
INTERRUPTED = 130  # the exit code of a run that was told to end

ALIASES = {"cpus": "cpus_per_task", "gpus": "gpus_per_node"}
_COUNTS = {"array_parallelism", "cpus_per_gpu", "cpus_per_task", "signal_delay_s"}
_TEXTS = {
    *("account", "comment", "constraint", "dependency", "exclude", "exclusive", "gpus_per_node", "gpus_per_task"),
    *("gres", "job_name", "mail_type", "mail_user", "mem", "mem_per_cpu", "mem_per_gpu", "nodelist", "partition"),
    *("qos", "setup", "teardown", "wckey"),
}
PARAMETERS = frozenset({"time", *_COUNTS, *_TEXTS})
"""submitit's names, but for those that are for jobs of several processes."""

_TIME = re.compile(r"(?:(?P<days>\d{1,4})-)?(\d{1,6})(?::(\d{1,2}))?(?::(\d{1,2}))?")


def parameters(asked: Mapping[str, str]) -> dict[str, Any]:
    """Read a job's parameters as submitit has them; errors name what was expected."""
    found: dict[str, Any] = {"job_name": "arcademark", "additional_parameters": {"requeue": True}}
    for given, text in asked.items():
        name = ALIASES.get(given, given)
        if name not in PARAMETERS:
            known = ", ".join(sorted({*PARAMETERS, *ALIASES}))
            raise ArcadeMarkError(f"--slurm {given}: no parameter of submitit for a job; known: {known}")
        if name in found and name != "job_name":
            raise ArcadeMarkError(f"--slurm {given}: is {name}, which is given too; give it once")
        if name == "time":
            found[name] = minutes(text)
        elif name in _COUNTS:
            if not text.isdecimal() or not 1 <= len(text) <= 9 or int(text) < 1:
                raise ArcadeMarkError(f"--slurm {given}={text}: expected a whole number of at least 1")
            found[name] = int(text)
        elif not text:
            raise ArcadeMarkError(f"--slurm {given}=: expected a value")
        else:
            found[name] = [text] if name in ("setup", "teardown") else text
    if found.get("exclusive") == "true":
        found["exclusive"] = True
    if "time" not in found:
        raise ArcadeMarkError("--slurm: expected the limit of a job too, as in time=4:00:00; it continues after it")
    if 60 * found["time"] <= 2 * found.setdefault("signal_delay_s", SIGNAL_SECONDS):
        raise ArcadeMarkError(
            f"--slurm time={asked['time']}: expected more than twice the {found['signal_delay_s']} seconds before the "
            "limit in which a job ends what it plays (signal_delay_s)"
        )
    if "cpus_per_task" in found:
        found["srun_args"] = [f"--cpus-per-task={found['cpus_per_task']}"]  # srun does not take it from the job
    return found


def minutes(text: str) -> int:
    """Read a time limit as SLURM writes it, ``90``, ``1:30:00``, ``2-12``, in minutes, rounded up."""
    match = _TIME.fullmatch(text)
    if match is None or not any(int(part or 0) for part in match.groups()):
        raise ArcadeMarkError(f"--slurm time={text}: expected minutes, hours:minutes:seconds or days-hours")
    days, first, second, third = (int(part or 0) for part in match.groups())
    if match["days"] is not None:
        return (24 * days + first) * 60 + second + math.ceil(third / 60)
    if match[4] is not None:
        return 60 * first + second + math.ceil(third / 60)
    return first + math.ceil(second / 60)


@dataclass(frozen=True)
class Submission:
    """A plan that is to be played as jobs, in `count` shards in a folder."""

    folder: Path
    command: tuple[str, ...]  # that plays the plan, but for its shard and directory
    count: int
    left: tuple[int, ...]  # shards that are not complete, from 1
    parameters: Mapping[str, Any]

    def play(self, number: int | str) -> list[str]:
        """Return the command that plays a shard."""
        return _play(self.command, self.folder, number, self.count)

    def script(self) -> str:
        """Return the script of the first array as it is submitted; nothing is written."""
        executor = _executor(self.folder, self.parameters)
        first = self.left[: largest_array()]
        if len(first) > 1:
            executor.parameters["map_count"] = len(first)
        return _text(executor)

    def last_script(self, arrays: Sequence[str]) -> str:
        """Return the script of the job that merges when these arrays have ended; nothing is written."""
        return _text(self._last(arrays))

    def _last(self, arrays: Sequence[str]) -> Any:
        last = {"dependency": f"afterany:{':'.join(arrays)}", "job_name": f"{self.parameters['job_name']}-merge"}
        return _executor(self.folder, {**self.parameters, **last})

    def submit(self) -> tuple[list[str], str]:
        """Submit arrays of all that is left and a job that merges when they have ended; return the numbers of both.

        Either all is submitted or nothing stays so.
        """
        if shutil.which("sbatch") is None:
            raise ArcadeMarkError("SLURM's sbatch is not found here; submit where it is, or see the script: --dry-run")
        submitted = {path.name.partition("_")[0] for path in (self.folder / JOBS).glob("*_submission.sh")}
        if still := submitted & {*_ask("squeue", "--noheader", "--user", str(os.getuid()), "--format", "%F").split()}:
            numbers = " ".join(sorted(still))
            raise ArcadeMarkError(f"{self.folder}: jobs of it are in the queue; wait for them, or 'scancel {numbers}'")
        _ask("sbatch", "--test-only", text=self.script())
        from submitit.core.utils import FailedJobError, FailedSubmissionError

        job = ShardJob(
            self.folder, self.command, self.count, 60 * self.parameters["time"], self.parameters["signal_delay_s"]
        )
        arrays: list[str] = []
        most = largest_array()
        try:
            for begin in range(0, len(self.left), most):
                executor = _executor(self.folder, self.parameters)
                jobs = executor.map_array(job, self.left[begin : begin + most])
                arrays.append(jobs[0].job_id.partition("_")[0])
            return arrays, self._last(arrays).submit(gather, self.folder).job_id
        except BaseException as error:
            if arrays:
                _ask("scancel", *arrays)
            if not isinstance(error, FailedJobError | FailedSubmissionError | OSError):
                raise
            raise ArcadeMarkError(f"not all jobs can be submitted, so none was: {one_line(str(error))}") from None


def prepare(
    plan: Plan, folder: Path, command: Sequence[str], parameters: Mapping[str, Any], workers: int, jobs: int | None
) -> Submission:
    """Deal a plan out in shards, each a job of so many workers, or as many shards as the folder has already.

    Raises
    ------
    ArcadeMarkError
        If there are more shards than trials, or the folder holds another number of shards or those of another run.
    """
    if "%" in str(folder):
        raise ArcadeMarkError(f"{folder}: SLURM reads % in a path as a field; choose another directory (--out)")
    there = {
        path: int(match[1])
        for path in sorted((folder / SHARDS).glob(f"*/{manifest.FILE}"))
        if (match := re.fullmatch(r"\d{1,9}-of-(\d{1,9})", path.parent.name))
    }
    counts = set(there.values())
    if len(counts | {jobs or max(counts, default=0)}) > 1:
        raise ArcadeMarkError(
            f"{folder}: is divided into {' and '.join(map(str, sorted(counts)))} shards; leave --jobs out to continue "
            "them, or choose another directory (--out)"
        )
    count = jobs or max(counts, default=0) or min(MOST_JOBS, math.ceil(len(plan.trials) / workers))
    document = describe(plan, "")
    for path in list(there)[:1]:
        if changes := manifest.differences(manifest.read(path.parent), document):
            raise ArcadeMarkError(
                f"{path.parent}: is of another run: {'; '.join(changes)}. Choose another directory (--out)"
            )
    if (jobs or 0) > len(plan.trials):
        raise ArcadeMarkError(f"--jobs {jobs}: expected at most one job a trial: {len(plan.trials):,} here")
    shard(plan, count, count)  # is there one?
    left = tuple(n for n in range(1, count + 1) if not complete(_place(folder, n, count), plan, n, count))
    return Submission(folder, tuple(command), count, left, parameters)


def largest_array() -> int:
    """Return how many jobs an array may have here; SLURM's own default where it does not tell."""
    with contextlib.suppress(ArcadeMarkError):
        said = re.search(r"^MaxArraySize\s*=\s*(\d{1,9})\s*$", _ask("scontrol", "show", "config"), flags=re.MULTILINE)
        return max(1, int(said[1])) if said else MOST_IN_ARRAY
    return MOST_IN_ARRAY


@dataclass
class ShardJob:
    """Plays a shard in a job; submitit calls it, and before the time limit or on preemption its `checkpoint`."""

    folder: Path
    command: tuple[str, ...]
    count: int
    limit_seconds: int  # of a job
    signal_seconds: int  # from the signal to the limit
    child: int | None = None  # the process that plays
    begun: float = 0.0  # when, in `time.monotonic`
    before: float = 0.0  # frames that were recorded then

    def __call__(self, number: int, rounds: int = 0) -> None:
        """Play shard `number`, and exit as that does; `rounds` have passed without progress."""
        place = _place(self.folder, number, self.count)
        self.begun, self.before = time.monotonic(), _recorded(place)
        theirs = {signal.SIGUSR1, signal.SIGUSR2}  # SLURM sends them to every process of a job, and they would end it
        signal.pthread_sigmask(signal.SIG_BLOCK, theirs)
        arguments = _play(self.command, self.folder, number, self.count)
        with subprocess.Popen(arguments, stdin=subprocess.DEVNULL) as child:
            self.child = child.pid
            signal.pthread_sigmask(signal.SIG_UNBLOCK, theirs)
            code = child.wait()
            self.child = None
        if code == INTERRUPTED:
            from submitit import JobEnvironment

            job = JobEnvironment()
            if _runs(job.job_id):  # preempted with SIGTERM alone: what ends by itself then is not put back by SLURM
                signal.raise_signal(signal.Signals[f"SIG{job.USR_SIG}"])
        sys.exit(code if code >= 0 else 128 - code)

    def checkpoint(self, number: int, rounds: int = 0) -> Any:
        """End the play gently, at last by force; return what to call when the job begins again, None for nothing."""
        from submitit.helpers import DelayedSubmission

        if self.child is not None:
            for how, share in ((signal.SIGTERM, 0.7), (signal.SIGTERM, 0.15), (signal.SIGKILL, 0.1)):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(self.child, how)
                if _ended(self.child, share * self.signal_seconds):
                    break
        if _recorded(_place(self.folder, number, self.count)) > self.before:
            rounds = 0
        elif time.monotonic() - self.begun >= self.limit_seconds / 2:
            rounds += 1
        if rounds >= ROUNDS_WITHOUT_PROGRESS:
            return None
        job = ShardJob(self.folder, self.command, self.count, self.limit_seconds, self.signal_seconds)
        return DelayedSubmission(job, number, rounds)

    __submitit_checkpoint__ = checkpoint  # as later versions of submitit call it


def gather(folder: Path) -> None:
    """Merge the shards that there are, in a job, and exit as that does."""
    shards = sorted(path.parent for path in (folder / SHARDS).glob(f"*-of-*/{manifest.FILE}"))
    sys.exit(subprocess.call([sys.executable, "-m", "arcademark", "merge", str(folder), *map(str, shards)]))


def _place(folder: Path, number: int | str, count: int) -> Path:
    return folder / SHARDS / f"{number}-of-{count}"


def _play(command: Sequence[str], folder: Path, number: int | str, count: int) -> list[str]:
    return [*command, "--shard", f"{number}/{count}", "--out", str(_place(folder, number, count))]


def _text(executor: Any) -> str:
    text: str = executor._make_submission_file_text(executor._submitit_command_str, "")
    return text


def _executor(folder: Path, parameters: Mapping[str, Any]) -> Any:
    try:
        from submitit import SlurmExecutor
    except ImportError:
        raise ArcadeMarkError("submitting needs submitit; install it with pip install '.[slurm]'") from None

    class Executor(SlurmExecutor):
        """Is made without SLURM too, to show the script."""

        @classmethod
        def affinity(cls) -> int:
            return 1

    executor = Executor(folder / JOBS, max_num_timeout=sys.maxsize)  # rounds without progress are counted instead
    executor.update_parameters(**parameters)
    return executor


def complete(place: Path, plan: Plan, number: int = 1, count: int = 1) -> bool:
    """Whether every trial of a plan, or of a shard of it, is done in a directory."""
    if not (place / manifest.FILE).exists():
        return False
    done = {trial.id: trial.episodes for trial in read_run(place, whole=False).trials if trial.status == "done"}
    return all(done.get(trial.id, 0) >= trial.episodes for trial in shard(plan, number, count).trials)


def _recorded(place: Path) -> float:
    """Return how many frames a run holds, of episodes and of what can go on; 0 if it cannot be read."""
    with contextlib.suppress(ArcadeMarkError), open_for_reading(place, checked=False) as database:
        tables = " UNION ALL ".join(f"SELECT frames FROM {name}" for name in ("episode", "unfinished", "checkpoint"))
        return float(database.execute(f"SELECT total(frames) FROM ({tables})").fetchone()[0])
    return 0.0


def _ended(process: int, seconds: float) -> bool:
    """Wait for a child's end, but leave it to whoever waits for it already."""
    limit = time.monotonic() + seconds
    with contextlib.suppress(ChildProcessError):
        while os.waitid(os.P_PID, process, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None:
            if time.monotonic() > limit:
                return False
            time.sleep(0.1)
    return True


def _runs(job: str) -> bool:
    """Whether a job was neither cancelled nor put back into the queue already."""
    with contextlib.suppress(ArcadeMarkError):
        return _ask("squeue", "--noheader", "--jobs", job, "--format", "%T").strip() == "RUNNING"
    return False


def _ask(*command: str, text: str | None = None) -> str:
    """Return what a command of SLURM prints."""
    try:
        done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=COMMAND_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ArcadeMarkError(f"SLURM's {command[0]} cannot be used ({one_line(str(error))})") from None
    if done.returncode:
        said = one_line("; ".join(done.stderr.split("\n")).strip("; "))
        if command[0] == "squeue":  # what it is asked for is always there
            first = one_line(done.stderr.strip().partition("\n")[0])
            raise ArcadeMarkError(f"SLURM cannot be asked (squeue: {first}); give this on a login node of the cluster")
        raise ArcadeMarkError(f"SLURM refuses ({command[0]}): {said}")
    return done.stdout
