"""Run by Python when a process starts that inherits PYTHONPATH from `arcademark.ale.install`, before its program.

When the process imports ale_py, this leaves the names that `arcademark.ale` takes over to be filled at their first use,
which imports `arcademark.ale`, and that installs itself. Another `sitecustomize` on the path is run, too.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib
import importlib.util
import os
import shutil
import sys
import warnings
from typing import Any

TAKEN = "ALEInterface", "ALEState", "ALEVectorInterface"
PREFIX = "arcademark-ale-"
"""Prefix of folders that hold programs' frames; the process that made the folder follows."""

MAX_PROCESSES, MAX_FILE_BYTES = 100_000, 64
"""Most files that are read, and most bytes of each."""


class Finder:
    """Finds ale_py, once."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """Return ale_py's spec, whose loader has its names filled later."""
        if name != "ale_py":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def exec_module(module: Any) -> None:
                execute(module)
                fill_later(module)

            spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def fill_later(module: Any) -> None:
    """Take names out of a module; the first that is asked for imports `arcademark.ale`, which puts in its own."""
    names = vars(module)
    originals = {name: names.pop(name) for name in TAKEN if name in names}

    def fill(name: str) -> Any:
        if name not in originals:
            raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")
        if names.pop("__getattr__", None):
            names.update(originals)
            try:
                import arcademark.ale  # noqa: F401 – it installs itself
            except ModuleNotFoundError as error:
                if error.name != "arcademark" or os.environ.get("ARCADEMARK_ALE") == "strict":
                    raise
                warnings.warn(f"{sys.executable} has no arcademark: ale-py plays in this process", stacklevel=3)
        return names[name]

    module.__getattr__ = fill


def owns(folder: str) -> bool:
    """Return whether this process made a folder for frames, so that it may remove it."""
    place, name = os.path.split(folder)
    if not name.startswith(f"{PREFIX}{os.getpid()}-"):
        return False
    import tempfile  # here, as it takes time

    return os.path.realpath(place) == os.path.realpath(tempfile.gettempdir())


def noted(folder: str, but: str = "") -> list[tuple[int, int]]:
    """Return the frames on our emulator and on ale-py that processes noted in a folder, but for one file."""
    played = []
    with contextlib.suppress(OSError):  # there is no folder
        for name in os.listdir(folder)[:MAX_PROCESSES]:
            if name != but and not name.startswith("."):  # nor a draft
                with contextlib.suppress(OSError, ValueError), open(os.path.join(folder, name), "rb") as file:
                    ours, theirs = map(int, file.read(MAX_FILE_BYTES).split())
                    played.append((ours, theirs))
    return played


def line(ours: int, theirs: int, processes: int) -> str:
    """Say how many frames each emulator played, in so many processes."""
    shown = f"{processes:,} process{'es' if processes != 1 else ''}"
    return f"arcademark.ale: {ours:,} frames on our emulator, {theirs:,} on ale-py ({shown})"


def began() -> bool:
    """Return whether Python found the program that it was given; else it said so."""
    main = sys.modules["__main__"]  # programs may change this, and their arguments
    if sys.argv[:1] == ["-c"] or getattr(main, "__spec__", None) is not None or hasattr(main, "__file__"):
        return True
    return hasattr(getattr(main, "__loader__", None), "path")  # of a script that has ended, whose __file__ is gone


def report() -> None:
    """Say at the end what was played by other processes, if any, where this one did not use ale-py itself."""
    if "arcademark.ale" in sys.modules or not owns(folder):
        return
    played = noted(folder)
    if sys.__stderr__ is not None and (played or began()):
        ours, theirs = (sum(one[emulator] for one in played) for emulator in (0, 1))
        nothing = "arcademark.ale: the program used nothing of ale-py"
        print(line(ours, theirs, len(played)) if played else nothing, file=sys.__stderr__)
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "sitecustomize":  # and not imported by arcademark.ale
    folder = os.environ.get("ARCADEMARK_ALE_FRAMES", "")
    if os.environ.get("ARCADEMARK_ALE"):
        sys.meta_path.insert(0, Finder())
        if owns(folder):
            atexit.register(report)
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [one for one in sys.path if os.path.abspath(one) != here]
    this = sys.modules.pop("sitecustomize")
    try:
        importlib.import_module("sitecustomize")  # the one that this one hides
    except ImportError as error:
        if error.name != "sitecustomize":
            raise
    finally:
        sys.modules.setdefault("sitecustomize", this)
