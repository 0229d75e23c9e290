"""How a command shows its document: in the terminal, or as JSON, LaTeX, Markdown or a page."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from arcademark.cli import messages
from arcademark.cli.options import combine
from arcademark.errors import ArcadeMarkError
from arcademark.files import write_document

if TYPE_CHECKING:
    from arcademark.pages.render.blocks import Document

F = TypeVar("F", bound=Callable[..., Any])


FORMS = ("json", "latex", "markdown")


@dataclass(frozen=True)
class Output:
    """What is wanted: one way to print, and a page or not."""

    form: str | None = None
    html: Path | None = None
    everything: bool = False

    @property
    def plain(self) -> bool:
        """Whether it is the terminal's form, to which lines may be added."""
        return self.form is None

    def show(self, analysis: Any, template: str = "", /, **values: Any) -> None:
        """Print the document of an analysis, and write its page first.

        The template and its values are as of `arcademark.pages.presenter.document`.
        """

        def present() -> Document:
            from arcademark.pages import presenter

            return presenter.document(analysis, template, **values)

        self.show_as(analysis, present)

    def show_as(
        self, analysis: Any, present: Callable[[], Document], brief: Callable[[], Iterable[str]] | None = None
    ) -> None:
        """Do the same where `present` makes the document; the terminal shows the lines of `brief` instead, if given."""
        document = None if self.form == "json" and self.html is None else present()
        if document is not None and self.html is not None:
            from arcademark.pages.render import html

            write_document(self.html, html.render(document))
        if self.form == "json":
            messages.print_json(analysis)
        elif document is not None:
            self._print(document, brief)

    def tell(self, *lines: str) -> None:
        """Print lines below a document in the terminal, such as what was written where."""
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
        self.tell(*(brief() if brief else ()), *([f"page: {self.html.resolve().as_uri()}"] if self.html else []))


_options = combine(
    click.option("--all", "everything", is_flag=True, help="Show everything, every row and detail."),
    click.option(
        "--to",
        "forms",
        multiple=True,
        metavar="FORM",
        help="Print json, latex or markdown instead; FILE.html: also write a page that works offline; replaces an "
        "earlier page. May be repeated.",
    ),
)


def with_output(command: F) -> F:
    """Give a command the options of every document, as its parameter ``output``; it prints in one way only."""

    @functools.wraps(command)
    def show_so(*, forms: tuple[str, ...], everything: bool, **rest: Any) -> Any:
        printed = list(dict.fromkeys(form for form in forms if form in FORMS))
        pages = [form for form in forms if form not in FORMS]
        for several in (printed, pages):
            if len(several) > 1:
                raise ArcadeMarkError(f"--to {several[0]} and --to {several[1]}: choose one")
        page = Path(pages[0]) if pages else None
        if page is not None and page.suffix.lower() not in (".html", ".htm"):
            raise ArcadeMarkError(f"--to {page}: expected {', '.join(FORMS)}, or a page's name that ends with .html")
        return command(output=Output(printed[0] if printed else None, page, everything), **rest)

    return _options(show_so)  # type: ignore[return-value]
