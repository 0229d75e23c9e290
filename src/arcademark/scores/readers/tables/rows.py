"""Makes a `Reading` of rows with one score each: numbers runs, refuses repetitions and averages episodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from arcademark.errors import ArcadeMarkError
from arcademark.grouping import grouped
from arcademark.scores.readers.base import DEFAULT_LAST, Episodes, Options, Reading, Unit, listed
from arcademark.scores.readers.sheets.sheet import Sheet, first_rows
from arcademark.scores.readers.words.role_names import Role
from arcademark.scores.table import MAX_CELLS, ScoreTable, blank
from arcademark.wording import plural

_Ints = NDArray[np.int64]
_Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Rows:
    """Scores (NaN: missing) of a sheet; of all arrays, shape (scores,), `algorithm` and `task` hold positions in names.

    `row` is the sheet's row that each stands in, `columns` the sheet's columns of runs, seeds and protocols, `left_out`
    those without a part in the table; `episode` and `frames` distinguish and order the scores of a run.
    """

    sheet: Sheet
    columns: Mapping[Role, int]
    algorithms: tuple[str, ...]
    algorithm: _Ints
    tasks: tuple[str, ...]
    task: _Ints
    run: _Ints
    score: _Floats
    row: _Ints
    episode: _Ints | None = None
    frames: _Ints | None = None
    left_out: Sequence[int] = ()

    def line(self, at: int) -> int:
        """Return where the file has a row."""
        return self.sheet.line(int(self.row[at]))


def collect(rows: Rows, layout: str, options: Options, notes: Sequence[str] = ()) -> Reading:
    """Make a table of rows; ``notes`` are added to those on the rows."""
    protocols = _protocol_of_each(rows)
    place, runs = _places(rows)
    shape = (len(rows.algorithms), len(rows.tasks), max(map(len, runs)))
    cell = np.ravel_multi_index((rows.algorithm, rows.task, place), shape)
    plain = rows.episode is None and rows.frames is None
    scores, said, episodes = (_plain if plain else _averaged)(rows, cell, shape, options)
    none = [name for name, mine in zip(rows.algorithms, scores, strict=True) if np.isnan(mine).all()]
    if len(none) == len(rows.algorithms):
        raise ArcadeMarkError(f"{rows.sheet.path}: no cell holds a score; expected numbers such as 1234.5")
    if none:
        said = (*said, f"{plural(len(none), 'algorithm')} without any score: {listed(none)}")
    return Reading(
        ScoreTable(rows.algorithms, rows.tasks, scores, protocols, (str(rows.sheet.path),) * len(rows.algorithms)),
        layout,
        (*notes, *rows.sheet.notes, *said),
        {"row": rows.sheet.size},
        episodes,
        (rows.sheet.path,),
        dict(zip(rows.algorithms, runs, strict=True)),
        _of_one_seed(rows, cell),
    )


def _of_one_seed(rows: Rows, cell: _Ints) -> frozenset[str]:
    """Return the algorithms with two runs of one seed on a task, if columns state both seeds and runs."""
    column = rows.columns.get("seed")
    if column is None or "run" not in rows.columns:
        return frozenset()
    cells = np.array([str(cell).strip() for cell in rows.sheet.columns[column]])
    missing = (cells == "") | (cells == "nan")  # each is another
    seeds = np.where(missing, -1 - np.arange(len(cells)), np.unique(cells, return_inverse=True)[1])
    scored = ~np.isnan(rows.score)
    keys = np.unique(np.stack([rows.algorithm, rows.task, seeds[rows.row], cell])[:, scored], axis=1)[:3]
    again = (keys[:, 1:] == keys[:, :-1]).all(axis=0)
    return frozenset(rows.algorithms[at] for at in np.unique(keys[0, 1:][again]))


def _protocol_of_each(rows: Rows) -> tuple[str, ...]:
    column = rows.columns.get("protocol")
    if column is None:
        return ("",) * len(rows.algorithms)
    protocols = np.array([rows.sheet.text(cell) for cell in rows.sheet.columns[column]], dtype=object)[rows.row]
    first = first_rows(rows.algorithm, len(rows.algorithms))
    other = protocols != protocols[first][rows.algorithm]
    if other.any():
        at = int(np.argmax(other))
        start = int(first[rows.algorithm[at]])
        name = rows.algorithms[rows.algorithm[at]]
        old, new = protocols[start], protocols[at]
        raise ArcadeMarkError(
            f"{rows.sheet.place(int(rows.row[at]), column)}: {name!r} is scored under {new!r} "
            f"here and under {old!r} in row {rows.line(start)}; an algorithm's scores are of one protocol: name the "
            f"two apart, such as '{name} ({new})'"
        )
    return tuple(protocols[first])


def _places(rows: Rows) -> tuple[_Ints, tuple[tuple[int, ...], ...]]:
    """Number each algorithm's runs in ascending order of their numbers."""
    if (rows.run == rows.run[0]).all():
        return np.zeros(len(rows.run), dtype=np.int64), ((int(rows.run[0]),),) * len(rows.algorithms)
    numbers, code = np.unique(rows.run, return_inverse=True)
    result, inverse = np.unique(rows.algorithm * len(numbers) + code, return_inverse=True)
    algorithm, number = np.divmod(result, len(numbers))
    bounds = np.searchsorted(algorithm, np.arange(len(rows.algorithms) + 1))
    place = np.arange(len(result)) - bounds[algorithm]
    most = int(place.max()) + 1
    if len(rows.algorithms) * len(rows.tasks) * most > MAX_CELLS and most > 1:
        name = rows.sheet.header[rows.columns.get("run", rows.columns.get("seed", 0))]
        raise ArcadeMarkError(
            f"{rows.sheet.path}: column {name!r} holds {most:,} runs of one algorithm; number an algorithm's runs, the "
            "same on every game, not the table's rows"
        )
    runs = tuple(tuple(numbers[number[a:b]].tolist()) for a, b in pairwise(bounds))
    return place[inverse], runs


def _refuse_repeated(rows: Rows, keys: Sequence[_Ints], what: str, remedy: str) -> None:
    """Refuse a row whose keys are all those of an earlier row."""
    order = np.lexsort((np.arange(len(keys[0])), *keys))
    same = np.ones(len(order) - 1, dtype=bool)
    for key in keys:
        same &= key[order[1:]] == key[order[:-1]]
    if not same.any():
        return
    second = int(order[1:][same].min())
    before = np.ones(second, dtype=bool)
    for key in keys:
        before &= key[:second] == key[second]
    first = int(np.argmax(before))
    algorithm, task = rows.algorithms[rows.algorithm[second]], rows.tasks[rows.task[second]]
    raise ArcadeMarkError(
        f"{rows.sheet.path}, row {rows.line(second)}: a second score for {algorithm!r} on {task!r}, run "
        f"{rows.run[second]}{what} (the first is in row {rows.line(first)}); keep one, or {remedy}"
        f"{_apart(rows, first, second)}"
    )


def _apart(rows: Rows, first: int, second: int) -> str:
    """Name the ignored column in which two rows differ, and how to give it a role."""
    sheet, (one, other) = rows.sheet, rows.row[[first, second]].tolist()
    odd = [
        sheet.header[at]
        for at in rows.left_out
        if sheet.header[at] and str(sheet.columns[at][one]) != str(sheet.columns[at][other])
    ]
    return (
        f", or say what {odd[0]!r} is, in which they differ: --read '{odd[0]}=frames', =episode or =run" if odd else ""
    )


_Shape = tuple[int, int, int]
_Result = tuple[_Floats, tuple[str, ...], Episodes | None]


def _plain(rows: Rows, cell: _Ints, shape: _Shape, options: Options) -> _Result:
    _refuse_repeated(rows, (cell,), "", "number runs in a column 'run'")
    scores = blank(shape)
    scores.ravel()[cell] = rows.score
    missing = int(np.isnan(rows.score).sum())
    notes = []
    if missing:
        notes.append(f"{plural(missing, 'score')} of {len(rows.score):,} missing: empty cells, or marked as missing")
    if options.last is not None:
        notes.append("'last' has no effect: the table has neither episodes nor frames")
    return scores, tuple(notes), None


def _averaged(rows: Rows, cell: _Ints, shape: _Shape, options: Options) -> _Result:
    zero = np.zeros(len(cell), dtype=np.int64)
    episode = zero if rows.episode is None else rows.episode
    frames = zero if rows.frames is None else rows.frames
    named = [name for name, at in (("episode", rows.episode), ("frames", rows.frames)) if at is not None]
    _refuse_repeated(rows, (episode, frames, cell), f", same {' and '.join(named)}", "number them")
    order = np.lexsort((episode, frames, cell))
    order = order[~np.isnan(rows.score[order])]
    missing = len(cell) - len(order)
    if not len(order):
        return blank(shape), (), None
    cells, start, number = np.unique(cell[order], return_index=True, return_counts=True)
    end = start + number
    begin, notes = _begin(rows, options, start, end, frames[order])
    sums = np.add.reduceat(np.append(rows.score[order], 0.0), np.stack([begin, end], axis=1).ravel())[::2]
    scores = blank(shape)
    scores.ravel()[cells] = sums / (end - begin)
    earlier = int((begin - start).sum())
    if missing:
        notes.append(f"{plural(missing, 'row')} of {len(cell):,} without a score left out")
    if earlier:
        notes.append(f"{plural(earlier, 'earlier row')} of {len(cell):,} left out of the scores")
    values = np.split(rows.score[order], end[:-1])
    kept = [part[skip:] for part, skip in zip(values, begin - start, strict=True)]
    episodes = None if rows.episode is None else _episodes(rows, cells, shape, kept)
    return scores, tuple(notes), episodes


def _begin(rows: Rows, options: Options, start: _Ints, end: _Ints, frames: _Ints) -> tuple[_Ints, list[str]]:
    """Return where, in sorted order, the rows begin that make each cell's score, and how that reads."""
    if options.last is None and rows.frames is None:
        return start, ["a run's score is the mean of all its episodes"]
    if options.last is None and rows.episode is not None:
        at_end = np.repeat(frames[end - 1], end - start) == frames
        number = np.add.reduceat(at_end.astype(np.int64), start)
        if number.max() > 1:
            return end - number, ["a run's score is the mean of its episodes at its last frames"]
    unit: Unit = "average" if rows.episode is None else "episode"
    k = options.last or DEFAULT_LAST[unit]
    return np.maximum(start, end - k), how_last(k, unit, end - start)


def how_last(k: int, unit: str, numbers: _Ints) -> list[str]:
    """Return notes that a score is the mean of the last k values, and on runs with fewer."""
    noun = "row" if unit == "average" else "episode"
    notes = [
        f"a run's score is the mean of its last {plural(k, noun)}" if k > 1 else f"a run's score is its last {noun}"
    ]
    short = int(np.count_nonzero(numbers < k))
    if short and len(numbers) == 1:
        notes.append(f"the run has no more than {plural(int(numbers[0]), noun)}")
    elif short:
        fewest = plural(int(numbers.min()), noun)
        notes.append(
            f"{short:,} of {len(numbers):,} runs have fewer than {k}, the fewest {fewest}, and count with those"
        )
    return notes


def _episodes(rows: Rows, cells: _Ints, shape: _Shape, values: Sequence[_Floats]) -> Episodes:
    places = zip(*(axis.tolist() for axis in np.unravel_index(cells, shape)[:2]), strict=True)
    names = ((rows.algorithms[algorithm], rows.tasks[task]) for algorithm, task in places)
    return {key: tuple(parts) for key, parts in grouped(zip(names, values, strict=True)).items()}
