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


def report() -> None:
    """Say at the end what was played by other processes, if any, where this one did not use ale-py itself."""
    if "arcademark.ale" in sys.modules or os.getpid() != started:
        return
    played = []
    with contextlib.suppress(OSError, ValueError):
        for name in os.listdir(folder):
            with open(os.path.join(folder, name), "rb") as file:
                played.append([int(one) for one in file.read(64).split()])
    line = "arcademark.ale: the program used nothing of ale-py"
    if played:  # nothing can be imported any more that would say so
        ours, theirs = map(sum, zip(*played, strict=True))
        processes = f"{len(played)} process{'es' if len(played) > 1 else ''}"
        line = f"arcademark.ale: {ours:,} frames on our emulator, {theirs:,} on ale-py ({processes})"
    if sys.__stderr__ is not None:
        print(line, file=sys.__stderr__)
    shutil.rmtree(folder, ignore_errors=True)


folder = os.environ.get("ARCADEMARK_ALE_FRAMES", "-0-")
started = int(folder.rsplit("-", 2)[1])
if os.environ.get("ARCADEMARK_ALE"):
    sys.meta_path.insert(0, Finder())
    if os.getpid() == started:
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
