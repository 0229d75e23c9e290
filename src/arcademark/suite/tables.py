r"""Reading of the package's data files, with verification of their checksums.

Conventions
-----------
* ``data/SHA256SUMS`` has one line per file, as ``sha256sum`` writes it. After an intended change, renew it with ``cd
  src/arcademark/suite/data && sha256sum *.csv *.toml > SHA256SUMS``.
* Text files are hashed with ``\n`` line ends, independently of the checkout's.
"""

from __future__ import annotations

import csv
import hashlib
import io
import textwrap
import tomllib
from collections.abc import Iterator, Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any, TypeVar, get_origin, get_type_hints

from arcademark.errors import ArcadeMarkError
from arcademark.files import read_as

Kind = TypeVar("Kind")
Value = TypeVar("Value", covariant=True)

CHECKSUMS = "SHA256SUMS"
MAX_SHOWN = 1200
"""Maximum length of a table's representation in a shell."""
_CORRECT = "correct that table"


class Named(Mapping[str, Value]):
    """Rows of a table by name, read-only; a shell shows only the names."""

    def __init__(self, rows: Mapping[str, Value]) -> None:
        self._rows = dict(rows)

    def __getitem__(self, name: str) -> Value:
        return self._rows[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __repr__(self) -> str:
        return textwrap.shorten(f"<{len(self)}: {', '.join(self)}>", MAX_SHOWN, placeholder=" …>")


def data_directory() -> Traversable:
    """Return the directory of the package's own data files."""
    return files("arcademark.suite") / "data"


def read_text(name: str, directory: Traversable | None = None) -> str:
    """Return a data file's text once its checksum has been verified; by default of the package's own data.

    ArcadeMarkError: the file is missing, has no checksum, or is not the file that was checked in.
    """
    return read_bytes(name, directory).decode().replace("\r\n", "\n")


def read_bytes(name: str, directory: Traversable | None = None) -> bytes:
    """Return a data file's content once its checksum has been verified; as `read_text`."""
    place = directory or data_directory()
    try:
        content = (place / name).read_bytes()
        listed = (place / CHECKSUMS).read_text(encoding="utf-8")
    except OSError as error:
        raise ArcadeMarkError(f"{place}: cannot read the data file {name!r} ({error}); reinstall arcademark") from error
    expected = {entry: sha for sha, entry in (line.split() for line in listed.splitlines())}.get(name)
    digest = hashlib.sha256(content if b"\0" in content else content.replace(b"\r\n", b"\n")).hexdigest()
    if expected != digest:
        raise ArcadeMarkError(
            f"{place / name}: checksum is {digest[:12]}…, {CHECKSUMS} says {expected and expected[:12] + '…'}; "
            "the facts were changed: reinstall arcademark, or renew the checksum if the change is intended"
        )
    return content


def read_rows(name: str, directory: Traversable | None = None) -> tuple[dict[str, str], ...]:
    """Return a CSV data file's rows, keyed by column.

    ArcadeMarkError: as `read_text`, or a row has more or fewer cells than the header.
    """
    rows = tuple(csv.DictReader(io.StringIO(read_text(name, directory)), strict=True))
    for number, row in enumerate(rows, start=2):
        if None in row or None in row.values():
            raise ArcadeMarkError(
                f"{name}, line {number}: the number of cells is not that of columns in the header; correct that line"
            )
    return rows


def read_records(name: str, kind: type[Kind], directory: Traversable | None = None) -> tuple[Kind, ...]:
    """Return a CSV data file's rows as instances of a dataclass with one field per column.

    Empty cells have the field's default; cells of tuples are split into words. ArcadeMarkError: as `read_rows`, or a
    row does not match the dataclass.
    """
    hints = get_type_hints(kind)
    listed = {column for column, hint in hints.items() if get_origin(hint) is tuple}
    records = []
    for line, row in enumerate(read_rows(name, directory), start=2):
        cells = {column: cell.split() if column in listed else cell for column, cell in row.items() if cell.strip()}
        records.append(read_as(kind, cells, f"{name}, line {line}", "correct that line", strict=False))
    return tuple(records)


def read_tables(name: str, directory: Traversable | None = None) -> dict[str, dict[str, Any]]:
    """Return a TOML data file's tables by name, with arrays as tuples; errors are those of `read_text`."""
    tables = tomllib.loads(read_text(name, directory))
    return {
        title: {key: tuple(value) if isinstance(value, list) else value for key, value in table.items()}
        for title, table in tables.items()
    }


def read_named(name: str, kind: type[Kind], directory: Traversable | None = None) -> Mapping[str, Kind]:
    """Return a TOML data file's tables by name, as a dataclass with this `name`; errors as `read_records`."""
    tables = read_tables(name, directory).items()
    return {key: read_as(kind, {**entry, "name": key}, f"{name}, {key}", _CORRECT) for key, entry in tables}
