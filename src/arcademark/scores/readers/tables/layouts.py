"""Makes score tables of sheets whose columns have roles: one of `arcademark.scores.readers.tables.rows.Rows` per score.

Conventions
-----------
* A row without a run is run 0. Beside ``run``, ``seed`` only tells which runs are of one seed.
* With ``episode``, a run's score is the mean over its episodes. With ``frames``, rows are a learning curve, and the
  score is that of the last frames; with both, the last 100 episodes, or the episodes of the last frames where several
  stand at the same. ``last`` asks for another number of them.
* Rows of other suites' environments, ``CartPole-v1``, of summaries, ``Mean``, and of what is no game and has no score,
  are left out, and a note says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from arcademark.errors import ArcadeMarkError
from arcademark.scores.readers.base import OPTION, Options, Reading, canonical, is_task, listed
from arcademark.scores.readers.sheets.sheet import Sheet
from arcademark.scores.readers.tables import roles, row_names
from arcademark.scores.readers.tables.interpretation import Interpretation
from arcademark.scores.readers.tables.row_names import RowName
from arcademark.scores.readers.tables.rows import Rows, collect
from arcademark.scores.readers.words import numerals
from arcademark.scores.readers.words.column_names import is_foreign
from arcademark.scores.readers.words.role_names import Role
from arcademark.wording import plural

_Ints = NDArray[np.int64]
_NONE = np.empty(0, dtype=np.int64)
_Labels = tuple[tuple[str, ...], _Ints]
"""Names, and which of them each row has."""


def read_table(sheet: Sheet, options: Options) -> Reading:
    """Read a table, long or wide."""
    sheet.check_filled()
    found = roles.interpret(sheet, options)
    names: dict[str, RowName] = {}
    codes = _NONE
    if (column := found.columns.get("algorithm")) is not None:
        codes, written, _ = sheet.names(column)
        names = dict(zip(written, row_names.of_rows(sheet, found, written, options), strict=True))
    sheet, of_games, described = row_names.of_games(sheet, found.columns.get("game"), options)
    rows, left_out = row_names.scored_rows(sheet, found, names, codes, options)
    rows, left_out = rows & of_games, (*left_out, *described)
    if not rows.any():
        raise ArcadeMarkError(f"{sheet.path}: all rows hold spreads, ranks or the like; expected scores")
    reading = build(sheet.only(rows), found, options, names, codes[rows] if names else codes)
    rows_explained = (
        f"row {name!r}: {f'{one.role}, ignored' if one.role else f'scores of {one.name!r}'}"
        f"{'' if one.run is None else f', run {one.run}'} (by its name)"
        for name, one in names.items()
        if one != RowName(name)
    )
    return replace(reading, ignored=(*reading.ignored, *left_out), explained=(*reading.explained, *rows_explained))


def build(
    sheet: Sheet,
    found: Interpretation,
    options: Options,
    named: Mapping[str, RowName] | None = None,
    who: _Ints = _NONE,
) -> Reading:
    """Make a score table of a sheet whose columns have roles.

    `named` are the names in a column of algorithms and what they say, `who` which of them each row has.
    """
    columns = found.columns
    scored = [value.column for value in found.values] or [columns["score"]]
    points = [value.frames for value in found.values if value.frames is not None]
    ordered = (columns.get("episode"), columns.get("frames"))
    if found.values and (points or not _repeats(sheet, columns)):
        ordered = (None, None)
    width = len(scored)
    by_algorithm = bool(found.values) and not points and "game" not in columns
    if not by_algorithm:
        names, codes = _label(sheet, columns, "game", options, width)
        sheet = _without_foreign(sheet, scored, names, codes[::width], options)
    clock = ordered[1]
    if clock is not None and not isinstance(cells := sheet.columns[clock], np.ndarray):
        written = {clock: list(map(numerals.written_out, cells))}
        sheet = replace(sheet, columns=tuple(written.get(at, cells) for at, cells in enumerate(sheet.columns)))
    sheet = sheet.among(scored, [columns.get("run", columns.get("seed")), *ordered])
    scores = np.stack([sheet.scores(column) for column in scored], axis=1).ravel()
    heads = _heads(found, sheet.size)
    if found.values and not by_algorithm and "algorithm" not in columns:
        algorithms = heads
    elif named:
        algorithms = _owners(named, np.repeat(who, width))
    else:
        algorithms = _label(sheet, columns, "algorithm", options, width)
    if by_algorithm:
        names, codes = heads
        tasks, notes = _tasks(lambda at: f"{sheet.path}, row 1, column {names[at]!r}", names, codes, options, scores)
    else:
        column = columns.get("game")
        tasks, notes = _tasks(
            lambda at: "task" if column is None else sheet.place(int(np.argmax(codes[::width] == at)), column),
            *(names, codes, options, scores),
        )
    kept = tasks[1] >= 0
    of_games = np.asarray(kept.reshape(sheet.size, width).any(axis=1))
    run, counted = _run_numbers(sheet, found, options, of_games, named or {}, who)
    notes += [counted] if counted else []
    lacking = [at for at in ordered if at is not None and sheet.lacks(at, of_games)]
    notes += [f"{sheet.header[at]!r} is left out: cells of it are empty" for at in lacking]
    episode, frames = (
        None if at is None or at in lacking else np.repeat(sheet.integers(at, of_games), width)[kept] for at in ordered
    )
    numbered, said = _curves(sheet, columns, algorithms[1][kept], tasks[1][kept], run[kept], frames)
    if points:
        frames = np.tile(np.array(points, dtype=np.int64), sheet.size)[kept]
    of_rows = Rows(
        sheet=sheet,
        columns=columns,
        algorithms=algorithms[0],
        algorithm=algorithms[1][kept],
        tasks=tasks[0],
        task=tasks[1][kept],
        run=numbered,
        score=scores[kept],
        row=np.repeat(np.arange(sheet.size), width)[kept],
        episode=episode,
        frames=frames,
        left_out=tuple(found.left_out),
    )
    reading = collect(of_rows, found.layout, options, [*found.notes, *notes, *said])
    ignored = tuple(sheet.header[at] or "(unnamed)" for at in found.left_out)
    return replace(reading, ignored=ignored, explained=found.explained(sheet))


def _repeats(sheet: Sheet, columns: Mapping[Role, int]) -> bool:
    """Return whether rows of a wide table are of the same algorithm, game and run."""
    named = [
        sheet.columns[at] for role in ("algorithm", "game", "run", "seed") if (at := columns.get(role)) is not None
    ]
    return len(set(zip(*named, strict=True))) < sheet.size


def _without_foreign(
    sheet: Sheet, scored: Sequence[int], names: Sequence[str], codes: _Ints, options: Options
) -> Sheet:
    """Return the sheet without the scores of what is known to be no game: summaries are in percent, or counts."""
    known = options.canonical_task
    foreign = [known is not str and is_foreign(name) and not is_task(name, known) for name in names]
    if not any(foreign):
        return sheet
    rows = np.array(foreign)[codes].tolist()
    columns = list(sheet.columns)
    for at in scored:
        if not isinstance(cells := columns[at], np.ndarray):
            columns[at] = ["" if gone else cell for cell, gone in zip(cells, rows, strict=True)]
    return replace(sheet, columns=tuple(columns))


def _heads(found: Interpretation, size: int) -> _Labels:
    names = {name: at for at, name in enumerate(dict.fromkeys(value.name for value in found.values))}
    return tuple(names), np.tile(np.array([names[value.name] for value in found.values], dtype=np.int64), size)


def _label(sheet: Sheet, columns: Mapping[Role, int], role: Role, options: Options, width: int) -> _Labels:
    given, noun = (options.algorithm, "algorithm") if role == "algorithm" else (options.task, "task")
    column = columns.get(role)
    if column is None:
        given = given or (sheet.algorithm if role == "algorithm" else sheet.task)
    if given is not None:
        return (given,), np.zeros(sheet.size * width, dtype=np.int64)
    if column is None:
        raise ArcadeMarkError(
            f"{sheet.path}, row 1: there is no column {noun!r}; add one, or, for all rows, say it with {OPTION[noun]}, "
            f"or with {OPTION['pattern']} where paths name it"
        )
    codes, names, _ = sheet.names(column)
    return names, np.repeat(codes, width)


def _tasks(
    place: Callable[[int], str], names: Sequence[str], codes: _Ints, options: Options, scores: NDArray[np.float64]
) -> tuple[_Labels, list[str]]:
    """Return the tasks and the index of each row's task, −1 for none; and notes on these."""
    merged: dict[str, int] = {}
    positions, foreign = [], []
    scored: set[int] | None = None
    for at, name in enumerate(names):
        try:
            positions.append(merged.setdefault(options.canonical_task(name), len(merged)))
        except ArcadeMarkError:
            scored = set(codes[~np.isnan(scores)].tolist()) if scored is None else scored
            if at in scored and not is_foreign(name) and options.unknown_tasks == "refuse":
                canonical(place(at), name, options.canonical_task)
            foreign.append((at, name))
            positions.append(-1)
    if foreign and not merged:
        canonical(place(foreign[0][0]), names[foreign[0][0]], options.canonical_task)
    said = [f"left out, for they are none of the games: {listed([name for _, name in foreign], 8)}"] if foreign else []
    return (tuple(merged), np.array(positions, dtype=np.int64)[codes]), said


def _run_numbers(
    sheet: Sheet,
    found: Interpretation,
    options: Options,
    rows: NDArray[np.bool_],
    named: Mapping[str, RowName],
    who: _Ints,
) -> tuple[_Ints, str]:
    """Return each score's run, which its row's name, its own column or its row's column of runs states; and a note."""
    width, note = max(len(found.values), 1), ""
    column = found.columns.get("run", found.columns.get("seed"))
    if any(value.run is not None for value in found.values):
        runs = np.tile(np.array([value.run for value in found.values], dtype=np.int64), sheet.size)
    elif column is None or options.run is not None:
        runs = np.full(sheet.size * width, options.run or sheet.run or 0, dtype=np.int64)
    else:
        of_rows, note = sheet.numbers_of_runs(column, rows)
        runs = np.repeat(of_rows, width)
    if those := [name for name, one in named.items() if one.run is not None]:
        of_names = np.array([-1 if one.run is None else one.run for one in named.values()], dtype=np.int64)
        of_names = np.repeat(of_names[who], width)
        runs = np.where(of_names < 0, runs, of_names)
        where = sheet.header[found.columns["algorithm"]]
        note = f"{plural(len(those), 'name')} in {where!r} are of runs: {listed(those)}"
    return runs, note


def _owners(named: Mapping[str, RowName], codes: _Ints) -> _Labels:
    """Return the algorithms that names say, and which of them each row has, from which name it has."""
    names = {one.name: None for one in named.values() if one.role is None}
    places = {name: at for at, name in enumerate(names)}
    return tuple(names), np.array([places.get(one.name, -1) for one in named.values()], dtype=np.int64)[codes]


def _curves(
    sheet: Sheet, columns: Mapping[Role, int], algorithm: _Ints, task: _Ints, run: _Ints, frames: _Ints | None
) -> tuple[_Ints, list[str]]:
    """Number the runs of curves that no column distinguishes, if every curve has a row at each of the same frames."""
    if frames is None or {"run", "seed", "episode"} & columns.keys() or not len(run):
        return run, []
    keys = np.stack([algorithm, task, run, frames])
    _, place, number = np.unique(keys, axis=1, return_inverse=True, return_counts=True)
    if number.max() == 1 or (number != number[0]).any():
        return run, []
    order = np.argsort(place.ravel(), kind="stable")
    numbered = np.empty(len(run), dtype=np.int64)
    numbered[order] = np.arange(len(run)) % number[0]
    return numbered, [f"{number[0]:,} rows at the same {sheet.header[columns['frames']]} are as many runs"]
