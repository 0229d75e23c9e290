"""Provenance of a run: versions, the machine, a user's own agent and the files named by its parameters."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import importlib.metadata
import importlib.util
import inspect
import os
import platform
import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from arcademark._version import __version__
from arcademark.agents.loading import AgentSpec, CommandSpec, MadeSpec
from arcademark.errors import ArcadeMarkError, one_line
from arcademark.files import read_bytes

_LIBRARIES: Mapping[str, tuple[str, ...]] = {
    "torch": ("torch",),
    "stable_baselines3": ("stable-baselines3",),
    "sb3_contrib": ("sb3-contrib",),
    "ray": ("ray",),
    "onnxruntime": ("onnxruntime", "onnxruntime-gpu"),
}
"""Libraries whose version can change an agent's behaviour: modules, and the packages that may provide each."""


def versions() -> dict[str, str]:
    """Return the versions that can change a score."""
    return {
        "arcademark": __version__,
        "ale-py": importlib.metadata.version("ale-py"),
        "numpy": importlib.metadata.version("numpy"),
        "python": platform.python_version(),
    }


def libraries() -> tuple[str, ...]:
    """Return the modules of agents' libraries that this process has imported."""
    return tuple(name for name in _LIBRARIES if name in sys.modules)


def versions_of(modules: Iterable[str]) -> dict[str, str]:
    """Return the versions of agents' libraries by package; other modules are left out."""
    versions = {}
    for package in (package for name, packages in _LIBRARIES.items() if name in modules for package in packages):
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            versions[package] = importlib.metadata.version(package)
    return versions


def command() -> str:
    """Return the command line of this process as its user would type it."""
    program = Path(sys.argv[0]).name
    package = getattr(sys.modules["__main__"], "__package__", None)
    start = ["python", "-m", package] if program == "__main__.py" and package else [program]
    return shlex.join([*start, *sys.argv[1:]])


def machine() -> dict[str, str | int | None]:
    """Describe the machine without naming it."""
    return {"system": f"{platform.system()} {platform.machine()}", "processor": _processor(), "cores": os.cpu_count()}


def code_of(spec: AgentSpec) -> dict[str, str] | None:
    """Describe an agent's code: its file (a checkpoint's: its network's; a command's: its program), or its source.

    None for a built-in agent. Of a user's agent only that file is read; files that it imports or loads are the author's
    responsibility.
    """
    if isinstance(spec, CommandSpec):
        program = spec.command.words[0]
        return {"path": one_line(program), "sha256": _checksum(Path(program), program) or ""}
    if not isinstance(spec, MadeSpec):
        if (path := file_of(spec.code)) is None:
            return None
        return {"path": one_line(str(path)), "sha256": hashlib.sha256(read_bytes(path)).hexdigest()}
    code: Any = spec.made if inspect.isclass(spec.made) or inspect.isroutine(spec.made) else type(spec.made)
    try:
        checksum = hashlib.sha256(inspect.getsource(code).encode(errors="surrogatepass")).hexdigest()
    except (OSError, TypeError):
        return None
    return {"path": one_line(f"{code.__qualname__}, made in Python"), "sha256": checksum}


def file_of(reference: str) -> Path | None:
    """Return the file of a user's own agent, ``module:factory`` or ``file.py:factory``; None if it has none."""
    place, colon, _ = reference.rpartition(":")
    path = (Path(place) if place.endswith(".py") else _file_of_module(place)) if colon else None
    return path if path is not None and path.is_file() else None


def files_of(parameters: Mapping[str, object], known: dict[str, str | None]) -> dict[str, str]:
    """Return the SHA-256 of each file, such as weights, named by parameters of a user's own agent, by parameter.

    Missing files are left out, as the agent may write them later; so are folders, as it may log into them. `known`
    caches checksums by path for other agents.
    """
    checksums = {}
    for name, value in texts(parameters):
        if value not in known:
            known[value] = _checksum(Path(value).expanduser() if value.startswith("~/") else Path(value), name)
        checksums[name] = known[value]
    return {name: checksum for name, checksum in checksums.items() if checksum is not None}


def texts(value: object, name: str = "") -> Iterator[tuple[str, str]]:
    """Yield the texts in a JSON value that may be paths, with their places."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from texts(item, f"{name}.{key}" if name else str(key))
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from texts(item, f"{name}[{index}]")
    elif isinstance(value, str) and value and "\0" not in value:
        yield name, value


def _checksum(path: Path, name: str) -> str | None:
    try:
        if not path.is_file():
            return None
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:  # not a path
            return None
        raise ArcadeMarkError(
            f"parameter '{name}': {path} cannot be read ({error.strerror}); check its permissions"
        ) from None


def _file_of_module(name: str) -> Path | None:
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return None
    return Path(spec.origin) if spec and spec.origin else None


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or "unknown"
