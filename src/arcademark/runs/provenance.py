"""With what a run was made: versions, the machine, and the code of a user's own agent."""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import os
import platform
import shlex
import subprocess
import sys
from pathlib import Path

import arcademark
from arcademark.errors import one_line
from arcademark.files import read_bytes


def versions() -> dict[str, str]:
    """Return the versions that can matter to a score."""
    return {
        "arcademark": arcademark.__version__,
        "ale-py": importlib.metadata.version("ale-py"),
        "numpy": importlib.metadata.version("numpy"),
        "python": platform.python_version(),
    }


def command() -> str:
    """Return the command line of this process as its user would type it."""
    program = Path(sys.argv[0]).name
    package = getattr(sys.modules["__main__"], "__package__", None)
    start = ["python", "-m", package] if program == "__main__.py" and package else [program]
    return shlex.join([*start, *sys.argv[1:]])


def machine() -> dict[str, str | int | None]:
    """Describe the machine without naming it."""
    return {"system": f"{platform.system()} {platform.machine()}", "processor": _processor(), "cores": os.cpu_count()}


def source_of(reference: str) -> dict[str, str | None] | None:
    """Describe the file that holds a user's own agent, ``module:factory`` or ``file.py:factory``.

    Only that file is looked at: what it imports or loads besides is for its author to keep.

    Returns
    -------
    dict or None
        ``path``, ``sha256`` and ``commit`` (of the Git repository that holds it, with "+changes" where the file
        differs from it; None outside one). None for a built-in agent.
    """
    place, colon, _ = reference.rpartition(":")
    if not colon:
        return None
    path = Path(place) if place.endswith(".py") else _file_of_module(place)
    if path is None or not path.is_file():
        return None
    checksum = hashlib.sha256(read_bytes(path)).hexdigest()
    return {"path": one_line(str(path)), "sha256": checksum, "commit": _commit(path)}


def _file_of_module(name: str) -> Path | None:
    try:
        found = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return None
    return Path(found.origin) if found and found.origin else None


def _commit(path: Path) -> str | None:
    commit = _git(path, "rev-parse", "HEAD")
    if commit is None or _git(path, "ls-files", "--error-unmatch", path.name) is None:
        return None
    return f"{commit}+changes" if _git(path, "status", "--porcelain", "--", path.name) else commit


def _git(path: Path, *arguments: str) -> str | None:
    try:
        command = ["git", "-C", str(path.resolve().parent), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or "unknown"
