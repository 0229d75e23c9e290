"""``arcademark reproduce``: a paper's tables, statements and figures, recomputed beside what is printed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from arcademark.cli import messages, options
from arcademark.cli.writing import PAGE, check_ending, write
from arcademark.errors import ArcadeMarkError, UnknownNameError

if TYPE_CHECKING:
    from arcademark.report.reproductions.analysis import Reproduced
    from arcademark.reproduce.figures import PaperFigure

KINDS = (".svg", ".png")


@click.command("reproduce")
@click.argument("paper", metavar="PAPER")
@click.option("--table", type=int, metavar="N", help="Only this table.")
@click.option("--figure", type=int, metavar="N", help="Only this figure, and what is stated of it.")
@click.option("--all", "whole", is_flag=True, help="Print tables whole, not just what is below the games and differs.")
@click.option("--html", type=click.Path(path_type=Path), metavar="FILE", help=PAGE)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Also write the figures: as SVG and PNG into a folder; with --figure also as one FILE.svg or FILE.png. "
    "Replaces earlier figures.",
)
@options.as_json
def command(
    paper: str,
    table: int | None,
    figure: int | None,
    whole: bool,
    html: Path | None,
    out: Path | None,
    as_json: bool,
) -> int:
    """Recompute PAPER from the published scores, and set what it prints beside what we get.

    PAPER is review (Fan 2021, Tables 3 to 14, Figures 1 to 4), atari-5 (Aitchison et al. 2023, Tables 1 to 12, Figures
    2 to 5, its statements) or ale-2013 (Bellemare et al. 2013, its statements, Figures 2 to 4). Every difference is
    explained; the exit code is 1 if one is not.
    """
    from arcademark.report.reproductions import analysis
    from arcademark.report.reproductions.papers import PAPERS

    if paper not in PAPERS:
        raise UnknownNameError("paper", paper, PAPERS)
    if out is not None and table is not None and figure is None:
        raise ArcadeMarkError("--out writes figures, and --table asks for none; add --figure N or leave --table out")
    check_ending(out, KINDS, option="--out", folder=True)
    shown = analysis.reproduced(paper, table=table, figure=figure)
    written = [] if out is None else _write_figures(shown, out)
    if html is not None:
        from arcademark.report.reproductions.html import render as render_page

        write(html, render_page(shown), option="--html", example="page.html")
    if as_json:
        from arcademark.report.render import json

        messages.print_json(json.render(shown))
    else:
        _print(shown, whole=whole)
        for path in written:
            messages.tell(f"figure: {path}")
        if html is not None:
            messages.tell(f"page: {html.resolve().as_uri()}")
    return 1 if shown.counts.unexplained else 0


def _print(shown: Reproduced, *, whole: bool) -> None:
    from arcademark.report.layout import Console
    from arcademark.report.reproductions import terminal

    terminal.render(shown, Console(), whole=whole)


def _write_figures(shown: Reproduced, out: Path) -> list[Path]:
    """Write every figure as SVG and PNG into a folder, or the only one as the kind of file that is asked for."""
    from arcademark.report.reproductions import figures

    suffix = out.suffix.lower()
    if suffix in KINDS:
        if len(shown.figures) != 1:
            raise ArcadeMarkError(
                f"--out {out}: one file for {len(shown.figures)} figures; add --figure N or name a folder"
            )
        write(out, _draw(shown.figures[0], suffix), option="--out", example="figure.svg")
        return [out]
    paths = []
    for figure in shown.figures:
        for kind in KINDS:
            path = out / f"{figures.name(figure)}{kind}"
            write(path, _draw(figure, kind), option="--out", example="figure.svg")
            paths.append(path)
    return paths


def _draw(figure: PaperFigure, kind: str) -> str | bytes:
    from arcademark.report.reproductions import figures

    return figures.svg_file(figure) if kind == ".svg" else figures.png(figure)
