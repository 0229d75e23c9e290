"""Recognises the format of a file by its content, and reads the file in that format."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from arcademark import plugins
from arcademark.errors import ArcadeMarkError, one_line
from arcademark.scores.readers import rliable
from arcademark.scores.readers.arrays import (
    NO_PICKLE,
    archive_names,
    json_lines,
    json_records,
    load_json,
    parse_json,
)
from arcademark.scores.readers.base import Log, Options, Reading, UnrecognisedError, canonical, listed
from arcademark.scores.readers.content import GZIP, MAX_JSON_BYTES, read_head, unpacked
from arcademark.scores.readers.logs import rllib, series, stable_baselines, tensorboard
from arcademark.scores.readers.logs.naming import names_of_table, with_names_of_runs
from arcademark.scores.readers.piped import PipedFile
from arcademark.scores.readers.sheets.nested import nested_sheet
from arcademark.scores.readers.sheets.reading import read_sheet
from arcademark.scores.readers.sheets.shapes import check_name
from arcademark.scores.readers.sheets.sheet import Sheet
from arcademark.scores.readers.sheets.unnamed import with_names
from arcademark.scores.readers.sheets.workbooks import is_workbook
from arcademark.scores.readers.tables import layouts, roles
from arcademark.scores.table import ScoreTable

FORMATS: Mapping[str, str] = {
    "long": "CSV, TSV or Parquet with a row per score: algorithm, game, score, and run, episode, frames, protocol",
    "wide": "CSV, TSV or Parquet, game × algorithm or algorithm × game",
    "sb3-monitor": "Stable-Baselines3's monitor.csv",
    "sb3-evaluations": "Stable-Baselines3's evaluations.npz",
    "rllib": "RLlib's result.json",
    "tensorboard": "TensorBoard's event files",
    "metrics-csv": "CSV with a column per series: of Stable-Baselines3, RLlib, DQN Zoo, W&B's run history",
    "wandb": "CSV that W&B exports of several runs",
    "rliable": "rliable's arrays (runs, games) by algorithm: .npz, .npy or JSON",
    "arcademark-run": "a folder that a run was played into",
}
"""The built-in formats, and their descriptions."""

PLUGINS = "arcademark.readers"
"""Entry points of other packages' readers: functions of a path that return a `ScoreTable`, scores by algorithm and task
or a DataFrame, or None where the file is not of their kind."""

_JSON = re.compile(rb'\{\s*(?:["}]|\Z)|\[\s*(?:["\[{\]\d.-]|null|NaN|Infinity|true|false|\Z)')
"""The beginning of objects and lists of JSON, and of no other text in brackets."""

Read = Reading | list[Log]

_LOGS: Mapping[str, tuple[Callable[[Sheet], bool], Callable[[Sheet, Options], Read]]] = {
    "wandb": (series.is_wandb, series.read_wandb),
    "metrics-csv": (series.is_metrics, series.read_metrics),
}
"""Functions that recognise a log that is a table, in this order, and that read it."""

_FILES: Mapping[str, Callable[[Path, Options], Read]] = {
    "sb3-monitor": stable_baselines.read_monitor,
    "sb3-evaluations": stable_baselines.read_evaluations,
    "rllib": rllib.read_result,
    "tensorboard": tensorboard.read_events,
}


@dataclass(frozen=True)
class Recognised:
    """A file with its recognised format, and the content read on the way.

    `relative` is its path below the named folder; for a single file, its path as given.
    """

    path: Path
    relative: Path
    format: str
    content: Any


def recognise(path: Path, relative: Path, format: str | None = None, options: Options | None = None) -> Recognised:
    """Recognise a file's format, or take the one given; raise `UnrecognisedError` for an unknown format."""
    options = options or Options()
    if os.path.isdir(path):
        raise ArcadeMarkError(f"{path}: is a folder; expected a file")
    if format is not None and format not in FORMATS:
        return by_plugin(path, relative, format)
    if read_head(path).startswith(GZIP):
        path = unpacked(path)
    try:
        kind, content = (format, None) if format in _FILES else _recognised(path, relative, format, options)
    except UnrecognisedError as error:
        if format is not None or not plugins.names(PLUGINS):
            raise
        try:
            return by_plugin(path, relative)
        except UnrecognisedError:
            raise error from None
    if format is not None and kind != format:
        raise ArcadeMarkError(f"{path}: is no file of format {format!r}; it looks like {kind!r}")
    return Recognised(path, relative, str(kind), content)


def by_plugin(path: Path, relative: Path, format: str | None = None) -> Recognised:
    """Read a file with another package's reader: the named one, else the first that recognises it."""
    for name in plugins.names(PLUGINS) if format is None else [format]:
        reader = plugins.named(PLUGINS, name)
        try:
            scores = None if isinstance(path, PipedFile) or reader is None else reader(path)
        except ArcadeMarkError:
            raise
        except Exception as error:
            raise ArcadeMarkError(
                f"{path}: the reader {name!r} of another package raised {type(error).__name__}: "
                f"{one_line(str(error))}; tell its authors, or give another format="
            ) from error
        if scores is None:
            continue
        try:
            return Recognised(path, relative, name, ScoreTable.from_any(scores))
        except ArcadeMarkError as error:
            raise ArcadeMarkError(
                f"{path}: the reader {name!r} of another package gave no table of scores: {error}; tell its authors"
            ) from error
    raise UnrecognisedError(f"{path}: no reader of another package knows this file")


def read(file: Recognised, options: Options) -> Read:
    """Read a file in its recognised format."""
    content = file.content
    if isinstance(content, ScoreTable):
        tasks = tuple(canonical(str(file.path), task, options.canonical_task) for task in content.tasks)
        sources = tuple(source or str(file.path) for source in content.sources)
        return Reading.of_table(replace(content, tasks=tasks, sources=sources), file.format, file.path)
    if isinstance(content, Sheet):
        sheet = replace(content, decimal=options.decimal)
        return _LOGS[file.format][1](sheet, options) if file.format in _LOGS else layouts.read_table(sheet, options)
    if file.format == "rliable":
        given = content is not None
        return rliable.read_object(file.path, content, options) if given else rliable.read_file(file.path, options)
    return _FILES[file.format](file.path, options)


def _recognised(path: Path, relative: Path, format: str | None, options: Options) -> tuple[str, Any]:
    head = read_head(path)
    if head[:4] in (b"PK\x03\x04", b"PK\x05\x06") and not is_workbook(members := archive_names(path)):
        if members and not any(name.endswith((".npy", "/")) for name in members):
            raise UnrecognisedError(f"{path}: is an archive of {one_line(listed(members), 200)}; unpack it first")
        return ("sb3-evaluations" if {"timesteps.npy", "results.npy"} <= {*members} else "rliable"), None
    if head.startswith(b"\x93NUMPY"):
        return "rliable", None
    if head.startswith(GZIP) or head[257:262] == b"ustar":
        raise UnrecognisedError(f"{path}: is an archive, or compressed twice; unpack it first, as with tar -xzf")
    if head[:1] == b"\x80" and head[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05"):
        raise UnrecognisedError(f"{path}: {NO_PICKLE}")
    if tensorboard.is_events(head):
        return "tensorboard", None
    if head.startswith(b"PAR1"):
        return _layout(read_sheet(path), relative, format, options)
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if start.startswith(b"#!"):
        raise UnrecognisedError(
            f"{path}: is a program; expected a table of scores. 'arcademark run --agent-command {path}' plays one"
        )
    if start.startswith(b"#") and start[1:].lstrip()[:1] == b"{":
        return "sb3-monitor", None
    if _JSON.match(start):
        return _json(path, relative, options)

    def fits(sheet: Sheet) -> bool:
        return bool(layouts.read_table(with_names(sheet, options.tag, options.is_game), options))

    sheet = read_sheet(path, options.decimal, options.table, fits, options.is_game)
    return _layout(sheet, relative, format, options)


def _json(path: Path, relative: Path, options: Options) -> tuple[str, Any]:
    lines = json_lines(path)
    row, line = next(lines)
    first, more = line.rstrip(), next(lines, None) is not None
    if first.endswith("}") and rllib.is_result(parse_json(path, first, row)):
        return "rllib", None
    content: Any
    if first.endswith("}") and more:
        content = [record for _, record in json_records(path, MAX_JSON_BYTES)]
    else:
        content = load_json(path)
    sheet = nested_sheet(path, content, options)
    if sheet is not None:
        return _layout(sheet, relative, None, options)
    if isinstance(content, dict) and content and all(isinstance(value, list) for value in content.values()):
        return "rliable", content
    raise UnrecognisedError(
        f"{path}: JSON, but no scores in a known form; expected RLlib's results, records of scores, or an object "
        "of algorithms and games to scores"
    )


def _layout(sheet: Sheet, relative: Path, format: str | None, options: Options) -> tuple[str, Sheet]:
    """Return the format of a table: that of a log, or by the roles of its columns, with names from its path."""
    if format in _LOGS:
        return str(format), sheet
    sheet = with_names_of_runs(with_names(sheet, options.tag, options.is_game))
    if format is None and not options.roles and not roles.is_long(sheet):
        for name, (holds, _) in _LOGS.items():
            if holds(sheet) or (name == "metrics-csv" and options.tag in sheet.header):
                return name, sheet
    named = names_of_table(relative, options)
    sheet = replace(sheet, algorithm=named.algorithm, task=named.task, run=named.run)
    layout = roles.interpret(sheet, options).layout
    if options.table is None:
        check_name(sheet)
    return layout, sheet
