"""``arcademark report``: what the runs say, as tables, a page or JSON."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from arcademark.cli import options
from arcademark.errors import ArcadeMarkError


@click.command("report", short_help="Show the scores of runs, as tables, a page or JSON.")
@click.argument("runs", nargs=-1, required=True, metavar="RUN…", type=click.Path(path_type=Path))
@click.option("--html", type=click.Path(path_type=Path), metavar="FILE", help="Also write a page that works offline.")
@click.option("--all", "every_variant", is_flag=True, help="Show each of the Const and Perturb agents, not their best.")
@click.option("--quiet", "-q", is_flag=True, help="Print just the estimates, and where the page is.")
@options.as_json
def command(runs: tuple[Path, ...], html: Path | None, every_variant: bool, quiet: bool, as_json: bool) -> int:
    """Show the scores of one or more runs: the Atari-5 estimate, every summary, every game."""
    show(runs, as_json=as_json, html=html, every_variant=every_variant, quiet=quiet)
    return 0


def show(runs: Sequence[Path], *, as_json: bool, html: Path | None, every_variant: bool, quiet: bool) -> None:
    """Analyse runs once and render what was asked for."""
    from arcademark.report.views import analyse

    report = analyse(runs, every_variant=every_variant)
    if html is not None:
        from arcademark.report.html import render as render_page

        _write(html, render_page(report))
    if as_json:
        from arcademark.report.as_json import render as render_json

        options.print_json(render_json(report))
        return
    from rich.console import Console

    from arcademark.report import terminal

    (terminal.render_briefly if quiet else terminal.render)(report, Console())
    if html is not None:
        click.echo(f"page: {html.resolve().as_uri()}")


def _write(path: Path, page: str) -> None:
    if path.is_dir():
        raise ArcadeMarkError(f"{path}: is a directory; name a file, as in --html {path / 'page.html'}")
    draft = path.with_name(f".{path.name}.draft")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        draft.write_text(page, encoding="utf-8")
        draft.replace(path)
    except OSError as error:
        raise ArcadeMarkError(f"{path}: cannot write the page ({error.strerror}); choose another --html") from None
