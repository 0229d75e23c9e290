"""Python runs this at the start of a process that inherits PYTHONPATH from `arcademark.ale.install`.

When the process imports ale_py, this removes the names that `arcademark.ale` replaces. The first use of one imports
`arcademark.ale`, which installs itself. If wanted, envpool is `arcademark.ale.envpool`. Another `sitecustomize` on the
path is run, too.
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
ENVPOOL = "ARCADEMARK_ALE_ENVPOOL"
"""Environment variable that is set if EnvPool is replaced, too."""
PREFIX = "arcademark-ale-"
"""Prefix of folders with programs' frames; the number of the process that made the folder follows."""

MAX_PROCESSES, MAX_FILE_BYTES = 100_000, 64
"""Largest number of files that are read, and of bytes of each."""


class Finder:
    """Finder of ale_py that acts once."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """Return ale_py's spec with a loader that calls `fill_later`, or None for other modules."""
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


class EnvPoolFinder:
    """Finder and loader of envpool and its modules, which puts `arcademark.ale.envpool` in their places."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """Return the spec of a module of envpool that `arcademark.ale` has, or None for other modules."""
        if name == "envpool" or (name.startswith("envpool.") and f"arcademark.ale.{name}" in sys.modules):
            return importlib.util.spec_from_loader(name, self, is_package=True)  # type: ignore[arg-type]
        return None

    def create_module(self, spec: Any) -> None:
        """Let Python make a module, which `exec_module` replaces."""

    def exec_module(self, module: Any) -> None:
        """Put the module of `arcademark.ale` in place of this one."""
        sys.modules[module.__name__] = importlib.import_module(f"arcademark.ale.{module.__name__}")


def fill_later(module: Any) -> None:
    """Remove names from a module; the first use of one imports `arcademark.ale`, which replaces them."""
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
    """Return True if this process made a folder for frames, so that it may remove it."""
    place, name = os.path.split(folder)
    if not name.startswith(f"{PREFIX}{os.getpid()}-"):
        return False
    import tempfile  # here, as it takes time

    return os.path.realpath(place) == os.path.realpath(tempfile.gettempdir())


def noted(folder: str, but: str = "") -> list[tuple[int, int]]:
    """Return the frames on our emulator and on ale-py that processes noted in a folder, except the file `but`."""
    played = []
    with contextlib.suppress(OSError):  # there is no folder
        for name in os.listdir(folder)[:MAX_PROCESSES]:
            if name != but and not name.startswith("."):  # the latter are drafts
                with contextlib.suppress(OSError, ValueError), open(os.path.join(folder, name), "rb") as file:
                    ours, theirs = map(int, file.read(MAX_FILE_BYTES).split())
                    played.append((ours, theirs))
    return played


def line(ours: int, theirs: int, processes: int) -> str:
    """Return a line that reports how many frames each emulator played, and in how many processes."""
    shown = f"{processes:,} process{'es' if processes != 1 else ''}"
    return f"arcademark.ale: {ours:,} frames on our emulator, {theirs:,} on ale-py ({shown})"


def began() -> bool:
    """Return True if Python found its program; otherwise it has reported so itself."""
    main = sys.modules["__main__"]  # programs may change this, and their arguments
    if sys.argv[:1] == ["-c"] or getattr(main, "__spec__", None) is not None or hasattr(main, "__file__"):
        return True
    return hasattr(getattr(main, "__loader__", None), "path")  # of a script that has ended, whose __file__ is gone


def report() -> None:
    """Print the frames that other processes played at the end of this one, if it did not use ale-py itself."""
    if "arcademark.ale" in sys.modules or not owns(folder):
        return
    played = noted(folder)
    if sys.__stderr__ is not None and (played or began()):
        ours, theirs = (sum(one[emulator] for one in played) for emulator in (0, 1))
        nothing = "arcademark.ale: the program did not use ale-py"
        print(line(ours, theirs, len(played)) if played else nothing, file=sys.__stderr__)
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "sitecustomize":  # not if arcademark.ale imports it
    folder = os.environ.get("ARCADEMARK_ALE_FRAMES", "")
    if os.environ.get("ARCADEMARK_ALE"):
        sys.meta_path.insert(0, Finder())
        if os.environ.get(ENVPOOL):
            sys.meta_path.insert(0, EnvPoolFinder())
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
