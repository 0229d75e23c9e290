"""Draws a figure of lines: one panel with whiskers, and numbers below its ticks."""

from __future__ import annotations

import math
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from arcademark.report.drawing.curves import DASHES, legend, more_legend
from arcademark.report.drawing.forms import Line, Lines
from arcademark.report.drawing.style import PALETTE, WIDTH, bare, beside, wrapped

LEFT, RIGHT = 54.0, 12.0
LEGEND, TITLE_LINE, BODY, FOOT, FOOT_LINE = 24.0, 11.0, 170.0, 34.0, 11.0
"""Heights, from the top; there is a line of numbers for each of a figure's feet."""

TITLE_SIZE, TICK_SIZE, TEXT_SIZE = 8.5, 7.0, 7.5
MOST_TICKS = 6
ROOM = 1.04
"""How far the axis up goes beyond the highest point or whisker."""
MARKS = ("o", "s", "D", "^", "v")
SHIFT = 0.012
"""Part of the axis across that lines stand apart, so that whiskers do not cover each other."""


def draw(model: Lines) -> Figure:
    """Draw the model on a figure that has no canvas yet."""
    title = wrapped(model.title, WIDTH - LEFT - RIGHT, TITLE_SIZE, bold=True)
    foot = FOOT + FOOT_LINE * len(model.feet)
    names = [item.name for item in model.lines]
    height = LEGEND + more_legend(names) + TITLE_LINE * len(title) + 8 + BODY + foot
    figure = Figure(figsize=(WIDTH / 72, height / 72))
    axes = figure.add_axes((LEFT / WIDTH, foot / height, (WIDTH - LEFT - RIGHT) / WIDTH, BODY / height))
    _behind(axes, model)
    for line, text in enumerate(reversed(title)):
        beside(axes, text, (0, 1), (0, 8 + TITLE_LINE * line), TITLE_SIZE, "ink", fontweight="bold")
    low, high = axes.get_xlim()
    for index, item in enumerate(model.lines):
        _line(axes, item, index, (index - (len(model.lines) - 1) / 2) * SHIFT * (high - low))
    legend(figure, names, height)
    return figure


def _line(axes: Axes, item: Line, index: int, shift: float) -> None:
    shade = PALETTE[f"hue-{index + 1}"]
    x = [value + shift for value in item.x]
    for place, half, value in zip(x, item.spread, item.y, strict=False):
        axes.plot([place] * 2, [max(0.0, value - half), value + half], color=shade, linewidth=0.8, zorder=2)
    how: dict[str, Any] = {"marker": MARKS[index], "markersize": 3.6, "linewidth": 1.4, "dashes": DASHES[index]}
    axes.plot(x, item.y, color=shade, zorder=3, clip_on=False, **how)


def _behind(axes: Axes, model: Lines) -> None:
    """Draw what is behind the lines: both axes, and the numbers below."""
    bare(axes)
    places = [value for value, _ in model.ticks]
    margin = 0.05 * (places[-1] - places[0]) or 0.5
    low, high = places[0] - margin, places[-1] + margin
    top = ROOM * max(_tops(model))
    axes.set_xlim(low, high)
    axes.set_ylim(0, top)
    grid: dict[str, Any] = {"color": PALETTE["rule"], "linewidth": 0.5, "zorder": 0, "clip_on": False}
    for value in ticks(top):
        axes.plot([low, high], [value] * 2, **grid)
        text = f"{value:g}{model.unit}"
        beside(axes, text, (0, value / top), (-4, 0), TICK_SIZE, "muted", ha="right", va="center")
    for place, (value, text) in enumerate(model.ticks):
        at = ((value - low) / (high - low), 0)
        beside(axes, text, at, (0, -5), TICK_SIZE, "muted", ha="center", va="top")
        for line, (_, texts) in enumerate(model.feet):
            below = -FOOT + 8 - FOOT_LINE * line
            beside(axes, texts[place], at, (0, below), TICK_SIZE, "muted", ha="center", va="top")
    for line, (name, _) in enumerate(model.feet):
        beside(axes, name, (0, 0), (-4, -FOOT + 8 - FOOT_LINE * line), TICK_SIZE, "muted", ha="right", va="top")
    beside(axes, model.across, (0.5, 0), (0, -22), TEXT_SIZE, "muted", ha="center")


def _tops(model: Lines) -> list[float]:
    spreads = [item.spread or (0.0,) * len(item.y) for item in model.lines]
    return [
        value + half for item, spread in zip(model.lines, spreads, strict=True)
        for value, half in zip(item.y, spread, strict=True)
    ] or [1.0]  # fmt: skip


def ticks(top: float) -> tuple[float, ...]:
    """Return round numbers from 0 up to ``top``, at most `MOST_TICKS`."""
    if not top > 0:
        return (0.0,)
    power = 10.0 ** math.floor(math.log10(top / MOST_TICKS))
    step = next(power * factor for factor in (1, 2, 5, 10, 20) if top / (power * factor) < MOST_TICKS)
    return tuple(step * place for place in range(int(top / step) + 1))
