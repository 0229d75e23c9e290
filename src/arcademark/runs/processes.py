"""Processes beside this one: how many, and how one is started at the other end of a pipe."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any

from arcademark.errors import ArcadeMarkError

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
"""Processes share the cores already; and sums that are split differently round differently, which changes scores."""


def available_cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def start(serve: Callable[[int], None]) -> tuple[subprocess.Popen[bytes], Connection[Any, Any]]:
    """Start a process that serves this one, in a process group of its own, so that Ctrl-C reaches this one only.

    It is a fresh interpreter with this one's module search path, rather than `multiprocessing`'s, for that would import
    the user's main script once more. What it prints goes to standard error.

    Parameters
    ----------
    serve : callable
        A module's function, found by its name; it is given the descriptor of its end of the pipe.

    Returns
    -------
    process : subprocess.Popen
    connection : Connection
        This end of the pipe.

    Raises
    ------
    ArcadeMarkError
        If no process can be started.
    """
    module, name = serve.__module__, serve.__name__
    ours, theirs = Pipe()
    code = f"import sys; sys.path[:] = {sys.path!r}; from {module} import {name}; {name}({theirs.fileno()})"
    try:
        with theirs:
            process = subprocess.Popen(
                [sys.executable, "-c", code],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=2,
                env=ONE_THREAD | os.environ,
                process_group=0,
            )
    except OSError as error:
        ours.close()
        raise ArcadeMarkError(f"no worker process can be started ({error}); try fewer --workers") from None
    return process, ours
