"""Reads tables and logs of scores in many formats, which are recognised and reported.

Conventions
-----------
* One entry point, `read_tables`, takes files and folders.
* A format is recognised by a file's content, not by its name; `format` overrides this.
* `arcademark.scores.readers.logs.naming` finds the algorithm, task or run of scores whose file does not state them.
"""

from __future__ import annotations

import dataclasses
import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from arcademark import plugins
from arcademark.errors import ArcadeMarkError, UnknownNameError
from arcademark.records import imported
from arcademark.scores.combining import combine
from arcademark.scores.readers import formats
from arcademark.scores.readers.base import Log, Options, Reading, UnrecognisedError, listed
from arcademark.scores.readers.formats import FORMATS, Read, Recognised, by_plugin, recognise
from arcademark.scores.readers.logs.base import collect_logs
from arcademark.scores.readers.logs.naming import folder_of_events, matches
from arcademark.scores.readers.piped import place
from arcademark.scores.readers.words.log_names import LOGS
from arcademark.wording import plural

__all__ = ["FORMATS", "Reading", "read_logs", "read_tables"]

_ORIGINALS = ("sb3-monitor", "rllib")
_COPIES = {"tensorboard": (*_ORIGINALS, "metrics-csv"), "metrics-csv": _ORIGINALS}
"""Formats in which tools repeat the scores of logs in other formats in the same folder."""

MAX_FILES = 50_000
"""Largest number of files in a folder."""
MAX_DEPTH = 32
"""Largest depth of nested folders."""
_TOO_MANY = f"holds more than {MAX_FILES:,} files, the most that are looked at; name a folder further down"


def read_tables(
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]], *, format: str | None = None, **options: Any
) -> Reading:
    """Read files and folders of scores into one table.

    Parameters
    ----------
    paths : path or sequence of paths
        Files, folders that are searched for files at any depth, or directories of runs; "-" is standard input.
    format : str, optional
        One of `FORMATS`, or a format of another package's reader; recognised by default. Other files in a folder are
        left out.
    **options
        Fields of `Options`: facts that the files do not state.

    Raises
    ------
    ArcadeMarkError
        If there are no scores, or a file cannot be read; with file, row and column, the reason and the remedy.
    """
    given = options_of(format, **options)
    files, notes = _find(paths, format, given)
    reading = _read(files, given, notes)
    return dataclasses.replace(reading, notes=(*reading.notes, *notes))


def read_logs(
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]], *, format: str | None = None, **options: Any
) -> tuple[list[tuple[Log, Recognised]], tuple[str, ...]]:
    """Read files and folders of logs of training; see `read_tables`. Tables of scores are left out, with a note."""
    given = options_of(format, **options)
    files, notes = _find(paths, format, given)
    logs: list[tuple[Log, Recognised]] = []
    tables = [file.relative for file in files if file.format == "arcademark-run"]
    for file, result in _contents([file for file in files if file.format != "arcademark-run"], given, notes):
        if isinstance(result, Reading):
            tables.append(file.relative)
        else:
            logs += [(log, file) for log in result]
    if not logs:
        raise ArcadeMarkError(f"{listed(tables)}: no log of training, but scores; 'arcademark report' shows them")
    if tables:
        notes.append(f"{plural(len(tables), 'file')} left out, tables of scores: {listed(tables)}")
    return logs, tuple(notes)


def options_of(format: str | None = None, **options: Any) -> Options:
    """Return the options of `read_tables`; refuse unknown ones and an unknown format."""
    known = (*FORMATS, *plugins.names(formats.PLUGINS))
    if format is not None and format not in known:
        raise UnknownNameError("format", format, known)
    return Options(**options)


def runs_in(folder: Path) -> tuple[Path, ...]:
    """Return the runs in a folder; none if it contains other scores, too."""
    files, _ = _find(folder, None, Options())
    return tuple(file.path for file in files) if {file.format for file in files} == {"arcademark-run"} else ()


def _find(
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]], format: str | None, options: Options
) -> tuple[list[Recognised], list[str]]:
    """Return the files to read, and notes on those left out."""
    roots = [place(path) for path in ([paths] if isinstance(paths, str | os.PathLike) else paths)]
    if not roots:
        raise ArcadeMarkError("no tables given; name at least one file or folder")
    _refuse_repeated(roots)
    files: list[Recognised] = []
    notes: list[str] = []
    for root in roots:
        if os.path.isdir(root):
            result, left_out = _in_folder(root, format, options)
            files += result
            notes += left_out
        else:
            files.append(recognise(root, root, format, options))
    _refuse_repeated(file.path for file in files)
    return files, notes


def _refuse_repeated(paths: Iterable[Path]) -> None:
    twice = [path for path, number in Counter(map(_where, paths)).items() if number > 1]
    if twice:
        raise ArcadeMarkError(f"{twice[0]}: is named twice; name each file once")


def _where(path: Path) -> str:
    try:
        return os.path.realpath(path)  # of a link to itself, too
    except ValueError:  # characters that no file name can contain
        return str(path)


def _contents(files: Sequence[Recognised], options: Options, notes: list[str]) -> Iterator[tuple[Recognised, Read]]:
    """Read files; those without a score are left out, with a note, unless no file has any."""
    without: dict[Path, UnrecognisedError] = {}
    for file in files:
        try:
            content = _played(file.path) if file.format == "arcademark-run" else formats.read(file, options)
        except UnrecognisedError as error:
            without[file.relative] = error
        else:
            yield file, content
    if without and len(without) == len(files):
        raise next(iter(without.values()))
    if without:
        notes.append(f"{plural(len(without), 'file')} left out, without a series of scores: {listed(list(without))}")


def _read(files: Sequence[Recognised], options: Options, notes: list[str]) -> Reading:
    logs: list[tuple[Log, Path]] = []
    kinds: list[str] = []
    readings: list[Reading] = []
    for file, result in _contents(files, options, notes):
        if isinstance(result, Reading):
            readings.append(result)
        else:
            kinds.append(file.format)
            logs += [(log, file.relative) for log in result]
    if logs:
        readings.append(collect_logs(logs, " + ".join(dict.fromkeys(kinds)), options))
    return combine(readings)


def _played(directory: Path) -> Reading:
    from arcademark.scores.runs import load_run

    scored = load_run(directory)
    notes = (
        [f"{directory} was imported from logs made elsewhere, not verified"] if imported.origin(scored.record) else []
    )
    if scored.incomplete:
        notes.append(f"{plural(len(scored.incomplete), 'trial')} contain fewer episodes than requested")
    episodes = sum(len(part) for parts in scored.episodes.values() for part in parts)
    return Reading(
        scored.table,
        "arcademark-run",
        tuple(notes),
        {"episode": episodes},
        scored.episodes,
        (directory,),
        dict(scored.seeds),
    )


def _in_folder(root: Path, format: str | None, options: Options) -> tuple[list[Recognised], list[str]]:
    """Return the files of scores in a folder, and notes on those left out."""
    pattern = options.pattern
    result: list[Recognised] = []
    left_out: dict[str, list[Path]] = defaultdict(list)
    for number, (path, kind) in enumerate(_walk(root)):
        if number == MAX_FILES:
            raise ArcadeMarkError(f"{root}: {_TOO_MANY}")
        relative = path.relative_to(root) if path != root else Path(root.name)
        known = LOGS["files"]
        named = path.suffix in known["suffixes"] or path.name in known["names"] or known["events"] in path.name
        unusual = pattern is None and not named
        if kind:
            left_out[kind].append(relative)
        elif path.is_dir():
            result.append(Recognised(path, relative, "arcademark-run", None))
        elif pattern is not None and not matches(relative, pattern):
            left_out["not matching the pattern, which goes down to the name of a file"].append(relative)
        elif not unusual and not path.stat().st_size:
            left_out["empty"].append(relative)
        else:
            try:
                plain = None if unusual else _recognised(path, relative, format, options)
                result.append(plain or by_plugin(path, relative, format))
            except UnrecognisedError:
                reason = "of a kind without scores" if unusual else "without scores in a known format"
                left_out[reason].append(relative)
    if format is not None:
        left_out["of another format"] = [file.relative for file in result if file.format != format]
        result = [file for file in result if file.format == format]
    else:
        copies = _copies(result)
        left_out["repeating other logs there"] = [file.relative for file in copies]
        result = [file for file in result if file not in copies]
    notes = [
        f"{plural(len(paths), 'file')} left out, {why}: {listed(paths)}" for why, paths in left_out.items() if paths
    ]
    if not result:
        raise ArcadeMarkError(
            f"{root}: no file of scores in this folder" + (f" ({'; '.join(notes)})" if notes else "; it is empty")
        )
    return result, notes


def _recognised(path: Path, relative: Path, format: str | None, options: Options) -> Recognised:
    """Recognise a file of a folder; an unrecognised one is read in the given format, as a single file is."""
    if format is None or format not in FORMATS:
        return recognise(path, relative, format, options)
    try:  # a file of another built-in format is reported as such
        return recognise(path, relative, None, options)
    except UnrecognisedError:
        try:
            return recognise(path, relative, format, options)
        except ArcadeMarkError as error:
            raise UnrecognisedError(str(error)) from error


def _copies(files: Sequence[Recognised]) -> list[Recognised]:
    """Return the logs whose scores a tool wrote to another one, too.

    A logger may write the same series in several forms, ``progress.csv`` and ``progress.json``: the first counts.
    """
    folders = {(file.format, file.path.parent) for file in files}
    first: dict[Path, Path] = {}
    for file in files:
        if file.format == "metrics-csv":
            first.setdefault(file.path.with_suffix(""), file.path)
    monitored = "sb3-monitor" in {file.format for file in files}
    return [
        file
        for file in files
        if any((format, file.path.parent) in folders for format in _COPIES.get(file.format, ()))
        or (file.format == "tensorboard" and monitored and folder_of_events(file.path))
        or first.get(file.path.with_suffix(""), file.path) != file.path
        or (file.path.name == "metrics.jsonl" and file.path.with_name("scores.jsonl") in {one.path for one in files})
    ]


def _walk(root: Path, deep: int = 0) -> Iterator[tuple[Path, str]]:
    """Yield a folder's files in order, each with the reason to leave it out, or ""; a played run counts as one.

    Links to folders are not followed: they may form a cycle, or lead anywhere.
    """
    if (root / "run.sqlite").is_file():
        yield root, ""
        return
    if deep > MAX_DEPTH:
        raise ArcadeMarkError(f"{root}: folders are nested more than {MAX_DEPTH} deep; name one further down")
    try:
        entries = sorted(islice(root.iterdir(), MAX_FILES + 1))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ArcadeMarkError(f"{root}: cannot read the folder ({reason}); check its permissions") from error
    if len(entries) > MAX_FILES:
        raise ArcadeMarkError(f"{root}: {_TOO_MANY}")
    for entry in entries:
        if entry.name.startswith("."):
            continue
        if not entry.is_dir():
            yield entry, "" if entry.is_file() else "not a regular file (pipes, devices, links that lead nowhere)"
        elif entry.is_symlink():
            yield entry, "a link to a folder"
        else:
            yield from _walk(entry, deep + 1)
