"""Imports factories by reference: ``package.module:factory`` or ``path/to/file.py:factory``.

A file is loaded by its path under a unique name, so that an agent called ``random.py`` shadows nothing; while it is
imported, and while its factory runs, its folder is first on `sys.path`, so that it can import its neighbours. A module
is searched for in the current folder first, as by ``python -m``. Both work in a new worker process, too.
"""

from __future__ import annotations

import copy
import difflib
import importlib
import importlib.util
import inspect
import os
import re
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from arcademark.errors import ArcadeMarkError, one_line

ENVIRONMENT_NAMES = ("env", "environment", "spec", "env_spec")
"""Names of the parameter with which a factory takes the environment's description."""

_agent_folders: set[str] = set()


class ImportingError(ArcadeMarkError):
    """A reference that does not lead to a callable; ``reason`` is the message without the reference."""

    def __init__(self, reference: str, reason: str) -> None:
        super().__init__(f"agent {reference}: {reason}")
        self.reason = reason


def canonical_reference(reference: str) -> str:
    """Return the reference with a file's path made absolute (relative paths start at the current folder).

    ImportingError if it is not of the form ``package.module:factory`` or ``path/to/file.py:factory``.
    """
    source, colon, factory = reference.strip().rpartition(":")
    if reference.strip().endswith(".py") or not colon or not source or not factory:
        raise ImportingError(repr(reference), "expected path/to/file.py:NAME or package.module:NAME")
    if is_file(source):
        path = os.path.realpath(os.path.expanduser(source))
        if path != one_line(path, len(path)):
            raise ImportingError(repr(reference), "its path contains bytes that are not text; rename file or folder")
        return f"{path}:{factory}"
    if not all(part.isidentifier() for part in source.split(".")):
        raise ImportingError(repr(reference), f"{source!r} is neither a module's name nor a file ending in .py")
    return f"{source}:{factory}"


def is_file(source: str) -> bool:
    """True if the part before the colon names a file rather than a module."""
    return source.endswith(".py") or "/" in source or "\\" in source


def load_factory(reference: str) -> Callable[..., Any]:
    """Import the factory that a canonical reference names.

    ImportingError if the file, module or attribute is missing, importing raises, or it is not callable.
    """
    source, _, name = reference.rpartition(":")
    with importable(reference):
        module = _load_file(Path(source)) if is_file(source) else _load_module(source)
    target: Any = module
    for part in name.split("."):
        if not hasattr(target, part):
            raise ImportingError(source, f"it has no {name!r}; {_close(name, module)}")
        target = getattr(target, part)
    if not callable(target):
        raise ImportingError(source, f"{name!r} is a {type(target).__name__}; expected a function or class")
    return target  # type: ignore[no-any-return]


def factory_of(agent: object) -> Callable[..., Any]:
    """Return a factory of an agent from this process: the agent itself if it is a factory, else one that copies it.

    Factories are classes, and functions without parameters or with the environment as the first one, by its name
    (`ENVIRONMENT_NAMES`) or annotation. Any other function chooses actions. ImportingError if it is none of these.
    """
    if inspect.isclass(agent):
        return agent
    if not any(callable(getattr(agent, way, None)) for way in ("act", "plan", "predict", "__call__")):
        expected = (
            "an agent's name, an object with act(), plan() or predict(), or a function from observation to action"
        )
        raise ImportingError(said(repr, agent), f"expected {expected}")
    if inspect.isroutine(agent):
        try:
            first = next(iter(inspect.signature(agent).parameters.values()), None)
        except (TypeError, ValueError):  # a built-in function, which is not a factory
            return lambda: agent
        makes = first is None or first.name in ENVIRONMENT_NAMES or "EnvironmentSpec" in str(first.annotation)
        return agent if makes else lambda: agent
    return lambda: copy.deepcopy(agent)


@contextmanager
def importable(reference: str) -> Iterator[None]:
    """Put the folder of a user's file (for a module, the current folder) first on `sys.path` during the block."""
    source = reference.rpartition(":")[0]
    folder = str(Path(source).parent) if is_file(source) else str(Path.cwd())
    _forget_namesakes(folder)
    _agent_folders.add(folder)
    before = list(sys.path)
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        sys.path[:] = before


@contextmanager
def needing(what: str, extra: str, otherwise: str = "") -> Iterator[None]:
    """Import an extra's packages in the block; ArcadeMarkError with the extra to install if one is missing."""
    try:
        yield
    except ImportError:
        raise ArcadeMarkError(f"{what}; pip install '.[{extra}]'{otherwise}") from None


def where_raised(error: BaseException) -> str:
    """Return the exception and the line of the user's code that raised it, as one short line."""
    what = described(error)
    if isinstance(error, SyntaxError) and error.filename:
        return f"{what.partition(' (')[0]} ({Path(error.filename).name}, line {error.lineno})"
    ours = str(Path(__file__).parents[1])
    frames = [
        frame for frame in traceback.extract_tb(error.__traceback__) if not frame.filename.startswith((ours, "<frozen"))
    ]
    in_folder = [frame for frame in frames if str(Path(frame.filename).parent) in _agent_folders] or frames
    return f"{what} ({Path(in_folder[-1].filename).name}, line {in_folder[-1].lineno})" if in_folder else what


def described(error: BaseException) -> str:
    """Return an exception of others' code with its type, as one short line."""
    text = said(str, error)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def said(write: Callable[[Any], str], thing: object) -> str:
    """Return a user's object as one short line, written by `str` or `repr`, which may raise."""
    try:
        text = write(thing)
    except Exception as error:
        text = f"{type(thing).__name__} whose {write.__name__}() raises {type(error).__name__}"
    return one_line(" ".join(text.split()))


def _load_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise ImportingError(str(path), "there is no such file")
    name = "arcademark_agent_" + re.sub(r"\W", "_", f"{path.parent.name}_{path.stem}")
    loaded = sys.modules.get(name)
    if loaded is not None and loaded.__file__ == str(path):
        return loaded
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportingError(str(path), "expected a Python file ending in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise ImportingError(str(path), f"importing it raised {where_raised(error)}") from error
    return module


def _load_module(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ArcadeMarkError:  # it names the extra to install
        raise
    except (Exception, SystemExit) as error:
        missing = error.name if isinstance(error, ModuleNotFoundError) else None
        if missing and f"{name}.".startswith(f"{missing}."):
            raise ImportingError(name, f"there is no module {missing!r} in the current folder or installed") from None
        raise ImportingError(name, f"importing it raised {where_raised(error)}") from error


def _close(name: str, module: ModuleType) -> str:
    public = [key for key, value in vars(module).items() if callable(value) and not key.startswith("_")]
    close = difflib.get_close_matches(name, public, n=3, cutoff=0.5)
    if close:
        return f"did you mean {' or '.join(repr(match) for match in close)}?"
    own = [key for key in public if getattr(vars(module)[key], "__module__", None) == module.__name__]
    return f"it defines {', '.join(own[:8])}" if own else "it defines no function or class"


def _forget_namesakes(folder: str) -> None:
    """Drop modules of another agent's folder whose names exist in this folder, so that each agent gets its own."""
    others = _agent_folders - {folder}
    for name, module in list(sys.modules.items()) if others else ():
        if "." in name or _folder_of(module) not in others:
            continue
        if (Path(folder) / f"{name}.py").is_file() or (Path(folder) / name).is_dir():
            for loaded in [key for key in sys.modules if key == name or key.startswith(f"{name}.")]:
                del sys.modules[loaded]


def _folder_of(module: ModuleType) -> str | None:
    """Return the folder from which a module or package was imported by its name."""
    file: str | None = getattr(module, "__file__", None)
    if not file:
        return None
    folder, name = os.path.split(file)  # as text, which is fast: there are hundreds of modules each time
    return os.path.dirname(folder) if name == "__init__.py" else folder
