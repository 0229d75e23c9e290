"""What every figure is drawn with: colours, measured texts, bare axes."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

from matplotlib.axes import Axes
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextPath
from matplotlib.ticker import NullLocator

from arcademark.errors import escaped
from arcademark.report import figures

WIDTH = 468.0
"""Of a figure, in points."""

PALETTE = {name: figures.PALETTE[name] for name in ("paper", "ink", "muted", "rule", "track", "record")} | {
    "hue-1": "#2c52b8",
    "hue-2": "#bf4a12",
    "hue-3": "#1f9e78",
    "hue-4": "#c06ab0",
    "hue-5": "#1d1c1b",
}
DARK = {"hue-1": "#5b86e0", "hue-2": "#d8662a", "hue-3": "#5fd09c", "hue-4": "#c48fc4", "hue-5": "#ece8e1"}
"""What the colours of curves become where a page is dark."""


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
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and text_width(longer, size, bold=bold) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def bare(axes: Axes) -> None:
    """Take everything off axes, so that only what is drawn is there."""
    axes.patch.set_visible(False)
    axes.set_yticks([])
    axes.set_xticks([])
    for spine in axes.spines.values():
        spine.set_visible(False)


def scale(axes: Axes, *, log: bool) -> None:
    """Set the scale of the axis across, without the ticks that it brings."""
    axes.set_xscale("log" if log else "linear")
    axes.xaxis.set_major_locator(NullLocator())
    axes.xaxis.set_minor_locator(NullLocator())


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
