"""``arcademark report``: what the runs say, as tables, a page or JSON."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from arcademark.cli import messages, options
from arcademark.cli.writing import PAGE, check_ending, write
from arcademark.errors import ArcadeMarkError

if TYPE_CHECKING:
    from arcademark.report.runs.document import Report
    from arcademark.scores.runs import RunCollection

CURVES = (".png", ".pdf", ".svg", ".csv")


@click.command("report")
@click.argument("runs", nargs=-1, required=True, metavar="RUN…", type=click.Path(path_type=Path))
@click.option("--html", type=click.Path(path_type=Path), metavar="FILE", help=PAGE)
@click.option(
    "--curves",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Also write learning curves: a figure as .png, .pdf or .svg, or every training episode as .csv.",
)
@click.option("--all", "every_variant", is_flag=True, help="Show each of the Const and Perturb agents, not their best.")
@click.option("--quiet", "-q", is_flag=True, help="Print just the estimates, and where the page is.")
@options.as_json
def command(
    runs: tuple[Path, ...],
    html: Path | None,
    curves: Path | None,
    every_variant: bool,
    quiet: bool,
    as_json: bool,
) -> int:
    """Show the scores of one or more runs: the Atari-5 estimate, every summary, every game, how training went."""
    show(runs, as_json=as_json, html=html, curves=curves, every_variant=every_variant, quiet=quiet)
    return 0


def show(
    runs: Sequence[Path],
    *,
    as_json: bool,
    html: Path | None = None,
    curves: Path | None = None,
    every_variant: bool = False,
    quiet: bool = False,
) -> None:
    """Analyse runs once and render what was asked for."""
    from arcademark.report.runs.views import analyse
    from arcademark.scores.runs import load_runs

    check_ending(curves, CURVES, option="--curves")
    collection = load_runs(runs)
    report = analyse(collection, every_variant=every_variant)
    if curves is not None:
        _write_curves(curves, report, collection)
    if html is not None:
        from arcademark.report.runs.html import render as render_page

        write(html, render_page(report), option="--html", example="page.html")
    if as_json:
        from arcademark.report.render import json

        messages.print_json(json.render(report))
        return
    from arcademark.report.layout import Console
    from arcademark.report.runs import terminal

    (terminal.render_briefly if quiet else terminal.render)(report, Console())
    if curves is not None:
        messages.tell(f"curves: {curves}")
    if html is not None:
        messages.tell(f"page: {html.resolve().as_uri()}")


def _write_curves(path: Path, report: Report, collection: RunCollection) -> None:
    from arcademark.report.runs import figure_learning, learning

    if not report.learning:
        raise ArcadeMarkError(f"--curves {path}: no training is recorded in these runs; nothing to draw")
    kind = path.suffix.lower()
    content = learning.as_csv(collection) if kind == ".csv" else figure_learning.file(report, kind)
    write(path, content, option="--curves", example="curves.png")
