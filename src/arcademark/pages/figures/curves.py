"""Drawing of curves: panels in a grid, with a legend above, and dashes in addition to colours."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from arcademark.pages.figures.canvas import beside, blank, legend, legend_height, ticked, wrapped
from arcademark.pages.figures.model import CurveFigure, CurvePanel, Curves, Guide
from arcademark.pages.figures.style import (
    DASHES,
    MARKERS,
    NAME_SIZE,
    NUMBER_SIZE,
    PALETTE,
    SERIES,
    TICK_SIZE,
    WIDE,
    WIDTH,
)

PAD, AROUND, LINE = 3.5, 47.0, 10.0
"""Gap between axes and ticks; height of titles and ticks around the axes; height of a further line of either."""
FREE = 0.85
"""Share of the axes' height below which curves leave room for a guide's name at the top."""


def draw(shown: Curves, width: float = WIDTH) -> Figure:
    """Draw curves; the figure has no canvas."""
    most = shown.columns if width >= WIDE else 1
    columns, cell = min(most, len(shown.panels) or 1), width / most
    titles = [wrapped(panel.title, 0.8 * cell, NAME_SIZE, bold=True) for panel in shown.panels]
    more = max((len(panel.feet) + len(lines) - 1 for panel, lines in zip(shown.panels, titles, strict=True)), default=0)
    rows = max(-(-len(shown.panels) // columns), 1)
    above = legend_height(shown.legend, cell * columns)
    height = above + rows * (shown.body + AROUND + LINE * more)
    figure = blank(height, cell * columns, layout=ConstrainedLayoutEngine(rect=(0, 0, 1, 1 - above / height)))
    for place, (panel, lines) in enumerate(zip(shown.panels, titles, strict=True)):
        axes = figure.add_subplot(rows, columns, place + 1)
        axes.set_title("\n".join(lines), loc="left", fontsize=NAME_SIZE, color=PALETTE["ink"], fontweight="bold")
        _behind(axes, panel)
        for curve in panel.curves:
            _curve(axes, curve)
    legend(figure, shown.legend, 0, DASHES)
    return figure


def _behind(axes: Axes, panel: CurvePanel) -> None:
    """Draw the background of curves: both axes, guides, and lines of numbers below the ticks."""
    axes.spines[:].set_visible(False)
    axes.patch.set_visible(False)
    below = zip(*(texts for _, texts in panel.feet), strict=True) if panel.feet else [()] * len(panel.ticks)
    across = [(value, "\n".join((text, *feet))) for (value, text), feet in zip(panel.ticks, below, strict=True)]
    ticked(axes, tuple(across), panel.levels, axis="both" if panel.grid else "y")
    axes.set(xlim=panel.limits, ylim=panel.heights)
    names = "\n".join(("", *(name for name, _ in panel.feet)))
    beside(axes, names, (0, 0), (-PAD, -PAD), TICK_SIZE, "muted", ha="right", va="top")
    axes.set_xlabel(panel.across, fontsize=NUMBER_SIZE, color=PALETTE["muted"])
    axes.set_ylabel(panel.up, fontsize=NUMBER_SIZE, color=PALETTE["muted"])
    if panel.guide is not None:
        axes.axvline(panel.guide.value, color=PALETTE[panel.guide.shade], linewidth=0.8, zorder=1)
        high = max((np.interp(panel.guide.value, one.x, one.y) for one in panel.curves if len(one.x)), default=0.0)
        at = ("data", "axes fraction")
        if (high - panel.heights[0]) / (panel.heights[1] - panel.heights[0]) < FREE:
            _named(axes, panel.guide, (panel.guide.value, 1), (4, -4), at, va="top")
        else:  # falling curves pass there
            _named(axes, panel.guide, (panel.guide.value, 0), (-4, 4), at, ha="right", va="bottom")
    if panel.level is not None:
        axes.axhline(panel.level.value, color=PALETTE[panel.level.shade], linewidth=0.7, dashes=(2, 2), zorder=1)
        _named(axes, panel.level, (1, panel.level.value), (0, 2), ("axes fraction", "data"), ha="right", va="bottom")


def _named(
    axes: Axes, guide: Guide, place: tuple[float, float], offset: tuple[float, float], at: tuple[str, str], **how: Any
) -> None:
    beside(axes, guide.text, place, offset, NUMBER_SIZE, guide.shade, at, zorder=4, **how)


def _curve(axes: Axes, curve: CurveFigure) -> None:
    shade = PALETTE[SERIES[curve.series]]
    if curve.band is not None:
        axes.fill_between(
            curve.x, *curve.band, step=curve.steps or None, color=shade, alpha=0.16, linewidth=0, zorder=2
        )
    for place, half, value in zip(curve.x, curve.spread, curve.y, strict=False):
        axes.plot([place] * 2, [max(0.0, value - half), value + half], color=shade, linewidth=0.6, zorder=2)
    if len(curve.x) and curve.x[0] == curve.x[-1]:  # a point
        axes.plot(curve.x[:1], curve.y[:1], marker="o", markersize=2.5, color=shade, zorder=4)
        return
    how: dict[str, Any] = {"linewidth": 1.2, "dashes": DASHES[curve.series], "zorder": 4}
    if curve.thin:
        how = {"linewidth": 0.5, "alpha": 0.45, "zorder": 3}
    if curve.marked:
        how |= {"marker": MARKERS[curve.series], "markersize": 3, "clip_on": False}
    axes.plot(curve.x, curve.y, color=shade, drawstyle=f"steps-{curve.steps}" if curve.steps else "default", **how)
