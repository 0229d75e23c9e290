"""Drawing tools of figures: measured texts, bare axes, legends."""

from __future__ import annotations

import math
import warnings
from bisect import bisect
from collections.abc import Sequence
from functools import cache
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.lines import Line2D
from matplotlib.textpath import TextPath

from arcademark.errors import escaped
from arcademark.pages.figures.model import Ticks
from arcademark.pages.figures.style import NAME_SIZE, PALETTE, SERIES, TICK_SIZE, WIDTH

TITLE_LINE = 10.0
"""Height of a title's line, in points."""
LOOSE = 0.95
"""Share of the available width that a text may take, because other fonts are wider."""
LEGEND_LINE, SAMPLE = 14.5, 38.0
"""Height of a line of names in the legend; length of a sample line there with its margins."""


class Drawing(Figure):
    """A figure that notebooks show without any setup of Matplotlib."""

    def _repr_svg_(self) -> str:
        from arcademark.pages.figures.files import as_svg

        return as_svg(self, "figure", alone=True)


def blank(height: float, width: float = WIDTH, **how: Any) -> Figure:
    """Return a figure of a size in points, without a canvas."""
    figure = Drawing(figsize=(width / 72, height / 72), **how)
    figure.patch.set_facecolor(PALETTE["paper"])
    return figure


def axes_at(figure: Figure, left: float, bottom: float, width: float, height: float, **how: Any) -> Axes:
    """Add axes without ticks and spines, at a place in points."""
    whole, high = (72 * float(size) for size in figure.get_size_inches())
    axes = figure.add_axes((left / whole, bottom / high, width / whole, height / high), **how)
    axes.patch.set_visible(False)
    axes.set_yticks([])
    axes.set_xticks([])
    for spine in axes.spines.values():
        spine.set_visible(False)
    return axes


def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """Return the width of a text in the current font, in points."""
    return _width(text, size, bold, tuple(mpl.rcParams["font.family"])) if text.strip() else 0.0


@cache
def _width(text: str, size: float, bold: bool, family: tuple[str, ...]) -> float:
    font = FontProperties(family=list(family), size=size, weight="bold" if bold else "normal")
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


def elided(name: str, width: float) -> str:
    """Shorten a name to a width, in points, with an ellipsis at its end."""
    room = LOOSE * width
    if text_width(name, NAME_SIZE) <= room:
        return name
    kept = bisect(range(len(name)), room, key=lambda end: text_width(f"{name[:end]}…", NAME_SIZE)) - 1
    return f"{name[: max(kept, 1)].rstrip()}…"


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
    """Write a text at an offset in points from a place, by default in fractions of the axes."""
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
    """Write a title, with its lowest line at a height in points above the axes."""
    for place, text in enumerate(reversed(lines)):
        beside(axes, text, (0, 1), (0, above + TITLE_LINE * place), NAME_SIZE, "ink", fontweight="bold")


def _columns(names: Sequence[tuple[str, int]], width: float) -> int:
    """Return the number of legend columns above a figure."""
    return max(1, min(len(names), int(width // (SAMPLE + max(text_width(name, NAME_SIZE) for name, _ in names)))))


def legend_height(names: Sequence[tuple[str, int]], width: float) -> float:
    """Return the height of the legend above a figure, in points."""
    return LEGEND_LINE * math.ceil(len(names) / _columns(names, width)) if names else 0.0


def legend(
    figure: Figure, names: Sequence[tuple[str, int]], left: float, dashes: Sequence[tuple[float, ...]] = ((),)
) -> None:
    """Draw the legend at a figure's top, from `left` on, with sample lines that are solid unless `dashes` are given."""
    if not names:
        return
    width = 72 * float(figure.get_size_inches()[0])
    lines = [
        Line2D([], [], color=PALETTE[SERIES[series]], linewidth=1.4, dashes=dashes[series % len(dashes)])
        for _, series in names
    ]
    figure.legend(
        lines,
        [elided(name, width - left - SAMPLE) for name, _ in names],
        loc="upper left",
        bbox_to_anchor=(left / width, 1),
        ncols=_columns(names, width),
        frameon=False,
        fontsize=NAME_SIZE,
        labelcolor=PALETTE["ink"],
        borderpad=0,
        borderaxespad=0,
    )


def ticked(axes: Axes, across: Ticks, up: Ticks = (), **lines: Any) -> None:
    """Set tick labels below and to the left of axes, without tick marks; with ``axis`` also grid lines."""
    axes.set_xticks([value for value, _ in across], [text for _, text in across])
    axes.set_yticks([value for value, _ in up], [text for _, text in up])
    axes.tick_params(length=0, pad=4.5, labelsize=TICK_SIZE, labelcolor=PALETTE["muted"])
    axes.set_axisbelow(True)
    if lines:
        axes.grid(color=PALETTE["rule"], linewidth=0.4, clip_on=False, **lines)
