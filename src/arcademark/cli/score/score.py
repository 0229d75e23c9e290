"""``arcademark score``: what a table of scores says, as tables, a page, LaTeX, Markdown or JSON."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from arcademark.cli import commands, options, tables
from arcademark.cli.output import Output, with_output
from arcademark.errors import ArcadeMarkError


@commands.command("score", "algorithms games metrics suite protocol model export reading everything forms")
@click.argument("places", nargs=-1, required=True, metavar="TABLE…")
@tables.algorithms
@tables.measured_by
@tables.estimated_by
@click.option(
    "--export",
    type=options.PATH,
    metavar="FILE",
    help="Also write the scores: .csv, .tsv or .parquet, a row a score; .npz, rliable's arrays; with --all those of "
    "every Const and Perturb agent.",
)
@click.option("--explain", is_flag=True, help="Print how each column, or log, is read and why, and nothing else.")
@click.option("--wide", is_flag=True, help="Export a row a game and a column an algorithm.")
@with_output
@tables.tolerance
@tables.intervals
@tables.read_as
def command(
    places: tuple[str, ...],
    algorithms: str | None,
    model: str,
    export: Path | None,
    explain: bool,
    wide: bool,
    output: Output,
    **given: Any,
) -> int:
    """Show every summary of scores from files, runs and the catalogue.

    TABLE is a file of scores (long or wide CSV, Parquet, the logs of training libraries), a folder of them, a run's
    directory, or a collection of published scores: catalogue:review-2021.
    """
    from arcademark.analysis.tables.dataset import explained
    from arcademark.cli.score.report import show
    from arcademark.scores.export import RLIABLE

    if wide and export is None:
        raise ArcadeMarkError("--wide is a form of --export; name a file with it, as in --export wide.csv --wide")
    if wide and export is not None and export.suffix == RLIABLE:
        raise ArcadeMarkError(
            f"{export}: --wide is a form of .csv, .tsv and .parquet; leave it out, or name such a file"
        )
    if export is not None and export.exists():
        raise ArcadeMarkError(f"{export}: exists already; name another file with --export")
    wanted = tables.score_options(algorithms=tables.names("algorithms", algorithms), **given)
    wanted = replace(wanted, model=model)
    if explain:
        output.tell(*explained(places, wanted))
        return 0
    show(places, wanted, output, export=export, wide=wide)
    return 0
