"""``arcademark score``: what a table of scores says, as tables, a page, LaTeX, Markdown or JSON."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from arcademark.cli import commands, messages, options, tables
from arcademark.cli.output import Output, with_output
from arcademark.errors import ArcadeMarkError

if TYPE_CHECKING:
    from arcademark.reports.tables.dataset import ScoreOptions


@commands.command("score", "algorithms games metrics suite protocol model export reading everything forms")
@click.argument("places", nargs=-1, required=True, metavar="TABLE…")
@tables.algorithms
@tables.measured_by
@tables.estimated_by
@click.option(
    "--export",
    type=options.PATH,
    metavar="FILE",
    help="Also write the scores: .csv, .tsv or .parquet, a row a score; .npz, rliable's arrays.",
)
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
    wide: bool,
    output: Output,
    **given: Any,
) -> int:
    """Show every summary of scores from files, runs and the catalogue.

    TABLE is a file of scores (long or wide CSV, Parquet, the logs of training libraries), a folder of them, a run's
    directory, or a collection of published scores: catalogue:review-2021.
    """
    if wide and export is None:
        raise ArcadeMarkError("--wide is a form of --export; name a file with it, as in --export wide.csv --wide")
    from arcademark.cli.score.report import show

    wanted = replace(tables.score_options(algorithms=tables.names("algorithms", algorithms), **given), model=model)
    if export is not None:
        _export(places, wanted, export, wide=wide)
    show(places, wanted, output)
    return 0


def _export(places: tuple[str, ...], wanted: ScoreOptions, target: Path, *, wide: bool) -> None:
    """Write the scores that are asked for, in the form that the file's name and ``wide`` ask for."""
    from arcademark.reports import wording
    from arcademark.reports.tables.dataset import prepare
    from arcademark.scores.export import RLIABLE, write_long, write_rliable, write_wide

    if target.exists():
        raise ArcadeMarkError(f"{target}: exists already; name another file with --export")
    arrays = target.suffix == RLIABLE
    if wide and arrays:
        raise ArcadeMarkError(
            f"{target}: --wide is a form of .csv, .tsv and .parquet; leave it out, or name such a file"
        )
    dataset = prepare(places, wanted)
    table = dataset.scores.table
    (write_rliable if arrays else write_wide if wide else write_long)(table, target)
    games = wording.plural(len(table.tasks), dataset.benchmark.noun)
    messages.say(f"{target}: {wording.plural(len(table.algorithms), 'algorithm')}, {games}")
