"""``arcademark score``: what a table of scores says, as tables, a page, LaTeX or JSON."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from arcademark.cli import messages, options, tables
from arcademark.cli.writing import PAGE, write
from arcademark.errors import ArcadeMarkError

if TYPE_CHECKING:
    from arcademark.report.tables.dataset import ScoreOptions


@click.command("score")
@click.argument("places", nargs=-1, required=True, metavar="TABLE…")
@click.option("--algorithms", metavar="NAMES", help="Only these, separated by commas.")
@tables.measured_by
@click.option("--all", "everything", is_flag=True, help="Show every game and every algorithm.")
@click.option("--html", type=click.Path(path_type=Path), metavar="FILE", help=PAGE)
@click.option(
    "--export",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Also write the scores: .csv, .tsv or .parquet, a row a score; .npz, rliable's arrays.",
)
@click.option("--wide", is_flag=True, help="Export a row a game and a column an algorithm.")
@click.option("--latex", is_flag=True, help="Print LaTeX tables instead.")
@options.as_json
@tables.intervals
@tables.read_as
def command(
    places: tuple[str, ...],
    algorithms: str | None,
    everything: bool,
    html: Path | None,
    export: Path | None,
    wide: bool,
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
    if wide and export is None:
        raise ArcadeMarkError("--wide is a form of --export; name a file with it, as in --export wide.csv --wide")
    from arcademark.report.tables.analysis import score_table

    asked = tables.score_options(algorithms=tables.names("algorithms", algorithms), **given)
    if export is not None:
        _export(places, asked, export, wide=wide)
    report = score_table(places, asked)
    if html is not None:
        from arcademark.report.tables.html import render_scores

        write(html, render_scores(report), option="--html", example="page.html")
    if as_json:
        from arcademark.report.render import json

        messages.print_json(json.render(report))
    elif latex:
        from arcademark.report.tables.latex import render_scores as as_latex

        messages.write(as_latex(report, everything=everything) + "\n")
    else:
        from arcademark.report.layout import Console
        from arcademark.report.tables import terminal

        terminal.render(report, Console(), everything=everything)
        if html is not None:
            messages.tell(f"page: {html.resolve().as_uri()}")
    return 0


def _export(places: tuple[str, ...], asked: ScoreOptions, target: Path, *, wide: bool) -> None:
    """Write the scores that are asked for, in the form that the file's name and ``wide`` ask for."""
    from arcademark.report import wording
    from arcademark.report.tables.dataset import prepare
    from arcademark.scores.export import RLIABLE, write_long, write_rliable, write_wide

    if target.exists():
        raise ArcadeMarkError(f"{target}: exists already; name another file with --export")
    arrays = target.suffix == RLIABLE
    if wide and arrays:
        raise ArcadeMarkError(
            f"{target}: --wide is a form of .csv, .tsv and .parquet; leave it out, or name such a file"
        )
    dataset = prepare(places, asked)
    table = dataset.scores.table
    (write_rliable if arrays else write_wide if wide else write_long)(table, target)
    games = wording.plural(len(table.tasks), dataset.benchmark.noun)
    messages.say(f"{target}: {wording.plural(len(table.algorithms), 'algorithm')}, {games}")
