"""``arcademark report``: what the scores of runs and tables say, as tables, a page, LaTeX, Markdown or JSON."""

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
from arcademark.cli.output import Output, with_output
from arcademark.errors import ArcadeMarkError
from arcademark.files import check_ending, write_document

if TYPE_CHECKING:
    from arcademark.analysis.scoring.report import ScoreReport
    from arcademark.analysis.tables.dataset import Dataset, ScoreOptions
    from arcademark.analysis.tables.loading import ScoreSource

MANY = 50
"""Algorithms of which is told how many are summed up: some take a second each."""

CURVES = (".png", ".pdf", ".svg", ".csv")


@commands.command("report")
@click.argument("sources", nargs=-1, required=True, metavar="RUN…")
@click.option(
    "--curves",
    type=options.PATH,
    metavar="FILE",
    help="Also write learning curves: a figure as .png, .pdf or .svg, or every training episode as .csv.",
)
@click.option(
    "--tensorboard",
    type=options.PATH,
    metavar="FOLDER",
    help="Also write every episode's score as TensorBoard's event files.",
)
@tables.suite
@tables.estimated_by
@click.option("--quiet", "-q", is_flag=True, help="Print just the estimates, and where the page is.")
@tables.tolerance
@with_output
def command(
    sources: tuple[str, ...],
    suite: str | None,
    model: str,
    tolerance: float | None,
    output: Output,
    **files: Any,
) -> int:
    """Show the scores of one or more runs: a verdict, every game, the estimated median of all games, and warnings.

    With --all also every summary, the whole protocol and how the numbers are to be read, and each of the Const and
    Perturb agents instead of their best. RUN is a run's directory, or any table that 'arcademark score' reads.
    """
    from arcademark.analysis.tables.dataset import ScoreOptions

    show(sources, ScoreOptions(suite=suite, model=model, tolerance=tolerance), output, **files)
    return 0


def show(
    sources: Sequence[ScoreSource],
    options: ScoreOptions,
    output: Output,
    *,
    curves: Path | None = None,
    tensorboard: Path | None = None,
    quiet: bool = False,
    export: Path | None = None,
    wide: bool = False,
) -> None:
    """Analyse scores once and show and write what is wanted; with everything, each of the Const and Perturb agents."""
    from arcademark.analysis.scoring import analysis
    from arcademark.analysis.tables.dataset import prepare
    from arcademark.pages import presenter

    check_ending(curves, CURVES)
    options = replace(options, every_variant=output.everything)
    with _uncollected(), counting("summing up", "algorithms") as follow:
        dataset = prepare(sources, options)
        if export is not None:
            _export(dataset, export, wide=wide)
        report = analysis.of_dataset(dataset, options, follow if len(dataset.algorithms) >= MANY else None)
    if curves is not None:
        _write_curves(curves, report, dataset)
    if tensorboard is not None:
        from arcademark.runs.replay import tensorboard as events

        runs = dataset.scores.runs
        events.write([run.record for run in runs.runs] if runs else (), tensorboard)
    output.show_as(report, lambda: presenter.document(report), (lambda: report.brief) if quiet else None)
    if curves is not None:
        output.tell(f"curves: {curves}")
    if tensorboard is not None:
        output.tell(f"TensorBoard: tensorboard --logdir {tensorboard}")


@contextmanager
def _uncollected() -> Iterator[None]:
    """Keep the garbage collector from going, again and again, through the many frozen parts of a large report."""
    on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if on:
            gc.enable()


def _export(dataset: Dataset, target: Path, *, wide: bool) -> None:
    """Write the scores in the form that the file's name and ``wide`` ask for."""
    from arcademark import wording
    from arcademark.scores.export import RLIABLE, write_long, write_rliable, write_wide

    table = dataset.scores.table
    (write_rliable if target.suffix == RLIABLE else write_wide if wide else write_long)(table, target)
    games = wording.plural(len(table.tasks), dataset.benchmark.noun)
    messages.say(f"{target}: {wording.plural(len(table.algorithms), 'algorithm')}, {games}")


def _write_curves(path: Path, report: ScoreReport, dataset: Dataset) -> None:
    from arcademark.analysis.runs import learning
    from arcademark.pages.figures import scores as figures

    if not report.learning or dataset.scores.runs is None:
        raise ArcadeMarkError(f"--curves {path}: no training is recorded in these runs; nothing to draw")
    kind = path.suffix.lower()
    content = learning.as_csv(dataset.scores.runs) if kind == ".csv" else figures.learning_file(report, kind)
    write_document(path, content)
