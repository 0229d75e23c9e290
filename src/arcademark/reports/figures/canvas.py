"""What figures are drawn with: measured texts, bare axes."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextPath

from arcademark.errors import escaped
from arcademark.reports.figures.style import NAME_SIZE, PALETTE, WIDTH

TITLE_LINE = 13.0
"""Height of a title's line, in points."""


def blank(height: float, width: float = WIDTH, **how: Any) -> Figure:
    """Open a figure of a size in points, without a canvas yet."""
    figure = Figure(figsize=(width / 72, height / 72), **how)
    figure.patch.set_visible(False)
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
