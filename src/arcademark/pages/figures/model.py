"""Data model of figures: rows of marks, panels of curves, grids of cells, or pictures.

Figures consist of numbers, texts and names of palette colours; `files` draws and writes them. Axes are linear;
logarithmic axes have logarithms as values (`style.Axis`). Rows show a value as a mark and as a number. No information
depends on colours alone: rows have names, curves dashes, cells texts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Kind = Literal["bar", "whisker", "rule", "stroke", "dot", "ring", "point", "hollow"]
Ticks = tuple[tuple[float, str], ...]
"""Places on an axis, with their labels."""


@dataclass(frozen=True)
class Mark:
    """A mark in a row.

    kind: A bar, a whisker or a thin rule from `start` to `end`; or a vertical stroke, a dot, a ring, or a small filled
        or hollow point at `end`.
    line: Line of the row; a half is between two lines.
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
    """A column of texts beside an axis, each with its row and line, below a title."""

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

    numbers, before: Numbers to the right, and to the left.
    unit: Unit, below the ticks.
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
    lines: Number of lines of each row; empty if all have one. Rows of several lines have gaps, others rules.
    legend: Names of series with their indices, at the top.
    """

    groups: tuple[tuple[str, tuple[str, ...]], ...]
    panels: tuple[RowPanel, ...]
    lines: tuple[int, ...] = ()
    legend: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True)
class CurveFigure:
    """A line through points, from left to right.

    series: Index of the series, which determines colour and dashes.
    steps: "pre" or "post" for steps with the height of the point to the right or to the left; "" for straight lines.
    thin, marked: True if it is in the background, and if its points are marked.
    spread, band: Half lengths of whiskers; lower and upper ends of the shaded band.
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

    title, across, up: Titles of the panel, of the x axis and of the y axis.
    limits, heights: Limits of the x axis and of the y axis.
    ticks, levels: Ticks of the x axis and of the y axis; levels have grid lines, with `grid` ticks have these, too.
    guide, level: Vertical and horizontal reference line.
    feet: Lines of numbers below the ticks, each with its name and one text per tick.
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
    """A figure of cells, with a row for each name; columns that do not fit continue below.

    corner: Label of the corner: "HNS, %".
    cells: Rows of texts with their palette colours; "" and "" for empty cells.
    legend: Meaning of colours, each with the palette colour.
    """

    corner: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: tuple[tuple[tuple[str, str], ...], ...]
    legend: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, eq=False)
class Picture:
    """An image, shape (height, width, 3), scaled to a width of ``span`` columns, and its title below."""

    title: str
    pixels: NDArray[np.uint8]
    span: int = 1


@dataclass(frozen=True)
class PictureRow:
    """A figure of pictures side by side, on as many lines as needed, below a title and a text."""

    title: str
    text: str
    pictures: tuple[Picture, ...]


Figure = RowsFigure | Curves | HeatMap | PictureRow
