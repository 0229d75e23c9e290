"""Other processes: their number, their start, and messages to and from them.

A message is a header, with length and checksum, and its content, so that other output of the process (it runs anyone's
code) is noticed at once. Orders are pickles; answers are MessagePack, read as instances of given dataclasses with
their annotated types.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import selectors
import signal
import socket
import struct
import subprocess
import sys
import time
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import msgspec

from arcademark.errors import ArcadeMarkError, ArcadeMarkWarning, one_line

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
"""Processes share the cores already; and sums that are split differently round differently, which changes scores."""

MAGIC = b"\x93ArcMark"
HEADER = struct.Struct("<8sBQI")  # MAGIC, the index of the message's kind, its length and its checksum
MAX_BYTES = 2**31  # of a message: the largest checkpoint and its episodes
READ_BYTES = 2**16
READS_AT_ONCE = 64
STALLED_SECONDS = 10.0  # maximum wait for the rest of a message

Blame = Literal["process", "node", "memory"]
"""Cause of a process's end: the process itself, its machine, or that machine's memory."""


@dataclass(frozen=True)
class Ending:
    """End of a process and its cause."""

    how: str
    blame: Blame = "process"


def available_cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class GarbledError(Exception):
    """Received data that are not an expected message."""

    def __init__(self, what: str = "data that are not a message") -> None:
        super().__init__(what)


class Incoming:
    """Messages of another process, received in pieces.

    `kinds`: the dataclasses that are expected, with their annotated types; by default pickles of anything.
    """

    def __init__(self, kinds: Sequence[type] | None = None) -> None:
        self._decoders: Sequence[msgspec.msgpack.Decoder[Any]] | None = None
        if kinds is not None:
            self._decoders = [msgspec.msgpack.Decoder(kind) for kind in kinds]
        self._came = bytearray()
        self._last = 0.0

    def add(self, data: bytes) -> None:
        """Add received bytes."""
        self._came += data
        self._last = time.monotonic()

    @property
    def broken_off(self) -> bool:
        """True if the rest of a message is overdue."""
        return bool(self._came) and time.monotonic() - self._last > STALLED_SECONDS

    def whole(self) -> Iterator[Any]:
        """Yield the complete messages; `GarbledError` if the bytes are not a message, or its rest is overdue."""
        while (message := self._next()) is not None:
            yield self._open(*message)
        if self.broken_off:
            raise GarbledError

    def _next(self) -> tuple[int, bytes] | None:
        """Take the next message's kind and content, if it is complete."""
        if not MAGIC.startswith(bytes(self._came[: len(MAGIC)])):
            raise GarbledError
        if len(self._came) < HEADER.size:
            return None
        _, kind, length, checksum = HEADER.unpack_from(self._came)
        if length > MAX_BYTES:
            raise GarbledError
        end = HEADER.size + length
        if len(self._came) < end:
            return None
        content = bytes(memoryview(self._came)[HEADER.size : end])
        del self._came[:end]
        if zlib.crc32(content) != checksum:
            raise GarbledError
        return kind, content

    def _open(self, kind: int, content: bytes) -> Any:
        try:
            if self._decoders is None:
                return pickle.loads(content)  # noqa: S301 - from the driver that started this process
            decoder = self._decoders[kind]
        except Exception:  # any error of unpickling
            raise GarbledError from None
        try:
            return decoder.decode(content)
        except msgspec.ValidationError as error:
            raise GarbledError(f"an ill-formed {decoder.type.__name__} ({one_line(str(error), 200)})") from None
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            raise GarbledError from None


def framed(message: object, kinds: Sequence[type] | None = None) -> tuple[bytes, bytes]:
    """Return a message's header and its content, for an `Incoming` of the same kinds."""
    kind = 0 if kinds is None else kinds.index(type(message))
    content = pickle.dumps(message, pickle.HIGHEST_PROTOCOL) if kinds is None else msgspec.msgpack.encode(message)
    return HEADER.pack(MAGIC, kind, len(content), zlib.crc32(content)), content


class Channel:
    """Messages to and from another process; `receives` and `sends` are kinds as for `Incoming`."""

    def __init__(
        self, end: socket.socket, *, receives: Sequence[type] | None = None, sends: Sequence[type] | None = None
    ) -> None:
        self._socket = end
        self.incoming = Incoming(receives)
        self._sends = sends

    def fileno(self) -> int:
        """Return the descriptor, to wait for."""
        return self._socket.fileno()

    def send(self, message: object) -> None:
        """Send a message."""
        header, content = framed(message, self._sends)
        for part in (header + content,) if len(content) < READ_BYTES else (header, content):
            self._socket.sendall(part)

    def receive(self) -> Any:
        """Wait for a message and return it."""
        while True:
            for message in self.incoming.whole():
                return message
            self._read()

    def arrived(self) -> Iterator[Any]:
        """Yield received messages without waiting, up to some megabytes of them; errors as in `receive`.

        An incomplete message is an error after `STALLED_SECONDS`.
        """
        for _ in range(READS_AT_ONCE):
            try:
                self._read(socket.MSG_DONTWAIT)
            except BlockingIOError:
                yield from self.incoming.whole()
                break
            yield from self.incoming.whole()

    def close(self) -> None:
        """Close this end."""
        self._socket.close()

    def _read(self, flags: int = 0) -> None:
        data = self._socket.recv(READ_BYTES, flags)
        if not data:
            raise EOFError
        self.incoming.add(data)


class Process(Channel):
    """A process started by `spawn`, with the channel to it; `kinds` are the dataclasses of its messages."""

    def __init__(self, serve: Callable[[int], None], kinds: Sequence[type] | None = None) -> None:
        self.process, end = spawn(serve)
        super().__init__(end, receives=kinds)

    def ended(self) -> bool:
        """Return True if the process has ended; earlier messages may still arrive."""
        return self.process.poll() is not None

    def kill(self) -> Ending:
        """End the process and all that it started; return how it ended."""
        return Ending(kill(self.process))


def heard(channels: Iterable[Any], seconds: float | None = None) -> list[Any]:
    """Wait up to `seconds` for bytes, and return the channels that received some."""
    with selectors.DefaultSelector() as selector:
        for channel in channels:
            selector.register(channel, selectors.EVENT_READ, channel)
        return [key.data for key, _ in selector.select(seconds)]


def serving(descriptor: int, kinds: Sequence[type] | None = None) -> Channel:
    """Return the channel to the process that started this one; its own child processes do not inherit it.

    `kinds`: as given to `Process`. Warnings are left to the process that started this one.
    """
    warnings.simplefilter("ignore", ArcadeMarkWarning)
    end = socket.socket(fileno=descriptor)
    end.set_inheritable(False)
    os.register_at_fork(after_in_child=end.close)
    return Channel(end, sends=kinds)


def spawn(serve: Callable[[int], None]) -> tuple[subprocess.Popen[bytes], socket.socket]:
    """Start a process that serves this one, in a process group of its own, so that Ctrl-C reaches this one only.

    It ignores SIGTERM, which batch systems send to all processes; this process ends it. It is a fresh interpreter with
    this one's module search path, rather than one of `multiprocessing`, which would import the user's main script
    again. Its output goes to standard error. `serve` is a module's function, found by its name and called with the
    descriptor of its end of the channel, for `serving`.
    """
    module, name = serve.__module__, serve.__name__
    ours, theirs = socket.socketpair()
    code = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); "
        "signal.signal(signal.SIGTERM, lambda *_: None); "
        f"sys.path[:] = {sys.path!r}; from {module} import {name}; {name}({theirs.fileno()})"
    )
    try:
        with theirs:
            process = subprocess.Popen(
                [sys.executable, "-P", "-c", code],  # nothing is imported from the current folder
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=2,
                env=ONE_THREAD | os.environ,
                process_group=0,
            )
    except OSError as error:
        ours.close()
        raise ArcadeMarkError(f"no worker process can be started ({error}); try fewer --workers") from None
    return process, ours


def kill(process: subprocess.Popen[bytes]) -> str:
    """End a process and its process group; return how it ended."""
    with contextlib.suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)
    return how_ended(process.wait())


def how_ended(code: int) -> str:
    """Return how a process ended, by its exit code: a signal's name, or ``exit code 3``.

    Shells and containers report a signal as 128 and its number.
    """
    number = -code if code < 0 else code - 128
    with contextlib.suppress(ValueError):
        return signal.Signals(number).name
    return f"exit code {code}"
