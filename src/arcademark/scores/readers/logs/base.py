"""From logs of single runs to a `Reading`: named, put in order, and the last k values averaged."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from arcademark.errors import ArcadeMarkError
from arcademark.grouping import grouped
from arcademark.scores.readers.base import (
    DEFAULT_LAST,
    OPTION,
    Episodes,
    Log,
    Options,
    Reading,
    listed,
    numbers_of_runs,
)
from arcademark.scores.readers.logs.naming import is_foreign, resolve
from arcademark.scores.readers.tables.rows import how_last
from arcademark.scores.table import ScoreTable
from arcademark.wording import plural

_Key = tuple[str, str, int]


def collect_logs(logs: Sequence[tuple[Log, Path]], format: str, options: Options) -> Reading:
    """Make a table of logs of one run on one task, each with its path below the named folder."""
    every = by_run(logs, options)
    runs = {key: _of_evaluation(parts) for key, parts in every.items()}
    merged = {key: merge(key, parts) for key, parts in runs.items()}
    values = {
        key: log.values if log.earlier is not None else log.values[-(options.last or DEFAULT_LAST[log.unit]) :]
        for key, log in merged.items()
    }
    if not any(map(len, values.values())):
        files = listed(list(dict.fromkeys(str(log.path) for log, _ in logs)))
        raise ArcadeMarkError(f"{files}: no score in the log (no episode finished, or all are NaN); let the run go on")
    notes = _notes(logs, runs, merged, options)
    trained = [log.place for key, parts in every.items() for log in parts if not any(log is one for one in runs[key])]
    if trained:
        notes.append(
            f"{plural(len(trained), 'log')} of training left out beside those of evaluation: {listed(trained)}"
        )
    table = ScoreTable.from_rows(
        ((*key, float(scores.mean()) if len(scores) else np.nan) for key, scores in values.items()),
        sources=_sources(runs),
    )
    amounts = Counter[str]()
    for log in merged.values():
        amounts[log.unit] += len(log.values) + (log.earlier or 0)
    read, used = amounts.total(), sum(map(len, values.values()))
    if read - used:
        notes.append(f"{plural(read - used, 'earlier value')} of {read:,} left out of the scores")
    return Reading(
        table,
        format,
        tuple(notes),
        amounts,
        _episodes(merged, values),
        tuple(dict.fromkeys(log.path for log, _ in logs)),
        numbers_of_runs(values),
        explained=_explained(runs),
    )


_EVALUATION = frozenset({"eval", "evaluation", "evaluator", "evaluations", "test"})


def _of_evaluation(parts: list[Log]) -> list[Log]:
    """Return the logs of evaluation, where some lie beside those of the same run's training."""
    evaluated = [log for log in parts if _EVALUATION & {part.lower() for part in log.path.parent.parts[-2:]}]
    return evaluated or parts


def _explained(runs: Mapping[_Key, Sequence[Log]]) -> tuple[str, ...]:
    """Describe each log: its algorithm, task and run, and the series of its scores."""
    series = {"episode": "episodes", "average": "averages"}
    return tuple(
        f"{log.place}: {algorithm!r} on {task!r}, run {run}; scores are {log.series or 'the only series'}, "
        f"{series[log.unit]}"
        for (algorithm, task, run), parts in runs.items()
        for log in parts
    )


def _sources(runs: Mapping[_Key, Sequence[Log]]) -> dict[str, str]:
    """Name each algorithm's file, or the folder that holds all of its files."""
    paths = grouped((algorithm, log.path) for (algorithm, _, _), parts in runs.items() for log in parts)
    return {
        name: str(result[0])
        if len(set(result)) == 1
        else os.path.commonpath([os.path.abspath(path) for path in result])
        for name, result in paths.items()
    }


def by_run(logs: Sequence[tuple[Log, Path]], options: Options) -> Mapping[_Key, list[Log]]:
    """Gather logs, each with its path below the named folder, by algorithm, task and run."""
    counted = Counter[tuple[str, str]]()
    logs = [pair for pair in logs if not is_foreign(*pair, options)] or logs[:1]
    named = [resolve(log, relative, options) for log, relative in logs]
    numbers = grouped(((algorithm, task), run) for algorithm, task, run in named if run is not None)
    runs: list[tuple[_Key, Log]] = []
    for (algorithm, task, run), (log, _) in zip(named, logs, strict=True):
        others = sorted(set(numbers.get((algorithm, task), ())))
        if run is None and log.label:
            run = counted[algorithm, task]
            counted[algorithm, task] += 1
        elif run is None and len(others) > 1:
            raise ArcadeMarkError(
                f"{log.place}: nothing says of which of the runs {listed(others)} of {algorithm!r} on {task!r} this "
                f"is; say it with {OPTION['pattern']} and {{seed}}, or choose one kind of file with {OPTION['format']}"
            )
        elif run is None:
            run = others[0] if others else 0
        runs.append(((algorithm, task, run), log))
    return grouped(runs)


def merge(key: _Key, parts: Sequence[Log]) -> Log:
    """Merge a run's logs: those that parallel environments, or a resumed run, left in one folder."""
    first = parts[0]
    if len(parts) == 1:
        return first
    apart = [log for log in parts if log.times is None or log.path.parent != first.path.parent]
    if apart:
        second = next((log for log in apart if log is not first), parts[1])
        raise ArcadeMarkError(
            f"{second.place}: a second log of {key[0]!r} on {key[1]!r}, run {key[2]} (the first is {first.place}); "
            f"name their runs apart with {OPTION['pattern']} and {{seed}}, or choose one kind of file with "
            f"{OPTION['format']}"
        )
    times = np.concatenate([log.times for log in parts if log.times is not None])
    order = np.argsort(times, kind="stable")
    return replace(
        first,
        values=np.concatenate([log.values for log in parts])[order],
        times=times[order],
        steps=_joined([log.steps for log in parts], order),
        lengths=_joined([log.lengths for log in parts], order),
        notes=(),
    )


def _joined(parts: Sequence[NDArray[np.float64] | None], order: NDArray[np.int64]) -> NDArray[np.float64] | None:
    known = [part for part in parts if part is not None]
    return np.concatenate(known)[order] if len(known) == len(parts) else None


def _notes(
    logs: Sequence[tuple[Log, Path]], runs: Mapping[_Key, list[Log]], merged: Mapping[_Key, Log], options: Options
) -> list[str]:
    (algorithm, task, run), parts = next(iter(runs.items()))
    notes = [f"{parts[0].place} is read as {algorithm!r} on {task!r}, run {run}"]
    cut = [log for log in merged.values() if log.earlier is None]
    for unit in dict.fromkeys(log.unit for log in cut):
        numbers = np.array([len(log.values) for log in cut if log.unit == unit and len(log.values)])
        if len(numbers):
            notes += how_last(options.last or DEFAULT_LAST[unit], unit, numbers)
    empty = [log.place for log in merged.values() if not len(log.values)]
    if empty:
        notes.append(f"{plural(len(empty), 'log')} without a score, missing in the table: {listed(empty)}")
    foreign = list(dict.fromkeys(log.place for log, relative in logs if is_foreign(log, relative, options)))
    if foreign:
        notes.append(f"{plural(len(foreign), 'log')} left out, of none of the games: {listed(foreign)}")
    parallel = sum(len(parts) > 1 for parts in runs.values())
    if parallel:
        notes.append(f"{plural(parallel, 'run')} put together from several files of one folder, in the order of time")
    said = Counter(note for log, _ in logs for note in log.notes)
    return notes + [
        note if number == len(logs) else f"{note} ({plural(number, 'log')})" for note, number in said.items()
    ]


def _episodes(merged: Mapping[_Key, Log], values: Mapping[_Key, NDArray[np.float64]]) -> Episodes | None:
    keys = sorted(key for key, log in merged.items() if log.unit == "episode" and len(values[key]))
    return {cell: tuple(parts) for cell, parts in grouped((key[:2], values[key]) for key in keys).items()} or None
