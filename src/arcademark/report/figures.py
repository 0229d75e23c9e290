"""Figures as SVG, PNG and PDF: the same for the same report; in SVG in colours that a page can replace.

Conventions
-----------
* Names are text: no formula is read in them, and what cannot be seen is escaped.
* Files that stand alone say in their metadata that they are ours, and no date.
* Lengths are in points; a figure is `WIDTH` wide and as high as its rows need.
* Text stays text, so that it can be read aloud, searched and selected.
* `themed` swaps each palette colour for a CSS variable with that colour as its fallback.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Mapping
from typing import IO, Any

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_pdf import FigureCanvasPdf
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.text import Text

from arcademark.errors import escaped
from arcademark.files import MADE_BY

WIDTH = 720.0
DOTS_PER_INCH = 200
MARGIN = 9.0
"""Paper around what stands alone, in points."""
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
    svg = with_variables(svg, PALETTE)
    return _in_tags(r"font-family: [^;\"]+", lambda _: "font-family: var(--sans, sans-serif)", svg)


def with_variables(svg: str, colours: Mapping[str, str]) -> str:
    """Replace colours by CSS variables of their names."""
    names = {colour: name for name, colour in colours.items()}
    return _in_tags("|".join(names), lambda found: f"var(--{names[found[0]]}, {found[0]})", svg)


def _in_tags(pattern: str, change: Callable[[re.Match[str]], str], svg: str) -> str:
    """Replace in a drawing's tags, and in none of its texts."""
    return re.sub(r"<[^>]*>", lambda tag: re.sub(pattern, change, tag[0]), svg)


def as_svg(figure: Figure, salt: str) -> str:
    """Write the figure: no date, ids from its content and its name only, none that nothing refers to."""
    FigureCanvasSVG(figure)
    out = io.StringIO()
    with mpl.rc_context({"svg.hashsalt": salt, "svg.fonttype": "none"}):
        _save(figure, out, format="svg", metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    svg = out.getvalue()
    svg = svg[svg.index("<svg") :]
    pending = set(re.findall(r'(?:url\(|href=")#([\w-]+)', svg))

    def rename(found: re.Match[str]) -> str:
        if found[1] not in pending:
            return ""
        pending.discard(found[1])  # a shape that is defined again is the same shape
        return f' id="{salt}-{found[1]}"'

    svg = _in_tags(r' id="([^"]+)"', rename, svg)
    svg = _in_tags(r'((?:url\(|href=")#)', lambda found: f"{found[0]}{salt}-", svg)
    return re.sub(r"<!--.*?-->\s*", "", svg, flags=re.DOTALL)


def as_file(figure: Figure, kind: str) -> bytes:
    """Write the figure as a ".png" or ".pdf", its text as text, with a margin on the light theme's paper."""
    figure.patch.set_visible(True)
    figure.patch.set_facecolor(PALETTE["paper"])
    out, whole = io.BytesIO(), figure.bbox_inches.padded(MARGIN / 72)
    if kind == ".png":
        FigureCanvasAgg(figure)
        _save(figure, out, format="png", dpi=DOTS_PER_INCH, metadata={"Software": MADE_BY}, bbox_inches=whole)
    else:
        FigureCanvasPdf(figure)
        said = {"Creator": MADE_BY, "Producer": None, "CreationDate": None}
        with mpl.rc_context({"pdf.fonttype": 42}):
            _save(figure, out, format="pdf", metadata=said, bbox_inches=whole)
    return out.getvalue()


def _save(figure: Figure, out: IO[Any], **how: Any) -> None:
    """Draw the figure, its texts taken literally."""
    for found in figure.findobj(Text):
        if isinstance(found, Text) and found.get_text():
            found.set_parse_math(False)
            found.set_text(escaped(found.get_text(), kept="\n"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a name may have letters that the font lacks
        figure.savefig(out, **how)
