"""``arcademark report``: what the runs say, as tables, a page or JSON."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from arcademark.cli import options
from arcademark.cli.writing import PAGE, write


@click.command("report", short_help="Show the scores of runs, as tables, a page or JSON.")
@click.argument("runs", nargs=-1, required=True, metavar="RUN…", type=click.Path(path_type=Path))
@click.option("--html", type=click.Path(path_type=Path), metavar="FILE", help=PAGE)
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

        write(html, render_page(report), option="--html", example="page.html")
    if as_json:
        from arcademark.report.as_json import render as render_json

        options.print_json(render_json(report))
        return
    from rich.console import Console

    from arcademark.report import terminal

    (terminal.render_briefly if quiet else terminal.render)(report, Console())
    if html is not None:
        click.echo(f"page: {html.resolve().as_uri()}")
