"""Reads the names in a column of algorithms: which are runs, and which rows hold no scores, but spreads or the like."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from arcademark.errors import ArcadeMarkError
from arcademark.grouping import grouped
from arcademark.scores.readers.base import OPTION, Options, is_task, listed
from arcademark.scores.readers.sheets.sheet import Sheet
from arcademark.scores.readers.tables.interpretation import Interpretation
from arcademark.scores.readers.words.column_names import (
    MEANS,
    PATTERNS,
    ROWS,
    STATISTICS,
    Owners,
    are_counted,
    key,
    lone_run,
    may_be_lengths,
    numbered,
    question,
    role_of,
    run_of,
    words_of,
)
from arcademark.scores.readers.words.log_names import LOGS
from arcademark.scores.readers.words.role_names import RULES, Role

MAX_ASKED = 10
"""Maximum number of rows with one name and a number that may be its runs; more are algorithms."""
MAX_SERIES = 1_000
"""Maximum number of names in a column that are checked for series and statistics."""
_SERIES = frozenset(LOGS["series"])


@dataclass(frozen=True)
class RowName:
    """A row's name of an algorithm as it is read: the owner of its scores, the run, and its role if it has none."""

    name: str
    run: int | None = None
    role: Role | None = None


def of_rows(sheet: Sheet, found: Interpretation, names: Sequence[str], options: Options) -> tuple[RowName, ...]:
    """Interpret names in a column of algorithms by the rules for names of columns.

    ``DQN std`` is a spread and no algorithm, ``DQN seed 0`` a run of DQN where no column numbers runs. Names are taken
    as they are if the caller says that the column is one of algorithms.
    """
    column = found.columns["algorithm"]
    if found.why.get(column) == "as said":
        return tuple(map(RowName, names))
    owners = Owners(names)
    statistics = {name: role for name in names if (role := role_of(name)) in STATISTICS}
    if not any(set(words_of(name)) & ROWS for name in statistics):
        statistics = {}  # "best" or "UCB" alone may be an algorithm
    result = []
    for name in names:
        role, whose = (statistics[name], name) if name in statistics else owners.find(name)
        if role in STATISTICS:
            result.append(RowName(whose, role=role))
        else:
            result.append(RowName(whose if role == "value" else name))
    kept = [one.name for one in result if one.role is None]
    if not kept and 1 < len(statistics) == len(names):  # as pandas describes a frame: the mean has no other owner
        if (algorithm := options.algorithm or sheet.algorithm) is None:
            raise ArcadeMarkError(
                f"{sheet.path}: the rows hold {listed(names)}, and nothing says of which algorithm; say it with "
                f"{OPTION['algorithm']}"
            )
        return tuple(RowName(algorithm) if key(one.name) in MEANS else one for one in result)
    if not kept:
        return tuple(map(RowName, names))
    if not {"run", "seed"} & found.columns.keys():
        place, said = f"{sheet.path}, column {sheet.header[column]!r}", f"{sheet.header[column]}=algorithm"
        runs = _runs_in(place, kept, said, options.algorithm)
        result = [one if one.role else RowName(*runs.get(one.name, (one.name, None))) for one in result]
    return tuple(result)


def _runs_in(place: str, names: Sequence[str], said: str, algorithm: str | None) -> dict[str, tuple[str, int]]:
    """Return the algorithm and the run that rows' names say; refuse those that may be of runs or of algorithms."""
    lone = {name: number for name in names if (number := lone_run(name)) is not None}
    named = len(names) > 1 or algorithm is not None or PATTERNS["named_run"].fullmatch(names[0])
    if len(lone) == len(names) and named:
        if algorithm is None:
            asked = question("runs", names=listed(names))
            raise ArcadeMarkError(f"{place}: {asked}, or that they are algorithms with --read '{said}'")
        if may_be_lengths(names):
            asked = question("lengths", names=listed(names), one=names[0])
            raise ArcadeMarkError(f"{place}: {asked} in a column 'frames'")
        return {name: (algorithm, number) for name, number in lone.items()}
    whose = {name: run for name in names if (run := run_of(name))}
    several = {owner for owner, those in grouped(whose.values()).items() if len(those) > 1}
    if whose and (several or len(whose) == len(names)):
        return {name: one for name, one in whose.items() if one[0] in several or len(whose) == len(names)}
    parts = numbered(names)
    most = 2 * sum(map(len, parts.values())) >= len(names)
    for owner, numbers in parts.items():
        if most and 1 < len(numbers) <= MAX_ASKED and are_counted(numbers.values()):
            raise ArcadeMarkError(
                f"{place}: {listed([*numbers])} may be runs of {owner!r}, or algorithms; for the first name them "
                f"'{owner} seed {next(iter(numbers.values()))}', for the second say --read '{said}'"
            )
    return {}


def of_games(sheet: Sheet, column: int | None, options: Options) -> tuple[Sheet, NDArray[np.bool_], tuple[str, ...]]:
    """Read names in a column of games that describe one: "Pong (mean)" is Pong, and rows of "Pong std" hold no scores.

    Return the sheet with the games' names, which rows may hold scores, and the names of the others.
    """
    cells = [] if column is None or options.canonical_task is str else list(map(str, sheet.columns[column]))
    known = {name: is_task(name, options.canonical_task) for name in dict.fromkeys(cells)}
    owners = Owners(list(known), lambda name: known[name] if name in known else is_task(name, options.canonical_task))
    others = [name for name, task in known.items() if not task][:MAX_SERIES]
    found = {name: one for name in others if owners.is_task((one := owners.find(name))[1])}
    gone = {name: role for name, (role, _) in found.items() if role in STATISTICS}
    means = {name: whose for name, (role, whose) in found.items() if role == "value"}
    if means:
        renamed = [means.get(cell, cell) for cell in cells]
        sheet = replace(
            sheet, columns=tuple(renamed if at == column else those for at, those in enumerate(sheet.columns))
        )
    rows = np.array([cell not in gone for cell in cells]) if gone else np.ones(sheet.size, dtype=bool)
    return sheet, rows, tuple(gone)


def scored_rows(
    sheet: Sheet, found: Interpretation, names: Mapping[str, RowName], codes: NDArray[np.int64], options: Options
) -> tuple[NDArray[np.bool_], tuple[str, ...]]:
    """Return which rows hold no spreads, losses or the like, and what names those: an algorithm, run or cell.

    `names` are what a column of algorithms says, `codes` which of them each row has.
    """
    rows = np.ones(sheet.size, dtype=bool)
    if names:
        rows &= np.array([one.role is None for one in names.values()], dtype=bool)[codes]
    left = [name for name, one in names.items() if one.role is not None]
    for column in (found.columns.get("run"), found.columns.get("seed")):
        if column is not None and not isinstance(cells := sheet.columns[column], np.ndarray):  # "mean" below seeds
            described = [cell for cell in dict.fromkeys(cells) if _describes(cell)]
            rows &= np.array([cell not in described for cell in cells], dtype=bool)
            left += described
    for column, role in found.left_out.items():
        cells = sheet.columns[column]
        if role not in ("note", "index") or isinstance(cells, np.ndarray) or len(set(cells)) > MAX_SERIES:
            continue
        kinds = {cell: "score" if cell.strip() in _SERIES else role_of(cell.strip()) for cell in dict.fromkeys(cells)}
        place = f"{sheet.path}, column {sheet.header[column]!r}"
        kept = _scored(place, kinds, options, key(sheet.header[column]) in RULES["series"])
        if kept is not None:
            rows &= np.array([cell == kept for cell in cells])
            left += [cell for cell in kinds if cell != kept]
    return rows, tuple(dict.fromkeys(left))


def _scored(place: str, kinds: Mapping[str, Role | None], options: Options, of_series: bool) -> str | None:
    """Return which cells of a column of series or statistics, with their roles, name scores; None if it is no such."""
    if options.tag in kinds:
        return options.tag
    scores = [cell for cell, kind in kinds.items() if kind == "score" or key(cell) in MEANS]
    if not (of_series and "score" in kinds.values() and len(kinds) > 1):
        if not any(map(_describes, kinds)) or not all(kind in (*STATISTICS, "score") for kind in kinds.values()):
            return None
        scores = scores or [cell for cell, kind in kinds.items() if kind == "summary"]
        if not scores:
            raise ArcadeMarkError(
                f"{place}: the rows hold {listed(list(kinds))}, and none says that these are scores; give the games' "
                "own points"
            )
    if len(scores) > 1:
        raise ArcadeMarkError(f"{place}: the scores may be the rows {listed(scores)}; choose one with {OPTION['tag']}")
    return scores[0]


def _describes(cell: str) -> bool:
    """Return whether a cell is the name of a statistic: "mean", "std", "HNS"."""
    return bool(cell.strip()) and not any(map(str.isdigit, cell)) and role_of(cell.strip()) in STATISTICS
