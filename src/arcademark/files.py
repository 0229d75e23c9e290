"""Reads and writes files safely.

Files may come from anyone: they are read whole, up to a size limit, and damage is reported in one line. Only regular
files are read: a named pipe or a device could block for ever or never end. A file is written whole or not at all, and
pages and figures replace only files with ArcadeMark's mark. Errors are `ArcadeMarkError`s that begin with the place.
"""

from __future__ import annotations

import contextlib
import errno
import grp
import io
import json
import math
import os
import pwd
import re
import stat
import warnings
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, TypeVar

import msgspec

from arcademark.errors import ArcadeMarkError, ArcadeMarkWarning, UnknownNameError, one_line

Kind = TypeVar("Kind")

MAX_BYTES = 256 * 2**20
"""Largest size of a file that is read whole."""
MAX_DIGITS = 19
"""Largest number of digits of a whole number in JSON, that of 2^63."""
MAX_NESTED = 64
"""Largest depth of nested lists and objects in JSON."""

MADE_BY = "ArcadeMark"
"""Name of the generator in pages, figures and animations."""

_ENDS = 4096
"""Bytes at each end of a file in which its mark is searched for."""

_MARKS = (
    (rb"(?i)<!doctype html>", b'<meta name="generator" content="ArcadeMark '),
    (rb"<\?xml ", b"<!-- ArcadeMark -->"),
    (rb"\x89PNG", b"Software\0ArcadeMark"),
    (rb"%PDF-", b"/Creator (ArcadeMark)"),
    (rb"GIF89a", b"!\xfe\x0aArcadeMark\0"),
    (rb"(?s)....ftyp", b"ArcadeMark"),  # MP4
    (rb"\{\s", b'"schema": "arcademark.'),
    (rb"% ", b"\n% ArcadeMark "),  # LaTeX
    (rb"# ", b"*ArcadeMark "),  # Markdown
    (rb"---\n", b"*ArcadeMark "),  # Markdown with metadata, as a model card
    (rb"algorithm,game,score,low,high,runs,", b""),  # a report's scores
    (rb"algorithm,game,seed,episode,frames,end_frame,score\n", b""),  # learning curves
    (rb"game,rules,core,ale_py,", b""),  # games for which our emulator is proven
)
"""Beginning of each kind of file that ArcadeMark writes, and a further mark in it."""

_OTHERS = stat.S_IWGRP | stat.S_IWOTH

_KINDS = (
    (stat.S_ISFIFO, "named pipe"),
    (stat.S_ISSOCK, "socket"),
    (stat.S_ISCHR, "device"),
    (stat.S_ISBLK, "device"),
)


def read_bytes(path: Path, most: int = MAX_BYTES) -> bytes:
    """Return a file's content; ArcadeMarkError if it is larger than `most` bytes or cannot be read."""
    content = read_start(path, most + 1)
    if len(content) > most:
        raise ArcadeMarkError(f"{path}: holds more than {most:,} bytes, the most that is read; give a smaller file")
    return content


def read_start(path: Path, number: int, *, end: bool = False) -> bytes:
    """Return a file's first `number` bytes, with `end` its last, or all if it has fewer."""
    try:
        with open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as file:
            mode = os.fstat(file.fileno()).st_mode
            if not stat.S_ISREG(mode):
                kind = next((kind for test, kind in _KINDS if test(mode)), "special file")
                raise ArcadeMarkError(f"{path}: is a {kind}; expected a file")
            if end:
                file.seek(max(0, os.fstat(file.fileno()).st_size - number))
            return file.read(number)
    except (OSError, ValueError) as error:  # ValueError if the name contains a null character
        reason = getattr(error, "strerror", None) or error
        raise ArcadeMarkError(f"{path}: cannot read the file ({reason}); check its name and permissions") from error


def read_text(path: Path, most: int = MAX_BYTES) -> str:
    """Return a file's text, UTF-8, without a byte order mark."""
    try:
        return read_bytes(path, most).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ArcadeMarkError(
            f"{path}: is not UTF-8 text (byte {error.start:,} is 0x{error.object[error.start]:02x}); save it as UTF-8"
        ) from None


def parse_json(
    text: str,
    place: object,
    remedy: str = "write the file again",
    row: int = 1,
    most_digits: int = MAX_DIGITS,
    *,
    finite: bool = False,
) -> Any:
    """Return the value of JSON text; errors begin with `place`, and end with `remedy` if the text is not JSON.

    Repeated names in an object, more than `MAX_NESTED` levels, whole numbers of more than `most_digits` digits and
    infinite decimal ones are refused, too. `row` is the row of the file in which the text begins. The words NaN and
    Infinity are accepted, since logs contain them, unless `finite`.
    """

    def once(pairs: list[tuple[str, Any]]) -> Mapping[str, Any]:
        members = dict(pairs)
        if len(members) != len(pairs):
            twice = next(name for name, times in Counter(name for name, _ in pairs).items() if times > 1)
            raise ArcadeMarkError(
                f"{place}, at or after row {row}: {twice!r} is named twice in one object; name each once"
            )
        return members

    def whole(digits: str) -> int:
        if len(digits.lstrip("-")) > most_digits:
            raise ArcadeMarkError(f"{place}: a number of {len(digits):,} digits; expected at most {most_digits:,}")
        return int(digits)

    def decimal(digits: str) -> float:
        if math.isinf(value := float(digits)):
            raise ArcadeMarkError(f"{place}: the number {digits[:40]} is too large; correct it")
        return value

    def word(name: str) -> float:
        if finite:
            raise ArcadeMarkError(f"{place}: contains {name}, expected a finite number; {remedy}")
        return float(name)

    deep = f"{place}: JSON nested in more than {MAX_NESTED} levels; {remedy}"
    try:
        value = json.loads(text, object_pairs_hook=once, parse_int=whole, parse_float=decimal, parse_constant=word)
    except json.JSONDecodeError as error:
        where = f"{place}, row {row + error.lineno - 1}, character {error.colno}"
        raise ArcadeMarkError(f"{where}: not JSON ({error.msg}); {remedy}") from None
    except RecursionError:
        raise ArcadeMarkError(deep) from None
    level = [value]
    for _ in range(MAX_NESTED):
        inner = (item.values() if isinstance(item, dict) else item for item in level if isinstance(item, dict | list))
        level = [part for parts in inner for part in parts if isinstance(part, dict | list)]
        if not level:
            return value
    raise ArcadeMarkError(deep)


def read_as(kind: type[Kind], value: Any, place: object, remedy: str, *, strict: bool = True) -> Kind:
    """Convert a value from `parse_json` to a dataclass or typed dictionary, by the annotations of its fields.

    Values are not converted to other types, except whole numbers to decimal ones and, unless `strict`, text to numbers;
    unknown fields are ignored. Errors name the first missing or wrong field, "$.seeds[0]", and end with `remedy`, or
    are the type's own.
    """
    try:
        return msgspec.convert(value, kind, strict=strict)
    except ArcadeMarkError as error:
        raise ArcadeMarkError(f"{place}: {one_line(str(error))}") from None
    except msgspec.ValidationError as error:
        raise ArcadeMarkError(f"{place}: {_in_words(error, kind)}; {remedy}") from None


def _in_words(error: msgspec.ValidationError, kind: type) -> str:
    """Return a validation error's text, with the names or values that the type expects at that place."""
    fault, _, path = str(error).partition(" - at `$")
    known: dict[str, Any] = {}
    types: list[Any] = [msgspec.inspect.type_info(kind)]
    for name in ["", *re.findall(r"\.(\w+)", path)]:
        types = [known[name]] if name in known else types if not name else []
        types = [option for each in types for option in getattr(each, "types", [each])]
        known = {field.encode_name: field.type for each in types for field in getattr(each, "fields", ())}
    fault = one_line(fault, 200)
    if (unknown := re.fullmatch(r"Object contains unknown field `(.*)`", fault)) and known:
        fault = str(UnknownNameError("field", unknown[1], known))
    elif fault.startswith("Invalid enum value") and (
        values := [v for each in types for v in getattr(each, "values", ())]
    ):
        fault += f"; expected {' or '.join(map(repr, values))}"
    elif "matching regex" in fault and (notes := [getattr(each, "extra_json_schema", None) or {} for each in types]):
        fault = next((f"expected {note['description']}" for note in notes if "description" in note), fault)
    return fault + (f" - at `${one_line(path, 200)}" if path else "")


class ZipArchive:
    """A zip archive in memory, from any source: every fault of it is an `ArcadeMarkError`.

    Parameters
    ----------
    content : bytes
    place : object
        Beginning of error messages.
    remedy : str
        End of error messages about damage.
    kind : str
        Name of the kind of file in these messages.
    """

    def __init__(self, content: bytes, place: object, remedy: str = "copy it again", kind: str = "zip archive") -> None:
        self._place, self._remedy, self._kind = place, remedy, kind
        with self._errors():
            self._archive = zipfile.ZipFile(io.BytesIO(content))
            self.members = self._archive.infolist()

    @property
    def names(self) -> list[str]:
        """The members' names."""
        return [member.filename for member in self.members]

    @property
    def inflated_bytes(self) -> int:
        """Size of all members as the archive states it; no member inflates to more."""
        return sum(member.file_size for member in self.members)

    def read(self, name: str) -> bytes:
        """Return a member's content, after checking its checksum."""
        with self._errors():
            return self._archive.read(name)

    def intact(self) -> bool:
        """Return True if every member agrees with its checksum."""
        try:
            for name in self.names:
                self.read(name)
        except ArcadeMarkError:
            return False
        return True

    @contextlib.contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:  # damage causes any of a dozen errors, also of the decompressors
            what = one_line(str(error) or type(error).__name__, 200)
            raise ArcadeMarkError(f"{self._place}: not a whole {self._kind} ({what}); {self._remedy}") from None


def inflate(data: bytes, most: int) -> bytes:
    """Return the content of a zlib stream; ValueError if it is incomplete, or inflates to more than `most` bytes."""
    stream = zlib.decompressobj()
    try:
        content = stream.decompress(data, most + 1)
    except zlib.error as error:
        raise ValueError(str(error)) from None
    if len(content) > most:
        raise ValueError(f"it inflates to more than the {most:,} bytes expected")
    if not stream.eof or stream.unused_data:
        raise ValueError("it is not a whole zlib stream")
    return content


def check_ending(path: str | os.PathLike[str] | None, endings: Sequence[str], *, folder: bool = False) -> None:
    """Refuse, before any work, a file name whose ending (".png") is not among `endings`.

    With `folder`, the name of an existing folder or one without an ending is accepted, too.
    """
    if path is None:
        return
    place = Path(path)
    if place.suffix.lower() in endings or (folder and (not place.suffix or place.is_dir())):
        return
    expected = f"expected a name that ends with {', '.join(endings[:-1])} or {endings[-1]}"
    raise ArcadeMarkError(f"{path}: {expected}{', or a folder' if folder else ''}")


def check_replaceable(path: Path, start: bytes, remedy: str = "name another, or move it away") -> None:
    """Refuse to replace anything but an empty file or one of ArcadeMark's, of the kind that begins with `start`."""
    if not os.path.lexists(path):
        return
    if not path.is_file():
        kind = "a folder" if path.is_dir() else "not a regular file"
        raise ArcadeMarkError(f"{path}: is {kind}, and is not replaced; {remedy}")
    with _clear_errors(path), path.open("rb") as file:
        ends = file.read(_ENDS)
        file.seek(-min(_ENDS, path.stat().st_size), os.SEEK_END)
        ends += file.read()
    kinds = ((begins, mark) for begins, mark in _MARKS if re.match(begins, start))
    if ends and not any(re.match(begins, ends) and mark in ends for begins, mark in kinds):
        raise ArcadeMarkError(f"{path}: was not written by {MADE_BY} as such a file, and is not replaced; {remedy}")


@contextlib.contextmanager
def _clear_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else error
        raise ArcadeMarkError(f"{path}: cannot write the file ({reason}); choose another") from error


def check_folder(folder: Path, *, page: str = "") -> None:
    """Refuse, before any work, a folder that is not empty, unless it has the page `page` that ArcadeMark wrote."""
    if not folder.is_dir():
        if folder.exists():
            raise ArcadeMarkError(f"{folder}: is not a folder; choose another")
    elif page and (folder / page).exists():
        check_replaceable(folder / page, b"<!doctype html>")
    elif any(folder.iterdir()):
        raise ArcadeMarkError(f"{folder}: the folder contains other files; name a new or an empty one")


def write_whole(path: Path, write: Callable[[Path], object] | bytes) -> None:
    """Write a file whole or not at all; if `path` is a link, the file to which it leads.

    `write` is the content, or is called with the path of a draft in the same folder, which does not exist, so that no
    link can redirect it. OSError if the file cannot be written; an existing file then stays unchanged.
    """
    target = Path(os.path.realpath(path))
    draft = target.with_name(f".draft-{os.urandom(8).hex()}{target.suffix}")
    try:
        if isinstance(write, bytes):
            draft.write_bytes(write)
        else:
            write(draft)
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)


def write_output(path: Path, write: Callable[[Path], object] | bytes) -> None:
    """Write a user's file with `write_whole`, and make its folder; ArcadeMarkError if it cannot be written."""
    with _clear_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, write)


def write_document(path: Path, content: str | bytes, *, overwrite: bool | None = None) -> None:
    """Write a page, a figure or a table; by default, only a file of its kind that ArcadeMark wrote is replaced.

    With `overwrite` True, any file is replaced, with False none. Devices and pipes are written to.
    """
    data = content.encode(errors="backslashreplace") if isinstance(content, str) else content
    if path.is_dir():
        raise ArcadeMarkError(f"{path}: is a folder, and is not replaced; name a file, as in {path / 'page.html'}")
    if path.exists() and not path.is_file():
        with _clear_errors(path):
            path.write_bytes(data)
        return
    if overwrite is None:
        check_replaceable(path, data)
    elif path.exists() and not overwrite:
        raise ArcadeMarkError(f"{path}: exists already; name another file, or remove it first")
    write_output(path, data)


def cache_folder() -> Path | None:
    """Return the folder, which may be missing, of this user's caches, to which nobody else can write.

    It is ``$ARCADEMARK_CACHE``, else ``$XDG_CACHE_HOME/arcademark``, else ``~/.cache/arcademark``. In a folder that is
    sticky and writable for all, such as ``/tmp``, it is the folder ``user-`` and the user's number. None if there is
    none, and, with an `ArcadeMarkWarning`, if others could replace it.
    """
    folder = _named_cache()
    if folder is None:
        return None
    own = Path(os.path.realpath(folder))
    if own.is_dir() and (mode := own.stat().st_mode) & stat.S_ISVTX and mode & _OTHERS:
        own = Path(os.path.realpath(own / f"user-{os.geteuid()}"))  # no link that its owner could lead elsewhere later
    if why := exposed(own):
        remedy = "name a folder of your own in ARCADEMARK_CACHE, or let nobody else write there (chmod go-w)"
        text = f"{folder}: {why}, so nothing there is used and nothing is kept between processes; {remedy}"
        warnings.warn(text, ArcadeMarkWarning, stacklevel=2)
        return None
    return own


def _named_cache() -> Path | None:
    if folder := os.environ.get("ARCADEMARK_CACHE"):
        return Path(folder)
    if folder := os.environ.get("XDG_CACHE_HOME"):
        return Path(folder) / "arcademark"
    try:
        return Path.home() / ".cache" / "arcademark"
    except RuntimeError:
        return None


def exposed(path: Path) -> str:
    """Return how others than this user and root could change or replace a file or folder; "" if they cannot.

    This depends on the owner and the mode of `path` and of all folders above it, which others may write to if they are
    sticky. A group with this user's name, which many systems make for each user and allow to write, counts as this
    user, unless there is an access control list.
    """
    real = Path(os.path.realpath(path))
    for place in (real, *real.parents):
        try:
            status = place.lstat()
        except OSError:  # a missing folder is made by this user; an unreadable one is not used
            continue
        within = place is not real
        if status.st_uid not in (0, os.geteuid()) and not (within and _unmapped(status.st_uid)):
            return f"{place} belongs to another user"
        group = stat.S_IWGRP if status.st_gid == _own_group() and not _has_list(place) else 0
        if status.st_mode & _OTHERS & ~group and not (within and status.st_mode & stat.S_ISVTX):
            return f"others can write to {place}"
    return ""


def _own_group() -> int | None:
    """Return the group that has this user's name and no other member; None if there is none."""
    with contextlib.suppress(KeyError):
        user = pwd.getpwuid(os.geteuid())
        group = grp.getgrgid(user.pw_gid)
        if group.gr_name == user.pw_name and {*group.gr_mem} <= {user.pw_name}:
            return group.gr_gid
    return None


def _has_list(path: Path) -> bool:
    """Return True if a file has an access control list; the mode's group bits then limit all its entries."""
    with contextlib.suppress(OSError, AttributeError):  # AttributeError on systems without extended attributes
        return "system.posix_acl_access" in os.listxattr(path)
    return False


def _unmapped(user: int) -> bool:
    """Return True for the number of unmapped users, such as the host's root in a container without root's rights."""
    with contextlib.suppress(OSError, ValueError):
        overflow = int(Path("/proc/sys/kernel/overflowuid").read_text("ascii"))
        return user == overflow and Path("/proc/self/uid_map").read_text("ascii").split() != ["0", "0", "4294967295"]
    return False


def make_private(folder: Path) -> None:
    """Make a folder to which nobody else can write, and its parents.

    OSError as from `mkdir`, or if others can write to it, for example because they made it first.
    """
    for place in reversed((folder, *folder.parents)):
        if not place.is_dir():
            place.mkdir(mode=0o700, exist_ok=True)
    if why := exposed(folder):
        raise PermissionError(errno.EACCES, why)


def open_lock(path: Path) -> IO[str]:
    """Open a lock file, made if it is missing, without following links or changing its content; errors are OSError."""

    def opener(name: str, _: int) -> int:
        return os.open(name, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK, 0o666)

    return open(path, "r+", encoding="ascii", errors="replace", opener=opener)
