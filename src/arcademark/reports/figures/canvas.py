"""What figures are drawn with: measured texts, bare axes."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import cache
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextPath

from arcademark.errors import escaped
from arcademark.reports.figures.style import NAME_SIZE, PALETTE, SERIES, WIDTH

TITLE_LINE = 13.0
"""Height of a title's line, in points."""
LEGEND_LINE, LEGEND_GAP, SAMPLE = 19.0, 6.0, 26.0
"""Height of a line of names in the legend; below these; length of a sample of a line there."""


def blank(height: float, width: float = WIDTH, **how: Any) -> Figure:
    """Open a figure of a size in points, without a canvas yet."""
    figure = Figure(figsize=(width / 72, height / 72), **how)
    figure.patch.set_facecolor(PALETTE["paper"])
    return figure


def axes_at(figure: Figure, left: float, bottom: float, width: float, height: float, **how: Any) -> Axes:
    """Add axes without anything on them; their place is in points."""
    whole, high = (72 * float(size) for size in figure.get_size_inches())
    axes = figure.add_axes((left / whole, bottom / high, width / whole, height / high), **how)
    axes.patch.set_visible(False)
    axes.set_yticks([])
    axes.set_xticks([])
    for spine in axes.spines.values():
        spine.set_visible(False)
    return axes


@cache
def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """Measure a text, in points."""
    if not text.strip():
        return 0.0
    font = FontProperties(size=size, weight="bold" if bold else "normal")
    literally = escaped(text).replace("$", r"\$")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a name may have letters that the font lacks
        path = TextPath((0, 0), literally, size=size, prop=font)
    return float(path.get_extents().x1)


def wrapped(text: str, width: float, size: float, *, bold: bool = False) -> list[str]:
    """Break a text into lines of at most a width, in points, at its spaces."""
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and text_width(longer, size, bold=bold) <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def beside(
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


def title(axes: Axes, lines: list[str], above: float) -> None:
    """Write a title, its lowest line some points above the axes."""
    for place, text in enumerate(reversed(lines)):
        beside(axes, text, (0, 1), (0, above + TITLE_LINE * place), NAME_SIZE, "ink", fontweight="bold")


def legend_height(names: Sequence[tuple[str, int]], left: float) -> float:
    """Return how much room the names of series take above a figure, in points."""
    return LEGEND_LINE * (1 + _places(names, left)[-1][1]) + LEGEND_GAP if names else 0.0


def legend(
    figure: Figure, names: Sequence[tuple[str, int]], left: float, dashes: Sequence[tuple[float, ...]] = ((),)
) -> None:
    """Draw names of series at a figure's top, from `left` on, beside samples of their lines, solid unless dashed."""
    above = legend_height(names, left)
    if not names:
        return
    frame = axes_at(figure, 0, 72 * float(figure.get_size_inches()[1]) - above, WIDTH, above)
    frame.set(xlim=(0, WIDTH), ylim=(0, above))
    for (name, series), (x, line) in zip(names, _places(names, left), strict=True):
        y = above - LEGEND_LINE * (line + 0.5)
        dash = dashes[series % len(dashes)]
        frame.plot([x, x + SAMPLE], [y, y], color=PALETTE[SERIES[series]], linewidth=1.8, dashes=dash)
        frame.text(x + SAMPLE + 5, y, name, fontsize=NAME_SIZE, color=PALETTE["ink"], va="center")


def _places(names: Sequence[tuple[str, int]], left: float) -> list[tuple[float, int]]:
    """Return where each name begins, and on which line: a new one where it would not fit."""
    places, x, line = [], left, 0
    for name, _ in names:
        wide = SAMPLE + 5 + text_width(name, NAME_SIZE)
        if x > left and x + wide > WIDTH:
            x, line = left, line + 1
        places.append((x, line))
        x += wide + 24
    return places
