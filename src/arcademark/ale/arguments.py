"""Checks of the arguments that ale-py accepts, before a call: ale-py ends the interpreter for some wrong ones.

Errors are `ArcadeMarkError`s that are also of the types that ale-py raises.
"""

from __future__ import annotations

import ctypes
import operator
import os
import stat
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from ale_py import roms
from numpy.typing import NDArray

from arcademark.emulator import original
from arcademark.emulator.build import NoCore
from arcademark.emulator.machine import Machine
from arcademark.environments.emulation.facts import TWO_PLAYER
from arcademark.errors import ArcadeMarkError, one_line

MAX_INT, MAX_UNSIGNED, MAX_SIZE = 2**31 - 1, 2**32 - 1, 2**64 - 1
"""The largest numbers of the types of ale-py's arguments."""

MAX_ROM_BYTES = 2**16
"""More than the size of any cartridge that ale-py knows."""

MAX_FRAME_SKIP = 10_000

SIZES = {
    "num_envs": (1, 16_384),
    "frame_skip": (1, MAX_FRAME_SKIP),
    "stack_num": (1, 10_000),
    "img_height": (1, 10_000),
    "img_width": (1, 10_000),
    "noop_max": (-MAX_INT - 1, 100_000),
}
"""The ranges of arguments of vectors."""

MAX_OBSERVED_BYTES = 2**32

MAX_ITEMS = 1_000_000
"""Largest length of a sequence of numbers."""

MAX_QUOTED_CHARS = 60
"""Largest number of characters of a wrong argument in a message."""

_VERSIONED = np.lib.NumpyVersion(np.__version__) >= "2.1.0"
"""True if numpy reads tensors that state whether they are read-only."""


Result = TypeVar("Result")


class ArgumentTypeError(ArcadeMarkError, TypeError):
    """An argument has another type, or is outside the range of its type."""


class ArgumentValueError(ArcadeMarkError, ValueError):
    """An argument has the right type but a value that is not valid here."""


INCOMPATIBLE = "incompatible function arguments. The following argument types are supported"
"""Text of ale-py's errors of this kind."""


class RefusedError(ArcadeMarkError, RuntimeError):
    """A call is not possible at present; ale-py raises a RuntimeError, ends the interpreter or never returns."""


# ---- numbers


def integer(value: Any, name: str, low: int = -MAX_INT - 1, high: int = MAX_INT) -> int:
    """Return a whole number from `low` to `high`; `value` may be any object with ``__index__``.

    ArgumentTypeError: it is not such a number.
    """
    number = _converted(operator.index, value)
    if number is None or not low <= number <= high:
        raise ArgumentTypeError(f"{name} {_quoted(value)}: expected a whole number from {low} to {high}")
    return number


def real(value: Any, name: str) -> float:
    """Return a number in single precision; ArgumentTypeError: it is not a number."""
    number = _converted(ctypes.c_float, value)
    if number is None:
        raise ArgumentTypeError(f"{name} {_quoted(value)}: expected a number")
    return number.value


def flag(value: Any, name: str) -> bool:
    """Return True or False unchanged; ArgumentTypeError: it is neither, e.g. 1."""
    if not isinstance(value, bool):
        raise ArgumentTypeError(f"{name} {_quoted(value)}: expected True or False")
    return value


def text(value: Any, name: str) -> str:
    """Return text unchanged; ArgumentTypeError: it is not text that UTF-8 can encode."""
    if not isinstance(value, str) or _converted(str.encode, value) is None:
        raise ArgumentTypeError(f"{name} {_quoted(value)}: expected text")
    return value


def integers(values: Any, name: str) -> NDArray[np.int64]:
    """Return a sequence of 32-bit whole numbers as an array (n,).

    ArgumentTypeError: it is not such a sequence, or is longer than `MAX_ITEMS`.
    """
    if _is_array(values, "iu"):
        numbers = values.tolist()
        if numbers and not -MAX_INT - 1 <= min(numbers) <= max(numbers) <= MAX_INT:
            raise ArgumentTypeError(f"{name}: expected numbers of 32 bits")
        return values.astype(np.int64)  # type: ignore[no-any-return]
    return np.array([integer(one, name) for one in _items(values, name)], np.int64)


def reals(values: Any, name: str) -> NDArray[np.float32]:
    """Return a sequence of numbers as an array (n,) in single precision; errors as in `integers`."""
    if _is_array(values, "iuf"):
        if values.dtype == np.float32:
            return values.copy()  # type: ignore[no-any-return]
        with np.errstate(over="ignore"):
            return values.astype(np.float32)  # type: ignore[no-any-return]
    return np.array([real(one, name) for one in _items(values, name)], np.float32)


def _is_array(values: Any, kinds: str) -> bool:
    return type(values) is np.ndarray and values.ndim == 1 and values.dtype.kind in kinds


def _items(values: Any, name: str) -> Iterable[Any]:
    known = isinstance(values, Sequence | np.ndarray) and not isinstance(values, str | bytes)
    if not known or (isinstance(values, np.ndarray) and values.ndim != 1):
        raise ArgumentTypeError(f"{name} {_quoted(values)}: expected a sequence of numbers")
    if len(values) > MAX_ITEMS:
        raise ArgumentTypeError(f"{name}: expected at most {MAX_ITEMS:,} numbers, got {len(values):,}")
    return values  # type: ignore[no-any-return]


def _converted(convert: Callable[[Any], Result], value: Any) -> Result | None:
    try:
        return convert(value)
    except Exception:  # an object's own method may raise anything
        return None


def _quoted(value: Any) -> str:
    """Return a short form of a wrong argument, for a message."""
    if isinstance(value, float | bool | None) or (type(value) is int and value.bit_length() < 100):
        return repr(value)
    return one_line(repr(value), MAX_QUOTED_CHARS) if type(value) is str else f"of type {type(value).__name__}"


_CONVERTERS: dict[str, Callable[[Any, str], Any]] = {"int": integer, "bool": flag, "float": real, "str": text}


def settings(given: Mapping[str, Any], types: Mapping[str, str]) -> dict[str, Any]:
    """Return settings in the types that annotations name; ArgumentTypeError: one has another type."""
    return {
        name: _CONVERTERS[types[name]](value, name) if types.get(name) in _CONVERTERS else value
        for name, value in given.items()
    }


def check_sizes(given: Mapping[str, Any], bytes_shown: int) -> None:
    """Check the sizes of a vector of games, with `bytes_shown` bytes of observations in all.

    ArcadeMarkError: one is out of range.
    """
    for name, (low, high) in SIZES.items():
        if not low <= given[name] <= high:
            raise ArcadeMarkError(f"{name} {given[name]}: expected {low} to {high:,}")
    if not 0 <= given["batch_size"] <= given["num_envs"]:
        raise ArcadeMarkError(f"batch_size {given['batch_size']}: expected 0 to num_envs, {given['num_envs']:,}")
    if bytes_shown > MAX_OBSERVED_BYTES:
        raise ArcadeMarkError(
            f"observations of {bytes_shown:,} bytes; expected at most {MAX_OBSERVED_BYTES:,}: play fewer games"
        )


class OneThread:
    """Lock during a call; RefusedError: another thread calls at the same time."""

    def __init__(self) -> None:
        self._caller: dict[str, int] = {}

    def __enter__(self) -> None:
        caller = threading.get_ident()  # may enter again if an interrupt left the lock taken
        if self._caller.setdefault("thread", caller) != caller:
            raise RefusedError("another thread calls this vector; call it from one at a time, or make one for each")

    def __exit__(self, *_: object) -> None:
        self._caller.clear()


# ---- buffers


class _Capsule:
    """A tensor that its owner handed out already."""

    def __init__(self, capsule: Any) -> None:
        self._capsule = capsule

    def __dlpack__(self, **_: Any) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0  # numpy looks into the capsule, and refuses any memory but the processor's


def writable(buffer: Any, name: str) -> NDArray[np.uint8]:
    """Return the memory of a writable buffer or tensor (DLPack) of contiguous bytes on the CPU.

    ArgumentTypeError: it is neither.
    """
    array = buffer
    if not isinstance(buffer, np.ndarray):
        view: memoryview | None = _converted(lambda one: memoryview(one), buffer)
        array = _converted(_tensor, buffer) if view is None else np.asarray(view) if view.format == "B" else None
    if array is None or array.dtype != np.uint8 or not (array.flags.c_contiguous and array.flags.writeable):
        raise ArgumentTypeError(f"{name} {_quoted(buffer)}: {INCOMPATIBLE}: writable, contiguous memory of uint8")
    return array  # type: ignore[no-any-return]


def _tensor(value: Any) -> NDArray[Any]:
    capsule = value
    if hasattr(value, "__dlpack__"):
        try:
            capsule = value.__dlpack__(**({"max_version": (1, 0)} if _VERSIONED else {}))
        except TypeError:  # an older library
            capsule = value.__dlpack__()
    array: NDArray[Any] = np.from_dlpack(_Capsule(capsule))
    if array.flags.writeable or "versioned" in repr(capsule) or not array.flags.c_contiguous or not array.size:
        return array
    # older capsules do not state whether they are read-only, so numpy considers all of them read-only
    memory = (ctypes.c_uint8 * array.nbytes).from_address(array.ctypes.data)
    memory.owner = array  # type: ignore[attr-defined]
    return np.ctypeslib.as_array(memory).view(array.dtype).reshape(array.shape)


# ---- cartridges


def rom_file(rom: Any) -> Path:
    """Return a file's path.

    ArgumentTypeError: it is neither text nor a path. RefusedError: it is not a regular, readable file.
    """
    path = _converted(os.fsdecode, rom)
    if path is None:
        raise ArgumentTypeError(f"ROM {_quoted(rom)}: expected a path")
    try:
        mode = os.stat(path).st_mode
        if stat.S_ISREG(mode):
            with open(path, "rb") as file:
                file.read(1)
    except (OSError, ValueError) as error:  # the second for a NUL
        reason = error.strerror if isinstance(error, OSError) else "no file has such a name"
        raise RefusedError(f"ROM {_quoted(path)}: it cannot be read ({reason}); load another") from None
    if not stat.S_ISREG(mode):
        raise RefusedError(f"ROM {_quoted(path)}: it is not a regular file; load another")
    return Path(path)


def supported_rom(path: Path) -> str | None:
    """Return the game of a file by its checksum, or None if ale-py does not know it."""
    return None if path.stat().st_size > MAX_ROM_BYTES else original.ALEInterface.isSupportedROM(path)


def rom_image(path: Path) -> tuple[str | None, bytes]:
    """Return a cartridge's game (None if ale-py knows only the file's name) and its bytes.

    RefusedError: ale-py would end the interpreter, or try endlessly to reach the game's mode.
    """
    game, name = supported_rom(path), path.stem
    with path.open("rb") as file:
        rom = file.read(MAX_ROM_BYTES + 1)
    if game is None:
        original = roms.get_rom_path(name) if name in roms.get_all_rom_ids() else None
        if name in TWO_PLAYER or original is None:
            why = "it is for two players" if name in TWO_PLAYER else "ale-py does not know it"
            raise RefusedError(f"ROM {_quoted(str(path))}: {why}; load another")
        if len(rom) != original.stat().st_size:
            raise RefusedError(f"ROM {_quoted(str(path))}: it is not as long as that of {name!r}; load another")
        try:
            Machine(name, rom)
        except (NoCore, ArcadeMarkError) as error:
            raise RefusedError(
                f"ROM {_quoted(str(path))}: changed, and not playable as far as known ({error})"
            ) from None
    return game, rom
