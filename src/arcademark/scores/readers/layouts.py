"""Reads score tables, long or wide, from CSV and Parquet.

Conventions
-----------
* *Long*: a column ``score``, with ``algorithm`` and ``game`` beside it, and optionally ``run`` (or ``seed``),
  ``episode``, ``frames`` and ``protocol``. Other columns are left out, and a note says so.
* *Wide*: the first column is ``algorithm`` and every other one a game; or the first is ``game`` and every other one an
  algorithm, as papers print them. Columns named ``run`` (or ``seed``) and ``protocol`` may stand among them.
* Names of columns count in any case. A row without a run is run 0. Beside ``run``, ``seed`` only tells which runs
  are of one seed.
* With ``episode``, a run's score is the mean over its episodes. With ``frames``, rows are a learning curve, and the
  score is that of the last frames; with both, the last 100 episodes, or the episodes of the last frames where several
  stand at the same. ``last`` asks for another number of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from arcademark.errors import ArcadeMarkError
from arcademark.scores.readers.base import SAID, Options, Reading, canonical, is_task, listed
from arcademark.scores.readers.rows import EPISODE, FRAMES, PROTOCOL, RUN, SEED, Rows, collect
from arcademark.scores.readers.sheet import Sheet

ALGORITHM = ("algorithm", "agent", "method", "algo")
TASK = ("task", "game", "env", "env_id", "environment", "environment_name")
SCORE = ("score", "return", "episode_return", "episodic_return", "eval_episode_return", "reward")

_Ints = NDArray[np.int64]


def is_long(sheet: Sheet) -> bool:
    """Whether a table's header is a long one's."""
    return sheet.find(SCORE) is not None and (sheet.find(ALGORITHM) is not None or sheet.find(TASK) is not None)


def is_wide(sheet: Sheet) -> bool:
    """Whether a table's header is a wide one's."""
    return len(sheet.header) > 1 and sheet.lowered[0] in (*ALGORITHM, *TASK, "")


def read_long(sheet: Sheet, options: Options) -> Reading:
    """Read a long table; see the module for its columns."""
    score = sheet.find(SCORE)
    if score is None:
        raise ArcadeMarkError(f"{sheet.path}, row 1: a long table needs a column 'score'")
    sheet.check_filled()
    sheet = sheet.among([score], map(sheet.find, (RUN, EPISODE, FRAMES)))
    algorithm, algorithms, _ = _label(sheet, ALGORITHM, options.algorithm, "algorithm")
    task, names, first = _label(sheet, TASK, options.task, "task")
    column = sheet.find(TASK)
    tasks, task = _canonical_tasks(
        lambda at: sheet.place(int(first[at]), column) if column is not None else "task", names, task, options
    )
    known = [sheet.find(kind) for kind in (ALGORITHM, TASK, SCORE, RUN, SEED, EPISODE, FRAMES, PROTOCOL)]
    unused = [name or "(unnamed)" for at, name in enumerate(sheet.header) if at not in known]
    run, scores, row = _run(sheet, options), sheet.scores(score), np.arange(sheet.size)
    order = _integers(sheet, EPISODE), _integers(sheet, FRAMES)
    rows = Rows(sheet, algorithms, algorithm, tasks, task, run, scores, row, *order)
    return collect(rows, "long", options, [f"columns left out: {listed(unused, 8)}"] if unused else [])


def read_wide(sheet: Sheet, options: Options) -> Reading:
    """Read a wide table; see the module for its columns."""
    labels = {sheet.find(kind) for kind in (RUN, SEED, PROTOCOL)}
    columns = [column for column in range(1, len(sheet.header)) if column not in labels]
    if not is_wide(sheet) or not columns:
        raise ArcadeMarkError(expected(sheet))
    sheet.check_filled()
    for column, name in enumerate(sheet.header):
        if column and not name:
            raise ArcadeMarkError(f"{sheet.path}, row 1, column {column + 1}: the column has no name; name each once")
    heads = tuple(sheet.header[column] for column in columns)
    sheet = sheet.among(columns, [sheet.find(RUN)])
    codes, names, first = sheet.names(0)
    by_algorithm = _by_algorithm(sheet, names, heads, options)
    width = len(columns)
    of_row, of_head = np.repeat(codes, width), np.tile(np.arange(width), sheet.size)
    if by_algorithm:
        algorithms, algorithm = names, of_row
        tasks, task = _canonical_tasks(lambda at: f"{sheet.path}, row 1, column {heads[at]!r}", heads, of_head, options)
    else:
        algorithms, algorithm = heads, of_head
        tasks, task = _canonical_tasks(lambda at: sheet.place(int(first[at]), 0), names, of_row, options)
    scores = np.stack([sheet.scores(column) for column in columns], axis=1).ravel()
    row = np.repeat(np.arange(sheet.size), width)
    return collect(
        Rows(sheet, algorithms, algorithm, tasks, task, _run(sheet, options)[row], scores, row), "wide", options
    )


def _by_algorithm(sheet: Sheet, names: Sequence[str], heads: Sequence[str], options: Options) -> bool:
    """Whether rows are algorithms. Where the first column has no name, as in a spreadsheet's corner, the games tell."""
    if sheet.header[0]:
        return sheet.lowered[0] in ALGORITHM
    for by_algorithm, tasks in ((True, heads), (False, names)):
        if all(is_task(name, options.canonical_task) for name in tasks):
            return by_algorithm
    raise ArcadeMarkError(
        f"{sheet.path}, row 1, column 1: the column has no name; name it 'game' or 'algorithm', whichever its cells are"
    )


def expected(sheet: Sheet) -> str:
    """Say what header was expected in place of the one that is there."""
    return (
        f"{sheet.path}, row 1: expected the columns algorithm, game, score (long), or a first column 'algorithm' "
        "with a column for each game, or 'game' with one for each algorithm (wide), not "
        f"{', '.join(sheet.header[:12])!r}"
    )


def _label(
    sheet: Sheet, kind: Sequence[str], given: str | None, noun: str
) -> tuple[_Ints, tuple[str, ...], Sequence[int] | _Ints]:
    column = sheet.find(kind)
    if given is not None:
        return np.zeros(sheet.size, dtype=np.int64), (given,), (0,)
    if column is None:
        raise ArcadeMarkError(
            f"{sheet.path}, row 1: there is no column {noun!r}; add one, or, for all rows, say it with {SAID[noun]}"
        )
    return sheet.names(column)


def _canonical_tasks(
    place: Callable[[int], str], names: Sequence[str], codes: _Ints, options: Options
) -> tuple[tuple[str, ...], _Ints]:
    merged: dict[str, int] = {}
    positions = []
    for at, name in enumerate(names):
        try:
            task = options.canonical_task(name)
        except ArcadeMarkError:
            task = canonical(place(at), name, options.canonical_task)
        positions.append(merged.setdefault(task, len(merged)))
    return tuple(merged), np.array(positions, dtype=np.int64)[codes]


def _run(sheet: Sheet, options: Options) -> _Ints:
    numbers = _integers(sheet, RUN)
    if numbers is None or options.run is not None:
        return np.full(sheet.size, options.run or 0, dtype=np.int64)
    return numbers


def _integers(sheet: Sheet, kind: Sequence[str]) -> _Ints | None:
    column = sheet.find(kind)
    return None if column is None else sheet.integers(column)
