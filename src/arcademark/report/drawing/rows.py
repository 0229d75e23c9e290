"""Draws a figure of rows: names at the left, then panels, each with its marks and, to their right, its numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeGuard

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from arcademark.report.drawing.forms import Column, Panel, Rows
from arcademark.report.drawing.style import PALETTE, WIDTH, bare, beside, scale, text_width, wrapped

MOST_PANELS = 4
"""Panels beside each other; more are put below."""

ROW = 14.0
HEADING = 19.0
PAD = 13.0
"""Between a panel's numbers and the next panel."""
BESIDE = 9.0
"""Between the marks and the numbers, and between two columns of numbers."""
TITLE_LINE = 11.0
HEAD, LOW_HEAD = 17.0, 5.0
"""Between the titles and the rows: with a line of small texts, and without."""
FOOT = 17.0
LINE_GAP = 10.0
"""Between two lines of panels."""
UNIT_LINE = 9.0
TICK_GAP = 3.0
"""Between the texts of two ticks."""

FAR = 0.6
"""Fraction of an axis beyond which the text of a line stands to its left, so as not to reach the numbers."""

NAME_SIZE, NUMBER_SIZE, TITLE_SIZE, TICK_SIZE = 8.5, 7.5, 8.5, 7.0

SIGNS = {"dot": "● ", "ring": "○ ", "bar": ""}


@dataclass(frozen=True)
class Layout:
    """Where a figure's rows are, in points from the first one's top.

    Parameters
    ----------
    names : tuple of (str, float)
        Each row's name and middle.
    headings : tuple of (str, float)
        The same of headings.
    height : float
        Of all.
    left : float
        Where panels begin.
    """

    names: tuple[tuple[str, float], ...]
    headings: tuple[tuple[str, float], ...]
    height: float
    left: float


def draw(model: Rows) -> Figure:
    """Draw the model on a figure that has no canvas yet."""
    rows = _layout(model)
    lines = _lines(model.panels)
    sizes = [_widths(line, rows.left) for line in lines]
    heads = [_head(line) + TITLE_LINE * _title_lines(line, size) for line, size in zip(lines, sizes, strict=True)]
    feet = [FOOT + (UNIT_LINE if any(panel.unit for panel in line) else 0.0) for line in lines]
    total = sum(heads) + sum(feet) + rows.height * len(lines) + LINE_GAP * (len(lines) - 1)
    figure = Figure(figsize=(WIDTH / 72, total / 72))
    bottom = total
    for line, size, head, foot in zip(lines, sizes, heads, feet, strict=True):
        bottom -= head + rows.height
        _line(figure, line, size, rows, bottom / total, total)
        bottom -= foot + LINE_GAP
    return figure


def _layout(model: Rows) -> Layout:
    names: list[tuple[str, float]] = []
    headings: list[tuple[str, float]] = []
    top = 0.0
    for heading, members in model.groups:
        if heading:
            headings.append((heading, top + HEADING * 0.62))
            top += HEADING
        names += [(name, top + ROW * (place + 0.5)) for place, name in enumerate(members)]
        top += ROW * len(members)
    left = max(text_width(name, NAME_SIZE) for name, _ in names) + 10
    return Layout(tuple(names), tuple(headings), top, left)


def _lines(panels: Sequence[Panel]) -> list[Sequence[Panel]]:
    """Share panels out evenly between as many lines as they need."""
    count = math.ceil(len(panels) / MOST_PANELS)
    size = math.ceil(len(panels) / count)
    return [panels[start : start + size] for start in range(0, len(panels), size)]


def _widths(panels: Sequence[Panel], left: float) -> list[tuple[float, ...]]:
    """Return the width of each panel's axis and of each of its columns of numbers."""
    numbers = [[_number_width(column) for column in panel.columns] for panel in panels]
    free = WIDTH - left - sum(map(sum, numbers)) - PAD * (len(panels) - 1)
    shares = sum(panel.share for panel in panels)
    return [(free * panel.share / shares, *widths) for panel, widths in zip(panels, numbers, strict=True)]


def _number_width(column: Column) -> float:
    title = text_width(SIGNS[column.mark] + column.title, NUMBER_SIZE) if column.title else 0.0
    return BESIDE + max(title, *(text_width(text, NUMBER_SIZE) for text in column.texts))


def _head(panels: Sequence[Panel]) -> float:
    small = any(panel.line or any(column.title for column in panel.columns) for panel in panels)
    return HEAD if small else LOW_HEAD


def _title_lines(panels: Sequence[Panel], sizes: Sequence[tuple[float, ...]]) -> int:
    pairs = zip(panels, sizes, strict=True)
    return max(len(wrapped(panel.title, sum(size), TITLE_SIZE, bold=True)) for panel, size in pairs)


def _line(
    figure: Figure,
    panels: Sequence[Panel],
    sizes: Sequence[tuple[float, ...]],
    rows: Layout,
    bottom: float,
    total: float,
) -> None:
    """Draw one line of panels over its names, its rows' lower end at `bottom` of the figure."""
    height = rows.height / total
    _names(figure.add_axes((0, bottom, 1, height), zorder=5), rows)
    x = rows.left
    for panel, (width, *numbers) in zip(panels, sizes, strict=True):
        axes = figure.add_axes((x / WIDTH, bottom, width / WIDTH, height))
        _prepare(axes, panel, rows.height)
        _title(axes, panel, width + sum(numbers), _head(panels))
        _panel(axes, panel, rows, width)
        right = 0.0
        for column, number in zip(panel.columns, numbers, strict=True):
            right += number
            _column(axes, column, rows, right, log=panel.log)
        x += width + sum(numbers) + PAD


def _names(frame: Axes, rows: Layout) -> None:
    bare(frame)
    frame.set_xlim(0, WIDTH)
    frame.set_ylim(rows.height, 0)
    for name, y in rows.names:
        frame.text(0, y, name, fontsize=NAME_SIZE, color=PALETTE["ink"], va="center")
        frame.plot([rows.left - 6, WIDTH], [y + ROW / 2] * 2, color=PALETTE["rule"], linewidth=0.35)
    for heading, y in rows.headings:
        backing = {"facecolor": PALETTE["paper"], "edgecolor": "none", "pad": 1.5}
        frame.text(0, y, heading, fontsize=NUMBER_SIZE, color=PALETTE["muted"], va="center", bbox=backing)


def _prepare(axes: Axes, panel: Panel, height: float) -> None:
    """Set the axis across to hold all ticks and values, with room at its ends."""
    bare(axes)
    scale(axes, log=panel.log)
    values = [value for column in panel.columns for value in column.values if _has_place(value, log=panel.log)]
    values += [value for value, _ in panel.ticks]
    low, high = min(values), max(values)
    if panel.log:
        room = (high / low) ** 0.04
        axes.set_xlim(low / room, high * room)
    else:
        room = (high - low) * 0.04
        axes.set_xlim(low - (room if low < 0 or panel.columns[0].mark != "bar" else 0), high + room)
    axes.set_ylim(height, 0)


def _has_place(value: float | None, *, log: bool) -> TypeGuard[float]:
    return value is not None and (value > 0 or not log)


def _title(axes: Axes, panel: Panel, width: float, head: float) -> None:
    for place, text in enumerate(reversed(wrapped(panel.title, width, TITLE_SIZE, bold=True))):
        beside(axes, text, (0, 1), (0, head + 3 + TITLE_LINE * place), TITLE_SIZE, "ink", fontweight="bold")


def _panel(axes: Axes, panel: Panel, rows: Layout, width: float) -> None:
    """Draw what is behind the marks: ticks, the line to compare with, and what joins two marks of a row."""
    _ticks(axes, panel, rows, width)
    if panel.unit:
        beside(axes, panel.unit, (0, 0), (0, -FOOT - UNIT_LINE + 5), TICK_SIZE, "muted")
    if panel.line is not None:
        value, text = panel.line
        axes.plot([value] * 2, [-3, rows.height], color=PALETTE["record"], linewidth=1, zorder=1, clip_on=False)
        align = "right" if _across(axes, value, log=panel.log) > FAR else "center"
        axes.text(value, -7, text, fontsize=NUMBER_SIZE, color=PALETTE["record"], ha=align)
    for place, (_, y) in enumerate(rows.names):
        ends = [v for column in panel.columns if _has_place(v := column.values[place], log=panel.log)]
        if len(ends) > 1:
            axes.plot([min(ends), max(ends)], [y, y], color=PALETTE["hue-1"], linewidth=1, zorder=2)


def _ticks(axes: Axes, panel: Panel, rows: Layout, width: float) -> None:
    """Draw a line at each tick, and its text where the one before leaves room for it."""
    free = -math.inf
    for value, text in panel.ticks:
        axes.plot([value] * 2, [0, rows.height], color=PALETTE["rule"], linewidth=0.5, zorder=0)
        middle, half = _across(axes, value, log=panel.log) * width, text_width(text, TICK_SIZE) / 2
        if middle - half < free:
            continue
        free = middle + half + TICK_GAP
        axes.text(value, rows.height + 9, text, fontsize=TICK_SIZE, color=PALETTE["muted"], ha="center", va="center")


def _across(axes: Axes, value: float, *, log: bool) -> float:
    """Return where on the axis across a value is, as a fraction."""
    return float(axes.transLimits.transform((math.log10(value) if log else value, 0))[0])


def _column(axes: Axes, column: Column, rows: Layout, right: float, *, log: bool) -> None:
    """Mark a column's values, and set its numbers to end `right` points beyond the axis."""
    shade, paper = PALETTE["hue-1"], PALETTE["paper"]
    for value, (_, y) in zip(column.values, rows.names, strict=True):
        if not _has_place(value, log=log):
            continue
        if column.mark == "bar":
            axes.barh(y, value, height=ROW * 0.55, color=shade, linewidth=0, zorder=2)
        else:
            face = shade if column.mark == "dot" else paper
            axes.plot(
                [value],
                [y],
                "o",
                markersize=5,
                color=shade,
                markerfacecolor=face,
                markeredgewidth=1.1,
                zorder=3,
                clip_on=False,
            )
    for text, (_, y) in zip(column.texts, rows.names, strict=True):
        place = ("axes fraction", "data")
        beside(axes, text, (1, y), (right, 0), NUMBER_SIZE, "ink", ha="right", va="center", coordinates=place)
    if column.title:
        beside(axes, SIGNS[column.mark] + column.title, (1, 1), (right, 7), NUMBER_SIZE, "muted", ha="right")
