"""Output of a command's document: in the terminal, or as JSON, LaTeX or Markdown; and the files that it saves."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

import click

from arcademark.cli import messages
from arcademark.cli.commands import PRINTED
from arcademark.cli.options import PATH, combine, fields
from arcademark.errors import ArcadeMarkError
from arcademark.files import check_ending

if TYPE_CHECKING:
    from arcademark.pages.render.blocks import Document

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Output:
    """Form in which a command prints, and the files that it saves.

    form: One of `PRINTED`; None in the terminal.
    files: Files to save, each in the format of its ending.
    figure: Name of the figure that pictures show; None for the page's first.
    everything: Whether every row and detail is printed.
    style: Settings of `arcademark.pages.figures.style.FigureStyle`.
    """

    form: str | None = None
    files: tuple[Path, ...] = ()
    figure: str | None = None
    everything: bool = False
    style: Mapping[str, Any] = field(default_factory=dict)

    @property
    def plain(self) -> bool:
        """True if it is the terminal's form, to which lines may be added."""
        return self.form is None

    def show(self, analysis: Any, template: str = "", /, **values: Any) -> None:
        """Print the document of an analysis, and save its files first.

        The template and its values are as in `arcademark.pages.presenter.document`.
        """

        def present() -> Document:
            from arcademark.pages import presenter

            return presenter.document(analysis, template, **values)

        self.show_as(analysis, present)

    def show_as(
        self,
        analysis: Any,
        present: Callable[[], Document],
        brief: Callable[[], Iterable[str]] | None = None,
        rows: Callable[[], str] | None = None,
    ) -> None:
        """Do the same with functions of the document, of the printed lines, and of the CSV; the last two optional."""
        present = functools.cache(present)
        for file in self.files:
            from arcademark.pages import files
            from arcademark.pages.figures.style import FigureStyle

            files.save(file, analysis, present, self.figure, rows, FigureStyle(**self.style))
        if self.form == "json":
            messages.print_json(analysis)
        else:
            self._print(present(), brief)

    def tell(self, *lines: str) -> None:
        """Print lines below a document in the terminal, such as the paths of written files."""
        for line in lines if self.plain else ():
            messages.tell(line)

    def _print(self, document: Document, brief: Callable[[], Iterable[str]] | None) -> None:
        from arcademark.pages.render import latex, markdown, terminal
        from arcademark.pages.render.layout import Console

        if self.form is not None:
            form = latex if self.form == "latex" else markdown
            messages.write(form.render(document, everything=self.everything))
            return
        if brief is None:
            terminal.render(document, Console(), everything=self.everything)
        self.tell(*(brief() if brief else ()))
        for file in self.files:
            page = file.suffix.lower() == ".html"
            self.tell(f"page: {file.resolve().as_uri()}" if page else f"{file.suffix[1:].lower()}: {file}")


_details = click.option("--all", "everything", is_flag=True, help="Show every row and detail.")
_options = combine(
    click.option("--format", "form", type=click.Choice(PRINTED), help="Print this format instead."),
    click.option(
        "--save",
        "saved",
        multiple=True,
        type=PATH,
        metavar="FILE",
        help="Also write FILE in the format of its ending: .html, a page that works offline; .json, .md or .tex; .csv, "
        "the rows; .pdf, .svg or .png, a figure. Replaces only such files written by ArcadeMark. May be repeated.",
    ),
)

with_figure = click.option(
    "--figure",
    "drawn",
    metavar="NAME",
    help="The figure that --save writes.  [default: the one named as FILE, else the page's first]",
)
"""The option of documents with several figures; needs `with_output` above it."""

with_style = fields(
    "style",
    "Style of figures: screen or paper (6.9 inches, serif); width in inches; font, sans or serif",
    {"name": click.Choice(["screen", "paper"]), "width": click.FLOAT, "font": click.Choice(["sans", "serif"])},
    first="name",
)
"""The option of documents with figures for papers; needs `with_output` above it."""


def with_output(command: F, *, details: bool = True) -> F:
    """Give a command the options of every document, as its parameter ``output``; --all if it may hide ``details``."""

    @functools.wraps(command)
    def show_so(
        *,
        form: str | None,
        saved: tuple[Path, ...],
        everything: bool = False,
        drawn: str | None = None,
        style: Mapping[str, Any] = MappingProxyType({}),
        **rest: Any,
    ) -> Any:
        from arcademark.pages.files import ENDINGS, PICTURES

        for file in saved:
            check_ending(file, ENDINGS)
        if drawn is not None and not any(file.suffix.lower() in (*PICTURES, ".csv") for file in saved):
            raise ArcadeMarkError(f"--figure {drawn}: name its file, too, as in --save {drawn}.pdf")
        if style and not any(file.suffix.lower() in PICTURES for file in saved):
            raise ArcadeMarkError("--style applies to figures; name a file for one, as in --save ranks.pdf")
        looks = {{"width": "width_inches"}.get(name, name): value for name, value in style.items()}
        return command(output=Output(form, saved, drawn, everything, looks), **rest)

    shown = _options(show_so)
    return _details(shown) if details else shown  # type: ignore[return-value]


with_whole_output = functools.partial(with_output, details=False)
"""`with_output` for documents that the terminal always shows in full."""
