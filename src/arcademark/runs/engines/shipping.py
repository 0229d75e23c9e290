"""Transfer of an agent's files to a machine that lacks them: its code, its network, and files named by its parameters.

Files with the same path and content on both machines, as on a shared file system, are used in place. Others are kept
below the cache folder, under a checksum of them all, at their original paths, so that files find each other; they are
written once, and checked at each use. Programs of commands are compared, not sent.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from arcademark.agents.checkpoints import paths
from arcademark.agents.checkpoints.contents import MAX_BYTES
from arcademark.agents.checkpoints.reading import files_beside
from arcademark.agents.loading import AgentSpec, CommandSpec, NetworkSpec, all_parameters
from arcademark.errors import ArcadeMarkError
from arcademark.files import cache_folder, make_private, open_lock, read_bytes
from arcademark.importing import importable, is_file
from arcademark.runs.plan import Trial
from arcademark.runs.store.provenance import file_of, texts


@dataclass(frozen=True)
class Packed:
    """An agent's files: absolute paths and contents, the folder of relative paths, and the SHA-256 of its code.

    `home` is the home folder ("~") on the machine that they come from.
    """

    folder: str
    home: str
    files: tuple[tuple[str, bytes], ...]
    code: str | None


def packed(trial: Trial) -> Packed | None:
    """Return the files of a trial's agent; None for a built-in one."""
    spec = trial.agent
    if not (trial.network or spec.own):
        return None
    folder = os.getcwd()
    names = dict.fromkeys(os.path.abspath(path) for path in _paths(trial, spec, folder))
    return Packed(
        folder,
        os.path.expanduser("~"),
        tuple((name, read_bytes(Path(name), MAX_BYTES)) for name in names),
        _code(spec),
    )


def unpacked(trial: Trial, files: Packed | None) -> Trial:
    """Return a trial with its agent's files on this machine, and change to the folder of its relative paths.

    Raises
    ------
    ArcadeMarkError
        If the files cannot be kept, or the agent's module is missing or differs.
    """
    if files is None:
        return trial
    root = _root(files)
    if os.path.isdir(folder := root + files.folder):
        os.chdir(folder)
    spec = _moved(trial.agent, root, files.home) if root else trial.agent
    if _code(spec) != files.code:
        raise ArcadeMarkError(
            f"agent {spec.label}: its code is missing on this node, or another one; install the same on all nodes"
        )
    return replace(trial, agent=spec)


def _paths(trial: Trial, spec: AgentSpec, folder: str) -> Iterator[Path]:
    if isinstance(spec, CommandSpec):
        return
    code = _code_file(spec)
    if code is not None and (is_file(spec.ref) or code.is_relative_to(folder)):
        yield code
    if trial.network:
        path = paths.file_of(spec.ref, trial.game, trial.seed)
        if path.is_dir():
            yield from filter(Path.is_file, path.rglob("*"))
        else:
            yield path
            yield from files_beside(read_bytes(path, MAX_BYTES), path)
    for _, text in texts(spec.parameters if trial.network else all_parameters(spec)):
        if (path := Path(os.path.expanduser(text))).is_file():
            yield path


def _code_file(spec: AgentSpec) -> Path | None:
    with importable(spec.code):
        return file_of(spec.code)


def _code(spec: AgentSpec) -> str | None:
    if isinstance(spec, CommandSpec):
        contents = (read_bytes(Path(path)) for path in (spec.command.words[0], *spec.command.files.values()))
        return hashlib.sha256(b"".join(hashlib.sha256(content).digest() for content in contents)).hexdigest()
    path = _code_file(spec)
    return hashlib.sha256(read_bytes(path)).hexdigest() if path else None


def _root(files: Packed) -> str:
    """Return the folder below which the files lie at their paths; "" if they are at their original paths."""
    if all(_is(name, content) for name, content in files.files):
        return ""
    sums = [f"{name}\0{hashlib.sha256(content).hexdigest()}\n" for name, content in files.files]
    cache = cache_folder()
    if cache is None:
        raise ArcadeMarkError(
            "this node has no folder for an agent's files that only its user can write to; name one there in "
            "ARCADEMARK_CACHE"
        )
    place = cache / "agents" / hashlib.sha256("".join(sums).encode()).hexdigest()[:32]
    try:
        if not place.exists():
            _write(place, files)
    except OSError as error:
        raise ArcadeMarkError(
            f"{place}: an agent's files cannot be written on this node ({error.strerror}); make room there"
        ) from None
    for name, content in files.files:
        if not _is(f"{place}{name}", content):
            raise ArcadeMarkError(f"{place}{name}: differs from what was sent to this node; remove {place} there")
    return str(place)


def _write(place: Path, files: Packed) -> None:
    make_private(place.parent)
    draft = place.parent / "draft"
    with open_lock(place.parent / "lock") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if place.exists():  # written by another worker
            return
        try:
            shutil.rmtree(draft, ignore_errors=True)  # of one that was killed
            os.makedirs(f"{draft}{files.folder}")
            for name, content in files.files:
                path = Path(f"{draft}{name}")
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
            draft.rename(place)
        finally:
            shutil.rmtree(draft, ignore_errors=True)


def _is(name: str, content: bytes) -> bool:
    try:
        return os.path.getsize(name) == len(content) and read_bytes(Path(name), len(content)) == content
    except (OSError, ArcadeMarkError):
        return False


def _moved(spec: AgentSpec, root: str, home: str) -> AgentSpec:
    """Return an agent, under the same name, whose files lie below another folder."""

    def moved(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: moved(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [moved(item) for item in value]
        if isinstance(value, str) and value.startswith(("/", "~/")):
            place = root + (home + value[1:] if value.startswith("~/") else value)
            return place if os.path.isfile(place) or file_of(place) else value
        return value

    ref = root + spec.ref if isinstance(spec, NetworkSpec) or is_file(spec.ref) else spec.ref
    return replace(spec, ref=ref, parameters=moved(dict(spec.parameters)), name=spec.label)
