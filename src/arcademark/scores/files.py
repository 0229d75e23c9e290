"""Reads score tables from CSV files, long or wide.

Conventions
-----------
* A file is UTF-8, separated by commas, with a header. Names in the header count in any case.
* *Long*: columns ``algorithm``, ``task`` (or ``game``), ``score`` and, optionally, ``run`` (or ``seed``), a whole
  number; other columns are ignored. A row without a run is run 0.
* *Wide*: the first column is ``algorithm`` and every other one a task; or the first is ``task`` (or ``game``) and every
  other one an algorithm, as papers print them.
* An empty cell, ``NaN``, ``NA`` or ``n/a`` is a missing score. Anything else must be a finite number.
* Errors count rows as an editor counts lines: the header is row 1.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from arcademark.errors import ArcadeMarkError
from arcademark.scores.table import ScoreTable

TASK = ("task", "game")
RUN = ("run", "seed")
MISSING = frozenset({"", "nan", "na", "n/a"})

_Cell = tuple[str, str, int, float, int]
"""Algorithm, task, run, score, and the row it was read from."""


def read_csv(path: str | Path, canonical_task: Callable[[str], str] = str) -> ScoreTable:
    """Read raw scores from a CSV file.

    Parameters
    ----------
    path : str or Path
        The file.
    canonical_task : callable, optional
        From a task's name as written to the name it goes by in the table; raises `ArcadeMarkError` for one that it does
        not know. By default names are taken as written.

    Returns
    -------
    ScoreTable
        The protocol of every algorithm is "" (not known), its source the file.

    Raises
    ------
    ArcadeMarkError
        Where the file cannot be read or a cell is not what it should be; the message names file, row and column.
    """
    lines = _read_lines(Path(path))
    if not lines:
        raise ArcadeMarkError(f"{path}: the file is empty; expected a header and rows of scores")
    header = [name.strip() for name in lines[0][1]]
    lowered = [name.lower() for name in header]
    for column, name in enumerate(lowered):
        if not name or lowered.index(name) != column:
            what = f"{header[column]!r} is named twice" if name else "has no name"
            raise ArcadeMarkError(f"{path}, row 1, column {column + 1}: the column {what}; name each once")
    is_long = "algorithm" in lowered and "score" in lowered and any(name in lowered for name in TASK)
    read = _long_cells if is_long else _wide_cells
    return _table(str(path), list(read(str(path), header, lines[1:], canonical_task)))


def _read_lines(path: Path) -> list[tuple[int, list[str]]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, strict=True)
            return [(reader.line_num, row) for row in reader if any(cell.strip() for cell in row)]
    except OSError as error:
        raise ArcadeMarkError(f"{path}: cannot read the file ({error.strerror or error})") from error
    except UnicodeDecodeError as error:
        raise ArcadeMarkError(f"{path}: not UTF-8 text (byte {error.start}); save it as CSV in UTF-8") from error
    except csv.Error as error:
        raise ArcadeMarkError(f"{path}: not a CSV file ({error}); save it as CSV, separated by commas") from error


def _long_cells(
    path: str, header: Sequence[str], lines: Sequence[tuple[int, list[str]]], canonical_task: Callable[[str], str]
) -> Iterator[_Cell]:
    lowered = [name.lower() for name in header]
    task_column = next(lowered.index(name) for name in TASK if name in lowered)
    run_column = next((lowered.index(name) for name in RUN if name in lowered), None)
    algorithm_column, score_column = lowered.index("algorithm"), lowered.index("score")
    for row, cells in lines:
        _check_width(path, row, cells, header)
        run = 0 if run_column is None else _run(path, row, header[run_column], cells[run_column])
        yield (
            _name(path, row, header[algorithm_column], cells[algorithm_column]),
            _task(path, row, header[task_column], cells[task_column], canonical_task),
            run,
            _score(path, row, header[score_column], cells[score_column]),
            row,
        )


def _wide_cells(
    path: str, header: Sequence[str], lines: Sequence[tuple[int, list[str]]], canonical_task: Callable[[str], str]
) -> Iterator[_Cell]:
    first = header[0].lower()
    if (first != "algorithm" and first not in TASK) or len(header) < 2:
        raise ArcadeMarkError(
            f"{path}, row 1: expected the columns algorithm, game, score (long), or a first column 'algorithm' with a "
            f"column for each game, or 'game' with one for each algorithm (wide), not {', '.join(header)!r}"
        )
    by_algorithm = first == "algorithm"
    names = [_task(path, 1, name, name, canonical_task) for name in header[1:]] if by_algorithm else header[1:]
    for row, cells in lines:
        _check_width(path, row, cells, header)
        label = (
            _name(path, row, header[0], cells[0])
            if by_algorithm
            else _task(path, row, header[0], cells[0], canonical_task)
        )
        for name, column, cell in zip(names, header[1:], cells[1:], strict=True):
            algorithm, task = (label, name) if by_algorithm else (name, label)
            yield algorithm, task, 0, _score(path, row, column, cell), row


def _table(path: str, cells: Sequence[_Cell]) -> ScoreTable:
    if not cells:
        raise ArcadeMarkError(f"{path}: there are no rows below the header; expected scores")
    rows: dict[tuple[str, str, int], int] = {}
    for algorithm, task, run, _, row in cells:
        if (algorithm, task, run) in rows:
            raise ArcadeMarkError(
                f"{path}, row {row}: a second score for {algorithm!r} on {task!r}, run {run} (the first is in row "
                f"{rows[algorithm, task, run]}); keep one, or number runs in the column 'run' of a long file"
            )
        rows[algorithm, task, run] = row
    sources = dict.fromkeys((algorithm for algorithm, *_ in cells), path)
    return ScoreTable.from_rows((cell[:4] for cell in cells), sources=sources)


def _check_width(path: str, row: int, cells: Sequence[str], header: Sequence[str]) -> None:
    if len(cells) != len(header):
        raise ArcadeMarkError(f"{path}, row {row}: {len(cells)} cells, expected {len(header)} as in the header")


def _name(path: str, row: int, column: str, cell: str) -> str:
    if not cell.strip():
        raise ArcadeMarkError(f"{path}, row {row}, column {column!r}: the cell is empty, expected a name")
    return cell.strip()


def _task(path: str, row: int, column: str, cell: str, canonical_task: Callable[[str], str]) -> str:
    name = _name(path, row, column, cell)
    try:
        return canonical_task(name)
    except ArcadeMarkError as error:
        raise ArcadeMarkError(f"{path}, row {row}, column {column!r}: {error}") from error


def _run(path: str, row: int, column: str, cell: str) -> int:
    try:
        return int(cell)
    except ValueError:
        raise ArcadeMarkError(f"{path}, row {row}, column {column!r}: {cell!r} is no whole number") from None


def _score(path: str, row: int, column: str, cell: str) -> float:
    if cell.strip().lower() in MISSING:
        return math.nan
    try:
        number = math.inf if "_" in cell else float(cell)
    except ValueError:
        number = math.inf
    if not math.isfinite(number):
        raise ArcadeMarkError(
            f"{path}, row {row}, column {column!r}: {cell!r} is no score; expected a number such as 1234.5, or nothing "
            "where it is missing"
        )
    return number
