"""Figures as SVG, PNG and PDF, with the same bytes for the same figure.

Text stays text, without formulas and with invisible characters escaped. Metadata name ArcadeMark, and have no date.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_pdf import FigureCanvasPdf
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.text import Text

from arcademark.errors import escaped
from arcademark.files import MADE_BY
from arcademark.pages.figures import curves, grid, model, pictures, rows
from arcademark.pages.figures.model import Curves, HeatMap, PictureRow, RowsFigure
from arcademark.pages.figures.style import PALETTE, SCREEN, SVG_FONTS, WIDTH, FigureStyle

DOTS_PER_INCH = 200
MARGIN = 3.0
"""Margin of stand-alone figures, in points, included in their width."""
KINDS = (".svg", ".png", ".pdf")
FONT_FAMILY = r"font-family: [^;\"]+"


def draw(shown: model.Figure, width: float = WIDTH, style: FigureStyle = SCREEN) -> Figure:
    """Return a figure on white, without a canvas; texts are literal, and pictures have their own width."""
    with mpl.rc_context({"font.family": style.families}):
        match shown:
            case RowsFigure():
                figure = rows.draw(shown, width)
            case Curves():
                figure = curves.draw(shown, width)
            case HeatMap():
                figure = grid.draw(shown, width)
            case PictureRow():
                figure = pictures.draw(shown)
    for found in figure.findobj(Text):
        if isinstance(found, Text) and found.get_text():
            found.set_parse_math(False)
            found.set_text(escaped(found.get_text(), kept="\n"))
    return figure


def file(shown: model.Figure, kind: str, name: str, style: FigureStyle = SCREEN) -> bytes:
    """Return a figure as a stand-alone file, on white; ids in an SVG begin with `name`."""
    figure = draw(shown, style.width - 2 * MARGIN, style)
    if kind == ".svg":
        made_by = f'<?xml version="1.0" encoding="utf-8"?>\n<!-- {MADE_BY} -->\n'
        families = SVG_FONTS[style.face]
        svg = _in_tags(FONT_FAMILY, lambda _: f"font-family: {families}", as_svg(figure, name, alone=True))
        return (made_by + svg).encode()
    if kind == ".png":
        return _saved(figure, FigureCanvasAgg, "png", {"Software": MADE_BY}, dpi=DOTS_PER_INCH)
    return _saved(figure, FigureCanvasPdf, "pdf", {"Creator": MADE_BY, "Producer": None, "CreationDate": None})


def themed(svg: str) -> str:
    """Replace palette colours by a page's CSS variables for light and dark themes, with the colours as fallbacks."""
    names = {colour: name for name, colour in PALETTE.items()}
    svg = _in_tags("|".join(names), lambda found: f"var(--{names[found[0]]}, {found[0]})", svg)
    return _in_tags(FONT_FAMILY, lambda _: "font-family: var(--sans, sans-serif)", svg)


def _in_tags(pattern: str, change: Callable[[re.Match[str]], str], svg: str) -> str:
    """Replace matches in a drawing's tags, but not in its texts."""
    return re.sub(r"<[^>]*>", lambda tag: re.sub(pattern, change, tag[0]), svg)


def as_svg(figure: Figure, salt: str, *, alone: bool = False) -> str:
    """Return the figure as SVG, without a date; ids depend only on its content and name, and unused ones are removed.

    If ``alone``, it has a background and a margin.
    """
    figure.patch.set_visible(alone)
    bare = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    svg = _saved(figure, FigureCanvasSVG, "svg", bare, {"svg.hashsalt": salt}, margin=MARGIN if alone else 0.0).decode()
    svg = svg[svg.index("<svg") :]
    pending = set(re.findall(r'(?:url\(|href=")#([\w-]+)', svg))

    def rename(found: re.Match[str]) -> str:
        if found[1] not in pending:
            return ""
        pending.discard(found[1])  # repeated definitions are of the same shape
        return f' id="{salt}-{found[1]}"'

    svg = _in_tags(r' id="([^"]+)"', rename, svg)
    svg = _in_tags(r'((?:url\(|href=")#)', lambda found: f"{found[0]}{salt}-", svg)
    return re.sub(r"<!--.*?-->\s*", "", svg, flags=re.DOTALL)


def _saved(
    figure: Figure,
    canvas: Callable[[Figure], object],
    kind: str,
    metadata: Mapping[str, str | None],
    settings: Mapping[str, Any] = MappingProxyType({}),
    margin: float = MARGIN,
    **how: Any,
) -> bytes:
    """Return the figure as a file with a margin, with its text as text."""
    canvas(figure)
    out, whole = io.BytesIO(), figure.bbox_inches.padded(margin / 72) if margin else None
    texts: Any = {"pdf.fonttype": 42, "svg.fonttype": "none", **settings}
    with mpl.rc_context(texts), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a name may have letters that the font lacks
        figure.savefig(out, format=kind, metadata=metadata, bbox_inches=whole, **how)
    return out.getvalue()
