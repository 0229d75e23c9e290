"""Figures as SVG, PNG and PDF."""

from __future__ import annotations

import re

from matplotlib.figure import Figure

from arcademark.files import MADE_BY
from arcademark.report import figures
from arcademark.report.drawing import curves, lines, pictures, rows
from arcademark.report.drawing.forms import FigureModel, Lines, Pictures, Rows
from arcademark.report.drawing.style import DARK, PALETTE
from arcademark.report.figures import MARGIN


def svg(model: FigureModel, name: str) -> str:
    """Draw a figure.

    Parameters
    ----------
    model : Rows, Curves, Lines or Pictures
    name : str
        Unique in a page: ids in the drawing begin with it.

    Returns
    -------
    str
        One ``<svg>`` element, the same for the same model.
    """
    figure = draw(model)
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
    made_by = f"<!-- {MADE_BY} -->\n"
    return f'<?xml version="1.0" encoding="utf-8"?>\n{made_by}' + drawing.replace(">", f">\n {paper}", 1)


def png(model: FigureModel) -> bytes:
    """Draw a figure as a PNG on the light theme's paper."""
    return figures.as_file(draw(model), ".png")


def pdf(model: FigureModel) -> bytes:
    """Draw a figure as a PDF on the light theme's paper, undated, its text as text."""
    return figures.as_file(draw(model), ".pdf")


def themed(drawing: str) -> str:
    """Replace the colours of curves by CSS variables too, beyond those that every figure has."""
    return figures.themed(figures.with_variables(drawing, {name: PALETTE[name] for name in DARK}))


def draw(model: FigureModel) -> Figure:
    """Draw the model on a figure that has no canvas yet."""
    if isinstance(model, Lines):
        return lines.draw(model)
    if isinstance(model, Pictures):
        return pictures.draw(model)
    return rows.draw(model) if isinstance(model, Rows) else curves.draw(model)
