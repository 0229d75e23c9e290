"""Tables that come through a pipe: standard input ("-"), or what a shell puts in place of a file."""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Callable
from pathlib import Path

from arcademark.errors import ArcadeMarkError
from arcademark.files import MAX_BYTES

STANDARD_INPUT = "-"
"""Name of standard input in place of a file."""

_INPUTS = frozenset({STANDARD_INPUT, "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"})
_SUBSTITUTE = re.compile(r"/(?:dev|proc/(?:self|\d+))/fd/\d+")
"""Path that a shell puts in place of ``<(command)``. A pipe by any other name may have no writer, and block."""

_TITLE = "standard input"
_READ: dict[object, bytes] = {}
"""Content of standard input, which can be read only once: at most one entry, by the stream."""


class PipedFile(type(Path())):  # type: ignore[misc]
    """Content of a pipe, read once and kept; used like the path of a file with this content."""

    content: bytes = b""


def place(path: str | os.PathLike[str]) -> Path:
    """Return a path to read from; a pipe is read now, up to `arcademark.files.MAX_BYTES`."""
    name = os.fspath(path)
    if not name:
        raise ArcadeMarkError("the name of a table is empty; name a file or a folder, or - for standard input")
    if isinstance(path, PipedFile):
        return path
    if name in _INPUTS:
        return _kept(_TITLE, _standard_input)
    try:
        piped = _SUBSTITUTE.fullmatch(name) is not None and stat.S_ISFIFO(os.stat(name).st_mode)
    except OSError:  # said where it is read
        piped = False
    return _kept(name, lambda: _whole(name)) if piped else Path(name)


def _kept(title: str, read: Callable[[], bytes]) -> PipedFile:
    try:
        content = read()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ArcadeMarkError(f"{title}: cannot be read ({reason}); give the name of a file") from error
    if len(content) > MAX_BYTES:
        raise ArcadeMarkError(f"{title}: holds more than {MAX_BYTES:,} bytes, the most that is read; give less")
    result: PipedFile = PipedFile(title)
    result.content = content
    return result


def _whole(name: str) -> bytes:
    with open(name, "rb") as pipe:
        return pipe.read(MAX_BYTES + 1)


def _standard_input() -> bytes:
    buffer = getattr(sys.stdin, "buffer", None)
    if buffer is None:  # closed, or a notebook's
        return b""
    if sys.stdin not in _READ:
        content: bytes = buffer.read(MAX_BYTES + 1)
        _READ.clear()
        _READ[sys.stdin] = content
    return _READ[sys.stdin]
