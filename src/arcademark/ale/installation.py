"""Replacement of ale-py in an unchanged program, and in the processes that it starts.

The interfaces of `arcademark.ale` are put into the module ale_py, whose environments look them up when they are made.
Thus all its names, its ids in Gymnasium and its environments' classes stay the same. Processes that start later
inherit PYTHONPATH, and `startup/sitecustomize.py` on it does the same there; forked ones are copies.
"""

from __future__ import annotations

import gc
import importlib
import os
import shutil
import stat
import sys
import tempfile
import time
import warnings
from contextlib import suppress
from multiprocessing import util
from pathlib import Path
from typing import Any

import ale_py
from ale_py import vector_env

from arcademark.ale import environments
from arcademark.ale.emulators import FOLDER, HERE, STRICT, SWITCH, EmulatorFrames
from arcademark.ale.interface import ALEInterface, ALEState
from arcademark.ale.startup.sitecustomize import ENVPOOL, PREFIX, EnvPoolFinder, owns
from arcademark.emulator import original
from arcademark.errors import ArcadeMarkError, ArcadeMarkWarning

STARTUP = str(Path(__file__).with_name("startup"))
"""Folder of the module that Python runs when a process starts."""

_VECTOR = "ALEVectorInterface"
_SECONDS_KEPT = 86_400
"""Time after which the folder of a killed program is removed; processes that it started may still play."""


def install(strict: bool = False, envpool: bool = False) -> None:
    """Make our emulator play wherever this process, or a process that it starts later, uses ale-py.

    It replaces ale-py in its interfaces, its environments and vector environments and the ids that it registers, such
    as "ALE/Pong-v5". At the end of the program, one line reports how many frames each emulator played. A second call
    has no effect, except that it may make the first strict, and replace EnvPool.

    Parameters
    ----------
    strict : bool, optional
        Do not let ale-py play even what our emulator does not support; see Raises.
    envpool : bool, optional
        Let ``import envpool`` import `arcademark.ale.envpool`, whether EnvPool is installed or not.

    Raises
    ------
    ArcadeMarkError
        With `strict`: one of ale-py's environments already exists, or a module imported ``ALEInterface`` by name
        before, neither of which can be replaced, or EnvPool is already imported; without `strict` this is a warning.
        Later, in all processes, a RefusedError is raised where ale-py would play.
    """
    missed = "" if installed() else _missed()
    messages = [f"{missed}, where ale-py still plays; call arcademark.ale.install() before"] if missed else []
    if envpool and not _is_ours(sys.modules.get("envpool")):
        messages.append("EnvPool is already imported and still plays; call arcademark.ale.install(envpool=True) before")
    for message in messages:
        if strict:
            raise ArcadeMarkError(message)
        warnings.warn(message, ArcadeMarkWarning, stacklevel=2)
    share(strict, envpool)
    if envpool and not any(map(_finds_envpool, sys.meta_path)):
        sys.meta_path.insert(0, EnvPoolFinder())
    if installed():
        return
    for module, name, ours in _places():
        setattr(module, name, ours)
    environments.let_ids_warn(False)
    util.register_after_fork(HERE, _at_exit)
    _at_exit(HERE)
    if owns(os.environ[FOLDER]):
        util.Finalize(None, _end, exitpriority=-100)  # after other processes have ended


def uninstall() -> None:
    """Undo `install` in this process and in those that it starts later; existing environments do not change."""
    if not installed():
        return
    for module, name, _ in _places():
        setattr(module, name, _ORIGINALS[module.__name__, name])
    environments.let_ids_warn(True)
    sys.meta_path[:] = [one for one in sys.meta_path if not _finds_envpool(one)]
    for name in [one for one in sys.modules if one.partition(".")[0] == "envpool" and _is_ours(sys.modules[one])]:
        del sys.modules[name]
    os.environ.pop(ENVPOOL, None)
    paths = [one for one in os.environ.get("PYTHONPATH", "").split(os.pathsep) if one != STARTUP]
    os.environ["PYTHONPATH"] = os.pathsep.join(paths)
    if paths in ([], [""]):
        del os.environ["PYTHONPATH"]
    HERE.note(now=True)  # for the report of another process, if that made the folder
    if owns(folder := os.environ.pop(FOLDER, "")):
        shutil.rmtree(folder, ignore_errors=True)
    os.environ.pop(SWITCH, None)


def installed() -> bool:
    """Return True if `install` was called in this process."""
    return ale_py.ALEInterface is ALEInterface


def report() -> EmulatorFrames:
    """Return the frames that each emulator played, in this process and, after `install`, in the program's others.

    Frames of a process that was killed are counted up to the last episode that it began.
    """
    return HERE.total()


def share(strict: bool, envpool: bool) -> None:
    """Set the environment variables with which processes that start later install this, too."""
    if envpool:
        os.environ[ENVPOOL] = "on"
    if FOLDER not in os.environ:
        _remove_leftovers()
        os.environ[FOLDER] = tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-")
    if strict or SWITCH not in os.environ:
        os.environ[SWITCH] = STRICT if strict else "on"
    paths = os.environ.get("PYTHONPATH")
    if STARTUP not in (paths or "").split(os.pathsep):
        os.environ["PYTHONPATH"] = f"{STARTUP}{os.pathsep}{paths}" if paths else STARTUP


def _finds_envpool(finder: Any) -> bool:
    """Return True if a finder replaces EnvPool; in a process that inherits this, its class is another module's."""
    return type(finder).__qualname__ == EnvPoolFinder.__qualname__


def _is_ours(module: Any) -> bool:
    """Return True if a module is ours, or None."""
    return module is None or module.__name__.partition(".")[0] == "arcademark"


def _remove_leftovers() -> None:
    """Remove folders of this user's programs that were killed and no longer play."""
    with suppress(OSError), os.scandir(tempfile.gettempdir()) as entries:
        for one in entries:
            if _is_left(one):
                shutil.rmtree(one.path, ignore_errors=True)


def _is_left(entry: os.DirEntry[str]) -> bool:
    """Return True if an entry is the private folder of a program that has ended, without changes for long."""
    process = entry.name.removeprefix(PREFIX).partition("-")[0]
    if not entry.name.startswith(PREFIX) or not process.isdecimal():
        return False
    try:
        status = entry.stat(follow_symlinks=False)
        private = stat.S_ISDIR(status.st_mode) and not status.st_mode & 0o077 and status.st_uid == os.geteuid()
        if private and time.time() - status.st_mtime > _SECONDS_KEPT:
            os.kill(int(process), 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):  # another user's process, or not a process
        pass
    return False


def _places() -> list[tuple[Any, str, Any]]:
    """Return the modules and the class in which names are replaced, the names, and their replacements."""
    inner, vectors = sys.modules["ale_py._ale_py"], vector_env.AtariVectorEnv
    places: list[tuple[Any, str, Any]] = [(ale_py, "ALEInterface", ALEInterface), (ale_py, "ALEState", ALEState)]
    places += [(inner, "ALEInterface", ALEInterface), (vectors, "xla", environments.AtariVectorEnv.xla)]
    if original.ALEVectorInterface is not None:
        ours = importlib.import_module("arcademark.ale.vector").ALEVectorInterface
        places += [(ale_py, _VECTOR, ours), (inner, _VECTOR, ours)]
    return places


def _missed() -> str:
    """Return a description of an object that already uses ale-py's own interfaces and cannot be changed, or ""."""
    theirs = {id(original.ALEInterface), id(original.ALEVectorInterface)} - {id(None)}
    kinds = ale_py.AtariEnv, ale_py.AtariVectorEnv
    existing = (one for one in gc.get_objects() if issubclass(type(one), kinds))
    count = sum(id(type(getattr(one, "ale", None))) in theirs for one in existing)
    if count:
        return f"ale-py's environments already exist ({count})"
    for name, module in [*sys.modules.items()]:
        values = [*getattr(module, "__dict__", {}).values()]
        if name.partition(".")[0] not in ("ale_py", "arcademark") and theirs & {*map(id, values)}:
            return f"module {name!r} already imported ale-py's interface by name"
    return ""


def _at_exit(_: object) -> None:
    """Arrange that this process notes its frames when it ends."""
    util.Finalize(None, HERE.note, kwargs={"now": True}, exitpriority=0)


def _end() -> None:
    """Print the report at the end of the program that installed this, and remove its folder."""
    if installed() and owns(os.environ.get(FOLDER, "")):
        if sys.__stderr__ is not None:
            print(report(), file=sys.__stderr__)
        shutil.rmtree(os.environ.pop(FOLDER), ignore_errors=True)


_ORIGINALS = {(module.__name__, name): getattr(module, name) for module, name, _ in _places()}
