"""Reading of the catalogue's tables, with checks of sources and of the types of `arcademark.catalogue.model`.

A collection consists of two files: ``entries/<collection>.toml``, with a table per algorithm, and
``scores/<collection>.csv``, with a row per score. ``directory`` contains ``sources.toml`` and these folders; None for
the package's own data.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Annotated, Any

import msgspec

from arcademark.catalogue.model import (
    AlgorithmKind,
    Entry,
    Hand,
    PublishedCheckpoint,
    Reported,
    Result,
    SettingValue,
    Source,
    Text,
)
from arcademark.errors import ArcadeMarkError, UnknownNameError, one_line
from arcademark.suite import protocols, tables, tasks

COLUMNS = ("algorithm", "task", "score", "uncertainty", "uncertainty_kind", "runs", "note")
AS_PUBLISHED = "as_published"
"""An optional last column of a collection, for incorrect scores of its source."""
PER_RUN = "per_run"
"""An optional last column of a collection: the scores of single runs, separated by spaces, in place of a score."""

ADDRESS = re.compile(r"https://[a-z0-9.-]+(:[0-9]+)?([/?#][!#-&(-;=?-\[\]_a-z~]*)?", re.IGNORECASE)
"""A paper's address, as pages link to it: ASCII, without spaces, quotes, angle brackets, backslashes and braces."""

EXPECTED_ADDRESS = "expected an address that begins with https://, without spaces, quotes and angle brackets"


def data_directory() -> Traversable:
    """Return the directory of the catalogue's own data files."""
    return files("arcademark.catalogue") / "data"


@cache
def read_names(directory: Path | None = None) -> tuple[str, ...]:
    """Return the collections' names in alphabetical order."""
    place = directory or data_directory()
    result = (item.name for item in (place / "entries").iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in result if name.endswith(".toml")))


@cache
def read_bibtex(directory: Path | None = None) -> Mapping[str, tuple[str, str]]:
    """Return address and BibTeX entry of the papers that have them, by key."""
    rows = tables.read_tables("sources.toml", directory or data_directory())
    return {key: (row["url"], row["bibtex"]) for key, row in rows.items() if "bibtex" in row}


@cache
def read_sources(directory: Path | None = None) -> Mapping[str, Source]:
    """Return the papers by key, each with authors, title, venue and year."""
    result = {}
    for key, row in tables.read_tables("sources.toml", directory or data_directory()).items():
        with _at(f"sources.toml, [{key}]"):
            result[key] = source_of(key, row)
    return result


@cache
def read_entries(collection: str, directory: Path | None = None) -> Mapping[str, Entry]:
    """Return a collection's entries by algorithm, in the file's order."""
    name = f"{collection}.toml"
    known = read_sources(directory)
    rows = tables.read_tables(name, (directory or data_directory()) / "entries")
    result = {}
    for algorithm, row in rows.items():
        with _at(f"entries/{name}, [{algorithm}]"):
            result[algorithm] = entry_of(collection, algorithm, row, known)
    return result


@cache
def read_results(collection: str, directory: Path | None = None) -> tuple[Result, ...]:
    """Return a collection's scores in the file's order; entries without any must have ``unavailable``."""
    entries = read_entries(collection, directory)
    name = f"{collection}.csv"
    results: dict[tuple[str, str], Result] = {}
    for line, row in enumerate(tables.read_rows(name, (directory or data_directory()) / "scores"), start=2):
        with _at(f"scores/{name}, line {line}"):
            check_columns(tuple(row))
            if result := result_of(row, entries, results):
                results[result.entry.algorithm, result.task] = result
    for problem in lost_problems(entries, (algorithm for algorithm, _ in results)):
        raise ArcadeMarkError(f"scores/{name}: {problem}")
    return tuple(results.values())


@cache
def read_checkpoints(directory: Path | None = None) -> tuple[PublishedCheckpoint, ...]:
    """Return the checkpoints of learning curves, from a table with a row per checkpoint and a column per game."""
    result = []
    for line, row in enumerate(tables.read_rows("checkpoints.csv", directory or data_directory()), start=2):
        with _at(f"checkpoints.csv, line {line}"):
            collection, algorithm, frames, *cells = row.values()
            entries = read_entries(collection, directory)
            _refuse_unknown("algorithm", algorithm, entries)
            scores = {task: float(cell) for task, cell in zip([*row][3:], cells, strict=True) if cell}
            for task, score in scores.items():
                _refuse_unknown("game", task, tasks.games())
                if not math.isfinite(score):
                    raise ValueError(f"the score of {task!r} is not finite; correct it")
            result.append(PublishedCheckpoint(entries[algorithm], int(frames), scores))
    return tuple(result)


class SourceRow(msgspec.Struct, forbid_unknown_fields=True):
    """The table of a paper in ``sources.toml``; BibTeX requires an address."""

    authors: Text
    title: Text
    venue: Text
    year: int
    url: Text = ""
    bibtex: Text = ""

    def __post_init__(self) -> None:
        if self.url and not ADDRESS.fullmatch(self.url):
            raise ValueError(f"url is {one_line(self.url, 80)!r}, {EXPECTED_ADDRESS}")
        if self.bibtex and not self.url:
            raise ValueError("'bibtex' requires a 'url'; add it, or leave both out")


class EntryRow(msgspec.Struct, forbid_unknown_fields=True):
    """The table of an algorithm in a file of entries; the fields are those of `Entry`, papers by their keys."""

    kind: AlgorithmKind
    paper: str
    source: Text
    table: Text
    protocol: str
    reported: Reported
    hand: Hand
    training_frames: Annotated[int, msgspec.Meta(ge=0)] | None = None
    read_in: str = ""
    settings: dict[str, SettingValue] = {}
    assumed: tuple[str, ...] = ()
    unavailable: str = ""
    note: str = ""
    same_as: str = ""

    def __post_init__(self) -> None:
        if (self.hand == "second") != bool(self.read_in):
            raise ValueError("'read_in' is required with hand = \"second\", and only then; correct it")
        if not all(math.isfinite(value) for value in self.settings.values() if isinstance(value, float)):
            raise ValueError("settings contain a number that is not finite; correct it")
        for name in self.assumed:
            _refuse_unknown("assumed setting", name, self.settings)


class ResultRow(msgspec.Struct):
    """A row of a table of scores; an empty cell is unknown."""

    algorithm: str
    task: str
    score: float | None
    uncertainty: float | None
    uncertainty_kind: str
    runs: Annotated[int, msgspec.Meta(ge=1, le=10**9)] | None
    note: str
    as_published: float | None = None
    per_run: list[float] = []

    def __post_init__(self) -> None:
        numbers = [number for number in (self.score, self.uncertainty, self.as_published) if number is not None]
        if not all(map(math.isfinite, (*numbers, *self.per_run))):
            raise ValueError("a number is not finite; correct it")
        if (self.uncertainty is None) == bool(self.uncertainty_kind):
            raise ValueError("an uncertainty and its kind belong together; give both or neither")
        if self.per_run and (self.score is not None or self.runs):
            raise ValueError("'score' and 'runs' follow from the scores per run; leave them empty")
        if self.score is None and not self.per_run:
            raise ValueError("the score is empty, expected a finite number")


def source_of(key: str, row: object) -> Source:
    """Return the paper of a table; raise a `ValueError` if the table is wrong."""
    read = msgspec.convert(row, SourceRow)
    return Source(key, read.authors, read.title, read.venue, read.year)


def entry_of(collection: str, algorithm: str, row: object, known: Mapping[str, Source]) -> Entry:
    """Return the entry of a table, with papers by key; raise a `ValueError` if the table is wrong."""
    read = msgspec.convert(row, EntryRow)
    for key in (read.source, *filter(None, [read.paper])):
        _refuse_unknown("source", key, known)
    if read.protocol:
        _refuse_unknown("protocol", read.protocol, protocols.protocols())
    fields = msgspec.structs.asdict(read) | {
        "paper": known.get(read.paper),
        "source": known[read.source],
        "settings": read.settings,
    }
    return Entry(collection, algorithm, **fields)


def check_columns(columns: tuple[str, ...]) -> None:
    """Raise a `ValueError` if the header of a table of scores is wrong."""
    if columns not in (COLUMNS, (*COLUMNS, AS_PUBLISHED), (*COLUMNS, PER_RUN)):
        raise ValueError(f"the columns are {', '.join(columns)}; expected {', '.join(COLUMNS)}")


def result_of(
    row: Mapping[str, str], entries: Mapping[str, Entry | None], others: Collection[tuple[str, str]]
) -> Result | None:
    """Return the score of a row, None if its entry is None; raise a `ValueError` if the row is wrong.

    `entries` are by algorithm, `others` the (algorithm, task) pairs that already have a score.
    """
    cells: dict[str, Any] = {name: cell or None for name, cell in row.items()}
    cells |= {name: row[name] for name in ("algorithm", "task", "uncertainty_kind", "note")}
    read = msgspec.convert(cells | {PER_RUN: row.get(PER_RUN, "").split()}, ResultRow, strict=False)
    _refuse_unknown("algorithm", read.algorithm, entries)
    _refuse_unknown("game", read.task, tasks.games())
    if (read.algorithm, read.task) in others:
        raise ValueError(f"a second score for {read.algorithm!r} on {read.task!r}; keep one")
    if (entry := entries[read.algorithm]) is None:
        return None
    return Result(
        entry,
        read.task,
        math.fsum(read.per_run) / len(read.per_run) if read.score is None else read.score,
        read.uncertainty,
        read.uncertainty_kind,
        len(read.per_run) or read.runs,
        read.note,
        read.as_published,
        tuple(read.per_run),
    )


def lost_problems(entries: Mapping[str, Entry], scored: Iterable[str]) -> Iterator[str]:
    """Yield a problem for each algorithm that has scores although its entry is `unavailable`, or none although not."""
    having = set(scored)
    for algorithm, entry in entries.items():
        if (algorithm in having) == bool(entry.unavailable):
            has = "has scores, but its entry has" if entry.unavailable else "has no scores; give the reason in"
            yield f"{algorithm!r} {has} 'unavailable'"


@contextmanager
def _at(where: str) -> Iterator[None]:
    """Add the place to a `ValueError`."""
    try:
        yield
    except ValueError as error:
        raise ArcadeMarkError(f"{where}: {error}") from None


def _refuse_unknown(kind: str, name: str, known: Collection[str]) -> None:
    if name not in known:
        raise ValueError(str(UnknownNameError(kind, name, known)))
