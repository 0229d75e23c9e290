"""Drawing of grids of cells, with names to the left and above, which slope if they are too long."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from arcademark.pages.figures.canvas import LOOSE, axes_at, blank, elided, text_width
from arcademark.pages.figures.model import HeatMap
from arcademark.pages.figures.style import NAME_SIZE, NUMBER_SIZE, PALETTE, TICK_SIZE, WIDTH

ROW, GAP, BESIDE, PAD = 11.5, 10.0, 6.0, 5.0
"""Height of a row; gap between lines of columns; gap between names and cells; padding of a cell's text."""
SLOPE = 50.0
"""Slope, in degrees, of names that are wider than their column."""
WIDEST = 60.0
"""Maximum width of a column."""
MAX_LEFT, MAX_COLUMN = 0.4, 75.0
"""Maximum share of the width for names of rows; maximum length of a column's name."""
LEGEND_LINE, SAMPLE = 11.0, 19.0


def draw(shown: HeatMap, width: float = WIDTH) -> Figure:
    """Draw a grid; the figure has no canvas."""
    texts = [text for row in shown.cells for text, _ in row]
    cell = max([NAME_SIZE * 1.3, *(text_width(text, TICK_SIZE) + PAD for text in texts)])
    rows = tuple(elided(name, MAX_LEFT * width) for name in shown.rows)
    columns = tuple(elided(name, MAX_COLUMN) for name in shown.columns)
    shown = replace(shown, rows=rows, columns=columns)
    longest = max(text_width(name, NAME_SIZE) for name in shown.columns)
    left = BESIDE + max(text_width(name, NAME_SIZE) for name in (shown.corner, *shown.rows)) / LOOSE
    sloping = max(cell, longest + PAD) * len(shown.columns) > width - left
    rise = math.sin(math.radians(SLOPE)) if sloping else 0.0
    room = width - left - (longest * math.cos(math.radians(SLOPE)) if sloping else 0.0)
    lines = math.ceil(len(shown.columns) / max(1, int(room // cell)))
    beside = math.ceil(len(shown.columns) / lines)
    wide = min(room / beside, max(WIDEST, 0.0 if sloping else longest + PAD))
    head, body = longest * rise + NAME_SIZE * 1.4, ROW * len(shown.rows)
    legend = _legend_lines(shown.legend, width)
    height = LEGEND_LINE * len(legend) + lines * (head + body) + GAP * (lines - 1 + bool(legend))
    figure = blank(height, width)
    top = height
    for number in range(lines):
        part = slice(number * beside, (number + 1) * beside)
        count = len(shown.columns[part])
        axes = axes_at(figure, left, top - head - body, wide * count, body)
        axes.set(xlim=(0, count), ylim=(len(shown.rows), 0))
        _names(axes, shown, part, sloping=sloping)
        for place, row in enumerate(shown.cells):
            for column, (text, shade) in enumerate(row[part]):
                _cell(axes, column, place, text, shade)
        top -= head + body + GAP
    for number, names in enumerate(legend):
        _legend(figure, names, (0.0, LEGEND_LINE * (len(legend) - number)))
    return figure


def _names(axes: Axes, shown: HeatMap, part: slice, *, sloping: bool) -> None:
    how: dict[str, Any] = {
        "fontsize": NAME_SIZE,
        "color": PALETTE["ink"],
        "annotation_clip": False,
        "textcoords": "offset points",
    }
    for place, name in enumerate(shown.rows):
        axes.annotate(name, (0, place + 0.5), (-BESIDE, 0), ha="right", va="center", **how)
    axes.annotate(shown.corner, (0, 0), (-BESIDE, 3), ha="right", va="bottom", **how | {"color": PALETTE["muted"]})
    turned: dict[str, Any] = (
        {"rotation": SLOPE, "rotation_mode": "anchor", "ha": "left"} if sloping else {"ha": "center"}
    )
    for place, name in enumerate(shown.columns[part]):
        axes.annotate(name, (place + 0.5, 0), (0, 3), va="bottom", **how, **turned)


def _cell(axes: Axes, column: int, row: int, text: str, shade: str) -> None:
    if shade:
        axes.barh(row + 0.5, 1, 1, left=column, color=PALETTE[shade], edgecolor=PALETTE["paper"], linewidth=0.6)
    ink = PALETTE["cell-ink" if shade else "muted"]
    axes.text(column + 0.5, row + 0.5, text, fontsize=TICK_SIZE, color=ink, ha="center", va="center")


def _legend_lines(names: Sequence[tuple[str, str]], width: float) -> list[list[tuple[str, str]]]:
    """Distribute the meanings of colours over lines."""
    lines: list[list[tuple[str, str]]] = []
    used = width
    for name, shade in names:
        needed = text_width(name, NUMBER_SIZE) + SAMPLE
        if used + needed > width:
            lines.append([])
            used = 0.0
        lines[-1].append((name, shade))
        used += needed
    return lines


def _legend(figure: Figure, names: Sequence[tuple[str, str]], corner: tuple[float, float]) -> None:
    width, height = (72 * float(size) for size in figure.get_size_inches())
    figure.legend(
        [Patch(color=PALETTE[shade]) for _, shade in names],
        [name for name, _ in names],
        loc="upper left",
        bbox_to_anchor=(corner[0] / width, corner[1] / height),
        ncols=len(names),
        frameon=False,
        fontsize=NUMBER_SIZE,
        labelcolor=PALETTE["ink"],
        borderpad=0,
        borderaxespad=0,
        handlelength=1.0,
        handleheight=0.8,
        handletextpad=0.4,
        columnspacing=1.0,
    )
