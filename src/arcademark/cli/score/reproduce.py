"""``arcademark reproduce``: recompute a paper's tables, statements and figures, and compare with the printed values."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from arcademark.cli import commands, options
from arcademark.cli.output import Output, with_output
from arcademark.errors import ArcadeMarkError
from arcademark.files import check_ending, write_document

if TYPE_CHECKING:
    from arcademark.analysis.reproductions.analysis import Reproduced

KINDS = (".svg", ".png")


@commands.command("reproduce")
@click.argument("paper", metavar="PAPER")
@click.option("--table", type=int, metavar="N", help="Only this table.")
@click.option("--figure", type=int, metavar="N", help="Only this figure, and the statements about it.")
@click.option(
    "--out",
    type=options.PATH,
    metavar="DIR",
    help="Also write the figures: as SVG and PNG into a folder; with --figure also as one FILE.svg or FILE.png. "
    "Replaces earlier figures.",
)
@click.option("--with", "ours", type=click.Choice(["ours"]), help="Show our own runs beside the paper's (ale-2013).")
@with_output
def command(
    paper: str, table: int | None, figure: int | None, out: Path | None, ours: str | None, output: Output
) -> int:
    """Recompute PAPER's tables and figures from published scores, and compare them with the printed values.

    PAPER is review (Fan 2021, Tables 3 to 14, Figures 1 to 4), atari-5 (Aitchison et al. 2023, Tables 1 to 12,
    Figures 2 to 5, its statements) or ale-2013 (Bellemare et al. 2013, its statements, Figures 2 to 4). Every
    difference has an explanation; the exit code is 1 if one has none, except for differences from our own runs.
    """
    from arcademark.analysis.reproductions import analysis

    if out is not None and table is not None and figure is None:
        raise ArcadeMarkError("--out writes figures, and --table selects none; add --figure N or leave --table out")
    if ours is not None and (table, figure, out) != (None, None, None):
        raise ArcadeMarkError("--with ours shows all of our runs, without tables and figures; leave the others out")
    check_ending(out, KINDS, folder=True)
    result = analysis.reproduced(paper, table=table, figure=figure, ours=ours is not None)
    written = [] if out is None else _write_figures(result, out)
    output.show(result)
    output.tell(*(f"figure: {path}" for path in written))
    return 1 if result.counts.unexplained and ours is None else 0


def _write_figures(result: Reproduced, out: Path) -> list[Path]:
    """Write every figure as SVG and PNG into a folder, or the only one as the requested kind of file."""
    from arcademark.pages.figures import files
    from arcademark.pages.figures import papers as figures

    suffix = out.suffix.lower()
    if suffix in KINDS:
        if len(result.figures) != 1:
            raise ArcadeMarkError(
                f"--out {out}: one file for {len(result.figures)} figures; add --figure N or name a folder"
            )
        drawn = [(out, suffix, result.figures[0])]
    else:
        drawn = [(out / f"{figures.name(item)}{kind}", kind, item) for item in result.figures for kind in KINDS]
    for path, kind, item in drawn:
        content = files.file(figures.model(item), kind, figures.name(item))
        write_document(path, content)
    return [path for path, *_ in drawn]
