"""Reads DataFrames and Series of pandas, polars and alike as the tables that they would be in a CSV file."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arcademark.errors import ArcadeMarkError
from arcademark.scores.readers import layouts
from arcademark.scores.readers.base import MAX_CELLS_READ, Options, Reading
from arcademark.scores.readers.logs.naming import with_names_of_runs
from arcademark.scores.readers.sheet import Sheet, bare, checked

_PLACE = Path("the DataFrame")


def read_frame(frame: Any, options: Options | None = None) -> Reading:
    """Read a frame, or whatever gives its columns by ``to_dict()``; an index with names is a column like others."""
    columns = _columns(frame)
    header = tuple(bare(" ".join(map(str, name)) if isinstance(name, tuple) else str(name)) for name, _ in columns)
    size = max((len(cells) for _, cells in columns), default=0)
    if not columns or size * len(columns) > MAX_CELLS_READ:
        raise ArcadeMarkError(
            f"{_PLACE}: has {size * len(columns):,} cells, expected some and at most {MAX_CELLS_READ:,}"
        )
    sheet = Sheet(_PLACE, header, tuple(_cells(cells) for _, cells in columns), size, lambda row: row)
    return layouts.read_table(with_names_of_runs(checked(sheet, 0)), options or Options())


def _columns(frame: Any) -> list[tuple[Any, Sequence[Any]]]:
    if not hasattr(frame, "columns") and hasattr(frame, "to_frame"):
        frame = frame.to_frame() if getattr(frame, "name", None) is not None else frame.to_frame("score")
    if not hasattr(frame, "iloc"):
        columns = frame.to_dict()
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
    if all(
        gone or (isinstance(cell, numbers) and not isinstance(cell, bool))
        for cell, gone in zip(cells, missing, strict=True)
    ):
        pairs = zip(cells, missing, strict=True)
        return np.array([math.nan if gone else float(cell) for cell, gone in pairs], dtype=np.float64)
    return ["" if gone else str(cell) for cell, gone in zip(cells, missing, strict=True)]
