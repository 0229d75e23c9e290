"""Figures as SVG, PNG and PDF, the same bytes for the same figure.

Text stays text, in which no formula is read and what cannot be seen is escaped. Files that stand alone say in their
metadata that they are ours, and no date.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable
from typing import IO, Any

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_pdf import FigureCanvasPdf
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.text import Text

from arcademark.errors import escaped
from arcademark.files import MADE_BY
from arcademark.reports.figures import curves, model, pictures, rows
from arcademark.reports.figures.model import Curves, Pictures, Rows
from arcademark.reports.figures.style import PALETTE

DOTS_PER_INCH = 200
MARGIN = 9.0
"""Paper around what stands alone, in points."""
KINDS = (".svg", ".png", ".pdf")


def draw(shown: model.Figure) -> Figure:
    """Draw a figure on the light theme's paper, its texts taken literally; it has no canvas yet."""
    figure = _drawn(shown)
    for found in figure.findobj(Text):
        if isinstance(found, Text) and found.get_text():
            found.set_parse_math(False)
            found.set_text(escaped(found.get_text(), kept="\n"))
    return figure


def _drawn(shown: model.Figure) -> Figure:
    match shown:
        case Rows():
            return rows.draw(shown)
        case Curves():
            return curves.draw(shown)
        case Pictures():
            return pictures.draw(shown)


def file(shown: model.Figure, kind: str, name: str) -> bytes:
    """Draw a figure as a file that stands alone, on the light theme's paper; ids in an SVG begin with `name`."""
    figure = draw(shown)
    return _on_paper(as_svg(figure, name)).encode() if kind == ".svg" else as_file(figure, kind)


def _on_paper(drawing: str) -> str:
    """Put paper under a drawing, with a margin."""
    size = re.search(r'width="([\d.]+)pt" height="([\d.]+)pt" viewBox="[^"]*"', drawing)
    if size is None:
        raise ValueError("a drawing without a size in points")
    width, height = (float(size[place]) + 2 * MARGIN for place in (1, 2))
    box = f'viewBox="{-MARGIN:g} {-MARGIN:g} {width:g} {height:g}"'
    drawing = drawing.replace(size[0], f'width="{width:g}pt" height="{height:g}pt" {box}', 1)
    paper = f'<rect x="{-MARGIN:g}" y="{-MARGIN:g}" width="{width:g}" height="{height:g}" fill="{PALETTE["paper"]}"/>'
    made_by = f"<!-- {MADE_BY} -->\n"
    return f'<?xml version="1.0" encoding="utf-8"?>\n{made_by}' + drawing.replace(">", f">\n {paper}", 1)


def themed(svg: str) -> str:
    """Replace palette colours by a page's CSS variables for its light and dark themes, the colours as fallbacks."""
    names = {colour: name for name, colour in PALETTE.items()}
    svg = _in_tags("|".join(names), lambda found: f"var(--{names[found[0]]}, {found[0]})", svg)
    return _in_tags(r"font-family: [^;\"]+", lambda _: "font-family: var(--sans, sans-serif)", svg)


def _in_tags(pattern: str, change: Callable[[re.Match[str]], str], svg: str) -> str:
    """Replace in a drawing's tags, and in none of its texts."""
    return re.sub(r"<[^>]*>", lambda tag: re.sub(pattern, change, tag[0]), svg)


def as_svg(figure: Figure, salt: str) -> str:
    """Write the figure: no date, ids from its content and its name only, none that nothing refers to."""
    FigureCanvasSVG(figure)
    figure.patch.set_visible(False)
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
    """Write the figure."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a name may have letters that the font lacks
        figure.savefig(out, **how)
