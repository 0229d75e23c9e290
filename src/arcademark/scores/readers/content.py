"""Reads the bytes of files and pipes, up to a bound, and their text.

Text is UTF-8, or UTF-16 with its byte order mark; else Windows-1252, if letters beyond ASCII stand by themselves.
"""

from __future__ import annotations

import re
import zlib
from gzip import GzipFile
from io import BytesIO
from pathlib import Path

from arcademark import files
from arcademark.errors import ArcadeMarkError
from arcademark.scores.readers.piped import PipedFile

MAX_TEXT_BYTES = 128 * 2**20
"""Maximum number of bytes of a text file."""

MAX_JSON_BYTES = 32 * 2**20
"""Maximum number of bytes of JSON that are parsed at once; nested lists take about twenty times as much memory."""

GZIP = b"\x1f\x8b"
"""First bytes of a file that gzip compressed."""

HEAD = 4096
"""Number of the first bytes, which determine the format."""

WINDOWS = "cp1252"
_NOT_WINDOWS = re.compile(rb"[\x80-\xff]{3}|[\x81\x8d\x8f\x90\x9d]")
"""Bytes that Windows-1252 lacks, or has for letters that stand by themselves in languages that are written in it."""


def read_bytes(path: Path, most: int = files.MAX_BYTES) -> bytes:
    """Return the content of a file or a pipe; refuse an empty one or one of more than `most` bytes."""
    content = path.content if isinstance(path, PipedFile) else files.read_bytes(path, most)
    if not content:
        raise ArcadeMarkError(f"{path}: the file is empty; expected scores, so copy it again or leave it out")
    if len(content) > most:
        raise ArcadeMarkError(f"{path}: holds more than {most:,} bytes, the most that is read; give a smaller file")
    return content


def unpacked(path: Path) -> PipedFile:
    """Return the content of a gzip file, to be read like a file of its name; at most `MAX_TEXT_BYTES` bytes."""
    result = PipedFile(path)
    try:
        result.content = GzipFile(fileobj=BytesIO(read_bytes(path))).read(MAX_TEXT_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise ArcadeMarkError(f"{path}: not a whole gzip file ({error}); copy it again") from error
    if len(result.content) > MAX_TEXT_BYTES:
        raise ArcadeMarkError(
            f"{path}: holds more than {MAX_TEXT_BYTES:,} bytes when it is unpacked; give a smaller file"
        )
    return result


def read_head(path: Path) -> bytes:
    """Return the first bytes of a file, enough to tell its format."""
    head = path.content[:HEAD] if isinstance(path, PipedFile) else files.read_start(path, HEAD)
    if not head:
        raise ArcadeMarkError(f"{path}: the file is empty; expected scores, so copy it again or leave it out")
    return head


def decode(path: Path, content: bytes, *, windows: bool = False) -> str:
    """Turn a text file's bytes into text, if they are text; in Windows-1252 only if that is allowed."""
    encoding = encoding_of(content)
    if encoding in ("utf-8-sig", WINDOWS) and b"\0" in content:
        raise ArcadeMarkError(
            f"{path}: not a text file (byte {content.index(0)} is zero); expected a table or a log: unpack it, or save "
            "it as CSV in UTF-8"
        )
    try:
        return content.decode("utf-8" if encoding == WINDOWS and not windows else encoding)
    except UnicodeDecodeError as error:
        row = content[: error.start].count(b"\n") + 1
        raise ArcadeMarkError(
            f"{path}, row {row}: not UTF-8 text (byte {error.start}); save it as CSV in UTF-8"
        ) from error


def encoding_of(content: bytes) -> str:
    """Return the encoding of text; UTF-8 of what may be no text at all."""
    if content[:4] in (b"\xff\xfe\0\0", b"\0\0\xfe\xff"):
        return "utf-32"
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "utf-16"
    try:
        content.decode()
    except UnicodeDecodeError:
        if not _NOT_WINDOWS.search(content):
            return WINDOWS
    return "utf-8-sig"
