"""Forms of figure: rows of values, curves, in which every figure of a reproduction is drawn, lines, and pictures.

Conventions
-----------
* What is to be drawn stands here; `rows`, `curves`, `lines` and `pictures` draw it, and `files` writes it. A figure
  is as wide as a page's text and as high as its rows need.
* In rows a value stands as a mark and as a number, so that nothing must be read off an axis.
* Colours tell apart under every kind of colour blindness, and never alone: rows have names, curves have dashes.
* Text stays text in SVG, and every colour can be swapped for a CSS variable, so that pages may be dark.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

WIDTH = 468.0
Mark = Literal["dot", "ring", "bar"]


@dataclass(frozen=True)
class Column:
    """A value of every row.

    Parameters
    ----------
    title : str
        What stands above its numbers.
    values : tuple of float or None, length rows
        None where there is none; what a log axis has no place for is not drawn.
    texts : tuple of str, length rows
        The numbers as shown.
    mark : {"dot", "ring", "bar"}
    """

    title: str
    values: tuple[float | None, ...]
    texts: tuple[str, ...]
    mark: Mark = "dot"


@dataclass(frozen=True)
class Panel:
    """Columns that share an axis.

    Parameters
    ----------
    title : str
    columns : tuple of Column
    ticks : tuple of (float, str)
        Where the axis has lines, and what stands below them; the first and the last tick are within its ends.
    unit : str
        What stands below the ticks.
    log : bool
    line : (float, str) or None
        A value to compare with, and what it is.
    share : float
        How wide it is beside the others.
    """

    title: str
    columns: tuple[Column, ...]
    ticks: tuple[tuple[float, str], ...]
    unit: str = ""
    log: bool = False
    line: tuple[float, str] | None = None
    share: float = 1.0


@dataclass(frozen=True)
class Rows:
    """A figure of rows.

    Parameters
    ----------
    groups : tuple of (str, tuple of str)
        Headings, "" for none, each with the names of its rows.
    panels : tuple of Panel
    """

    groups: tuple[tuple[str, tuple[str, ...]], ...]
    panels: tuple[Panel, ...]


@dataclass(frozen=True)
class Curve:
    """A named line through points, from the left to the right."""

    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]


@dataclass(frozen=True)
class CurvePanel:
    """Curves that share their axes.

    Parameters
    ----------
    title, across : str
        What it shows, with what the axis up means; what the axis across means.
    limits : (float, float)
        Ends of the axis across; the axis up goes from 0 to 1.
    curves : tuple of Curve
        At most five, named the same in every panel.
    ticks : tuple of (float, str)
    line : (float, str) or None
        A value across to compare with, and what it is.
    """

    title: str
    across: str
    limits: tuple[float, float]
    curves: tuple[Curve, ...]
    ticks: tuple[tuple[float, str], ...]
    line: tuple[float, str] | None = None


@dataclass(frozen=True)
class Curves:
    """A figure of curves: panels beside each other."""

    panels: tuple[CurvePanel, ...]


@dataclass(frozen=True)
class Line:
    """Points with a line through them.

    Parameters
    ----------
    name : str
    x, y : tuple of float
        Ascending in x.
    spread : tuple of float
        How far a whisker reaches up and down from each point; empty for none.
    """

    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    spread: tuple[float, ...] = ()


@dataclass(frozen=True)
class Lines:
    """A figure of lines: one panel, whose axis up begins at 0.

    Parameters
    ----------
    title, across : str
        What it shows, with what the axis up means; what the axis across means.
    lines : tuple of Line
        At most five.
    ticks : tuple of (float, str)
        Across.
    unit : str
        Behind the numbers of the axis up: " %".
    feet : tuple of (str, tuple of str)
        Lines of numbers below the ticks, each with its name and a text a tick.
    """

    title: str
    across: str
    lines: tuple[Line, ...]
    ticks: tuple[tuple[float, str], ...]
    unit: str = ""
    feet: tuple[tuple[str, tuple[str, ...]], ...] = ()


@dataclass(frozen=True, eq=False)
class Picture:
    """An image with a title below it.

    Parameters
    ----------
    title : str
    pixels : uint8 array, shape (height, width, 3)
        Enlarged or shrunk to its place.
    span : int
        Columns that it is wide.
    """

    title: str
    pixels: NDArray[np.uint8]
    span: int = 1


@dataclass(frozen=True)
class PictureRow:
    """Pictures beside each other, on as many lines as they need.

    Parameters
    ----------
    title : str
    text : str
        What stands behind the title.
    pictures : tuple of Picture
    """

    title: str
    text: str
    pictures: tuple[Picture, ...]


@dataclass(frozen=True)
class Pictures:
    """A figure of pictures, a row below the other."""

    rows: tuple[PictureRow, ...]


FigureModel = Rows | Curves | Lines | Pictures
