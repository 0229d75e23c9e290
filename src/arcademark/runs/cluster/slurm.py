"""Play plans' shards as jobs of a SLURM cluster, by submitit; needs ``pip install '.[slurm]'``.

Each job runs a command, such as ``arcademark run … --engine shard=K/N``, in a folder of its own, below the run's.
Before its time limit, on preemption, and if the command ends before it is done, it puts itself back into the queue and
then continues with the same command; a last job merges all shards. submitit stores the function that a job calls as a
pickle in the folder ``slurm``; `arcademark.records.queue` reads the jobs' state from SLURM.
"""

from __future__ import annotations

import contextlib
import io
import math
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any, NoReturn

from arcademark.errors import ArcadeMarkError, one_line
from arcademark.importing import needing
from arcademark.records import manifest, queue
from arcademark.records.database import DATABASE, JOBS, SHARDS, open_for_reading
from arcademark.records.reading import read_run
from arcademark.runs.cluster.parameters import ALIASES, GROWING, OF_LAST, read_parameters
from arcademark.runs.engines.processes import how_ended
from arcademark.runs.plan import Plan, Trial
from arcademark.runs.scheduling.lengths import dealt, shards
from arcademark.runs.store.entering import begin, describe

MAX_JOBS = 256  # that a run is divided into by default
MAX_IN_ARRAY = 1001  # SLURM's own default for MaxArraySize
ROUNDS_WITHOUT_PROGRESS = 3  # in a row, after which a job is not put back into the queue

FRAMES = """SELECT total(frames) FROM
(SELECT frames FROM episode UNION ALL SELECT frames FROM unfinished UNION ALL SELECT frames FROM checkpoint)"""
"""Frames of a run, in episodes and in unfinished work."""

FAILURES = "SELECT count(error) FROM trial"

MAX_ATTEMPTS = 3
_ATTEMPT = "attempt-"
"""Prefix of files in the folder of logs, each of which marks an attempt that had too little memory or time."""
OURS = ("jobs", "python")
"""Parameters of the submission itself: the number of jobs, and the command that starts Python in them."""
_FOR_NOW = re.compile("not available|busy", re.IGNORECASE)
"""Answers of ``sbatch --test-only`` to jobs that only wait for nodes to return."""


def submission(
    pairs: Sequence[tuple[str, str]],
    plans: Mapping[str, Plan],
    directory: Path,
    words: Sequence[str],
    again: Sequence[str],
    workers: int | None,
) -> Submission:
    """Prepare jobs that play plans in a directory, as ``--slurm`` specifies.

    Plans are divided into the directory's existing number of shards, or otherwise into the number given or accepted by
    SLURM.

    Parameters
    ----------
    pairs : sequence of (str, str)
        Parameters as they are typed: of jobs, those of the one that merges as ``merge:time``, and `OURS`.
    plans : mapping of str to Plan
        As in `Submission`.
    directory : path
    words : sequence of str
        Arguments of ``arcademark`` that play the plans, without shards, directories and workers.
    again : sequence of str
        Arguments that submit the plans.
    workers : int, optional
        Workers of a job; as many as it has processors by default.

    Raises
    ------
    ArcadeMarkError
        If a parameter is wrong, there are more shards than trials, or the directory holds another number of shards or
        those of another run.
    """
    own = {name: text for name, text in pairs if name in OURS}
    if len(own) < sum(name in OURS for name, _ in pairs):
        raise ArcadeMarkError(f"--slurm: {' or '.join(own)} is given twice; give it once")
    given = own.get("jobs", "1")
    if not given.isdecimal() or not 1 <= int(given[:10]) < 10**9:
        raise ArcadeMarkError(f"--slurm jobs={given}: expected a whole number of at least 1")
    of_jobs = [(name, text) for name, text in pairs if not name.startswith(OF_LAST) and name not in OURS]
    of_last = [(name.removeprefix(OF_LAST), text) for name, text in pairs if name.startswith(OF_LAST)]
    number = attempt(directory)
    parameters, merge = read_parameters(of_jobs, of_last, number)
    workers = workers or parameters.get("cpus_per_task", 1)
    python = tuple(shlex.split(own["python"])) if "python" in own else (sys.executable,)
    command = ("-P", "-m", "arcademark", *words, f"--workers={workers}")  # nothing from the current folder
    jobs, folder = int(given) if "jobs" in own else None, directory.absolute()
    growing = (ALIASES.get(name, name) for name, text in of_jobs if "*" in text and name in GROWING)
    grows = frozenset(growing) if number < MAX_ATTEMPTS else frozenset[str]()
    divided = _checked_division(plans, folder, jobs)
    trials = len(next(iter(plans.values())).trials)
    count = jobs or divided or min(MAX_JOBS, math.ceil(trials / workers))
    work = Submission(folder, plans, python, command, count, parameters, merge, workers, grows, number, tuple(again))
    if not (jobs or divided) and 0 < (fewer := work.accepted()) < count:
        work = replace(work, count=fewer)
    return work


def _checked_division(plans: Mapping[str, Plan], folder: Path, jobs: int | None) -> int:
    """Return the number of shards into which a folder is already divided, 0 if it is not.

    ArcadeMarkError: the number differs from `jobs`, the shards are of another run, or there are fewer trials than jobs.
    """
    if "%" in str(folder):
        raise ArcadeMarkError(f"{folder}: SLURM reads % in a path as a field; choose another directory (--out)")
    begun = {path: count for path, count in _shards_in(folder).items() if _recorded(path)}
    counts = {*begun.values()}
    if len(counts | {jobs or max(counts, default=0)}) > 1:
        raise ArcadeMarkError(
            f"{folder}: is divided into {' and '.join(map(str, sorted(counts)))} shards; leave jobs=N out to continue "
            "them, or choose another directory (--out)"
        )
    name, plan = next(iter(plans.items()))
    document = describe(plan, "")
    places = [folder / name, *(path / name for path in begun)]
    for path in [path for path in places if (path / manifest.FILE).exists()][:2]:
        if changes := manifest.differences(manifest.read(path), document):
            raise ArcadeMarkError(f"{path}: contains another run: {'; '.join(changes)}. Choose a new directory (--out)")
    if (jobs or 0) > len(plan.trials):
        raise ArcadeMarkError(f"--slurm jobs={jobs}: expected at most one job per trial: {len(plan.trials):,} here")
    return max(counts, default=0)


def _shards_in(folder: Path) -> dict[Path, int]:
    """Return the directories of shards in a folder, and the number of shards of each one's division."""
    return {
        path: int(match[1])
        for path in sorted((folder / SHARDS).glob("*-of-*"))
        if (match := re.fullmatch(r"\d{1,9}-of-(\d{1,9})", path.name)) and path.is_dir()
    }


def attempt(folder: Path) -> int:
    """Return the number of a folder's next attempt: 1, plus 1 for each that had too little memory or time."""
    ended = (path.name.removeprefix(_ATTEMPT) for path in (folder / JOBS).glob(f"{_ATTEMPT}*"))
    return max((int(number) + 1 for number in ended if number.isdecimal() and len(number) < 4), default=1)


@dataclass(frozen=True)
class Submission:
    """Plans to be played as jobs, in `count` shards in a folder.

    plans: By their directories' names, below the run's or a shard's; "" for a single one. The first is dealt out.
    command: The command that plays them, without its shard and directory, after what starts Python.
    parameters, merge: Of the jobs, and of the one that merges, as in `read_parameters`.
    workers: Workers of a job.
    grows: Parameters that grow with the attempt; none at the last one.
    attempt: Number of this attempt, from 1.
    again: Arguments of ``arcademark`` that submit what is left with more; used by the job that merges.
    """

    folder: Path
    plans: Mapping[str, Plan]
    python: tuple[str, ...]
    command: tuple[str, ...]
    count: int
    parameters: Mapping[str, Any]
    merge: Mapping[str, Any]
    workers: int
    grows: frozenset[str]
    attempt: int
    again: tuple[str, ...]

    @cached_property
    def left(self) -> tuple[int, ...]:
        """The shards that are not complete, from 1."""
        parts = enumerate(dealt(self.plans, self.count), start=1)
        return tuple(number for number, mine in parts if not _complete_in(self._place(number), mine))

    @property
    def complete(self) -> bool:
        """True if all trials are done in the merged runs."""
        return _complete_in(self.folder, {name: plan.trials for name, plan in self.plans.items()})

    def _place(self, number: int) -> Path:
        return _place(self.folder, number, self.count)

    @property
    def job(self) -> ShardJob:
        """The function that a job calls with the number of a shard."""
        command, seconds = (*self.python, *self.command), self.parameters["signal_delay_s"]
        return ShardJob(self.folder, command, self.count, seconds, grows=self.grows, attempt=self.attempt)

    def script(self, jobs: int = 0) -> str:
        """Return the script of the first array with a number of jobs, by default all remaining ones."""
        executor = _executor(self.folder, self.parameters)
        jobs = min(jobs or len(self.left), largest_array())
        if jobs > 1:
            executor.parameters["map_count"] = jobs
        return _text(executor)

    def last_script(self, arrays: Sequence[str]) -> str:
        """Return the script of the job that merges when these arrays have ended; nothing is written."""
        return _text(self._last(arrays))

    def _last(self, arrays: Sequence[str]) -> Any:
        return _executor(self.folder, {**self.merge, "dependency": f"afterany:{':'.join(arrays)}"})

    def accepted(self) -> int:
        """Return how many of the remaining jobs this user may queue, in addition to the one that merges.

        All if there is no SLURM here; 0 if none.
        """
        if shutil.which("sbatch") is None:
            return len(self.left)

        def refused(jobs: int) -> bool:
            return "SubmitJob" in _refusal(self.script(jobs + 1), self.parameters)

        jobs = len(self.left)
        return jobs if not refused(jobs) else bisect_left(range(1, jobs), True, key=refused)

    def submit(self, known: Collection[str]) -> tuple[list[str], str]:
        """Submit arrays of all that is left and a job that merges when they have ended; return the numbers of both.

        Either all is submitted or nothing stays so. `known` names plans of which the first shard is recorded as begun,
        so that their progress is shown from now on.
        """
        if shutil.which("sbatch") is None:
            raise ArcadeMarkError(
                "SLURM's sbatch is not found here; submit where it is, or see the script: --slurm dry_run=yes"
            )
        queue.check_idle(self.folder)
        for script, parameters in (
            (self.script(len(self.left) + 1), self.parameters),
            (_text(_executor(self.folder, self.merge)), self.merge),
        ):
            if refusal := _refusal(script, parameters):
                self._refuse(refusal)
        with contextlib.ExitStack() as undo:
            first, jobs = self._place(self.left[0]), self.folder / JOBS
            stale = [path for path in _shards_in(self.folder) if not _recorded(path)]
            undo.callback(_remove_new, [path for path in (first, jobs) if path in stale or not path.exists()])
            jobs.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=jobs):
                pass  # check that it can be written to
            for path in stale:
                shutil.rmtree(path)
            for name, plan in shards(self.plans, self.left[0], self.count).items():
                if name in known and not (first / name / manifest.FILE).exists():
                    begin(plan, first / name)
            submitted = self._submit(undo)
            undo.pop_all()
        return submitted

    def _submit(self, undo: contextlib.ExitStack) -> tuple[list[str], str]:
        from submitit.core.utils import FailedJobError, FailedSubmissionError

        arrays: list[str] = []
        logs: dict[tuple[int, int] | None, Path] = {}
        most = largest_array()
        try:
            for place in range(0, len(self.left), most):
                of_array = self.left[place : place + most]
                with _quietly(self.parameters):
                    jobs = _executor(self.folder, self.parameters).map_array(self.job, of_array)
                arrays.append(jobs[0].job_id.partition("_")[0])
                undo.callback(queue.ask, "scancel", arrays[-1])
                logs |= {(number, self.count): job.paths.stdout for number, job in zip(of_array, jobs, strict=True)}
            with _quietly(self.merge):
                retries = (self.attempt, self.again) if self.grows else None
                last = self._last(arrays).submit(gather, self.folder, self.python, tuple(self.plans), retries)
            undo.callback(queue.ask, "scancel", last.job_id)
            queue.name_logs(logs | {None: last.paths.stdout})
        except (FailedJobError, FailedSubmissionError) as error:
            undo.close()
            self._refuse(f"SLURM refuses (sbatch): {queue.plain(str(error))}")
        return arrays, str(last.job_id)

    def _refuse(self, reason: str) -> NoReturn:
        if "SubmitJob" not in reason:
            raise ArcadeMarkError(f"{reason}; nothing was submitted")
        divided = any(map(_recorded, (self.folder / SHARDS).glob("*-of-*")))
        most = 0 if divided else self.accepted()
        remedy = f"give fewer: --slurm jobs={most}" if most else "wait until others of yours have ended"
        raise ArcadeMarkError(
            f"{reason}; nothing was submitted: {len(self.left)} jobs and the one that merges are more than you may "
            f"have in the queue; {remedy}"
        )


def _refusal(script: str, parameters: Mapping[str, Any]) -> str:
    """Return why SLURM would always refuse a job; "" if it would not, or only while nodes are drained or down.

    ``sbatch --test-only`` looks at the nodes that are up now. ``sbatch`` itself refuses jobs that no node could play,
    except jobs with too many processors for the only node of a partition.
    """
    try:
        queue.ask("sbatch", "--test-only", text=script, options=_options(parameters))
    except ArcadeMarkError as error:
        if not _FOR_NOW.search(str(error)):
            return str(error)
        wanted, most = parameters.get("cpus_per_task", 1), _most_cpus(parameters)
        if most and wanted > most:
            return f"{error}; the largest node has {most} processors, and cpus={wanted} are requested"
    return ""


def _options(parameters: Mapping[str, Any]) -> set[str]:
    """Return the names of sbatch's options in its script."""
    return {*parameters, *parameters["additional_parameters"]}


def _most_cpus(parameters: Mapping[str, Any]) -> int:
    """Return the processors of the largest node of the partition, in any state; 0 if unknown."""
    partitions = parameters.get("partition") or os.environ.get("SBATCH_PARTITION", "")
    words = ("sinfo", "--noheader", "--Node", *([f"--partition={partitions}"] if partitions else []), "--format=%P %c")
    with contextlib.suppress(ArcadeMarkError, ValueError):
        nodes = [line.split() for line in queue.ask(*words).splitlines()]
        by_default = [node for node in nodes if node[0].endswith("*")]
        return max((int(cpus) for _, cpus in (not partitions and by_default) or nodes), default=0)
    return 0


def _remove_new(places: Sequence[Path]) -> None:
    """Remove the folders that a failed submission has made, and their parents if these are empty."""
    for path in places:
        shutil.rmtree(path, ignore_errors=True)
        with contextlib.suppress(OSError):
            path.parent.rmdir()
            path.parent.parent.rmdir()


def largest_array() -> int:
    """Return the maximum number of jobs of an array; SLURM's own default if it is unknown."""
    with contextlib.suppress(ArcadeMarkError):
        match = re.search(
            r"^MaxArraySize\s*=\s*(\d{1,9})\s*$", queue.ask("scontrol", "show", "config"), flags=re.MULTILINE
        )
        return max(1, int(match[1])) if match else MAX_IN_ARRAY
    return MAX_IN_ARRAY


@dataclass
class ShardJob:
    """Function of a job, which plays a shard; submitit calls `checkpoint` before the time limit or on preemption."""

    folder: Path
    command: tuple[str, ...]
    count: int
    signal_seconds: int  # from the signal to the limit
    child: int | None = None  # the process that plays
    before: float = 0.0  # frames that were recorded when it began
    ended: str = ""  # end of that process in words, if it ended by itself
    killed: bool = False  # whether it was killed, as the system does where memory runs out
    grows: frozenset[str] = frozenset()  # parameters that grow with the attempt
    attempt: int = 1

    def shard(self, number: int | str) -> list[str]:
        """Return the command that plays a shard."""
        return [*self.command, "--engine", f"shard={number}/{self.count}", "--out", str(self._place(number))]

    def __call__(self, number: int, rounds: int = 0) -> None:
        """Play shard `number`, and exit with its code; `rounds` have passed without progress."""
        import submitit.helpers  # all that is needed later, as packages may be installed anew meanwhile

        job, begun = submitit.JobEnvironment(), time.monotonic()
        _tell(f"job {job.job_id} on {job.hostname} plays shard {number} of {self.count}")
        self.before = _sum(self._place(number), FRAMES)
        theirs = {signal.SIGUSR1, signal.SIGUSR2}  # SLURM sends them to every process of a job, and they would end it
        signal.pthread_sigmask(signal.SIG_BLOCK, theirs)
        with subprocess.Popen(self.shard(number), stdin=subprocess.DEVNULL) as child:
            self.child = child.pid
            signal.pthread_sigmask(signal.SIG_UNBLOCK, theirs)
            code = child.wait()
            self.child = None
        done = code == 0 or (code == 1 and _sum(self._place(number), FAILURES) > 0)
        if not done and _runs(job.job_id):  # such as preempted with SIGTERM alone, and not put back by SLURM
            how = how_ended(code)
            self.killed = how == "SIGKILL"
            self.ended = f"was ended by {how}" if how.startswith("SIG") else f"ended with {how}"
            self.ended += f" after {time.monotonic() - begun:.0f} seconds"
            if self.killed:
                self.ended += "; out of memory is a likely cause (--slurm mem=… requests more)"
            _tell(f"the process that plays {self.ended}")
            signal.raise_signal(signal.Signals[f"SIG{job.USR_SIG}"])
        sys.exit(code if code >= 0 else 128 - code)

    def checkpoint(self, number: int, rounds: int = 0) -> Any:
        """Stop the play, at last by force; return the function for the job's next start, or exit for good."""
        from submitit.helpers import DelayedSubmission

        if self.child is not None:
            _tell("SLURM ends this job, for its time limit or for another job; its progress is saved")
            for how, share in ((signal.SIGTERM, 0.7), (signal.SIGTERM, 0.15), (signal.SIGKILL, 0.1)):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(self.child, how)
                if _ended(self.child, share * self.signal_seconds):
                    break
        progress = _sum(self._place(number), FRAMES) > self.before
        rounds = 0 if progress and not self.killed else rounds + 1
        wants = "mem" if self.killed else "time"
        if rounds and (self.killed or not self.ended) and any(name.startswith(wants) for name in self.grows):
            want_more(self.folder, self.attempt)
            sys.exit(f"arcademark: this job had too little {wants}; the last job submits its shard again with more")
        if rounds >= ROUNDS_WITHOUT_PROGRESS:
            if self.ended:
                why = f"the process that plays {self.ended}, in the last of {rounds} rounds without progress"
            else:
                why = (
                    f"nothing was recorded in {rounds} rounds of this job; if its limit is too short for an episode, "
                    "give a longer one (--slurm time=…)"
                )
            sys.exit(f"arcademark: {why}. This job ends; the same command continues the run")
        without = f", round {rounds} of {ROUNDS_WITHOUT_PROGRESS} without progress" if rounds else ""
        _tell(f"back into the queue{without}")
        return DelayedSubmission(replace(self, child=None, ended="", killed=False), number, rounds)

    __submitit_checkpoint__ = checkpoint  # as later versions of submitit call it

    def _place(self, number: int | str) -> Path:
        return _place(self.folder, number, self.count)


def want_more(folder: Path, number: int) -> None:
    """Record that jobs of an attempt had too little memory or time."""
    (folder / JOBS / f"{_ATTEMPT}{number}").touch()


def gather(
    folder: Path, python: Sequence[str], names: Sequence[str], retries: tuple[int, Sequence[str]] | None = None
) -> None:
    """Merge the existing shards of each plan, in a job, and exit with the merge's code.

    If nothing was played, as after ``scancel``, no run is made, so that another may be submitted. If jobs had too
    little memory or time, and `retries` gives the attempt's number and the command of the next one, that is submitted
    instead; its own last job merges.
    """
    if retries is not None:
        number, again = retries
        if any(job.state == "failed" and job.reason in ("out of memory", "timeout") for job in queue.jobs([folder])[0]):
            want_more(folder, number)
        if attempt(folder) > number:
            _tell(f"jobs had too little memory or time in attempt {number}; submits the remaining shards again")
            if (code := subprocess.call([*python, "-P", "-m", "arcademark", *again])) == 0:
                sys.exit(0)
            _tell(f"nothing was submitted (exit code {code}, for the reason above); merges the existing shards")
    codes = []
    for name in names:
        parts = sorted(path.parent for path in (folder / SHARDS).glob(str(Path("*-of-*", name, manifest.FILE))))
        if any(_recorded(part) or _sum(part, FAILURES) for part in parts):
            command = [*python, "-P", "-m", "arcademark", "runs", "merge", str(folder / name), *map(str, parts)]
            codes.append(subprocess.call(command))
    sys.exit(max(map(abs, codes), default=1))


def _tell(text: str) -> None:
    """Write a line to the log of a job."""
    print(f"arcademark, {datetime.now():%Y-%m-%d %H:%M:%S}: {one_line(text)}", flush=True)  # noqa: T201 - of a job


def _place(folder: Path, number: int | str, count: int) -> Path:
    return folder / SHARDS / f"{number}-of-{count}"


def _text(executor: Any) -> str:
    with _quietly(executor.parameters):
        text: str = executor._make_submission_file_text(executor._submitit_command_str, "")
    return text


def _executor(folder: Path, parameters: Mapping[str, Any]) -> Any:
    with needing("submitting needs submitit", "slurm"):
        from submitit import SlurmExecutor

    class Executor(SlurmExecutor):
        """Executor that also works without SLURM, to show the script."""

        @classmethod
        def affinity(cls) -> int:
            return 1

    python = f"{shlex.quote(sys.executable)} -P"  # nothing is imported from the current folder
    executor = Executor(folder / JOBS, max_num_timeout=sys.maxsize, python=python)  # see `rounds`
    with _quietly(parameters):
        executor.update_parameters(**parameters)
    return executor


@contextlib.contextmanager
def _quietly(parameters: Mapping[str, Any]) -> Iterator[None]:
    """Let submitit work as if outside of a job, and capture its and sbatch's output, which errors repeat."""
    printed = io.StringIO()
    with (
        queue.outside(_options(parameters)),
        contextlib.redirect_stderr(printed),
        contextlib.redirect_stdout(printed),
        warnings.catch_warnings(action="ignore"),
    ):
        yield


def _complete_in(place: Path, trials: Mapping[str, Sequence[Trial]]) -> bool:
    """Return True if every trial of the plans is done in the directories below a place."""
    return all(_complete_run(place / name, mine) for name, mine in trials.items())


def _complete_run(directory: Path, trials: Sequence[Trial]) -> bool:
    if not (directory / DATABASE).exists():
        return False
    done = {
        (trial.agent, trial.game, trial.seed): trial.episodes
        for trial in read_run(directory, whole=False).trials
        if trial.status == "done"
    }
    return all(done.get((trial.agent.label, trial.game, trial.seed), 0) >= trial.episodes for trial in trials)


def _sum(place: Path, query: str, unreadable: float = 0.0) -> float:
    """Return the sum of a query's results over a shard's runs, with a value for each run that cannot be read."""
    total = 0.0
    for path in (*place.glob(DATABASE), *place.glob(f"*/{DATABASE}")):
        try:
            with open_for_reading(path.parent, checked=False) as database:
                total += float(database.execute(query).fetchone()[0])
        except ArcadeMarkError:
            total += unreadable
    return total


def _recorded(place: Path) -> bool:
    """Return True if a shard's runs contain an episode, a part of one, or a file that cannot be read."""
    return _sum(place, FRAMES, unreadable=1.0) > 0


def _ended(process: int, seconds: float) -> bool:
    """Wait for a child's end without reaping it."""
    limit = time.monotonic() + seconds
    with contextlib.suppress(ChildProcessError):
        while os.waitid(os.P_PID, process, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None:
            if time.monotonic() > limit:
                return False
            time.sleep(0.1)
    return True


def _runs(job: str) -> bool:
    """Return True if a job is running: neither cancelled nor put back into the queue."""
    with contextlib.suppress(ArcadeMarkError):
        return queue.ask("squeue", "--noheader", "--jobs", job, "--format", "%T").strip() == "RUNNING"
    return False
