"""A reproduction as one HTML file: every table, statement and figure of a paper."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from markupsafe import Markup

from arcademark.report import pages
from arcademark.report.drawing import files, style
from arcademark.report.reproductions import analysis, figures
from arcademark.report.reproductions.analysis import Grid, Reproduced
from arcademark.reproduce.comparison import Comparison
from arcademark.reproduce.figures import PaperFigure

TEMPLATE = "reproduction.html.jinja"

Cell = Comparison | None


@dataclass(frozen=True)
class GridView:
    """A table, row by row.

    Parameters
    ----------
    quantity : str
        "HNS", "HWRNS" or "SABER".
    columns : tuple of (str, bool)
        Each algorithm, and whether it has percentages.
    rows : tuple of (str, tuple of (score cell, percentage's cell, bool))
        Each game's name, with its cells and whether the column has percentages.
    below_titles : tuple of str
    below : tuple of (str, tuple of cell)
        Each algorithm that has anything below the games, with what it has there.
    """

    quantity: str
    columns: tuple[tuple[str, bool], ...]
    rows: tuple[tuple[str, tuple[tuple[Cell, Cell, bool], ...]], ...]
    below_titles: tuple[str, ...]
    below: tuple[tuple[str, tuple[Cell, ...]], ...]


def render(shown: Reproduced) -> str:
    """Write the page.

    Parameters
    ----------
    shown : Reproduced

    Returns
    -------
    str
        A whole HTML document.
    """
    kinds: Counter[str] = Counter()
    for part in shown.parts:
        kinds.update(item.category for item in part.comparisons if item.verdict == "differs")
    return pages.render(
        TEMPLATE,
        report=shown,
        hues={name: style.PALETTE[name] for name in style.DARK},
        dark_hues=style.DARK,
        figures=[(figure, _drawing(figure)) for figure in shown.figures],
        parts=[
            (
                part,
                _view(analysis.grid(part)),
                analysis.kinds(part.comparisons),
                analysis.noted(part.comparisons),
            )
            for part in shown.parts
        ],
        kinds=kinds.most_common() if set(kinds) != {""} else (),
        overview=analysis.overview(shown.counts),
        tally=analysis.in_words,
        noun=analysis.noun,
        where=analysis.where,
    )


def _drawing(figure: PaperFigure) -> Markup:
    themed = files.themed(figures.svg(figure))
    return pages.figure(themed, figures.in_words(figure))


def _view(grid: Grid | None) -> GridView | None:
    if grid is None:
        return None
    percent = {name: grid.has_percent(name) for name in grid.algorithms}
    rows = tuple(
        (
            title,
            tuple((grid.cell(row, name, "score"), grid.cell(row, name), percent[name]) for name in grid.algorithms),
        )
        for row, title in grid.rows
    )
    below = {name: tuple(grid.cell(row, name) for row in grid.below) for name in grid.algorithms}
    return GridView(
        quantity=grid.quantity.upper(),
        columns=tuple(percent.items()),
        rows=rows,
        below_titles=tuple(analysis.BELOW[row] for row in grid.below),
        below=tuple((name, cells) for name, cells in below.items() if any(cells)),
    )
