"""Reads the catalogue's tables, and refuses what has no source or is not what `arcademark.catalogue.model` says.

A collection is two files: ``entries/<collection>.toml``, a table an algorithm, and ``scores/<collection>.csv``, a row a
score. ``directory`` is where ``sources.toml`` and the folders lie; None for the package's own data.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from types import MappingProxyType
from typing import Any

from arcademark.catalogue.model import ALGORITHM_KINDS, HANDS, REPORTED, Entry, Result, SettingValue, Source
from arcademark.errors import ArcadeMarkError, UnknownNameError
from arcademark.suite import protocols, tables, tasks

COLUMNS = ("algorithm", "task", "score", "uncertainty", "uncertainty_kind", "runs", "note")
AS_PUBLISHED = "as_published"
"""A last column that a collection may have, for the scores of its source that do not hold."""
PER_RUN = "per_run"
"""A last column that a collection may have: the scores of single runs, with spaces between, in the place of a score."""

_TEXTS = ("kind", "paper", "source", "table", "protocol", "reported", "hand")
_OPTIONAL = ("training_frames", "read_in", "settings", "assumed", "unavailable", "note", "same_as")
_OPTIONAL_TEXTS = ("read_in", "unavailable", "note", "same_as")
_COUNT = re.compile("[1-9][0-9]{0,8}")
ADDRESS = re.compile(r"https?://[^\s/?#]", re.IGNORECASE)
"""How a paper's address begins: pages link to it."""
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
        _refuse(f"sources.toml, [{key}]", source_problems(row))
        found[key] = source_of(key, row)
    return MappingProxyType(found)


@cache
def read_entries(collection: str, directory: Path | None = None) -> Mapping[str, Entry]:
    """Return a collection's entries by algorithm, in the file's order."""
    name = f"{collection}.toml"
    known = read_sources(directory)
    rows = tables.read_tables(name, (directory or data_directory()) / "entries")
    found = {}
    for algorithm, row in rows.items():
        _refuse(f"entries/{name}, [{algorithm}]", entry_problems(row, known))
        found[algorithm] = entry_of(collection, algorithm, row, known)
    return MappingProxyType(found)


@cache
def read_results(collection: str, directory: Path | None = None) -> tuple[Result, ...]:
    """Return a collection's scores in the file's order; an entry without any says why in ``unavailable``."""
    entries = read_entries(collection, directory)
    name = f"{collection}.csv"
    found: dict[tuple[str, str], Result] = {}
    for line, row in enumerate(tables.read_rows(name, (directory or data_directory()) / "scores"), start=2):
        if line == 2:
            _refuse(f"scores/{name}", column_problems(tuple(row)))
        _refuse(f"scores/{name}, line {line}", result_problems(row, entries, found))
        found[row["algorithm"], row["task"]] = result_of(row, entries)
    _refuse(f"scores/{name}", lost_problems(entries, (algorithm for algorithm, _ in found)))
    return tuple(found.values())


def source_problems(row: Any) -> Iterator[str]:
    """Yield what is wrong with the table of a paper."""
    yield from _field_problems(row, ("authors", "title", "venue", "year"), ("url", "bibtex"))
    if isinstance(row, Mapping):
        for name in ("authors", "title", "venue", "url", "bibtex"):
            if name in row and not _is_text(row[name]):
                yield f"{name} is {row[name]!r}, expected text"
        if not isinstance(row.get("year", 0), int):
            yield f"the year is {row['year']!r}, expected a whole number"
        if _is_text(row.get("url")) and not ADDRESS.match(row["url"]):
            yield f"url is {row['url']!r}, expected an address that begins with https://"
        if "bibtex" in row and "url" not in row:
            yield "'bibtex' goes with a 'url'; give both or neither"


def source_of(key: str, row: Mapping[str, Any]) -> Source:
    """Return the paper that a table without problems is of."""
    return Source(key, row["authors"], row["title"], row["venue"], row["year"])


def entry_problems(row: Any, known: Mapping[str, Source]) -> Iterator[str]:
    """Yield what is wrong with the table of an algorithm; `known` are the papers by key."""
    if isinstance(row, Mapping) and not row.get("source"):
        yield "no source; name the paper that the scores were read in, by its key"
        row = {**row, "source": next(iter(known), "")}
    yield from _field_problems(row, _TEXTS, _OPTIONAL)
    if not isinstance(row, Mapping):
        return
    for name in ("table", "kind", "reported", "hand", "paper", "source", "protocol", *_OPTIONAL_TEXTS):
        if not isinstance(row.get(name, ""), str) or (name == "table" and not _is_text(row.get(name, "-"))):
            yield f"{name} is {row[name]!r}, expected text"
    texts = {name: value for name, value in row.items() if isinstance(value, str)}
    for field, choices in _CHOICES.items():
        if field in texts:
            yield from _unknown(field, texts[field], choices)
    for kind, field, names in (
        ("source", "source", known),
        ("source", "paper", known),
        ("protocol", "protocol", protocols.protocols()),
    ):
        if texts.get(field):
            yield from _unknown(kind, texts[field], names)
    frames, settings = row.get("training_frames", 0), row.get("settings", {})
    if not isinstance(frames, int) or isinstance(frames, bool) or frames < 0:
        yield f"training_frames is {frames!r}, expected a whole number, or nothing if unknown"
    if (row.get("hand") == "second") != bool(row.get("read_in")):
        yield "'read_in' says where scores were read at second hand, and only then; correct it"
    if not isinstance(settings, Mapping) or not all(map(_is_setting, settings.values())):
        yield f"settings are {settings!r}, expected names with their values: text, numbers, true or false"
        return
    assumed = row.get("assumed", ())
    if not isinstance(assumed, list | tuple):
        yield f"assumed is {assumed!r}, expected a list of settings"
        return
    for name in assumed:
        yield from _unknown("assumed setting", str(name), settings)


def _is_setting(value: object) -> bool:
    return isinstance(value, SettingValue) and (not isinstance(value, float) or math.isfinite(value))


def entry_of(collection: str, algorithm: str, row: Mapping[str, Any], known: Mapping[str, Source]) -> Entry:
    """Return the entry that a table without problems is of."""
    read = {
        "training_frames": None,
        **row,
        "paper": known.get(row["paper"]),
        "source": known[row["source"]],
        "settings": MappingProxyType(dict(row.get("settings", {}))),
        "assumed": tuple(row.get("assumed", ())),
    }
    return Entry(collection, algorithm, **read)


def column_problems(columns: tuple[str, ...]) -> Iterator[str]:
    """Yield what is wrong with the header of a table of scores."""
    if columns not in (COLUMNS, (*COLUMNS, AS_PUBLISHED), (*COLUMNS, PER_RUN)):
        yield f"the columns are {', '.join(columns)}; expected {', '.join(COLUMNS)}"


def result_problems(
    row: Mapping[str, str], entries: Collection[str], others: Collection[tuple[str, str]]
) -> Iterator[str]:
    """Yield what is wrong with a row of scores; `entries` are the algorithms, `others` what has a score already."""
    yield from _unknown("algorithm", row["algorithm"], entries)
    yield from _unknown("game", row["task"], tasks.games())
    if (row["algorithm"], row["task"]) in others:
        yield f"a second score for {row['algorithm']!r} on {row['task']!r}; keep one"
    if row["uncertainty"]:
        yield from _no_number("uncertainty", row["uncertainty"])
    if bool(row["uncertainty"]) != bool(row["uncertainty_kind"]):
        yield "an uncertainty and its kind go together; give both or neither"
    if row["runs"] and not _COUNT.fullmatch(row["runs"]):
        yield f"runs is {row['runs']!r}, expected a whole number, or nothing if unknown"
    per_run = row.get(PER_RUN, "").split()
    for text in per_run:
        yield from _no_number("score of a run", text)
    if per_run and (row["score"] or row["runs"]):
        yield "'score' and 'runs' follow from the scores per run; leave them empty"
    if not per_run:
        yield from _no_number("score", row["score"])
    if row.get(AS_PUBLISHED):
        yield from _no_number("score as published", row[AS_PUBLISHED])


def result_of(row: Mapping[str, str], entries: Mapping[str, Entry]) -> Result:
    """Return the score that a row without problems is of."""
    per_run = tuple(float(text) for text in row.get(PER_RUN, "").split())
    return Result(
        entries[row["algorithm"]],
        row["task"],
        math.fsum(per_run) / len(per_run) if per_run else float(row["score"]),
        float(row["uncertainty"]) if row["uncertainty"] else None,
        row["uncertainty_kind"],
        len(per_run) or (int(row["runs"]) if row["runs"] else None),
        row["note"],
        float(row[AS_PUBLISHED]) if row.get(AS_PUBLISHED) else None,
        per_run,
    )


def lost_problems(entries: Mapping[str, Entry], scored: Iterable[str]) -> Iterator[str]:
    """Yield the algorithms that have scores and say that they are lost, or have none and do not."""
    having = set(scored)
    for algorithm, entry in entries.items():
        if (algorithm in having) == bool(entry.unavailable):
            has = "has scores, but its entry says that they are" if entry.unavailable else "has no scores; say why in"
            yield f"{algorithm!r} {has} 'unavailable'"


def _refuse(where: str, problems: Iterator[str]) -> None:
    for problem in problems:
        raise ArcadeMarkError(f"{where}: {problem}")


def _no_number(field: str, text: str) -> Iterator[str]:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        yield f"the {field} is {text!r}, expected a finite number"


def _field_problems(row: Any, required: Sequence[str], optional: Sequence[str] = ()) -> Iterator[str]:
    if not isinstance(row, Mapping):
        yield "expected a table"
        return
    for name in required:
        if name not in row:
            yield f"no {name!r}; every table here has {', '.join(required)}"
    for name in row:
        yield from _unknown("field", name, (*required, *optional))


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _unknown(kind: str, name: str, known: Collection[str]) -> Iterator[str]:
    if name not in known:
        yield str(UnknownNameError(kind, name, known))
