"""``arcademark score``: what a table of scores says, as tables, a page, LaTeX or JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from arcademark.cli import options, tables
from arcademark.cli.writing import write
from arcademark.errors import ArcadeMarkError


@click.command("score", short_help="Every summary of a table of scores.")
@click.argument("places", nargs=-1, required=True, metavar="TABLE…")
@click.option("--algorithms", metavar="NAMES", help="Only these, separated by commas.")
@tables.measured_by
@click.option("--all", "everything", is_flag=True, help="Also show every game.")
@click.option("--html", type=click.Path(path_type=Path), metavar="FILE", help="Also write a page that works offline.")
@click.option("--latex", is_flag=True, help="Print LaTeX tables to paste instead.")
@options.as_json
@tables.intervals
@tables.read_as
def command(
    places: tuple[str, ...],
    algorithms: str | None,
    everything: bool,
    html: Path | None,
    latex: bool,
    as_json: bool,
    **given: Any,
) -> int:
    """Show every summary of scores from files, runs and the catalogue.

    TABLE is a file of scores (long or wide CSV, Parquet, the logs of training libraries), a folder of them, a run's
    directory, or a collection of published scores: catalogue:review-2021.
    """
    if latex and as_json:
        raise ArcadeMarkError("--latex and --json cannot both be printed; choose one")
    from arcademark.report.tables.analysis import score_table

    report = score_table(places, tables.question(algorithms=tables.names(algorithms), **given))
    if html is not None:
        from arcademark.report.tables.html import render_scores

        write(html, render_scores(report), option="--html", example="page.html")
    if as_json:
        from arcademark.report.tables.as_json import render_scores as as_values

        options.print_json(as_values(report))
    elif latex:
        from arcademark.report.tables.latex import render_scores as as_latex

        click.echo(as_latex(report, everything=everything))
    else:
        from rich.console import Console

        from arcademark.report.tables import terminal

        terminal.render(report, Console(), everything=everything)
        if html is not None:
            click.echo(f"page: {html.resolve().as_uri()}")
    return 0
