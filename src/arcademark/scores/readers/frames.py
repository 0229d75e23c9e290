"""Reads DataFrames and Series of pandas, polars and alike as the tables that they would be in a CSV file."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arcademark.errors import ArcadeMarkError
from arcademark.scores.readers.base import LARGEST, MAX_CELLS_READ, Options, Reading
from arcademark.scores.readers.logs.naming import with_names_of_runs
from arcademark.scores.readers.sheets.sheet import Sheet, bare, checked
from arcademark.scores.readers.tables import layouts
from arcademark.scores.readers.words.column_names import role_of

_PLACE = Path("the DataFrame")


def read_frame(frame: Any, options: Options | None = None) -> Reading:
    """Read a frame, or whatever gives its columns by ``to_dict()``; an index with names is a column like others."""
    columns = _columns(frame)
    levels = [role_of(str(level)) for level in getattr(getattr(frame, "columns", None), "names", None) or ()]
    header = tuple(bare(_name(name, levels)) for name, _ in columns)
    size = max((len(cells) for _, cells in columns), default=0)
    if not columns or size * len(columns) > MAX_CELLS_READ:
        raise ArcadeMarkError(
            f"{_PLACE}: has {size * len(columns):,} cells, expected some and at most {MAX_CELLS_READ:,}"
        )
    sheet = Sheet(_PLACE, header, tuple(_cells(cells) for _, cells in columns), size, lambda row: row)
    return layouts.read_table(with_names_of_runs(checked(sheet, 0)), options or Options())


def _name(name: Any, levels: Sequence[str | None]) -> str:
    """Return a column's name: of several levels joined, a number of a run as "seed 0"."""
    if not isinstance(name, tuple) or len(name) != len(levels):
        return " ".join(map(str, name)) if isinstance(name, tuple) else str(name)
    return " ".join(
        f"seed {part}" if level in ("seed", "run") else str(part) for part, level in zip(name, levels, strict=True)
    )


def _columns(frame: Any) -> list[tuple[Any, Sequence[Any]]]:
    if not hasattr(type(frame), "columns") and hasattr(frame, "to_frame"):
        frame = frame.to_frame() if getattr(frame, "name", None) is not None else frame.to_frame("score")
    if hasattr(frame, "collect_schema") and not hasattr(frame, "to_dict"):  # of Polars, lazy
        frame = frame.collect()
    if not hasattr(frame, "iloc"):
        as_dict = getattr(frame, "to_dict", getattr(frame, "to_pydict", None))
        columns = as_dict() if as_dict is not None else None
        if not isinstance(columns, Mapping):
            raise ArcadeMarkError(
                f"{type(frame).__name__} given, expected a ScoreTable, a DataFrame, or a mapping of algorithm to task "
                "to scores"
            )
        return [
            (name, list(cells.values() if isinstance(cells, Mapping) else cells)) for name, cells in columns.items()
        ]
    index = frame.index
    labels = [index.get_level_values(level) for level in range(index.nlevels)]
    if index.nlevels == 1 and index.name is None and list(labels[0]) == list(range(len(frame))):
        labels = []
    named = [("" if label.name is None else label.name, list(label)) for label in labels]
    return [*named, *((name, list(frame.iloc[:, at])) for at, name in enumerate(frame.columns))]


def _cells(cells: Sequence[Any]) -> Sequence[str] | NDArray[np.float64]:
    """Return numbers as such, and otherwise texts; missing values as NaN or ""."""
    missing = [cell is None or str(cell) in ("<NA>", "nan", "NaT") for cell in cells]
    numbers = (int, float, np.integer, np.floating)
    large = any(isinstance(cell, int | np.integer) and abs(int(cell)) > LARGEST for cell in cells)  # seeds, say
    if not large and all(
        gone or (isinstance(cell, numbers) and not isinstance(cell, bool))
        for cell, gone in zip(cells, missing, strict=True)
    ):
        pairs = zip(cells, missing, strict=True)
        return np.array([math.nan if gone else float(cell) for cell, gone in pairs], dtype=np.float64)
    return ["" if gone else str(cell) for cell, gone in zip(cells, missing, strict=True)]
