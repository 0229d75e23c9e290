"""Drawing of rows: names to the left or, on phones, above; then panels with marks and numbers beside them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from arcademark.pages.figures.canvas import (
    LOOSE,
    TITLE_LINE,
    axes_at,
    beside,
    blank,
    elided,
    legend,
    legend_height,
    text_width,
    ticked,
    title,
    wrapped,
)
from arcademark.pages.figures.model import Mark, Numbers, RowPanel, RowsFigure
from arcademark.pages.figures.style import NAME_SIZE, NUMBER_SIZE, PALETTE, TICK_SIZE, WIDE, WIDTH

MAX_PANELS = 4
"""Maximum number of panels side by side; further panels, and all on phones, are below each other."""
NARROWEST = 44.0
"""Least width of an axis, below which fewer panels are side by side."""
ROW, DENSE, LINE, APART, ABOVE = 12.5, 10.0, 8.25, 11.0, 10.5
"""Heights of a ruled row, of a ruled row in a long figure, of a line of rows with several lines, of the gap between
these rows, and of a name above its row."""
MAX_LEFT = 0.45
"""Maximum share of the width for names to the left."""
MAX_LOOSE, LEFT_OF = 30, 80.0
"""Number of rows above which they are dense; least width of an axis with names to the left in a narrow figure."""
HEADING = 17.0
PAD, BESIDE = 12.0, 8.0
"""Gaps between a panel's numbers and the next panel, and between marks and columns of numbers."""
HEAD, LOW_HEAD, FOOT, UNIT_LINE, LINE_GAP = 16.0, 4.5, 17.0, 10.0, 9.0
"""Heights between titles and rows, with a line of small texts and without; below rows; of a line of units; between
lines of panels."""
TICK_GAP, INSET = 3.0, 10.5
"""Gap between the labels of two ticks; left margin of panels below names, for half of a tick's label."""
FAR = 0.6
"""Fraction of an axis beyond which the label of a guide is to its left, so that it does not reach the numbers."""

POINTS = {"dot": (14.0, 0.9), "ring": (14.0, 0.9), "point": (5.0, 0.5), "hollow": (5.0, 0.5)}
"""Sizes of points, and widths of their edges."""


@dataclass(frozen=True)
class _Layout:
    """Layout of a figure's rows, in points from the top: names, tops, heights, headings, and total height."""

    names: tuple[str, ...]
    tops: tuple[float, ...]
    heights: tuple[float, ...]
    headings: tuple[tuple[str, float], ...]
    height: float
    ruled: bool
    above: float

    @property
    def left(self) -> float:
        """The left edge of panels."""
        return INSET if self.above else max((text_width(name, NAME_SIZE) for name in self.names), default=0.0) + 9

    @property
    def line(self) -> float:
        """The height of a line."""
        return LINE if not self.ruled else ROW if self.above else self.heights[0]

    def y(self, row: int, line: float) -> float:
        """Return the middle of a line."""
        return self.tops[row] + (self.above or (0.0 if self.ruled else APART / 2)) + self.line * (line + 0.5)

    def middle(self, row: int) -> float:
        """Return the middle of a row's name."""
        return self.tops[row] + (self.above or self.heights[row]) / 2


def draw(shown: RowsFigure, width: float = WIDTH) -> Figure:
    """Draw rows; the figure has no canvas."""
    rows = _layout(shown, 0.0, MAX_LEFT * width)
    if width < WIDE and min(_widths([panel], width - rows.left)[0][1] for panel in shown.panels) < LEFT_OF:
        rows = _layout(shown, ABOVE, width)
    most = 1 if rows.above else MAX_PANELS
    lines, sizes = _lines(shown.panels, width - rows.left, most)
    heads = [_head(line) + TITLE_LINE * _title_lines(line, size) for line, size in zip(lines, sizes, strict=True)]
    units = [
        [_unit(panel, size) for panel, size in zip(line, each, strict=True)]
        for line, each in zip(lines, sizes, strict=True)
    ]
    feet = [
        FOOT * any(panel.ticks for panel in line) + UNIT_LINE * max(map(len, each))
        for line, each in zip(lines, units, strict=True)
    ]
    body = max(rows.height, 1.0)
    bottom = sum(heads) + sum(feet) + body * len(lines) + LINE_GAP * (len(lines) - 1)
    figure = blank(bottom + legend_height(shown.legend, width), width)
    for line, size, unit, head, foot in zip(lines, sizes, units, heads, feet, strict=True):
        bottom -= head + body
        _names(axes_at(figure, 0, bottom, width, body, zorder=5), rows, (width, body))
        x, free = rows.left, 0.0
        for panel, named, (before, wide, *numbers) in zip(line, unit, size, strict=True):
            axes = axes_at(figure, x + before, bottom, wide, body)
            axes.set(xlim=panel.limits, ylim=(body, 0))
            title(axes, wrapped(panel.title, LOOSE * (wide + sum(numbers)), NAME_SIZE, bold=True), _head(line) + 3)
            free = _behind(axes, panel, rows, wide, x + before, free)
            axes.set_xlabel("\n".join(named), fontsize=TICK_SIZE, color=PALETTE["muted"], loc="left")
            _marks(axes, panel.marks, rows)
            if panel.before is not None:
                _numbers(axes, panel.before, rows, -BESIDE, 0)
            for place, column in enumerate(panel.numbers):
                _numbers(axes, column, rows, sum(numbers[: place + 1]), 1)
            x += before + wide + sum(numbers) + PAD
        bottom -= foot + LINE_GAP
    legend(figure, shown.legend, 0.0)
    return figure


def _layout(shown: RowsFigure, above: float, room: float) -> _Layout:
    """Lay rows out, with names above or to the left of them, at most ``room`` wide."""
    headings: list[tuple[str, float]] = []
    tops: list[float] = []
    names = [elided(name, room) for _, members in shown.groups for name in members]
    apart, row = (ABOVE + LINE / 2, ABOVE + ROW) if above else (APART, ROW if len(names) <= MAX_LOOSE else DENSE)
    heights = [apart + LINE * count for count in shown.lines] or [row] * len(names)
    top = 0.0
    for heading, members in shown.groups:
        if heading:
            headings.append((heading, top + HEADING * 0.62))
            top += HEADING
        for _ in members:
            tops.append(top)
            top += heights[len(tops) - 1]
    return _Layout(tuple(names), tuple(tops), tuple(heights), tuple(headings), top, not shown.lines, above)


def _lines(
    panels: Sequence[RowPanel], room: float, most: int
) -> tuple[list[Sequence[RowPanel]], list[list[tuple[float, ...]]]]:
    """Distribute panels evenly over lines so that no axis is too narrow; return lines and widths."""
    count = math.ceil(len(panels) / most)
    size = math.ceil(len(panels) / count)
    lines = [panels[start : start + size] for start in range(0, len(panels), size)]
    widths = [_widths(line, room) for line in lines]
    if size > 1 and min(axis for line in widths for _, axis, *_ in line) < NARROWEST:
        return _lines(panels, room, size - 1)
    return lines, widths


def _widths(panels: Sequence[RowPanel], room: float) -> list[tuple[float, ...]]:
    """Return the widths of each panel's numbers to the left, its axis, and its columns of numbers."""
    before = [0.0 if panel.before is None else _number_width(panel.before) for panel in panels]
    numbers = [[_number_width(column) for column in panel.numbers] for panel in panels]
    free = room - sum(before) - sum(map(sum, numbers)) - PAD * (len(panels) - 1)
    shares = sum(panel.share for panel in panels)
    return [
        (first, free * panel.share / shares, *widths)
        for panel, first, widths in zip(panels, before, numbers, strict=True)
    ]


def _number_width(column: Numbers) -> float:
    size = TICK_SIZE if column.weak else NUMBER_SIZE
    texts = [text_width(text, size) for *_, text in column.texts]
    return BESIDE + max(text_width(column.title, NUMBER_SIZE), *texts, 0.0)


def _head(panels: Sequence[RowPanel]) -> float:
    small = any(panel.guides or any(column.title for column in panel.numbers) for panel in panels)
    return HEAD if small else LOW_HEAD


def _title_lines(panels: Sequence[RowPanel], sizes: Sequence[tuple[float, ...]]) -> int:
    pairs = zip(panels, sizes, strict=True)
    return max(len(wrapped(panel.title, LOOSE * sum(size[1:]), NAME_SIZE, bold=True)) for panel, size in pairs)


def _names(frame: Axes, rows: _Layout, size: tuple[float, float]) -> None:
    frame.set(xlim=(0, size[0]), ylim=(size[1], 0))
    backing = {"facecolor": PALETTE["paper"], "edgecolor": "none", "pad": 1.0}
    for row, name in enumerate(rows.names):
        box = backing if rows.above else None
        frame.text(0, rows.middle(row), name, fontsize=NAME_SIZE, color=PALETTE["ink"], va="center", bbox=box)
        if rows.ruled:
            y = rows.tops[row] + rows.heights[row]
            frame.plot([0 if rows.above else rows.left - 5, size[0]], [y, y], color=PALETTE["rule"], linewidth=0.3)
    for heading, y in rows.headings:
        frame.text(0, y, heading, fontsize=NUMBER_SIZE, color=PALETTE["muted"], va="center", bbox=backing)


def _unit(panel: RowPanel, sizes: tuple[float, ...]) -> list[str]:
    """Break a panel's unit into lines."""
    return wrapped(panel.unit, LOOSE * sum(sizes[1:]), TICK_SIZE)


def _behind(axes: Axes, panel: RowPanel, rows: _Layout, width: float, left: float, taken: float) -> float:
    """Draw ticks, each with its label if there is room, and guides.

    The labels of earlier panels' guides end at ``taken``, from the figure's left edge; return the new end.
    """
    low, high = panel.limits
    free, texts = -rows.left, list[tuple[float, str]]()
    for value, text in panel.ticks:
        middle, half = (value - low) / (high - low) * width, text_width(text, TICK_SIZE) / 2
        fits = middle - half >= free
        texts.append((value, text if fits else ""))
        free = middle + half + TICK_GAP if fits else free
    ticked(axes, tuple(texts), axis="x")
    free = taken - left
    for guide in panel.guides:
        shade = PALETTE[guide.shade]
        axes.plot([guide.value] * 2, [-3, rows.height], color=shade, linewidth=0.8, zorder=1, clip_on=False)
        place = (guide.value - low) / (high - low)
        align = "right" if place > FAR and panel.numbers and guide.shade == "record" else "center"
        ink = "ink" if guide.shade == "muted" else guide.shade
        half = text_width(guide.text, NUMBER_SIZE) / 2
        reach, past = (2 * half, 0.0) if align == "right" else (half, half)
        right = max(0.0, free + reach - place * width)  # right of the previous label
        beside(axes, guide.text, (place, 1), (right, 6), NUMBER_SIZE, ink, ha=align)
        free = place * width + right + past + TICK_GAP
    return left + free


def _marks(axes: Axes, marks: Sequence[Mark], rows: _Layout) -> None:
    points: dict[tuple[str, str], list[Mark]] = {}
    for mark in marks:
        y, shade, high = rows.y(mark.row, mark.line), PALETTE[mark.shade], mark.lines * rows.line
        if mark.kind == "bar":
            order = 0.2 if mark.shade == "track" else 2
            axes.barh(y, mark.end - mark.start, left=mark.start, height=high, color=shade, linewidth=0, zorder=order)
        elif mark.kind in ("whisker", "rule"):
            width, order = (0.9, 2.5) if mark.kind == "whisker" else (0.4, 0.1)
            axes.plot([mark.start, mark.end], [y, y], color=shade, linewidth=width, zorder=order, solid_capstyle="butt")
        elif mark.kind == "stroke":
            axes.plot([mark.end] * 2, [y - high / 2, y + high / 2], color=shade, linewidth=1.5, zorder=4)
        else:
            points.setdefault((mark.kind, mark.shade), []).append(mark)
    for (kind, name), found in points.items():
        size, edge = POINTS[kind]
        axes.scatter(
            [mark.end for mark in found],
            [rows.y(mark.row, mark.line) for mark in found],
            s=size,
            facecolors=PALETTE[name if kind in ("dot", "point") else "paper"],
            edgecolors=PALETTE[name],
            linewidths=edge,
            zorder=3,
            clip_on=False,
        )


def _numbers(axes: Axes, column: Numbers, rows: _Layout, right: float, end: int) -> None:
    """Write numbers that end ``right`` points to the right of an end of the axis."""
    size, shade = (TICK_SIZE, "muted") if column.weak else (NUMBER_SIZE, "ink")
    for row, line, text in column.texts:
        place = ("axes fraction", "data")
        y = rows.y(row, line)
        beside(axes, text, (end, y), (right, 0), size, shade, ha="right", va="center", coordinates=place)
    if column.title:
        beside(axes, column.title, (end, 1), (right, 6), NUMBER_SIZE, "muted", ha="right")
