"""Data model of figures: rows of marks, panels of curves, grids of cells, or pictures.

Here stand numbers, texts and names of palette colours; `files` draws and writes them. Axes are linear: who wants a
logarithm gives logarithms (`style.Axis`). In rows a value stands as a mark and as a number; colours never stand alone:
rows have names, curves dashes, cells texts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Kind = Literal["bar", "whisker", "rule", "stroke", "dot", "ring", "point", "hollow"]
Ticks = tuple[tuple[float, str], ...]
"""Places on an axis, and what stands there."""


@dataclass(frozen=True)
class Mark:
    """Something in a row.

    kind: From `start` to `end` a bar, a whisker or a thin rule; at `end` an upright stroke, a dot, a ring, or a small
        point, filled or hollow.
    line: Line of the row; between two at a half.
    end, start: Positions on the axis.
    shade: A palette colour.
    lines: Height of a bar or a stroke in lines.
    """

    kind: Kind
    row: int
    line: float
    end: float
    start: float = 0.0
    shade: str = "series-1"
    lines: float = 0.7


@dataclass(frozen=True)
class Numbers:
    """A column of texts beside an axis, each with its row and its line in that; the title stands above them."""

    title: str
    texts: tuple[tuple[int, float, str], ...]
    weak: bool = False


@dataclass(frozen=True)
class Guide:
    """A reference line: its value, its label and its palette colour."""

    value: float
    text: str
    shade: str = "record"


@dataclass(frozen=True)
class RowPanel:
    """Marks that share an axis.

    numbers, before: To the right; to the left.
    unit: Below the ticks.
    share: Width of the axis relative to the others.
    """

    title: str
    limits: tuple[float, float]
    ticks: Ticks
    marks: tuple[Mark, ...]
    numbers: tuple[Numbers, ...] = ()
    before: Numbers | None = None
    guides: tuple[Guide, ...] = ()
    unit: str = ""
    share: float = 1.0


@dataclass(frozen=True)
class RowsFigure:
    """A figure of rows.

    groups: Headings, "" for none, each with the names of its rows.
    lines: Number of lines of each row; empty if all have one. Rows of several lines stand apart, others are ruled.
    legend: Names of series, at the top.
    """

    groups: tuple[tuple[str, tuple[str, ...]], ...]
    panels: tuple[RowPanel, ...]
    lines: tuple[int, ...] = ()
    legend: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True)
class CurveFigure:
    """A line through points, from the left to the right.

    series: Its colour and dashes.
    steps: True if it is as high as the point to its right, or to its left, instead of going straight to the next.
    thin, marked: True if it is in the background; whether its points are marked.
    spread, band: Half lengths of whiskers; lower and upper end of what is shaded.
    """

    x: tuple[float, ...]
    y: tuple[float, ...]
    series: int = 0
    steps: Literal["", "pre", "post"] = ""
    thin: bool = False
    marked: bool = False
    spread: tuple[float, ...] = ()
    band: tuple[tuple[float, ...], tuple[float, ...]] | None = None


@dataclass(frozen=True)
class CurvePanel:
    """Curves that share their axes.

    title, across, up: Title of the figure; titles of the axes.
    limits, heights: Limits of the axis across, and of the axis up.
    ticks, levels: Across, and up; levels have lines, and with `grid` ticks too.
    guide, level: Upright and across.
    feet: Lines of numbers below the ticks, each with its name and a text a tick.
    """

    title: str
    across: str
    limits: tuple[float, float]
    heights: tuple[float, float]
    ticks: Ticks
    levels: Ticks
    curves: tuple[CurveFigure, ...]
    grid: bool = False
    guide: Guide | None = None
    level: Guide | None = None
    up: str = ""
    feet: tuple[tuple[str, tuple[str, ...]], ...] = ()


@dataclass(frozen=True)
class Curves:
    """A figure of curves: panels in columns, the names of series at the top, and the axes' height in points."""

    panels: tuple[CurvePanel, ...]
    columns: int = 1
    legend: tuple[tuple[str, int], ...] = ()
    body: float = 135.0


@dataclass(frozen=True)
class HeatMap:
    """A figure of cells, a row for each name; columns that do not fit beside each other go on below.

    corner: Noun for rows and columns: "game".
    cells: A row each, of texts with their palette colours; "" and "" where there is nothing.
    legend: Meaning of colours, each with the palette colour.
    """

    corner: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: tuple[tuple[tuple[str, str], ...], ...]
    legend: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, eq=False)
class Picture:
    """An image, shape (height, width, 3), enlarged or shrunk to its place of so many columns, and its title below."""

    title: str
    pixels: NDArray[np.uint8]
    span: int = 1


@dataclass(frozen=True)
class PictureRow:
    """Pictures beside each other, on as many lines as they need, below a title and a text."""

    title: str
    text: str
    pictures: tuple[Picture, ...]


@dataclass(frozen=True)
class Pictures:
    """A figure of pictures, a row below the other."""

    rows: tuple[PictureRow, ...]


Figure = RowsFigure | Curves | HeatMap | Pictures
