"""Draws a figure of curves: panels beside each other, one legend, colours that never stand alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from arcademark.report.drawing.forms import CurvePanel, Curves
from arcademark.report.drawing.style import PALETTE, WIDTH, bare, beside, text_width, wrapped

DASHES: tuple[tuple[float, ...], ...] = ((), (6, 1.6), (1.2, 1.4), (5, 1.4, 1.2, 1.4), (3, 1.2))

LEFT, GAP, RIGHT = 32.0, 38.0, 8.0
LEGEND, TITLE_LINE, BODY, FOOT = 22.0, 11.0, 152.0, 34.0
"""Heights, from the top."""
LEGEND_LINE = 16.0
"""Height of a line of names in the legend."""

TITLE_SIZE, TICK_SIZE, TEXT_SIZE = 8.5, 7.0, 7.5


def draw(model: Curves) -> Figure:
    """Draw the model on a figure that has no canvas yet."""
    count = len(model.panels)
    width = (WIDTH - LEFT - GAP * (count - 1) - RIGHT) / count
    titles = [wrapped(panel.title, width, TITLE_SIZE, bold=True) for panel in model.panels]
    names = [curve.name for curve in model.panels[0].curves]
    height = LEGEND + more_legend(names) + TITLE_LINE * max(map(len, titles)) + 8 + BODY + FOOT
    figure = Figure(figsize=(WIDTH / 72, height / 72))
    for place, (panel, title) in enumerate(zip(model.panels, titles, strict=True)):
        x = LEFT + place * (width + GAP)
        axes = figure.add_axes((x / WIDTH, FOOT / height, width / WIDTH, BODY / height))
        _behind(axes, panel)
        for line, text in enumerate(reversed(title)):
            beside(axes, text, (0, 1), (0, 8 + TITLE_LINE * line), TITLE_SIZE, "ink", fontweight="bold")
        for index, curve in enumerate(panel.curves):
            shade, dashes = PALETTE[f"hue-{index + 1}"], DASHES[index]
            axes.plot(curve.x, curve.y, color=shade, linewidth=1.5, dashes=dashes, drawstyle="steps-pre", zorder=3)
    legend(figure, names, height)
    return figure


def _behind(axes: Axes, panel: CurvePanel) -> None:
    """Draw what is behind the curves: both axes, and the line to compare with."""
    bare(axes)
    low, high = panel.limits
    axes.set_xlim(low, high)
    axes.set_ylim(0, 1)
    grid: dict[str, Any] = {"color": PALETTE["rule"], "linewidth": 0.5, "zorder": 0, "clip_on": False}
    for value, text in panel.ticks:
        axes.plot([value] * 2, [0, 1], **grid)
        axes.text(value, -0.045, text, fontsize=TICK_SIZE, color=PALETTE["muted"], ha="center", va="top")
    for fraction in (0, 0.25, 0.5, 0.75, 1):
        axes.plot([low, high], [fraction] * 2, **grid)
        beside(axes, f"{100 * fraction:.0f} %", (0, fraction), (-4, 0), TICK_SIZE, "muted", ha="right", va="center")
    if panel.line is not None:
        value, text = panel.line
        axes.plot([value] * 2, [0, 1], color=PALETTE["record"], linewidth=1, zorder=1)
        place = ((value - low) / (high - low), 1)
        beside(axes, text, place, (4, -4), TEXT_SIZE, "record", va="top", zorder=4)
    beside(axes, panel.across, (0.5, 0), (0, -26), TEXT_SIZE, "muted", ha="center")


def legend(figure: Figure, names: Sequence[str], height: float) -> None:
    """Draw names beside samples of their lines, at the top of a figure of a height in points."""
    places = _legend_places(names)
    tall = LEGEND_LINE * (1 + places[-1][1])
    frame = figure.add_axes((0, 1 - tall / height, 1, tall / height))
    bare(frame)
    frame.set_xlim(0, WIDTH)
    frame.set_ylim(0, tall)
    for index, (name, (x, line)) in enumerate(zip(names, places, strict=True)):
        y = tall - LEGEND_LINE * (line + 0.5)
        frame.plot([x, x + 22], [y, y], color=PALETTE[f"hue-{index + 1}"], linewidth=1.8, dashes=DASHES[index])
        frame.text(x + 26, y, name, fontsize=8, color=PALETTE["ink"], va="center")


def more_legend(names: Sequence[str]) -> float:
    """Return how much higher than one line a legend is, in points."""
    return LEGEND_LINE * _legend_places(names)[-1][1]


def _legend_places(names: Sequence[str]) -> list[tuple[float, int]]:
    """Return where each name begins, and on which line: a new one where it would not fit."""
    places, x, line = [], LEFT, 0
    for name in names:
        wide = 26 + text_width(name, 8)
        if x > LEFT and x + wide > WIDTH:
            x, line = LEFT, line + 1
        places.append((x, line))
        x += wide + 20
    return places
