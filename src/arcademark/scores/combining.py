"""Combines the scores of several files into one table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from arcademark.errors import ArcadeMarkError
from arcademark.grouping import grouped
from arcademark.scores.readers.base import Episodes, Reading, listed, numbers_of_runs
from arcademark.scores.table import ScoreTable

_Key = tuple[str, str, int]


def combine(readings: Sequence[Reading]) -> Reading:
    """Combine several readings, at least one, into one.

    An algorithm may be in several of them, with different tasks or runs, under one protocol.
    """
    if len(readings) == 1:
        return readings[0]
    owners: dict[_Key, Reading] = {}
    scores: dict[_Key, float] = {}
    for reading, key, score in ((one, *cell) for one in readings for cell in _cells(one)):
        if key in owners:
            raise ArcadeMarkError(
                f"{listed(reading.files)}: a second score for {key[0]!r} on {key[1]!r}, run {key[2]} (the first is "
                f"from {listed(owners[key].files)}); leave one file out, or give the runs or algorithms different names"
            )
        owners[key], scores[key] = reading, score
    table = ScoreTable.from_rows(
        ((*key, score) for key, score in scores.items()), protocols=_protocols(readings), sources=_sources(readings)
    )
    return Reading(
        table,
        " + ".join(dict.fromkeys(name for reading in readings for name in reading.format.split(" + "))),
        _notes(readings),
        sum((Counter(reading.amounts) for reading in readings), Counter[str]()),
        _episodes(readings),
        tuple(dict.fromkeys(path for reading in readings for path in reading.files)),
        numbers_of_runs(scores),
        frozenset(name for reading in readings for name in reading.one_seed),
        tuple(dict.fromkeys(name for reading in readings for name in reading.ignored)),
        tuple(f"{listed(reading.files)}: {text}" for reading in readings for text in reading.explained),
    )


def _cells(reading: Reading) -> Iterator[tuple[_Key, float]]:
    """Yield a reading's cells in the table's order; a task without any score is kept, as NaN."""
    table = reading.table
    present = ~np.isnan(table.scores)
    for a, algorithm in enumerate(table.algorithms):
        for t, task in enumerate(table.tasks):
            for r, run in enumerate(reading.runs[algorithm]):
                if present[a, t, r] or not present[a, t].any():
                    yield (algorithm, task, run), float(table.scores[a, t, r])


def _protocols(readings: Sequence[Reading]) -> dict[str, str]:
    result: dict[str, tuple[str, Reading]] = {}
    for reading in readings:
        for name, protocol in zip(reading.table.algorithms, reading.table.protocols, strict=True):
            old, owner = result.setdefault(name, (protocol, reading))
            if old != protocol:
                new, first = (repr(text) if text else "no named protocol" for text in (protocol, old))
                raise ArcadeMarkError(
                    f"{listed(reading.files)}: {name!r} is scored under {new} here and under {first} in "
                    f"{listed(owner.files)}; an algorithm has one protocol: give the two different names"
                )
    return {name: protocol for name, (protocol, _) in result.items()}


def _sources(readings: Sequence[Reading]) -> dict[str, str]:
    tables = [reading.table for reading in readings]
    result = grouped(pair for table in tables for pair in zip(table.algorithms, table.sources, strict=True))
    return {name: listed(list(dict.fromkeys(sources))) for name, sources in result.items()}


def _notes(readings: Sequence[Reading]) -> tuple[str, ...]:
    noted = grouped((note, listed(reading.files)) for reading in readings for note in reading.notes)
    return tuple(
        note if len(places) == len(readings) else f"{listed(places)}: {note}" for note, places in noted.items()
    )


def _episodes(readings: Sequence[Reading]) -> Episodes | None:
    items = [item for reading in readings for item in (reading.episodes or {}).items()]
    result = grouped((cell, part) for cell, parts in items for part in parts)
    return {cell: tuple(parts) for cell, parts in result.items()} or None
