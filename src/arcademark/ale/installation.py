"""Taking ale-py's place in a program that is not changed, and in the processes that it starts.

The interfaces of `arcademark.ale` are put into the module ale_py, whose environments look them up when they are made:
so all its names, its ids in Gymnasium and its environments' classes remain what they are. Processes that start later
inherit PYTHONPATH, on which `startup/sitecustomize.py` does the same; forked ones are copies.
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
from arcademark.ale.startup.sitecustomize import PREFIX, owns
from arcademark.emulator import original
from arcademark.errors import ArcadeMarkError, ArcadeMarkWarning

STARTUP = str(Path(__file__).with_name("startup"))
"""Folder of what Python runs when a process starts."""

_VECTOR = "ALEVectorInterface"
_SECONDS_KEPT = 86_400
"""Time for which the folder of a killed program is kept, because processes that it started may still play."""


def install(strict: bool = False) -> None:
    """Have our emulator play wherever this process, or one that it starts from now on, uses ale-py.

    It takes the place of ale-py's interfaces, of its environments and vector environments and of the ids that it
    registers, such as "ALE/Pong-v5". At the end of the program one line says how many frames each emulator played. A
    second call changes nothing, except that it may make the first strict.

    Parameters
    ----------
    strict : bool, optional
        Whether ale-py may not even play what our emulator does not have; see Raises.

    Raises
    ------
    ArcadeMarkError
        With `strict`: an environment of ale-py's exists already, or a module imported ``ALEInterface`` by name before,
        neither of which can be replaced; else that is a warning. From then on, in all processes, a RefusedError where
        ale-py would play.
    """
    if not installed() and (missed := _missed()):
        message = f"{missed}, and ale-py goes on playing there; call arcademark.ale.install() before"
        if strict:
            raise ArcadeMarkError(message)
        warnings.warn(message, ArcadeMarkWarning, stacklevel=2)
    share(strict)
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
    """Undo `install` in this process and for those that it starts from now on; environments stay what they are."""
    if not installed():
        return
    for module, name, _ in _places():
        setattr(module, name, _ORIGINALS[module.__name__, name])
    environments.let_ids_warn(True)
    paths = [one for one in os.environ.get("PYTHONPATH", "").split(os.pathsep) if one != STARTUP]
    os.environ["PYTHONPATH"] = os.pathsep.join(paths)
    if paths in ([], [""]):
        del os.environ["PYTHONPATH"]
    HERE.note(now=True)  # which another process reports, if the folder is its own
    if owns(folder := os.environ.pop(FOLDER, "")):
        shutil.rmtree(folder, ignore_errors=True)
    os.environ.pop(SWITCH, None)


def installed() -> bool:
    """Return whether `install` was called in this process."""
    return ale_py.ALEInterface is ALEInterface


def report() -> EmulatorFrames:
    """Return the frames that each emulator played, here and after `install` in other processes of the program.

    Those of a process that is killed are counted as of the last episode that it began.
    """
    return HERE.total()


def share(strict: bool) -> None:
    """Set the environment variables by which processes that start from now on install the same."""
    if FOLDER not in os.environ:
        _remove_leftovers()
        os.environ[FOLDER] = tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-")
    if strict or SWITCH not in os.environ:
        os.environ[SWITCH] = STRICT if strict else "on"
    paths = os.environ.get("PYTHONPATH")
    if STARTUP not in (paths or "").split(os.pathsep):
        os.environ["PYTHONPATH"] = f"{STARTUP}{os.pathsep}{paths}" if paths else STARTUP


def _remove_leftovers() -> None:
    """Remove folders of this user's programs that were killed, and of which nothing plays any more."""
    with suppress(OSError), os.scandir(tempfile.gettempdir()) as entries:
        for one in entries:
            if _is_left(one):
                shutil.rmtree(one.path, ignore_errors=True)


def _is_left(entry: os.DirEntry[str]) -> bool:
    """Return whether an entry is a private folder of a program that has ended, in which nothing was noted for long."""
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
    except (OSError, OverflowError):  # somebody else's, or no process's
        pass
    return False


def _places() -> list[tuple[Any, str, Any]]:
    """Return the modules, and the class, in which names are replaced, and by what."""
    inner, vectors = sys.modules["ale_py._ale_py"], vector_env.AtariVectorEnv
    places: list[tuple[Any, str, Any]] = [(ale_py, "ALEInterface", ALEInterface), (ale_py, "ALEState", ALEState)]
    places += [(inner, "ALEInterface", ALEInterface), (vectors, "xla", environments.AtariVectorEnv.xla)]
    if original.ALEVectorInterface is not None:
        ours = importlib.import_module("arcademark.ale.vector").ALEVectorInterface
        places += [(ale_py, _VECTOR, ours), (inner, _VECTOR, ours)]
    return places


def _missed() -> str:
    """Return what uses ale-py's own interfaces already and cannot be changed."""
    theirs = {id(original.ALEInterface), id(original.ALEVectorInterface)} - {id(None)}
    kinds = ale_py.AtariEnv, ale_py.AtariVectorEnv
    there = (one for one in gc.get_objects() if issubclass(type(one), kinds))
    made = sum(id(type(getattr(one, "ale", None))) in theirs for one in there)
    if made:
        return f"{made} environment(s) of ale-py's exist already"
    for name, module in [*sys.modules.items()]:
        values = [*getattr(module, "__dict__", {}).values()]
        if name.partition(".")[0] not in ("ale_py", "arcademark") and theirs & {*map(id, values)}:
            return f"module {name!r} imported ale-py's interface by name already"
    return ""


def _at_exit(_: object) -> None:
    """Note this process's frames when it ends."""
    util.Finalize(None, HERE.note, kwargs={"now": True}, exitpriority=0)


def _end() -> None:
    """Say what was played, as the program that installed this, and clear up."""
    if installed() and owns(os.environ.get(FOLDER, "")):
        if sys.__stderr__ is not None:
            print(report(), file=sys.__stderr__)
        shutil.rmtree(os.environ.pop(FOLDER), ignore_errors=True)


_ORIGINALS = {(module.__name__, name): getattr(module, name) for module, name, _ in _places()}
