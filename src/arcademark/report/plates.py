"""Two forms of figure, in which every figure of a reproduction is drawn: rows of values, and curves.

Conventions
-----------
* Lengths are in points; a plate is `WIDTH` wide and as high as its rows need.
* In rows a value stands as a mark and as a number, so that nothing must be read off an axis.
* Colours tell apart under every kind of colour blindness, and never alone: rows have names, curves have dashes.
* Text stays text in SVG; `themed` swaps each colour for a CSS variable with that colour as its fallback.
"""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from arcademark.report import figures

WIDTH = 468.0
ROW = 14.0
GROUP = 19.0
HEAD = 34.0
FOOT = 22.0
PAD = 12.0
"""Between a panel's numbers and the next panel."""
LETTER = 4.9
"""What a letter of a number takes."""

DOTS_PER_INCH = 200
MARGIN = 9.0
"""Paper around what stands alone."""

PALETTE = {name: figures.PALETTE[name] for name in ("paper", "ink", "muted", "rule", "track", "record")} | {
    "hue-1": "#2c52b8",
    "hue-2": "#bf4a12",
    "hue-3": "#1f9e78",
    "hue-4": "#c06ab0",
    "hue-5": "#1d1c1b",
}
DARK = {"hue-1": "#5b86e0", "hue-2": "#d8662a", "hue-3": "#5fd09c", "hue-4": "#c48fc4", "hue-5": "#ece8e1"}
"""What the colours of curves become where a page is dark."""

DASHES: tuple[tuple[float, ...], ...] = ((), (6, 1.6), (1.2, 1.4), (5, 1.4, 1.2, 1.4), (3, 1.2))

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
    log : bool
    line : (float, str) or None
        A value to compare with, and what it is.
    share : float
        How wide it is beside the others.
    """

    title: str
    columns: tuple[Column, ...]
    ticks: tuple[tuple[float, str], ...]
    log: bool = False
    line: tuple[float, str] | None = None
    share: float = 1.0


@dataclass(frozen=True)
class Rows:
    """A plate of rows.

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
    """A plate of curves: panels beside each other."""

    panels: tuple[CurvePanel, ...]


Plate = Rows | Curves


def svg(plate: Plate, name: str) -> str:
    """Draw a plate.

    Parameters
    ----------
    plate : Rows or Curves
    name : str
        Unique in a page: ids in the drawing begin with it.

    Returns
    -------
    str
        One ``<svg>`` element, the same for the same plate.
    """
    figure = draw(plate)
    FigureCanvasSVG(figure)
    figure.patch.set_visible(False)
    return figures.as_svg(figure, name)


def on_paper(drawing: str) -> str:
    """Put paper under a drawing, with a margin, so that it can stand alone."""
    size = re.search(r'width="([\d.]+)pt" height="([\d.]+)pt" viewBox="[^"]*"', drawing)
    if size is None:
        raise ValueError("a drawing without a size in points")
    width, height = (float(size[place]) + 2 * MARGIN for place in (1, 2))
    box = f'viewBox="{-MARGIN:g} {-MARGIN:g} {width:g} {height:g}"'
    drawing = drawing.replace(size[0], f'width="{width:g}pt" height="{height:g}pt" {box}', 1)
    paper = f'<rect x="{-MARGIN:g}" y="{-MARGIN:g}" width="{width:g}" height="{height:g}" fill="{PALETTE["paper"]}"/>'
    return '<?xml version="1.0" encoding="utf-8"?>\n' + drawing.replace(">", f">\n {paper}", 1)


def png(plate: Plate) -> bytes:
    """Draw a plate as a PNG on the light theme's paper."""
    figure = draw(plate)
    FigureCanvasAgg(figure)
    figure.patch.set_facecolor(PALETTE["paper"])
    out = io.BytesIO()
    figure.savefig(
        out,
        format="png",
        dpi=DOTS_PER_INCH,
        metadata={"Software": None},
        bbox_inches=figure.bbox_inches.padded(MARGIN / 72),
    )
    return out.getvalue()


def themed(drawing: str) -> str:
    """Replace the colours of curves by CSS variables too, beyond those that every figure has."""
    for name in DARK:
        drawing = drawing.replace(PALETTE[name], f"var(--{name}, {PALETTE[name]})")
    return figures.themed(drawing)


def draw(plate: Plate) -> Figure:
    """Draw a plate on a figure that has no canvas yet."""
    return _rows(plate) if isinstance(plate, Rows) else _curves(plate)


def _rows(plate: Rows) -> Figure:
    heights: list[float] = []
    places: list[float] = []
    top = 0.0
    for heading, members in plate.groups:
        if heading:
            heights.append(top + GROUP * 0.62)
            top += GROUP
        places += [top + ROW * (place + 0.5) for place in range(len(members))]
        top += ROW * len(members)
    figure = Figure(figsize=(WIDTH / 72, (HEAD + top + FOOT) / 72))
    names = [name for _, members in plate.groups for name in members]
    left = _text_width(names) + 4
    headings = [heading for heading, _ in plate.groups if heading]
    numbers = [[_number_width(column) for column in panel.columns] for panel in plate.panels]
    free = WIDTH - left - sum(map(sum, numbers)) - PAD * len(plate.panels)
    shares = sum(panel.share for panel in plate.panels)
    x = left
    for panel, widths in zip(plate.panels, numbers, strict=True):
        width = free * panel.share / shares
        axes = _axes(figure, x, width, top, panel)
        _panel(axes, panel, places, top, width, widths)
        x += width + sum(widths) + PAD
    frame = figure.add_axes((0, FOOT / (HEAD + top + FOOT), 1, top / (HEAD + top + FOOT)), zorder=5)
    _bare(frame)
    frame.set_xlim(0, WIDTH)
    frame.set_ylim(top, 0)
    for name, y in zip(names, places, strict=True):
        frame.text(0, y, name, fontsize=8.5, color=PALETTE["ink"], va="center")
        frame.plot([left - 4, WIDTH], [y + ROW / 2] * 2, color=PALETTE["rule"], linewidth=0.35)
    for heading, y in zip(headings, heights, strict=True):
        backing = {"facecolor": PALETTE["paper"], "edgecolor": "none", "pad": 1.5}
        frame.text(0, y, heading, fontsize=7.5, color=PALETTE["muted"], va="center", bbox=backing)
    return figure


def _text_width(names: Sequence[str]) -> float:
    return max(map(len, names), default=0) * 5.0 + 6


def _number_width(column: Column) -> float:
    return max(len(column.title) + 2.0, *map(len, column.texts)) * LETTER


def _axes(figure: Figure, x: float, width: float, top: float, panel: Panel) -> Axes:
    height = HEAD + top + FOOT
    axes = figure.add_axes((x / WIDTH, FOOT / height, width / WIDTH, top / height))
    _bare(axes)
    _scale(axes, log=panel.log)
    ends = [value for value, _ in panel.ticks]
    values = [v for c in panel.columns for v in c.values if v is not None and (v > 0 or not panel.log)]
    low, high = min([*ends, *values]), max([*ends, *values])
    if panel.log:
        room = (high / low) ** 0.04
        axes.set_xlim(low / room, high * room)
    else:
        room = (high - low) * 0.04
        axes.set_xlim(low - (room if low < 0 or panel.columns[0].mark != "bar" else 0), high + room)
    axes.set_ylim(top, 0)
    return axes


def _panel(axes: Axes, panel: Panel, places: Sequence[float], top: float, width: float, numbers: list[float]) -> None:
    _beside(axes, panel.title, (0, 1), (0, HEAD - 9), 8.5, "ink", fontweight="bold")
    for value, text in panel.ticks:
        axes.plot([value] * 2, [0, top], color=PALETTE["rule"], linewidth=0.5, zorder=0)
        axes.text(value, top + 9, text, fontsize=7, color=PALETTE["muted"], ha="center", va="center")
    if panel.line is not None:
        value, text = panel.line
        axes.plot([value] * 2, [-3, top], color=PALETTE["record"], linewidth=1, zorder=1, clip_on=False)
        axes.text(value, -7, text, fontsize=7.5, color=PALETTE["record"], ha="center")
    for row, y in enumerate(places):
        drawn = [v for c in panel.columns if (v := c.values[row]) is not None and (v > 0 or not panel.log)]
        if len(drawn) > 1:
            axes.plot([min(drawn), max(drawn)], [y, y], color=PALETTE["hue-1"], linewidth=1, alpha=1, zorder=2)
    right = width
    for column, number in zip(panel.columns, numbers, strict=True):
        right += number
        _column(axes, column, places, right - width, log=panel.log)


def _column(axes: Axes, column: Column, places: Sequence[float], right: float, *, log: bool) -> None:
    """Mark a column's values, and set its numbers to end `right` points beyond the axis."""
    shade, paper = PALETTE["hue-1"], PALETTE["paper"]
    for value, y in zip(column.values, places, strict=True):
        if value is None or (log and value <= 0):
            continue
        if column.mark == "bar":
            axes.barh(y, value, height=ROW * 0.55, color=shade, linewidth=0, zorder=2)
        else:
            axes.plot([value], [y], "o", markersize=5, color=shade, markeredgewidth=1.1, zorder=3, clip_on=False,
                      markerfacecolor=shade if column.mark == "dot" else paper)  # fmt: skip
    for text, y in zip(column.texts, places, strict=True):
        _beside(
            axes, text, (1, y), (right, 0), 7.5, "ink", ha="right", va="center", coordinates=("axes fraction", "data")
        )
    mark = {"dot": "● ", "ring": "○ ", "bar": ""}[column.mark] if column.title else ""
    _beside(axes, mark + column.title, (1, 1), (right, 7), 7.5, "muted", ha="right")


def _curves(plate: Curves) -> Figure:
    height, foot, head, left, gap = 232.0, 34.0, 44.0, 34.0, 40.0
    figure = Figure(figsize=(WIDTH / 72, height / 72))
    width = (WIDTH - left - gap * (len(plate.panels) - 1) - 6) / len(plate.panels)
    for place, panel in enumerate(plate.panels):
        x = left + place * (width + gap)
        axes = figure.add_axes((x / WIDTH, foot / height, width / WIDTH, (height - foot - head) / height))
        _curve_panel(axes, panel)
    _legend(figure, [curve.name for curve in plate.panels[0].curves], height)
    return figure


def _curve_panel(axes: Axes, panel: CurvePanel) -> None:
    _bare(axes)
    low, high = panel.limits
    axes.set_xlim(low, high)
    axes.set_ylim(0, 1)
    for value, text in panel.ticks:
        axes.plot([value] * 2, [0, 1], color=PALETTE["rule"], linewidth=0.5, zorder=0, clip_on=False)
        axes.text(value, -0.045, text, fontsize=7, color=PALETTE["muted"], ha="center", va="top")
    for fraction in (0, 0.25, 0.5, 0.75, 1):
        axes.plot([low, high], [fraction] * 2, color=PALETTE["rule"], linewidth=0.5, zorder=0, clip_on=False)
        _beside(axes, f"{100 * fraction:.0f} %", (0, fraction), (-4, 0), 7, "muted", ha="right", va="center")
    if panel.line is not None:
        value, text = panel.line
        axes.plot([value] * 2, [0, 1], color=PALETTE["record"], linewidth=1, zorder=1)
        axes.text(value, 0.97, f" {text}", fontsize=7.5, color=PALETTE["record"], va="top")
    for place, curve in enumerate(panel.curves):
        axes.plot(curve.x, curve.y, color=PALETTE[f"hue-{place + 1}"], linewidth=1.5, dashes=DASHES[place],
                  drawstyle="steps-pre", zorder=3)  # fmt: skip
    _beside(axes, panel.title, (0, 1), (0, 9), 8.5, "ink", fontweight="bold")
    _beside(axes, panel.across, (0.5, 0), (0, -26), 7.5, "muted", ha="center")


def _beside(
    axes: Axes,
    text: str,
    place: tuple[float, float],
    offset: tuple[float, float],
    size: float,
    shade: str,
    coordinates: Any = "axes fraction",
    **how: Any,
) -> None:
    """Write a text some points off a place, which is given in fractions of the axes."""
    axes.annotate(
        text,
        place,
        offset,
        xycoords=coordinates,
        textcoords="offset points",
        fontsize=size,
        color=PALETTE[shade],
        annotation_clip=False,
        **how,
    )


def _legend(figure: Figure, names: Sequence[str], height: float) -> None:
    frame = figure.add_axes((0, 1 - 16 / height, 1, 16 / height))
    _bare(frame)
    frame.set_xlim(0, WIDTH)
    frame.set_ylim(0, 16)
    x = 34.0
    for place, name in enumerate(names):
        frame.plot([x, x + 22], [8, 8], color=PALETTE[f"hue-{place + 1}"], linewidth=1.8, dashes=DASHES[place])
        frame.text(x + 26, 8, name, fontsize=8, color=PALETTE["ink"], va="center")
        x += 26 + len(name) * 5.2 + 18


def _bare(axes: Axes) -> None:
    axes.patch.set_visible(False)
    axes.set_yticks([])
    axes.set_xticks([])
    for spine in axes.spines.values():
        spine.set_visible(False)


def _scale(axes: Axes, *, log: bool) -> None:
    """Set the scale of the axis across, without the ticks that it brings."""
    axes.set_xscale("log" if log else "linear")
    axes.xaxis.set_major_locator(NullLocator())
    axes.xaxis.set_minor_locator(NullLocator())
