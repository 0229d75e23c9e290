"""``arcademark report``: report scores of runs and tables, as tables, a page, LaTeX, Markdown or JSON."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from arcademark.cli import commands, messages, options, tables
from arcademark.cli.counting import counting
from arcademark.cli.output import Output, with_figure, with_output, with_style
from arcademark.errors import ArcadeMarkError

if TYPE_CHECKING:
    from arcademark.analysis.scoring.report import ScoreReport
    from arcademark.analysis.tables.dataset import Dataset, ScoreOptions
    from arcademark.analysis.tables.loading import ScoreSource

MANY = 50
"""Minimum number of algorithms for which progress is shown, as some take a second each."""


@commands.command("report", "algorithms games metrics suite protocol model reading everything form saved")
@click.argument("sources", nargs=-1, required=True, metavar="RUN|TABLE…")
@tables.algorithms
@tables.measured_by
@tables.estimated_by
@options.quiet
@click.option(
    "--export",
    type=options.PATH,
    metavar="FILE",
    help="Also write the scores: .csv, .tsv or .parquet, one row per score; .npz, rliable's arrays; with --all those "
    "of every Const and Perturb agent.",
)
@click.option("--wide", is_flag=True, help="Export one row per game and one column per algorithm.")
@click.option(
    "--tensorboard",
    type=options.PATH,
    metavar="FOLDER",
    help="Also write every episode's score as TensorBoard's event files.",
)
@click.option("--explain", is_flag=True, help="Print only how each column or log is parsed, and why.")
@with_output
@with_figure
@with_style
@tables.tolerance
@tables.intervals
@tables.read_as
def command(
    sources: tuple[str, ...],
    algorithms: str | None,
    model: str,
    quiet: bool,
    export: Path | None,
    wide: bool,
    tensorboard: Path | None,
    explain: bool,
    output: Output,
    **given: Any,
) -> int:
    """Show scores of runs, tables and the catalogue: a verdict with a rank, every summary and game, and warnings.

    RUN is a run's directory. TABLE is a file of scores (long or wide CSV, Parquet, the logs of training libraries), a
    folder of them, or a collection of published scores: catalogue:review-2021. --all adds the whole protocol,
    explanations of the numbers, and each Const and Perturb agent instead of the best ones.
    """
    from arcademark.analysis.tables.dataset import explained
    from arcademark.scores.export import RLIABLE

    if wide and export is None:
        raise ArcadeMarkError("--wide is a form of --export; name a file with it, as in --export wide.csv --wide")
    if wide and export is not None and export.suffix == RLIABLE:
        raise ArcadeMarkError(
            f"{export}: --wide is a form of .csv, .tsv and .parquet; leave it out, or name such a file"
        )
    if export is not None and export.exists():
        raise ArcadeMarkError(f"{export}: already exists; name another file with --export")
    wanted = tables.score_options(algorithms=tables.names("algorithms", algorithms), **given)
    wanted = replace(wanted, model=model)
    if explain:
        output.tell(*explained(sources, wanted))
        return 0
    show(sources, wanted, output, export=export, wide=wide, tensorboard=tensorboard, quiet=quiet)
    return 0


def show(
    sources: Sequence[ScoreSource],
    options: ScoreOptions,
    output: Output,
    *,
    tensorboard: Path | None = None,
    quiet: bool = False,
    export: Path | None = None,
    wide: bool = False,
) -> None:
    """Analyse scores, then show and write the requested outputs; `output.everything` adds Const and Perturb agents."""
    from arcademark.analysis.scoring import analysis
    from arcademark.analysis.tables.dataset import prepare
    from arcademark.pages import presenter

    options = replace(options, every_variant=output.everything)
    with _uncollected(), counting("summing up", "algorithms") as follow:
        dataset = prepare(sources, options)
        if export is not None:
            _export(dataset, export, wide=wide)
        report = analysis.of_dataset(dataset, options, follow if len(dataset.algorithms) >= MANY else None)
    if tensorboard is not None:
        from arcademark.runs.replay import tensorboard as events

        runs = dataset.scores.runs
        events.write([run.record for run in runs.runs] if runs else (), tensorboard)
    output.show_as(
        report,
        lambda: presenter.document(report),
        (lambda: report.brief) if quiet else None,
        (lambda: _episodes(report, dataset)) if output.figure == "learning" else None,
    )
    if tensorboard is not None:
        output.tell(f"TensorBoard: tensorboard --logdir {tensorboard}")


@contextmanager
def _uncollected() -> Iterator[None]:
    """Pause the garbage collector, which would repeatedly scan the many parts of a large report."""
    on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if on:
            gc.enable()


def _export(dataset: Dataset, target: Path, *, wide: bool) -> None:
    """Write the scores in the form of the file's name and ``wide``."""
    from arcademark import wording
    from arcademark.scores.export import RLIABLE, write_long, write_rliable, write_wide

    table = dataset.scores.table
    (write_rliable if target.suffix == RLIABLE else write_wide if wide else write_long)(table, target)
    games = wording.plural(len(table.tasks), dataset.benchmark.noun)
    messages.say(f"{target}: {wording.plural(len(table.algorithms), 'algorithm')}, {games}")


def _episodes(report: ScoreReport, dataset: Dataset) -> str:
    """Write every training episode of the runs as CSV."""
    from arcademark.analysis.runs import learning

    if not report.learning or dataset.scores.runs is None:
        raise ArcadeMarkError("--figure learning: no training is recorded in these scores; there are no episodes")
    return learning.as_csv(dataset.scores.runs)
