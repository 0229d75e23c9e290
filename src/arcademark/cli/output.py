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
from arcademark.cli.writing import write
from arcademark.errors import ArcadeMarkError

if TYPE_CHECKING:
    from arcademark.reports.blocks import Document

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Output:
    """What was asked for: one way to print, and a page or not."""

    as_json: bool = False
    latex: bool = False
    markdown: bool = False
    html: Path | None = None
    everything: bool = False

    @property
    def plain(self) -> bool:
        """Whether it is the terminal's form, to which lines may be added."""
        return not (self.as_json or self.latex or self.markdown)

    def show(
        self,
        found: Any,
        present: Callable[[], Document],
        brief: Callable[[], Iterable[str]] | None = None,
    ) -> None:
        """Print a document, and write its page first.

        `found` is its dataclass, or makes its JSON values; `present` makes its blocks. The terminal shows the lines of
        `brief` instead, where that is given.
        """
        document = None if self.as_json and self.html is None else present()
        if document is not None and self.html is not None:
            from arcademark.reports.render import html

            write(self.html, html.render(document), option="--html", example="page.html")
        if self.as_json:
            from arcademark.reports.render import json

            messages.print_json(found() if callable(found) else json.render(found))
        elif document is not None:
            self._print(document, brief)

    def tell(self, *lines: str) -> None:
        """Print lines below a document in the terminal, such as what was written where."""
        for line in lines if self.plain else ():
            messages.tell(line)

    def _print(self, document: Document, brief: Callable[[], Iterable[str]] | None) -> None:
        if self.latex:
            from arcademark.reports.render import latex

            messages.write(latex.render(document, everything=self.everything))
        elif self.markdown:
            from arcademark.reports.render import markdown

            messages.write(markdown.render(document, everything=self.everything))
        else:
            from arcademark.reports.layout import Console
            from arcademark.reports.render import terminal

            if brief is None:
                terminal.render(document, Console(), everything=self.everything)
            for line in brief() if brief else ():
                messages.tell(line)
            if self.html is not None:
                messages.tell(f"page: {self.html.resolve().as_uri()}")


_options = combine(
    click.option("--all", "everything", is_flag=True, help="Show everything, every row and detail."),
    click.option(
        "--html",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Also write a page that works offline; replaces an earlier page.",
    ),
    click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables."),
    click.option("--latex", is_flag=True, help="Print LaTeX tables to paste instead."),
    click.option("--markdown", is_flag=True, help="Print Markdown instead."),
)


def options(command: F) -> F:
    """Give a command the options of every document, as its parameter ``output``; it prints in one way only."""

    @functools.wraps(command)
    def with_output(
        *, as_json: bool, latex: bool, markdown: bool, html: Path | None, everything: bool, **rest: Any
    ) -> Any:
        asked = [name for name, on in (("--json", as_json), ("--latex", latex), ("--markdown", markdown)) if on]
        if len(asked) > 1:
            raise ArcadeMarkError(f"{asked[0]} and {asked[1]} cannot both be printed; choose one")
        return command(output=Output(as_json, latex, markdown, html, everything), **rest)

    return _options(with_output)  # type: ignore[return-value]
