"""Exchange with programs in any language: framed messages, descriptions of spaces, and observations in memory.

A message is a map: as MessagePack after its length in four bytes, big-endian; or as JSON, one per line, with bytes in
base64. The program sends the first message, whose first byte selects the format: JSON begins with ``{``.
"""

from __future__ import annotations

import contextlib
import math
import mmap
import os
import struct
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from arcademark.environments.base import EnvironmentSpec
from arcademark.errors import ArcadeMarkError, one_line
from arcademark.suite.protocols import AtariProtocol

VERSION = 1
"""Version of the messages, which a program states in its first one."""

Transport = Literal["lists", "bytes", "memory"]
"""Way to send observations: nested lists of numbers, an array's bytes, or a file that both sides map."""

READ_BYTES = 2**16
MAX_SHOWN = 60
_LENGTH = struct.Struct(">I")
_SHARED = "/dev/shm"


class NoMessageError(Exception):
    """Received data that are not an expected message; the text describes them."""


class Wire:
    """Messages to and from a program.

    `kinds`: the union of `msgspec.Struct`s, tagged by ``type``, that may be received.
    """

    def __init__(self, kinds: Any) -> None:
        self.as_json: bool | None = None  # None until the first message
        self._decoders: tuple[msgspec.msgpack.Decoder[Any], msgspec.json.Decoder[Any]]
        self._decoders = msgspec.msgpack.Decoder(kinds), msgspec.json.Decoder(kinds)
        self._came = bytearray()
        self._searched = 0  # bytes without an end of a line

    def add(self, data: bytes) -> None:
        """Add received bytes."""
        self._came += data

    @property
    def pending(self) -> bool:
        """True if received bytes were not taken yet."""
        return bool(self._came)

    def take(self, most: int) -> Any:
        """Return the next message, None if it is incomplete; `NoMessageError`: it is invalid or too long."""
        if not self._came:
            return None
        if self.as_json is None:
            if self._came[0] and self._came[:1] != b"{":
                raise NoMessageError(self._start())
            self.as_json = self._came[0] != 0
        content = self._line(most) if self.as_json else self._packed(most)
        if content is None:
            return None
        try:
            return self._decoders[self.as_json].decode(content)
        except msgspec.ValidationError as error:
            raise NoMessageError(f"ill-formed ({one_line(str(error), 200)})") from None
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            raise NoMessageError(_shown(content)) from None

    def encode(self, message: Mapping[str, Any]) -> bytes:
        """Return the bytes of a message."""
        if self.as_json:
            return msgspec.json.encode(message) + b"\n"
        content = msgspec.msgpack.encode(message)
        return _LENGTH.pack(len(content)) + content

    def _line(self, most: int) -> bytes | None:
        end = self._came.find(b"\n", self._searched)
        self._searched = len(self._came)
        if max(end, self._searched if end < 0 else 0) > most:
            raise NoMessageError(f"a line of more than {most:,} bytes")
        return None if end < 0 else self._cut(0, end, end + 1)

    def _packed(self, most: int) -> bytes | None:
        if len(self._came) < _LENGTH.size:
            return None
        (length,) = _LENGTH.unpack_from(self._came)
        if length > most:
            raise NoMessageError(f"a message of {length:,} bytes, or no message: {self._start()}")
        end = _LENGTH.size + length
        return None if len(self._came) < end else self._cut(_LENGTH.size, end, end)

    def _cut(self, start: int, end: int, after: int) -> bytes:
        content = bytes(memoryview(self._came)[start:end])
        del self._came[:after]
        self._searched = 0
        return content

    def _start(self) -> str:
        return _shown(bytes(self._came[: MAX_SHOWN + 1]))


def _shown(content: bytes) -> str:
    text = content.decode(errors="backslashreplace").strip()
    return f"'{one_line(text[:MAX_SHOWN])}{'…' if len(text) > MAX_SHOWN else ''}'"


def observation_space(env: EnvironmentSpec) -> dict[str, Any]:
    """Describe a task's observations for a program, with the bytes of one observation."""
    kind = np.dtype((env.observation_dtype, env.observation_shape))
    space = _described(kind) | {"bytes": kind.itemsize}
    if isinstance(env.protocol, AtariProtocol):
        space |= {"low": 0, "high": 127 if env.protocol.observation == "palette" else 255}
    return space


def action_space(env: EnvironmentSpec) -> dict[str, Any]:
    """Describe a task's actions for a program; bounds are in the order of the flattened array, None for none."""
    arrays = env.array_actions
    if arrays is None:
        return {"type": "discrete", "n": env.num_actions, "meanings": env.action_meanings}
    low, high = ([end if math.isfinite(end) else None for end in ends] for ends in (arrays.low, arrays.high))
    return {"type": "box", "shape": arrays.shape, "dtype": np.dtype(arrays.dtype).name, "low": low, "high": high}


def _described(kind: np.dtype[Any]) -> dict[str, Any]:
    if kind.names is not None:
        return {"type": "dict", "parts": {name: _described(kind[name]) for name in kind.names}}
    if kind.kind == "U":
        return {"type": "text", "length": kind.itemsize // 4}
    return {"type": "box", "shape": kind.shape, "dtype": kind.base.name}


class Shared:
    """A file in memory that another program maps; its name exists until `unlink`."""

    def __init__(self) -> None:
        folder = _SHARED if os.access(_SHARED, os.W_OK) else None
        self._file: int | None
        self._file, self.path = tempfile.mkstemp(prefix="arcademark-", dir=folder)

    def rows(self, count: int, shape: tuple[int, ...], dtype: str | np.dtype[Any]) -> NDArray[Any]:
        """Return rows of observations in it, zeros, consecutive from its beginning.

        ArcadeMarkError: memory has no room for them.
        """
        assert self._file is not None
        size = count * np.dtype((dtype, shape)).itemsize
        try:
            os.ftruncate(self._file, size)
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(self._file, 0, size)  # without it, full memory would end this process later
            memory = mmap.mmap(self._file, size)
        except (OSError, ValueError, OverflowError):
            where = Path(self.path).parent
            raise ArcadeMarkError(f"{where}: no room for {size:,} bytes of observations; take them as bytes") from None
        return np.frombuffer(memory, dtype).reshape(count, *shape)

    def unlink(self) -> None:
        """Remove its name, once; processes that have it mapped keep it."""
        if self._file is not None:
            os.close(self._file)
            self._file = None
            with contextlib.suppress(OSError):
                os.unlink(self.path)


class Message(msgspec.Struct, tag_field="type", tag=str.lower, forbid_unknown_fields=True):
    """Message of a program."""


def sent(observations: NDArray[Any], how: Transport, memory: NDArray[Any] | None) -> dict[str, Any]:
    """Return the fields of a message with observations, one per row; none if they are in `memory`."""
    if memory is not None:
        if memory is not observations:
            memory[: len(observations)] = observations
        return {}
    return {"observations": _listed(observations) if how == "lists" else observations.tobytes()}


def _listed(observations: NDArray[Any]) -> list[Any]:
    """Return rows as nested lists, those of several parts as maps of them."""
    if observations.dtype.names is None:
        rows: list[Any] = observations.tolist()
        return rows
    parts = {name: _listed(observations[name]) for name in observations.dtype.names}
    return [{name: part[row] for name, part in parts.items()} for row in range(len(observations))]
