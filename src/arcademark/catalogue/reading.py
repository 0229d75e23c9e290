"""Reads the catalogue's tables, and refuses what has no source or is not what `arcademark.catalogue.model` says.

A collection is two files: ``entries/<collection>.toml``, a table an algorithm, and ``scores/<collection>.csv``, a row a
score. ``directory`` is where ``sources.toml`` and the folders lie; None for the package's own data.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from types import MappingProxyType
from typing import Any

from arcademark.catalogue.model import ALGORITHM_KINDS, HANDS, REPORTED, Entry, Result, Source
from arcademark.errors import ArcadeMarkError, UnknownNameError
from arcademark.suite import protocols, tables, tasks

COLUMNS = ("algorithm", "task", "score", "uncertainty", "uncertainty_kind", "runs", "note")
AS_PUBLISHED = "as_published"
"""A last column that a collection may have, for the scores of its source that do not hold."""
PER_RUN = "per_run"
"""A last column that a collection may have: the scores of single runs, with spaces between, in the place of a score."""

_TEXTS = ("kind", "paper", "source", "table", "protocol", "reported", "hand")
_OPTIONAL = ("training_frames", "read_in", "settings", "assumed", "unavailable", "note", "same_as")
_CHOICES: Mapping[str, Sequence[str]] = {"kind": ALGORITHM_KINDS, "reported": REPORTED, "hand": HANDS}


def data_directory() -> Traversable:
    """Return the directory of the catalogue's own data files."""
    return files("arcademark.catalogue") / "data"


@cache
def read_names(directory: Path | None = None) -> tuple[str, ...]:
    """Return the collections' names in alphabetical order."""
    place = directory or data_directory()
    found = (item.name for item in (place / "entries").iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in found if name.endswith(".toml")))


@cache
def read_bibtex(directory: Path | None = None) -> Mapping[str, tuple[str, str]]:
    """Return address and BibTeX entry of the papers that have them, by key."""
    rows = tables.read_tables("sources.toml", directory or data_directory())
    return MappingProxyType({key: (row["url"], row["bibtex"]) for key, row in rows.items() if "bibtex" in row})


@cache
def read_sources(directory: Path | None = None) -> Mapping[str, Source]:
    """Return the papers by key, each with authors, title, venue and year."""
    found = {}
    for key, row in tables.read_tables("sources.toml", directory or data_directory()).items():
        where = f"sources.toml, [{key}]"
        _check_fields(where, row, ("authors", "title", "venue", "year"), ("url", "bibtex"))
        for name in ("authors", "title", "venue"):
            _check_text(where, name, row[name])
        if not isinstance(row["year"], int):
            raise ArcadeMarkError(f"{where}: the year is {row['year']!r}, expected a whole number")
        found[key] = Source(key, row["authors"], row["title"], row["venue"], row["year"])
    return MappingProxyType(found)


@cache
def read_entries(collection: str, directory: Path | None = None) -> Mapping[str, Entry]:
    """Return a collection's entries by algorithm, in the file's order."""
    name = f"{collection}.toml"
    known = read_sources(directory)
    rows = tables.read_tables(name, (directory or data_directory()) / "entries")
    found = {
        algorithm: _entry(f"entries/{name}, [{algorithm}]", collection, algorithm, row, known)
        for algorithm, row in rows.items()
    }
    return MappingProxyType(found)


@cache
def read_results(collection: str, directory: Path | None = None) -> tuple[Result, ...]:
    """Return a collection's scores in the file's order; an entry without any says why in ``unavailable``."""
    entries = read_entries(collection, directory)
    name = f"{collection}.csv"
    found: dict[tuple[str, str], Result] = {}
    for line, row in enumerate(tables.read_rows(name, (directory or data_directory()) / "scores"), start=2):
        where = f"scores/{name}, line {line}"
        if line == 2 and tuple(row) not in (COLUMNS, (*COLUMNS, AS_PUBLISHED), (*COLUMNS, PER_RUN)):
            raise ArcadeMarkError(f"scores/{name}: the columns are {', '.join(row)}; expected {', '.join(COLUMNS)}")
        result = _result(where, row, entries)
        key = (row["algorithm"], row["task"])
        if key in found:
            raise ArcadeMarkError(f"{where}: a second score for {key[0]!r} on {key[1]!r}; keep one")
        found[key] = result
    scored = {algorithm for algorithm, _ in found}
    for algorithm, entry in entries.items():
        if (algorithm in scored) == bool(entry.unavailable):
            has = "has scores, but its entry says that they are" if entry.unavailable else "has no scores; say why in"
            raise ArcadeMarkError(f"scores/{name}: {algorithm!r} {has} 'unavailable'")
    return tuple(found.values())


def _entry(where: str, collection: str, algorithm: str, row: Mapping[str, Any], known: Mapping[str, Source]) -> Entry:
    if not row.get("source"):
        raise ArcadeMarkError(f"{where}: no source; name the paper that the scores were read in, by its key")
    _check_fields(where, row, _TEXTS, _OPTIONAL)
    _check_text(where, "table", row["table"])
    for field, choices in _CHOICES.items():
        _check_known(where, field, row[field], choices)
    for kind, name, names in (
        ("source", row["source"], known),
        ("source", row["paper"], known),
        ("protocol", row["protocol"], protocols.protocols()),
    ):
        if name:
            _check_known(where, kind, name, names)
    frames, settings = row.get("training_frames", 0), row.get("settings", {})
    if not isinstance(frames, int) or isinstance(frames, bool) or frames < 0:
        raise ArcadeMarkError(f"{where}: training_frames is {frames!r}, expected a whole number, or nothing if unknown")
    if (row["hand"] == "second") != bool(row.get("read_in")):
        raise ArcadeMarkError(
            f"{where}: 'read_in' says where scores were read at second hand, and only then; correct it"
        )
    if not isinstance(settings, Mapping) or not all(isinstance(value, str) for value in settings.values()):
        raise ArcadeMarkError(f"{where}: settings are {settings!r}, expected names with their values as text")
    for name in row.get("assumed", ()):
        _check_known(where, "assumed setting", name, settings)
    read = {
        "training_frames": None,
        **row,
        "paper": known.get(row["paper"]),
        "source": known[row["source"]],
        "settings": MappingProxyType(dict(settings)),
    }
    return Entry(collection, algorithm, **read)


def _result(where: str, row: Mapping[str, str], entries: Mapping[str, Entry]) -> Result:
    _check_known(where, "algorithm", row["algorithm"], entries)
    _check_known(where, "game", row["task"], tasks.games())
    uncertainty = _number(where, "uncertainty", row["uncertainty"]) if row["uncertainty"] else None
    if (uncertainty is None) == bool(row["uncertainty_kind"]):
        raise ArcadeMarkError(f"{where}: an uncertainty and its kind go together; give both or neither")
    if row["runs"] and (not row["runs"].isdecimal() or int(row["runs"]) < 1):
        raise ArcadeMarkError(f"{where}: runs is {row['runs']!r}, expected a whole number, or nothing if unknown")
    per_run = tuple(_number(where, "score of a run", text) for text in row.get(PER_RUN, "").split())
    if per_run and (row["score"] or row["runs"]):
        raise ArcadeMarkError(f"{where}: 'score' and 'runs' follow from the scores per run; leave them empty")
    return Result(
        entries[row["algorithm"]],
        row["task"],
        math.fsum(per_run) / len(per_run) if per_run else _number(where, "score", row["score"]),
        uncertainty,
        row["uncertainty_kind"],
        len(per_run) or (int(row["runs"]) if row["runs"] else None),
        row["note"],
        _number(where, "score as published", row[AS_PUBLISHED]) if row.get(AS_PUBLISHED) else None,
        per_run,
    )


def _number(where: str, field: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ArcadeMarkError(f"{where}: the {field} is {text!r}, expected a finite number")
    return value


def _check_fields(where: str, row: Any, required: Sequence[str], optional: Sequence[str] = ()) -> None:
    if not isinstance(row, Mapping):
        raise ArcadeMarkError(f"{where}: expected a table")
    for name in required:
        if name not in row:
            raise ArcadeMarkError(f"{where}: no {name!r}; every table here has {', '.join(required)}")
    for name in row:
        _check_known(where, "field", name, (*required, *optional))


def _check_text(where: str, field: str, value: Any) -> None:
    if not isinstance(value, str) or not value.strip():
        raise ArcadeMarkError(f"{where}: {field} is {value!r}, expected text")


def _check_known(where: str, kind: str, name: Any, known: Sequence[str] | Mapping[str, Any]) -> None:
    if name not in known:
        raise ArcadeMarkError(f"{where}: {UnknownNameError(kind, str(name), known)}")
