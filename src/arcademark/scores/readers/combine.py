"""Puts what was read from several files into one table, run by run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from arcademark.errors import ArcadeMarkError
from arcademark.scores.readers.base import Reading, listed
from arcademark.scores.table import ScoreTable

_Key = tuple[str, str, int]


def combine(readings: Sequence[Reading]) -> Reading:
    """Put the scores of several readings, at least one, into one.

    An algorithm may stand in several of them with other tasks or runs.

    Raises
    ------
    ArcadeMarkError
        Where two give a score to the same run, or an algorithm two protocols.
    """
    if len(readings) == 1:
        return readings[0]
    owners: dict[_Key, Reading] = {}
    scores: dict[_Key, float] = {}
    for reading in readings:
        for key, score in _cells(reading):
            if key in owners:
                raise ArcadeMarkError(
                    f"{listed(reading.files)}: a second score for {key[0]!r} on {key[1]!r}, run {key[2]} (the first is "
                    f"from {listed(owners[key].files)}); leave one file out, or name runs or algorithms apart"
                )
            owners[key], scores[key] = reading, score
    table = ScoreTable.from_rows(
        ((*key, score) for key, score in scores.items()), protocols=_protocols(readings), sources=_sources(readings)
    )
    runs = {name: tuple(sorted({run for a, _, run in scores if a == name})) for name in table.algorithms}
    return Reading(
        table,
        " + ".join(dict.fromkeys(name for reading in readings for name in reading.format.split(" + "))),
        _notes(readings),
        sum(reading.rows_read for reading in readings),
        sum(reading.rows_left_out for reading in readings),
        _episodes(readings),
        tuple(dict.fromkeys(path for reading in readings for path in reading.files)),
        runs,
    )


def _cells(reading: Reading) -> Iterator[tuple[_Key, float]]:
    """Go through a reading's cells, in the table's order; a task or run of which nothing is scored is kept as NaN."""
    table = reading.table
    present = ~np.isnan(table.scores)
    for a, algorithm in enumerate(table.algorithms):
        for t, task in enumerate(table.tasks):
            for r, run in enumerate(reading.runs[algorithm]):
                if present[a, t, r] or not present[a, t].any():
                    yield (algorithm, task, run), float(table.scores[a, t, r])


def _protocols(readings: Sequence[Reading]) -> dict[str, str]:
    found: dict[str, tuple[str, Reading]] = {}
    for reading in readings:
        for name, protocol in zip(reading.table.algorithms, reading.table.protocols, strict=True):
            old, owner = found.setdefault(name, (protocol, reading))
            if old != protocol:
                here, there = (repr(text) if text else "no named protocol" for text in (protocol, old))
                raise ArcadeMarkError(
                    f"{listed(reading.files)}: {name!r} is scored under {here} here and under {there} in "
                    f"{listed(owner.files)}; an algorithm's scores are of one protocol: name the two apart"
                )
    return {name: protocol for name, (protocol, _) in found.items()}


def _sources(readings: Sequence[Reading]) -> dict[str, str]:
    found: dict[str, list[str]] = {}
    for reading in readings:
        for name, source in zip(reading.table.algorithms, reading.table.sources, strict=True):
            found.setdefault(name, []).append(source)
    return {name: listed(list(dict.fromkeys(sources))) for name, sources in found.items()}


def _notes(readings: Sequence[Reading]) -> tuple[str, ...]:
    said: dict[str, list[str]] = {}
    for reading in readings:
        for note in reading.notes:
            said.setdefault(note, []).append(listed(reading.files))
    return tuple(note if len(places) == len(readings) else f"{listed(places)}: {note}" for note, places in said.items())


def _episodes(readings: Sequence[Reading]) -> dict[tuple[str, str], tuple[NDArray[np.float64], ...]] | None:
    found: dict[tuple[str, str], tuple[NDArray[np.float64], ...]] = {}
    for reading in readings:
        for cell, parts in (reading.episodes or {}).items():
            found[cell] = (*found.get(cell, ()), *parts)
    return found or None
