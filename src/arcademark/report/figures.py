"""Figures as SVG: the same text for the same report, in colours that a page can replace.

Conventions
-----------
* Lengths are in points; a figure is `WIDTH` wide and as high as its rows need.
* Text stays text, so that it can be read aloud, searched and selected.
* `themed` swaps each palette colour for a CSS variable with that colour as its fallback.
"""

from __future__ import annotations

import io
import re

import matplotlib as mpl
from matplotlib.figure import Figure

WIDTH = 720.0
MOST_ALGORITHMS = 5
"""Algorithms that a figure shows: the first ones."""

PALETTE = {
    "paper": "#fdfcf9",
    "ink": "#1d1c1a",
    "muted": "#6f6b64",
    "rule": "#d8d4cb",
    "track": "#eae6dd",
    "record": "#a8511f",
    "series-1": "#1f6f78",
    "series-2": "#b0812f",
    "series-3": "#7d4f7e",
    "series-4": "#5d7a3a",
    "series-5": "#4a6fa5",
}
SERIES = tuple(name for name in PALETTE if name.startswith("series"))


def colour(index: int) -> str:
    """Return the colour of the algorithm at this place in the report."""
    return PALETTE[SERIES[index]]


def themed(svg: str) -> str:
    """Replace palette colours by CSS variables, so that a page's light and dark themes reach into the figure."""
    for name, colour in PALETTE.items():
        svg = svg.replace(colour, f"var(--{name}, {colour})")
    return re.sub(r"font-family: [^;\"]+", "font-family: var(--sans, sans-serif)", svg)


def as_svg(figure: Figure, salt: str) -> str:
    """Write the figure: no date, ids from its content and its name only, none that nothing refers to."""
    out = io.StringIO()
    with mpl.rc_context({"svg.hashsalt": salt, "svg.fonttype": "none"}):
        figure.savefig(out, format="svg", metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    svg = out.getvalue()
    svg = svg[svg.index("<svg") :]
    pending = set(re.findall(r'(?:url\(|href=")#([\w-]+)', svg))

    def rename(found: re.Match[str]) -> str:
        if found[1] not in pending:
            return ""
        pending.discard(found[1])  # a shape that is defined again is the same shape
        return f' id="{salt}-{found[1]}"'

    svg = re.sub(r' id="([^"]+)"', rename, svg)
    svg = re.sub(r'((?:url\(|href=")#)', rf"\1{salt}-", svg)
    return re.sub(r"<!--.*?-->\s*", "", svg, flags=re.DOTALL)
