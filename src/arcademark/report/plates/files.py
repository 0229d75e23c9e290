"""Plates as SVG, PNG and PDF."""

from __future__ import annotations

import io
import re

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_pdf import FigureCanvasPdf
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from arcademark.report import figures
from arcademark.report.plates import curves, lines, pictures, rows
from arcademark.report.plates.drawing import DARK, PALETTE
from arcademark.report.plates.forms import Lines, Pictures, Plate, Rows

DOTS_PER_INCH = 200
MARGIN = 9.0
"""Paper around what stands alone."""


def svg(plate: Plate, name: str) -> str:
    """Draw a plate.

    Parameters
    ----------
    plate : Rows, Curves, Lines or Pictures
    name : str
        Unique in a page: ids in the drawing begin with it.

    Returns
    -------
    str
        One ``<svg>`` element, the same for the same plate.
    """
    figure = draw(plate)
    FigureCanvasSVG(figure)
    figure.patch.set_visible(False)
    return figures.as_svg(figure, name)


def on_paper(drawing: str) -> str:
    """Put paper under a drawing, with a margin, so that it can stand alone."""
    size = re.search(r'width="([\d.]+)pt" height="([\d.]+)pt" viewBox="[^"]*"', drawing)
    if size is None:
        raise ValueError("a drawing without a size in points")
    width, height = (float(size[place]) + 2 * MARGIN for place in (1, 2))
    box = f'viewBox="{-MARGIN:g} {-MARGIN:g} {width:g} {height:g}"'
    drawing = drawing.replace(size[0], f'width="{width:g}pt" height="{height:g}pt" {box}', 1)
    paper = f'<rect x="{-MARGIN:g}" y="{-MARGIN:g}" width="{width:g}" height="{height:g}" fill="{PALETTE["paper"]}"/>'
    return '<?xml version="1.0" encoding="utf-8"?>\n' + drawing.replace(">", f">\n {paper}", 1)


def png(plate: Plate) -> bytes:
    """Draw a plate as a PNG on the light theme's paper."""
    figure = draw(plate)
    FigureCanvasAgg(figure)
    figure.patch.set_facecolor(PALETTE["paper"])
    out = io.BytesIO()
    figure.savefig(
        out,
        format="png",
        dpi=DOTS_PER_INCH,
        metadata={"Software": None},
        bbox_inches=figure.bbox_inches.padded(MARGIN / 72),
    )
    return out.getvalue()


def pdf(plate: Plate) -> bytes:
    """Draw a plate as a PDF on the light theme's paper, undated, its text as text."""
    figure = draw(plate)
    FigureCanvasPdf(figure)
    figure.patch.set_facecolor(PALETTE["paper"])
    out, unsigned = io.BytesIO(), dict.fromkeys(("CreationDate", "Producer", "Creator"))
    with mpl.rc_context({"pdf.fonttype": 42}):
        figure.savefig(out, format="pdf", metadata=unsigned, bbox_inches=figure.bbox_inches.padded(MARGIN / 72))
    return out.getvalue()


def themed(drawing: str) -> str:
    """Replace the colours of curves by CSS variables too, beyond those that every figure has."""
    for name in DARK:
        drawing = drawing.replace(PALETTE[name], f"var(--{name}, {PALETTE[name]})")
    return figures.themed(drawing)


def draw(plate: Plate) -> Figure:
    """Draw a plate on a figure that has no canvas yet."""
    if isinstance(plate, Lines):
        return lines.draw(plate)
    if isinstance(plate, Pictures):
        return pictures.draw(plate)
    return rows.draw(plate) if isinstance(plate, Rows) else curves.draw(plate)
