"""Finds the algorithm, task and run of a log from its path or the name of its run.

Conventions
-----------
* Names given by the caller come first, then those of the pattern, of the file itself, and of its path.
* In a pattern, ``{algorithm}``, ``{game}`` and ``{seed}`` stand for a part of a folder's or file's name, ``*`` for
  anything in one, ``**`` for anything. It is matched against the end of the path. As in patterns of checkpoints, "game"
  is any task; a run's number is its seed.
* Without a pattern a path is read from its folders: one that is named as a game, or as the log names its task, is the
  task (``PongNoFrameskip-v4_2`` is its run 2), one that is a number (``3``, ``seed_3``) the run, and the one beside
  the game the algorithm. CleanRL's ``game__algorithm__seed__time`` is read anywhere. The number of ``0.monitor.csv``
  is an environment's, not a run's. In ``ppo-Pong-v5`` the algorithm stands before the environment's id. The folder in
  which event files lie is read as Stable-Baselines3 names it, a name and how often that was there: ``PPO_2``,
  ``ppo_seed3_1``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from arcademark.errors import ArcadeMarkError
from arcademark.scores.readers.base import OPTION, Log, Options, canonical, is_task
from arcademark.scores.readers.sheets.sheet import Sheet
from arcademark.scores.readers.words.column_names import role_of
from arcademark.scores.readers.words.log_names import LOGS

_FIELDS = ("algorithm", "game", "seed")
_RUN = re.compile(r"(?:seed|run|s)?[ _=-]?(\d{1,18})", re.IGNORECASE)
_NUMBERED = re.compile(r"(.+?)(?:[_-]((?:seed|run|s)[_=-]?\d{1,18}))?_(\d{1,18})", re.IGNORECASE)
_STAMP = re.compile(r"\d{4}[-_.]?\d\d[-_.]?\d\d.*|[0-9a-f]{8,}(?:-[0-9a-f]+)*", re.IGNORECASE)
"""Names of folders that are times or random."""
_ENVIRONMENT = re.compile(r"(?:[\w.]+/)?[A-Z][\w.]*-v\d+")
"""An environment's id, ``CartPole-v1``; in a path, ``ppo-v2`` is an algorithm."""
_ALGORITHM_ON = re.compile(r"(.+?)[_-]([A-Z][A-Za-z0-9]*-v\d+)(?:[_-].*)?")
"""A folder's name with an algorithm before the environment's id: ``ppo-Pong-v5``, ``PPO_Pong-v5_0_lr=0.1``."""
_GENERAL = frozenset(LOGS["folders"])
"""Folders whose names say nothing about the algorithm."""


class Names(NamedTuple):
    """Names and numbers known of a log; None where unknown."""

    algorithm: str | None = None
    task: str | None = None
    run: int | None = None

    def or_else(self, other: Names) -> Names:
        """Fill in unknown names from others."""
        return other._replace(**{field: known for field, known in self._asdict().items() if known is not None})


def resolve(log: Log, relative: Path, options: Options) -> tuple[str, str, int | None]:
    """Return a log's algorithm, task and run; the run is None where nothing says it.

    `relative` is the log's path below the named folder; for a single file, its path as given.
    """
    names = as_written(log, relative, options)
    task = None if names.task is None else canonical(log.place, names.task, options.canonical_task)
    if names.algorithm is None or task is None:
        noun, said = ("algorithm", "algorithm") if names.algorithm is None else ("game", "task")
        raise ArcadeMarkError(
            f"{log.place}: nothing says which {noun} this is; say it with {OPTION[said]}, or with {OPTION['pattern']} "
            f"and {{{noun}}} where a path names it"
        )
    return names.algorithm, task, names.run


def is_foreign(log: Log, relative: Path, options: Options) -> bool:
    """Return whether a log is of an unknown task and is to be left out."""
    if options.canonical_task is str or (task := as_written(log, relative, options).task) is None:
        return False
    return not is_task(task, options.canonical_task) and (
        _ENVIRONMENT.fullmatch(task) is not None or options.unknown_tasks == "leave out"
    )


def as_written(log: Log, relative: Path, options: Options) -> Names:
    """Return a log's names as they are written, the task as the environment's id where a tool wrote that."""
    said = Names(options.algorithm, options.task, options.run)
    names = said.or_else(_by_pattern(log, relative, options)).or_else(Names(log.algorithm, log.task, log.run))
    names = names.or_else(cleanrl(log.label))
    if None in (names.algorithm, names.task, names.run):
        names = names.or_else(from_path(relative, options.canonical_task, log.task))
    return names


def matches(relative: Path, pattern: str) -> bool:
    """Return whether the end of a path matches a pattern."""
    return _compiled(pattern).search(relative.as_posix()) is not None


def _by_pattern(log: Log, relative: Path, options: Options) -> Names:
    if options.pattern is None:
        return Names()
    pattern = _compiled(options.pattern)
    result = pattern.search(relative.as_posix()) or (pattern.search(log.label) if log.label else None)
    if result is None:
        subject = f"{relative.as_posix()!r}" + (f" nor {log.label!r}" if log.label else "")
        raise ArcadeMarkError(
            f"{log.place}: {subject} does not end as the pattern {options.pattern!r} says; change one"
        )
    groups = result.groupdict()
    seed = groups.get("seed")
    number = None if seed is None else _RUN.fullmatch(seed)
    if seed is not None and number is None:
        raise ArcadeMarkError(f"{log.place}: the pattern's seed is {seed!r}, expected a number such as 3 or seed_3")
    return Names(groups.get("algorithm"), groups.get("game"), None if number is None else int(number[1]))


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    parts = re.split(r"(\{\w+\}|\*\*|\*)", pattern)
    fields = [part[1:-1] for part in parts if part.startswith("{")]
    for name in fields:
        if name not in _FIELDS or fields.count(name) > 1:
            known = ", ".join(f"{{{field}}}" for field in _FIELDS)
            raise ArcadeMarkError(
                f"pattern {pattern!r}: {{{name}}} is unknown or there twice; known: {known}, * and **"
            )
    translated = (
        f"(?P<{part[1:-1]}>{'[A-Za-z0-9]+-v[0-9]+|' if part == '{game}' else ''}[^/]+?)"
        if part.startswith("{")
        else {"*": "[^/]*", "**": ".*"}.get(part, re.escape(part))
        for part in parts
    )
    return re.compile(f"(?:^|/){''.join(translated)}$")


def cleanrl(name: str) -> Names:
    """Read a run's name as CleanRL writes it, ``game__algorithm__seed__time``; no names where it is none.

    The name may follow others: the part after the last slash or colon counts.
    """
    parts = re.split(r"[/:] ?(?=[^/:]*$)", name)[-1].split("__")
    if len(parts) < 4 or not parts[-2].isdecimal() or not parts[-1].isdecimal():
        return Names()
    return Names("__".join(parts[1:-2]), parts[0], int(parts[-2]))


def from_path(path: Path, canonical_task: Callable[[str], str], known: str | None = None) -> Names:
    """Return the names in a path's folders and file name; `known` is a name of the task that may be among them."""
    parts = [part for part in path.parts if part not in ("/", "\\", ".", "..")]
    for part in reversed(parts):
        written = cleanrl(part)
        if written.task is not None:
            return written
    trained = folder_of_events(path)
    parts[-2:-1] = trained or parts[-2:-1]
    own = path.name.split(".")[0]
    numbers_environments = path.name.endswith(".monitor.csv") and own.isdecimal()
    parts = [*parts[:-1], *([own] if own and not numbers_environments else [])]
    games = [(at, result) for at, part in enumerate(parts) if (result := _game(part, canonical_task, known))]
    run = next((int(m.group(1)) for part in reversed(parts) if (m := _RUN.fullmatch(part))), None)
    if not games:
        algorithm = trained[0] if trained and trained[0].lower() not in _GENERAL else None
        foreign = next((part for part in parts if _ENVIRONMENT.fullmatch(part)), None) if known is None else None
        for before, task in (both.groups() for part in reversed(parts) if (both := _ALGORITHM_ON.fullmatch(part))):
            if not _says_little(before) and (task == known or is_task(task, canonical_task)):
                return Names(before, task, run)
        return Names(algorithm, foreign, run)
    at, (task, numbered) = games[-1]
    sides = [[part for part in side if not _says_little(part)] for side in (parts[:at][::-1], parts[at + 1 : -1])]
    named = [side[:1] if path.is_absolute() else side for side in sides if side]
    algorithm = "/".join(named[0] if named[0] is not sides[0] else named[0][::-1]) if len(named) == 1 else None
    return Names(algorithm, task, run if numbered is None else numbered)


def _says_little(part: str) -> bool:
    """Return whether a folder's name is a number's, a time's, a random or a general one, and no algorithm's."""
    return part.lower() in _GENERAL or any(pattern.fullmatch(part) for pattern in (_RUN, _STAMP))


def names_of_table(relative: Path, options: Options) -> Names:
    """Return the names that a table's path, below the given folder, has where the table lacks them."""
    if options.pattern is not None:
        return _by_pattern(Log(relative, np.empty(0), "episode"), relative, options)
    names = from_path(relative, options.canonical_task)
    return (
        Names()
        if names.task is None or _ENVIRONMENT.fullmatch(names.task)
        else names._replace(algorithm=None if relative.is_absolute() else names.algorithm, run=None)
    )


def with_names_of_runs(sheet: Sheet) -> Sheet:
    """Return a table with the columns that CleanRL's names of runs in another say, where it has none of these."""
    known = {role_of(name) for name in sheet.header}
    if {"algorithm", "game"} & known:
        return sheet
    for cells in sheet.columns:
        if isinstance(cells, np.ndarray) or not sheet.size or cleanrl(cells[0]).task is None:
            continue
        runs = list(map(cleanrl, cells))
        if all(run.task is not None for run in runs):
            columns = [(sheet.header[at], cells) for at, cells in enumerate(sheet.columns)]
            columns += [("exp_name", [str(run.algorithm) for run in runs]), ("env_id", [str(run.task) for run in runs])]
            columns += [] if {"run", "seed"} & known else [("seed", [str(run.run) for run in runs])]
            return replace(
                sheet, header=tuple(name for name, _ in columns), columns=tuple(cells for _, cells in columns)
            )
    return sheet


def folder_of_events(path: Path) -> tuple[str, str] | None:
    """Split the name of an event file's folder as Stable-Baselines3 makes it, "PPO_2"; None for other names."""
    folder = _NUMBERED.fullmatch(path.parent.name)
    if LOGS["files"]["events"] not in path.name or folder is None or _RUN.fullmatch(folder[0]):
        return None
    return folder[1], folder[2] or folder[3]


def _game(part: str, canonical_task: Callable[[str], str], known: str | None) -> tuple[str, int | None] | None:
    """Read a folder's name as a game's, with or without a run's number behind it."""
    numbered = re.fullmatch(r"(.+)[_-](?:seed|run|s)?[_-]?(\d+)", part)
    readings = [(part, None), *([(numbered[1], int(numbered[2]))] if numbered else [])]
    return next((result for result in readings if result[0] == known or is_task(result[0], canonical_task)), None)
