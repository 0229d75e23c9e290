"""Processes beside this one: how many, how one is started, and how messages go to and from it.

A message is a header, with length and checksum, and what it says, so that whatever else comes out of the process (it
runs anyone's code) is noticed at once. Orders are pickles; what comes back is MessagePack, read as instances of certain
dataclasses, each field as annotated.
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
HEADER = struct.Struct("<8sBQI")  # MAGIC, the place of what it is among the kinds, its length and its checksum
MAX_BYTES = 2**31  # of a message: a checkpoint of the largest size and the episodes that led to it
READ_BYTES = 2**16
READS_AT_ONCE = 64
STALLED_SECONDS = 10.0  # how long the rest of a message that has begun to come may be waited for

Blame = Literal["process", "node", "memory"]
"""What was at fault where a process ended: itself, the machine that it was on, or that machine's memory."""


@dataclass(frozen=True)
class Ending:
    """End of a process and its cause."""

    how: str
    blame: Blame = "process"


def available_cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class GarbledError(Exception):
    """Received data that are no expected message."""

    def __init__(self, what: str = "what is no message") -> None:
        super().__init__(what)


class Incoming:
    """Messages of another process, whose bytes come in pieces.

    `kinds`: the dataclasses that may come, each field as annotated; by default pickles, of anything.
    """

    def __init__(self, kinds: Sequence[type] | None = None) -> None:
        self._decoders: Sequence[msgspec.msgpack.Decoder[Any]] | None = None
        if kinds is not None:
            self._decoders = [msgspec.msgpack.Decoder(kind) for kind in kinds]
        self._came = bytearray()
        self._last = 0.0

    def add(self, data: bytes) -> None:
        """Add what has come."""
        self._came += data
        self._last = time.monotonic()

    @property
    def broken_off(self) -> bool:
        """True if the rest of a message is overdue."""
        return bool(self._came) and time.monotonic() - self._last > STALLED_SECONDS

    def whole(self) -> Iterator[Any]:
        """Yield the messages all of which has come; a `GarbledError` where there is none, or one broke off."""
        while (message := self._next()) is not None:
            yield self._open(*message)
        if self.broken_off:
            raise GarbledError

    def _next(self) -> tuple[int, bytes] | None:
        """Take the next message's kind and content, if all of it is there."""
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
        except Exception:  # whatever unpickling raises
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
        """Yield the messages that have come, without waiting, up to some megabytes of them; errors as in `receive`.

        A message that broke off is noticed after `STALLED_SECONDS`.
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
    """A process that was started as `spawn` does, and the channel to it, from which messages of these kinds come."""

    def __init__(self, serve: Callable[[int], None], kinds: Sequence[type] | None = None) -> None:
        self.process, end = spawn(serve)
        super().__init__(end, receives=kinds)

    def ended(self) -> bool:
        """Tell whether the process has ended; messages sent before may still arrive."""
        return self.process.poll() is not None

    def kill(self) -> Ending:
        """End the process with all that it started, and say how it ended."""
        return Ending(kill(self.process))


def heard(channels: Iterable[Any], seconds: float | None = None) -> list[Any]:
    """Wait until something comes, for so many seconds at most, and return the channels where it did."""
    with selectors.DefaultSelector() as selector:
        for channel in channels:
            selector.register(channel, selectors.EVENT_READ, channel)
        return [key.data for key, _ in selector.select(seconds)]


def serving(descriptor: int, kinds: Sequence[type] | None = None) -> Channel:
    """Return the channel to the process that started this one; what this one starts has no part in it.

    `kinds`: those that `Process` was given. What there is to be warned of, the process that started this one says.
    """
    warnings.simplefilter("ignore", ArcadeMarkWarning)
    end = socket.socket(fileno=descriptor)
    end.set_inheritable(False)
    os.register_at_fork(after_in_child=end.close)
    return Channel(end, sends=kinds)


def spawn(serve: Callable[[int], None]) -> tuple[subprocess.Popen[bytes], socket.socket]:
    """Start a process that serves this one, in a process group of its own, so that Ctrl-C reaches this one only.

    It takes no notice of SIGTERM either, which batch systems send to all processes: this one tells it to end. It is a
    fresh interpreter with this one's module search path, rather than `multiprocessing`'s, for that would import the
    user's main script once more. What it prints goes to standard error. `serve` is a module's function, found by its
    name; it is given the descriptor of its end of the channel, for `serving`.
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
    """End a process with all that it started in its process group, and say how it ended."""
    with contextlib.suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)
    return how_ended(process.wait())


def how_ended(code: int) -> str:
    """Say how a process ended, by the code that it left: a signal's name, or ``exit code 3``.

    Shells and containers hand a signal on as 128 and its number.
    """
    number = -code if code < 0 else code - 128
    with contextlib.suppress(ValueError):
        return signal.Signals(number).name
    return f"exit code {code}"
