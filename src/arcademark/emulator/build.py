"""The core as a library: the one installed with the package, or one compiled on first use and kept in a cache.

Installation (``setup.py``) compiles it with `ship`, for three kinds of processors (`_KINDS`). A library's name contains
a checksum of its source, the flags and the machine's kind, so that a new version is compiled anew. Libraries for a
source tree or the user's own cartridges are compiled into the user's cache folder. The compiler is ``$CC``, or ``cc``,
``gcc`` or ``clang``, or ziglang's, which the extra ``[console]`` installs. ``$ARCADEMARK_CONSOLE=off`` turns the core
off. Without a library and a compiler, or if compiling fails, there is no core; this is not an error.
"""

from __future__ import annotations

import ctypes
import fcntl
import functools
import hashlib
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from ctypes import POINTER, c_int, c_int32, c_int64, c_size_t, c_uint8, c_uint32, c_void_p
from importlib.machinery import PathFinder
from importlib.resources import files
from pathlib import Path
from typing import IO, Any

FLAGS = ("-std=c11", "-O2", "-fwrapv", "-fPIC", "-shared", "-pthread")
CORE_FLAGS = (*FLAGS, "-O3")
MAX_CACHE_BYTES = 256 * 2**20
"""Largest total size of the libraries in the cache folder; those of 104 games take about 30 MB."""

MIN_FILE_BYTES = 4096
"""Smallest size of a file on a disk."""

COUNTED_FRAMES = 1_000
"""Unit in which `played` counts frames."""

SHIPPED = Path(__file__).with_name("compiled")
"""The folder of the libraries installed with the package; nothing is written there."""

_AVX2 = ("-march=haswell",)
_AVX512 = (*_AVX2, "-mavx512f", "-mavx512bw", "-mavx512dq", "-mavx512vl", "-mprefer-vector-width=256")
_HASWELL = frozenset({"avx2", "bmi1", "bmi2", "fma", "f16c", "movbe", "abm"})
_KINDS: tuple[tuple[tuple[str, ...], frozenset[str]], ...] = (
    (_AVX512, _HASWELL | {"avx512f", "avx512bw", "avx512dq", "avx512vl"}),
    (_AVX2, _HASWELL),
    ((), frozenset()),
)
"""Flags for kinds of x86-64 processors, the fastest first, and the features (in Linux's words) that each needs."""

SWITCH = "ARCADEMARK_CONSOLE"
"""Environment variable that turns the core off if its value is "off"."""

OFF = f"it is switched off by {SWITCH}"
NO_COMPILER = "there is no C compiler; install gcc or clang, or pip install '.[console]', which brings one"

SOURCES = (
    *("core.h", "core.c", "device.c", "masks.c", "stretches.c", "lines.c", "beam.c", "picture.c"),
    *("processor.c", "opcodes.c", "rules.c"),
)
_STEPS = ("binding.c", "steps.c", "pool.c", "vector.c")
"""The first is compiled and includes the others and the core. They do not emulate and are not part of the proof."""

MAIN = "translation.c"
"""Name of the file of a translation that is compiled."""

_FUNCTIONS = {
    "size": (c_size_t,),
    "state_size": (c_size_t,),
    "cartridge_size": (c_size_t,),
    "cartridge": (c_int, c_void_p, c_void_p, ctypes.c_char_p, c_int, c_void_p, c_int),
    "insert": (None, c_void_p, c_void_p),
    "use": (c_int, c_void_p, c_void_p),
    "set_picture": (None, c_void_p, c_int, c_int),
    "power_on": (None, c_void_p, ctypes.c_char_p),
    "reset": (None, c_void_p, c_uint32, ctypes.c_char_p),
    "begin": (None, c_void_p, c_void_p, c_int),
    "frame": (c_int, c_void_p, c_int, c_int, c_int, c_int),
    "lives": (c_int, c_void_p),
    "collisions": (c_int, c_void_p),
    "evaluate": (c_int, c_void_p, c_void_p, c_int),
    "save": (None, c_void_p, c_void_p),
    "restore": (None, c_void_p, ctypes.c_char_p),
    "pictures": (POINTER(c_uint8), c_void_p),
    "memory": (POINTER(c_uint8), c_void_p),
    "cut": (c_int, c_void_p),
    "numbers": (POINTER(c_int32), c_void_p),
    "play": (c_int64, c_void_p, ctypes.c_char_p, c_int, c_int),
    "step_size": (c_size_t,),
    "step": (None, c_void_p),
    "redraw": (None, c_void_p),
    "observe": (None, c_void_p, c_void_p, c_void_p),
    "push": (None, c_void_p, c_void_p, c_void_p),
    "note": (None, c_void_p),
    "show": (None, c_void_p, c_void_p, c_int, c_void_p),
    "player_size": (c_size_t,),
    "vector_step": (None, c_void_p),
    "pooled_size": (c_size_t,),
    "pooled_step": (None, c_void_p),
    "crew": (c_void_p, c_int, c_int),
    "skipped_size": (c_size_t,),
    "vector_give": (None, c_void_p, c_void_p, c_void_p, c_void_p, c_int, c_void_p, c_void_p),
    "vector_show": (None, c_void_p, c_void_p, c_void_p, c_int),
    "crew_give": (None, c_void_p, c_void_p, c_int, c_void_p, c_int),
    "crew_wait": (None, c_void_p, c_int64, c_int),
    "crew_settle": (c_int64, c_void_p),
    "crew_play": (None, c_void_p, c_void_p, c_int, c_void_p, c_int),
    "crew_rest": (None, c_void_p),
    "crew_end": (None, c_void_p),
    "python": (None, c_void_p),
}
"""Result and arguments of the core's functions, by name without prefix."""

_PYTHON = (
    *("PyLong_AsLong", "PyLong_AsVoidPtr", "PyFloat_AsDouble", "PyLong_FromLong", "PyBool_FromLong"),
    *("PyErr_Occurred", "PyErr_SetString", "PyObject_GetBuffer", "PyBuffer_Release"),
    *("PyEval_SaveThread", "PyEval_RestoreThread", "PyCFunction_NewEx"),
)
"""Functions of CPython that ``binding.c`` calls, in its order."""


class NoCore(Exception):
    """There is no core here; the message gives the reason."""


class TranslatedCore(ctypes.CDLL):
    """The core with a cartridge's translation, which is at the address `program`."""

    def __init__(self, translation: ctypes.CDLL) -> None:
        super().__init__(core()._name, handle=core()._handle)
        _declare(self)
        self.translation = translation
        self.program = ctypes.addressof(ctypes.c_char.in_dll(translation, "console_program"))


def switch() -> str:
    """Return the value of the variable, in lower case."""
    return os.environ.get(SWITCH, "").lower()


def compiler() -> list[str] | None:
    """Return the command that compiles C, or None if there is none."""
    for command in (os.environ.get("CC"), "cc", "gcc", "clang"):
        words = shlex.split(command) if command else []
        if words and shutil.which(words[0]):
            return words
    # by default zig compiles for the present processor
    return [zig, "cc", "-mcpu=baseline"] if (zig := _zig()) else None


def _zig() -> str | None:
    """Return the program of the installed package ziglang, or None; never one in the current folder."""
    others = [path for path in sys.path if os.path.exists(path) and not os.path.samefile(path, os.curdir)]
    spec = PathFinder.find_spec("ziglang", others)
    for folder in (spec and spec.submodule_search_locations) or ():
        if os.access(program := Path(folder) / "zig", os.X_OK):
            return str(program)
    return None


@functools.cache
def core() -> ctypes.CDLL:
    """Return the core: shipped, from the cache, or compiled now.

    Raises
    ------
    NoCore
        If it is switched off, it does not exist and there is no compiler, or compiling fails.
    """
    compiled = library((version(),), dict, CORE_FLAGS)
    assert compiled is not None
    return _declare(compiled)


def ship(folder: Path) -> None:
    """Compile the core into a folder of the package, for all processors of this machine's kind.

    Raises
    ------
    NoCore
        If it is switched off, there is no compiler, or compiling fails.
    """
    if switch() == "off":
        raise NoCore(OFF)
    command = _command()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for extra, _ in _KINDS if platform.machine() == "x86_64" else _KINDS[-1:]:
        flags = (*CORE_FLAGS, *extra)
        _compile([*command, *flags], {}, folder / _name((version(),), flags))


def library(
    parts: Sequence[str], own: Callable[[], dict[str, str]], flags: Sequence[str], *, wait: bool = True
) -> ctypes.CDLL | None:
    """Return the core or a translation: shipped, from the cache, or compiled now.

    While another process compiles the same library, wait for it if `wait`, else return None at once.

    Parameters
    ----------
    parts : sequence of str
        Its sources' versions: its name is a checksum of them, the flags and the machine's kind.
    own : callable
        Returns the text of files to add to the core's, by name; `MAIN` is compiled if it is one of them.
    flags : sequence of str
        For the compiler.
    wait : bool
        Wait for other processes, and compile at normal priority; else at low priority.

    Raises
    ------
    NoCore
        If it is switched off, there is no compiler, or compiling fails.
    """
    if switch() == "off":
        raise NoCore(OFF)
    if (existing := kept(parts, flags)) is not None:
        return existing
    command, flags = _command(), _for_this_processor(flags)
    with tempfile.TemporaryDirectory() as scratch:
        path = (_cache() or Path(scratch)) / _name(parts, flags)
        with _alone(path, wait) as lock:
            if lock is None:
                return None
            for left in path.parent.glob(f"{path.stem}-*"):  # of a process that was killed
                shutil.rmtree(left, ignore_errors=True)
            if not _is_own(path):  # else another process compiled it meanwhile
                _compile([*command, *flags], own(), path, lock=lock, patient=not wait)
                _make_room(path)
        return _loaded(path)


def kept(parts: Sequence[str], flags: Sequence[str]) -> ctypes.CDLL | None:
    """Return a library that was shipped or that `library` compiled before; None if neither can be loaded."""
    name = _name(parts, _for_this_processor(flags))
    if (SHIPPED / name).is_file():
        with suppress(NoCore):
            return _loaded(SHIPPED / name)
    if (folder := _cache()) is not None and _is_own(folder / name):
        with suppress(OSError):
            os.utime(folder / name)  # the cache removes the least recently used first
        with suppress(NoCore):
            return _loaded(folder / name)
    return None


def played(parts: Sequence[str], flags: Sequence[str], frames: int) -> int:
    """Count frames that were played without a library that `library` would compile; return those of all processes.

    They are kept beside the library, in a file of one byte per `COUNTED_FRAMES` frames.
    """
    from arcademark.files import make_private

    if (folder := _cache()) is None:
        return frames
    path = (folder / _name(parts, _for_this_processor(flags))).with_suffix(".frames")
    how = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        make_private(folder)
        with open(path, "ab", opener=lambda name, _: os.open(name, how, 0o600)) as file:
            file.write(bytes(frames // COUNTED_FRAMES))
            file.flush()
            return COUNTED_FRAMES * os.fstat(file.fileno()).st_size
    except OSError:
        return frames


def _make_room(newest: Path) -> None:
    """Remove the least recently used files from the cache folder if it is too large, and the new library's count."""
    newest.with_suffix(".frames").unlink(missing_ok=True)
    with suppress(OSError):
        files = [(path.stat(), path) for path in newest.parent.glob("console-*.*") if path.suffix != ".lock"]
        total = 0
        for status, path in sorted(files, key=lambda file: file[0].st_mtime, reverse=True):
            total += max(status.st_size, MIN_FILE_BYTES)
            if total > MAX_CACHE_BYTES and path != newest:
                path.unlink(missing_ok=True)


def _is_own(path: Path) -> bool:
    """Return True if a library exists and only this user or root can have written it; others are not loaded."""
    from arcademark.errors import ArcadeMarkWarning
    from arcademark.files import exposed

    if not path.is_file():
        return False
    if why := exposed(path):
        warnings.warn(f"{path}: {why}, so it is not used, and compiled anew", ArcadeMarkWarning, stacklevel=2)
    return not why


def _command() -> list[str]:
    if (command := compiler()) is None:
        raise NoCore(NO_COMPILER)
    return command


def _cache() -> Path | None:
    from arcademark.files import cache_folder  # needs packages that are not yet installed during installation

    return cache_folder()


@functools.cache
def _name(parts: tuple[str, ...], flags: tuple[str, ...]) -> str:
    key = "\0".join((*map(native, _STEPS), *parts, *flags, platform.machine(), platform.system()))
    return f"console-{hashlib.sha256(key.encode()).hexdigest()[:24]}.so"


def _for_this_processor(flags: Sequence[str]) -> tuple[str, ...]:
    return (*flags, *_extra_flags())


@functools.cache
def _extra_flags() -> tuple[str, ...]:
    """Return the flags of the fastest kind that this processor is known to be; outside Linux, of the general kind."""
    known: set[str] = set()
    with suppress(OSError), open("/proc/cpuinfo", encoding="utf-8", errors="replace") as lines:
        known = next((set(line.split()) for line in lines if line.startswith("flags")), known)
    return next(flags for flags, needed in _KINDS if known >= needed)


def _loaded(path: Path) -> ctypes.CDLL:
    try:
        return ctypes.CDLL(str(path))
    except OSError as error:
        raise NoCore(f"it cannot be loaded: {error}") from error


def _declare(loaded: ctypes.CDLL) -> ctypes.CDLL:
    """Declare the core's functions, and pass Python's to it."""
    for name, (result, *arguments) in _FUNCTIONS.items():
        function = getattr(loaded, f"console_{name}")
        function.restype, function.argtypes = result, arguments
    addresses = (ctypes.cast(getattr(ctypes.pythonapi, name), c_void_p).value for name in _PYTHON)
    loaded.console_python((c_void_p * (len(_PYTHON) + 1))(*addresses, id(TypeError)))
    return loaded


def bound(library: ctypes.CDLL, name: str, address: int) -> Callable[..., Any]:
    """Return a core's function as one of Python's; calls take a fifth of the time of those through ctypes.

    Parameters
    ----------
    library : CDLL
        The core.
    name : str
        One of the functions in ``binding.c``.
    address : int
        Address of its machine or turn, which must live as long as the function.
    """
    make = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_char_p, ctypes.py_object)(("console_bound", library))
    function: Callable[..., Any] = make(name.encode(), address)
    return function


@contextmanager
def _alone(path: Path, wait: bool) -> Iterator[IO[str] | None]:
    """Lock a library while it is compiled; yield the lock's file, or None if another process has locked it.

    The lock's file is removed with the lock: a process that then has the lock of a removed file locks a new one.
    """
    from arcademark.files import make_private, open_lock

    lock = path.with_suffix(".lock")
    while True:
        try:
            make_private(path.parent)
            file = open_lock(lock)
        except OSError as error:
            raise _unwritable(path, error) from error
        with file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            except BlockingIOError:
                yield None
                return
            if not _is_at(file, lock):
                continue
            try:
                yield file
            finally:
                lock.unlink(missing_ok=True)
            return


def _is_at(file: IO[Any], path: Path) -> bool:
    """Return True if an open file is still the one at a path."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except OSError:
        return False


def _unwritable(path: Path, error: OSError) -> NoCore:
    return NoCore(f"it cannot be compiled into {path.parent}: {error}")


def native(name: str) -> str:
    """Return the text of one of the core's source files."""
    return (files("arcademark.emulator") / "native" / name).read_text("utf-8")


@functools.cache
def version() -> str:
    """Return a checksum of the core's source without comments and spaces, 16 hexadecimal digits."""
    text = "".join(native(name) for name in SOURCES)
    bare = re.sub(r"/\*.*?\*/|\s", "", text, flags=re.DOTALL)
    return hashlib.sha256(bare.encode()).hexdigest()[:16]


def _compile(
    command: Sequence[str],
    own: Mapping[str, str],
    path: Path,
    *,
    lock: IO[str] | None = None,
    patient: bool = False,
) -> None:
    """Compile ``binding.c``, which includes all other files, or `MAIN` in `own`, into a library.

    If `patient`, the compiler has a low priority.
    """
    lower = ("nice", "-n", "10") if patient and shutil.which("nice") else ()
    try:
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=f"{path.stem}-") as folder:
            for name, text in {**{name: native(name) for name in (*SOURCES, *_STEPS)}, **own}.items():
                (Path(folder) / name).write_text(text, "utf-8")
            draft = Path(folder) / "core.so"
            words = [*lower, *command, "-w", str(Path(folder) / (MAIN if MAIN in own else _STEPS[0])), "-o", str(draft)]
            code, errors = _run_compiler(words, Path(folder), lock)
            if code:
                lines = errors.strip().splitlines()
                error = next((line for line in lines if "error" in line), "; ".join(lines[:1]))
                raise NoCore(f"{command[0]} failed to compile it ({error}); name another C compiler with CC=")
            draft.chmod(0o755)  # independent of the user's umask
            draft.replace(path)
    except OSError as error:
        raise _unwritable(path, error) from error


_RUN = """
exec 3<&0
folder=$1 lock=$2; shift 2
"$@" 3<&- < /dev/null &
compiler=$!
trap '' TERM
exec 2> /dev/null
{ read -r _ <&3; echo > "$folder/ended"; kill -TERM 0; } &
reader=$!
wait "$compiler"; code=$?
kill -KILL "$reader"
if [ -e "$folder/ended" ] || ! [ -d "$folder" ]; then rm -rf -- "$folder" "$lock"; fi
exit "$code"
"""
"""Shell script that ends a compiler when the process that started it ends in any way, as that closes its input."""

_inputs: set[int] = set()
"""Write ends of the pipes to compilers that run for this process."""

_ending = threading.Event()
"""Set when this process ends."""


def _run_compiler(words: Sequence[str], folder: Path, lock: IO[str] | None) -> tuple[int, str]:
    """Run a compiler in its own folder; return its status and error messages.

    If this process ends before it, the compiler and all its processes end, too, and folder and lock are removed.
    """
    end, kept_open = os.pipe()
    _inputs.add(kept_open)
    if _ending.is_set():
        _close(kept_open)
    try:
        named, passed = ("", ()) if lock is None else (lock.name, (lock.fileno(),))
        with subprocess.Popen(
            ["sh", "-c", _RUN, "sh", str(folder), named, *words],
            stdin=end,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            pass_fds=passed,
            process_group=0,
        ) as process:
            try:
                _, errors = process.communicate()
            except BaseException:
                _close(kept_open)
                raise
            return process.returncode, errors
    finally:
        os.close(end)
        _close(kept_open)


def _close(end: int) -> None:
    with suppress(KeyError):
        _inputs.remove(end)
        os.close(end)


def end_compilers() -> None:
    """End the compilers that run for this process, which is ending; later ones end at once."""
    _ending.set()
    _leave_compilers()


def _leave_compilers() -> None:
    """Close the pipes to compilers, in a process that ends or is a fork of the one that started them."""
    for end in tuple(_inputs):
        _close(end)


os.register_at_fork(after_in_child=_leave_compilers)
