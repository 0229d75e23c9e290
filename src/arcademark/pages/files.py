"""An analysis as a file, in the format of the file's ending."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from arcademark.errors import ArcadeMarkError, UnknownNameError
from arcademark.files import check_ending, write_document
from arcademark.pages.figures import model
from arcademark.pages.figures.style import SCREEN, FigureStyle
from arcademark.pages.render import blocks
from arcademark.scores.formulas import as_csv

PICTURES = (".pdf", ".svg", ".png")
ENDINGS = (".html", ".json", ".md", ".tex", ".csv", *PICTURES)


def save(
    file: Path,
    analysis: Any,
    document: Callable[[], blocks.Document],
    figure: str | None = None,
    rows: Callable[[], str] | None = None,
    style: FigureStyle = SCREEN,
) -> None:
    """Write an analysis, or a figure of its page, in the format of the file's ending; replace an earlier such file.

    Parameters
    ----------
    file : path
        A name with one of `ENDINGS`; a report's ``README.md`` is a model card.
    analysis : dataclass
    document : callable
        Function that returns its document.
    figure : str, optional
        The figure for a picture; by default the one that the file is named after, ``ranks.pdf``, else the page's first.
    rows : callable, optional
        Function that returns the CSV; by default it is made from the analysis's ``rows``.
    style : FigureStyle, optional
        Style of a figure.

    Raises
    ------
    ArcadeMarkError
        If the ending is unknown, the analysis has no rows or no such figure, another kind of file has this name, or the
        file cannot be written.
    """
    from arcademark.pages import card
    from arcademark.pages.render import html, json, latex, markdown

    check_ending(file, ENDINGS)
    ending = file.suffix.lower()
    content: str | bytes
    if ending == ".json":
        content = json.text(json.render(analysis))
    elif ending == ".html":
        content = html.render(document())
    elif ending == ".tex":
        content = latex.render(document(), everything=True)
    elif file.name == card.NAME and hasattr(analysis, "algorithms") and hasattr(analysis, "runs"):
        content = card.render(analysis, document())
    elif ending == ".md":
        content = markdown.render(document(), everything=True)
    elif ending == ".csv":
        if rows is None and not callable(getattr(analysis, "rows", None)):
            raise ArcadeMarkError(f"{file}: this document has no table of rows; save it as .json")
        content = rows() if rows is not None else _csv(analysis.rows())
    else:
        from arcademark.pages.figures import files

        name, drawn = figure_of(document(), figure, file)
        content = files.file(drawn, ending, name, style)
    write_document(file, content)


def figure_of(document: blocks.Document, name: str | None = None, file: Path | None = None) -> tuple[str, model.Figure]:
    """Return the name and the figure, with the page's legend; by default the file's namesake, else the first.

    Raises
    ------
    ArcadeMarkError
        If the page has no figure, or none of that name.
    """
    figures = {block.name: block for block in blocks.flat(document.blocks) if isinstance(block, blocks.Figure)}
    if not figures:
        raise ArcadeMarkError("its page has no figure")
    chosen = name or (file.stem if file and file.stem in figures else next(iter(figures)))
    if chosen not in figures:
        raise UnknownNameError("figure", chosen, figures)
    return chosen, figures[chosen].alone(next((block.legend for block in figures.values() if block.legend), ()))


def _csv(rows: list[dict[str, object]]) -> str:
    """Return rows as CSV, with every column that any row has."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    return as_csv([columns, *([row.get(name, "") for name in columns] for row in rows)])
