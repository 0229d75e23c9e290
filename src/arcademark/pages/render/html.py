"""A document as one HTML file, without network requests, readable without scripts, in a light and a dark theme."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from markupsafe import Markup

from arcademark.analysis.document import GENERATOR
from arcademark.errors import escaped
from arcademark.pages.columns import AnyColumn
from arcademark.pages.figures.model import HeatMap, PictureRow
from arcademark.pages.figures.style import DARK, NARROW, PALETTE, WIDTH
from arcademark.pages.render import blocks
from arcademark.pages.render.blocks import Block, Cell, Document, Figure, Table
from arcademark.wording import prose

MAX_CELLS = 600
"""Maximum number of cells of a grid that is also drawn for phones; larger ones scroll."""


def render(document: Document) -> str:
    """Return the page; everything that comes from users is escaped, including invisible characters."""
    environment = prose.environment(
        "arcademark.pages", finalize=lambda value: escaped(value, kept="\n") if type(value) is str else value
    )
    environment.filters.update(breakable=breakable, slug=slug)
    environment.globals.update(kind_of=kind_of, drawings=drawings, bodies=bodies, beside=beside)
    return environment.get_template("document.html.jinja").render(
        document=document, generator=GENERATOR, palette=PALETTE, dark=DARK
    )


def breakable(name: str) -> Markup:
    """Allow line breaks in a long name after punctuation or before a bracket, not elsewhere."""
    parts = re.split(r"(?<=[:,/])|(?<=[^\s:,/])(?=\()", escaped(name))
    return Markup("<wbr>").join(parts)


def slug(title: str) -> str:
    """Return an identifier for a title."""
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-") or "section"


def kind_of(block: Block) -> str:
    """Return the name of a block's macro."""
    return type(block).__name__.lower()


def beside(shown: Table, row: Sequence[Cell]) -> list[tuple[Cell, AnyColumn]]:
    """Return the cells of a row with their columns."""
    return list(zip(row, shown.columns, strict=True))


def bodies(shown: Table) -> Iterator[list[list[tuple[Cell, AnyColumn, str, int]]]]:
    """Yield the bodies of a table: rows of cells, each with its column, its tag and the number of rows it spans.

    A name that several rows share is in the first of them, except in sortable tables.
    """
    spanning = shown.grouped and not shown.sortable
    for rows in blocks.groups(shown) if spanning else [shown.rows]:
        placed = [[(*pair, "td", 1) for pair in beside(shown, row)] for row in rows]
        for number, row in enumerate(placed):
            name, column, *_ = row[0]
            row[:1] = [] if spanning and number else [(name, column, "th", len(rows) if spanning else 1)]
        yield placed


def drawings(shown: Figure) -> list[Markup]:
    """Draw each part of a figure for the page and for phones, in the page's colours and with alternative text."""
    from arcademark.pages.figures import files

    made = []
    for number, (model, words) in enumerate(shown.made()):
        name = f"{shown.name}-{number}" if number else shown.name
        large = isinstance(model, PictureRow) or (
            isinstance(model, HeatMap) and len(model.rows) * len(model.columns) > MAX_CELLS
        )
        sizes = {"": WIDTH} if large else {"wide": WIDTH, "narrow": NARROW}
        drawn = []
        for size, width in sizes.items():
            label = Markup('<svg class="{}" role="img" aria-label="{}" ').format(size, escaped(words))
            svg = files.as_svg(files.draw(model, width), f"{name}-narrow" if size == "narrow" else name)
            drawn.append(Markup(files.themed(svg).replace("<svg ", label, 1)))
        made.append(Markup("\n").join(drawn))
    return made
