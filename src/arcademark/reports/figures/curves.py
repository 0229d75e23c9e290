"""Draws curves: panels beside and below each other, a legend above, colours that never stand alone."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from arcademark.reports.figures.canvas import (
    TITLE_LINE,
    axes_at,
    beside,
    blank,
    legend,
    legend_height,
    text_width,
    title,
    wrapped,
)
from arcademark.reports.figures.model import Curve, CurvePanel, Curves
from arcademark.reports.figures.style import DASHES, MARKERS, NAME_SIZE, NUMBER_SIZE, PALETTE, SERIES, TICK_SIZE, WIDTH

ABOVE, FOOT, FOOT_LINE = 10.0, 36.0, 13.0
"""Between title and axes; below axes; a line of numbers below ticks."""
PAD = 6.0
"""Beside the texts of levels, and the last tick's."""


def draw(shown: Curves) -> Figure:
    """Draw curves on a figure that has no canvas yet."""
    columns = min(shown.columns, max(len(shown.panels), 1))
    cell = WIDTH / shown.columns
    left = PAD + max((_left(panel) for panel in shown.panels), default=0.0)
    right = PAD + max((text_width(text, TICK_SIZE) / 2 for panel in shown.panels for _, text in panel.ticks), default=0)
    width = cell - left - right
    titles = [wrapped(panel.title, width, NAME_SIZE, bold=True) for panel in shown.panels]
    head = TITLE_LINE * max(map(len, titles), default=0) + ABOVE
    foot = FOOT + FOOT_LINE * max((len(panel.feet) for panel in shown.panels), default=0)
    row = head + shown.body + foot
    above = legend_height(shown.legend, left)
    height = above + row * max(-(-len(shown.panels) // columns), 1)
    figure = blank(height, cell * columns)
    for place, (panel, lines) in enumerate(zip(shown.panels, titles, strict=True)):
        down, across = divmod(place, columns)
        bottom = height - above - down * row - head - shown.body
        axes = axes_at(figure, across * cell + left, bottom, width, shown.body)
        _behind(axes, panel)
        title(axes, lines, ABOVE)
        for curve in panel.curves:
            _curve(axes, curve)
    legend(figure, shown.legend, left, DASHES)
    return figure


def _left(panel: CurvePanel) -> float:
    """Return how wide the texts to the left of a panel are."""
    return max(text_width(text, TICK_SIZE) for text in [*(text for _, text in panel.levels), *dict(panel.feet), ""])


def _behind(axes: Axes, panel: CurvePanel) -> None:
    """Draw what is behind the curves: both axes, what to compare with, and the numbers below."""
    (low, high), (bottom, top) = panel.limits, panel.heights
    axes.set(xlim=panel.limits, ylim=panel.heights)
    grid: dict[str, Any] = {"color": PALETTE["rule"], "linewidth": 0.5, "zorder": 0, "clip_on": False}
    for value, text in panel.levels:
        axes.plot([low, high], [value] * 2, **grid)
        up = (value - bottom) / (top - bottom)
        beside(axes, text, (0, up), (-PAD, 0), TICK_SIZE, "muted", ha="right", va="center")
    for index, (value, text) in enumerate(panel.ticks):
        if panel.grid:
            axes.plot([value] * 2, [bottom, top], **grid)
        below = ((value - low) / (high - low), 0)
        beside(axes, text, below, (0, -6), TICK_SIZE, "muted", ha="center", va="top")
        for line, (_, texts) in enumerate(panel.feet):
            beside(axes, texts[index], below, (0, -_below(line)), TICK_SIZE, "muted", ha="center", va="top")
    for line, (name, _) in enumerate(panel.feet):
        beside(axes, name, (0, 0), (-PAD, -_below(line)), TICK_SIZE, "muted", ha="right", va="top")
    beside(axes, panel.across, (0.5, 0), (0, -28), NUMBER_SIZE, "muted", ha="center")
    if panel.guide is not None:
        guide = panel.guide
        axes.plot([guide.value] * 2, [bottom, top], color=PALETTE[guide.shade], linewidth=1, zorder=1)
        at: tuple[float, float] = ((guide.value - low) / (high - low), 1)
        beside(axes, guide.text, at, (5, -5), NUMBER_SIZE, guide.shade, va="top", zorder=4)
    if panel.level is not None:
        guide = panel.level
        axes.plot([low, high], [guide.value] * 2, color=PALETTE[guide.shade], linewidth=0.9, dashes=(2, 2), zorder=1)
        at = (1, (guide.value - bottom) / (top - bottom))
        beside(axes, guide.text, at, (0, 2), TICK_SIZE, guide.shade, ha="right", va="bottom")


def _below(line: int) -> float:
    """Return how far below the axes a line of numbers is."""
    return FOOT - 4 + FOOT_LINE * line


def _curve(axes: Axes, curve: Curve) -> None:
    shade = PALETTE[SERIES[curve.series]]
    if curve.band is not None:
        axes.fill_between(curve.x, *curve.band, color=shade, alpha=0.16, linewidth=0, zorder=2)
    for place, half, value in zip(curve.x, curve.spread, curve.y, strict=False):
        axes.plot([place] * 2, [max(0.0, value - half), value + half], color=shade, linewidth=0.8, zorder=2)
    if len(curve.x) and curve.x[0] == curve.x[-1]:  # a point
        axes.plot(curve.x[:1], curve.y[:1], marker="o", markersize=3, color=shade, zorder=4)
        return
    how: dict[str, Any] = {"linewidth": 1.6, "dashes": DASHES[curve.series], "zorder": 4}
    if curve.thin:
        how = {"linewidth": 0.6, "alpha": 0.45, "zorder": 3}
    if curve.marked:
        how |= {"marker": MARKERS[curve.series], "markersize": 4, "clip_on": False}
    axes.plot(curve.x, curve.y, color=shade, drawstyle=f"steps-{curve.steps}" if curve.steps else "default", **how)
