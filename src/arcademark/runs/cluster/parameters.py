"""Parameters of SLURM's jobs, as they are typed and as submitit takes them."""

from __future__ import annotations

import math
import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from arcademark.errors import ArcadeMarkError

JOB = "arcademark"  # default name of jobs
SIGNAL_SECONDS = 90  # from the signal that ends a job to its time limit; submitit's own default

ALIASES = {"cpus": "cpus_per_task", "gpus": "gpus_per_node"}
_COUNTS = {"array_parallelism", "cpus_per_gpu", "cpus_per_task", "signal_delay_s"}
_TEXTS = {
    *("account", "comment", "constraint", "dependency", "exclude", "exclusive", "gpus_per_node", "gpus_per_task"),
    *("gres", "job_name", "mail_type", "mail_user", "mem", "mem_per_cpu", "mem_per_gpu", "nodelist", "partition"),
    *("qos", "wckey"),
}
_OTHERS = {"reservation"}  # options of sbatch that submitit passes on
_LINES = {"setup", "teardown"}  # lines of the script; each may be given several times
PARAMETERS = frozenset({"time", *_COUNTS, *_TEXTS, *_OTHERS, *_LINES})
"""submitit's names, without those of jobs of several processes, and further options of sbatch."""

GROWING = frozenset({"time", "mem", "mem_per_cpu", "mem_per_gpu"})
"""Parameters that may grow with the attempt: ``mem=2G*attempt``."""
_MEMORY = re.compile(r"(\d{1,9})([KMGT]?)", re.IGNORECASE)

OF_LAST = "merge:"
"""Prefix of parameters of the job that merges."""

GPUS = frozenset({"gpus_per_node", "gpus_per_task", "cpus_per_gpu", "mem_per_gpu"})
"""Parameters that the job that merges does not take over."""

_SETUP = (
    "export SUBMITIT_LOG_LEVEL=ERROR; "
    "for wait in 0 10 30 60; do sleep $wait; {} -P -c 'import submitit, arcademark.runs.cluster.slurm' && break; done"
)
"""Silences submitit, whose messages repeat ours; waits for packages that are being installed as a job begins."""

_TIME = re.compile(r"(?:(?P<days>\d{1,4})-)?(\d{1,6})(?::(\d{1,2}))?(?::(\d{1,2}))?")


def read_parameters(
    pairs: Sequence[tuple[str, str]], merge: Sequence[tuple[str, str]] = (), attempt: int = 1
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return submitit's parameters of the jobs, and of the one that merges.

    Values such as ``2G*attempt`` are multiplied by the attempt.

    Returns
    -------
    dict, dict
        Parameters of the jobs, and of the one that merges, which has no GPU unless `merge` requests one.

    Raises
    ------
    ArcadeMarkError
        If a parameter is unknown, given twice, or has a wrong value.
    """
    given = _read("--slurm", pairs, attempt)
    if "time" not in given:
        raise ArcadeMarkError("--slurm: expected a job's time limit too, as in time=4:00:00; work continues after it")
    rest = {name: value for name, value in given.items() if name not in GPUS}
    if gres := ",".join(one for one in rest.pop("gres", "").split(",") if one and one.partition(":")[0] != "gpu"):
        rest["gres"] = gres
    last = {"job_name": f"{given.get('job_name', JOB)}-merge"}
    return _complete("--slurm", given), _complete(
        "--slurm merge:", rest | last | _read("--slurm merge:", merge, attempt)
    )


def _read(option: str, pairs: Sequence[tuple[str, str]], attempt: int) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for given, typed in pairs:
        name, text = ALIASES.get(given, given), typed
        if name not in PARAMETERS:
            known = ", ".join(sorted({*PARAMETERS, *ALIASES}))
            raise ArcadeMarkError(f"{option} {given}: no parameter of submitit for a job; known: {known}")
        if not text:
            raise ArcadeMarkError(f"{option} {given}=: expected a value")
        if name in GROWING and "*" in text:
            text = _multiplied(f"{option} {given}", name, text, attempt)
        if name in _LINES:
            values.setdefault(name, []).append(text)
        elif name in values:
            raise ArcadeMarkError(f"{option}: {name} is given twice; give it once")
        elif name == "time":
            values[name] = minutes(text)
        elif name in _COUNTS:
            if not text.isdecimal() or not 1 <= len(text) <= 9 or int(text) < 1:
                raise ArcadeMarkError(f"{option} {given}={text}: expected a whole number of at least 1")
            values[name] = int(text)
        else:
            values[name] = True if (name, text) == ("exclusive", "true") else text
    return values


def _multiplied(option: str, name: str, text: str, attempt: int) -> str:
    """Return a time in minutes, or memory with its unit, times the attempt."""
    each, _, factor = (part.strip() for part in text.partition("*"))
    match = _MEMORY.fullmatch(each)
    if factor != "attempt" or (name != "time" and not match):
        raise ArcadeMarkError(f"{option}={text}: expected an amount times the attempt, as in mem=2G*attempt")
    return str(minutes(each) * attempt) if name == "time" or not match else f"{int(match[1]) * attempt}{match[2]}"


def _complete(option: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Complete a job's parameters with defaults."""
    values: dict[str, Any] = {"job_name": JOB, "signal_delay_s": SIGNAL_SECONDS, "stderr_to_stdout": True, **given}
    if 60 * values["time"] <= 2 * values["signal_delay_s"]:
        raise ArcadeMarkError(
            f"{option} time: {values['time']} minutes; expected more than twice the {values['signal_delay_s']} seconds "
            "before the limit in which a job ends what it plays (signal_delay_s)"
        )
    values["setup"] = [*values.get("setup", ()), _SETUP.format(shlex.quote(sys.executable))]
    values["additional_parameters"] = {"requeue": True} | {name: values.pop(name) for name in _OTHERS & values.keys()}
    if "cpus_per_task" in values:
        values["srun_args"] = [f"--cpus-per-task={values['cpus_per_task']}"]  # srun does not take it from the job
    return values


def minutes(text: str) -> int:
    """Read a time limit as SLURM writes it, ``90``, ``1:30:00``, ``2-12``, in minutes, rounded up."""
    match = _TIME.fullmatch(text)
    if match is None or not any(int(part or 0) for part in match.groups()):
        raise ArcadeMarkError(f"time={text}: expected minutes, hours:minutes:seconds or days-hours")
    days, first, second, third = (int(part or 0) for part in match.groups())
    if match["days"] is not None:
        return (24 * days + first) * 60 + second + math.ceil(third / 60)
    if match[4] is not None:
        return 60 * first + second + math.ceil(third / 60)
    return first + math.ceil(second / 60)
