"""``arcademark compare``: algorithms against each other, as tables, a page, LaTeX or JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from arcademark.cli import messages, options, tables
from arcademark.cli.counting import counting
from arcademark.cli.writing import PAGE, write
from arcademark.errors import ArcadeMarkError


@click.command("compare")
@click.argument("table", metavar="TABLE")
@click.argument("algorithms", nargs=-1, metavar="[A B…]")
@click.option("--with", "others", multiple=True, metavar="TABLE", help="Another table. May be repeated.")
@tables.measured_by
@click.option("--all", "everything", is_flag=True, help="Also show every ranking, and every game of every pair.")
@click.option("--html", type=click.Path(path_type=Path), metavar="FILE", help=PAGE)
@click.option("--latex", is_flag=True, help="Print LaTeX tables instead.")
@options.as_json
@tables.intervals
@tables.read_as
def command(
    table: str,
    algorithms: tuple[str, ...],
    others: tuple[str, ...],
    everything: bool,
    html: Path | None,
    latex: bool,
    as_json: bool,
    **given: Any,
) -> int:
    """Compare A with B, or each of several algorithms with each; all of the table's, if none is named.

    TABLE is as in 'arcademark score': a file, a folder, a run's directory, or catalogue:review-2021.
    """
    if latex and as_json:
        raise ArcadeMarkError("--latex and --json cannot both be printed; choose one")
    from arcademark.report.tables.compare import compare_tables

    asked = tables.score_options(algorithms=algorithms, **given)
    with counting("comparing", "pairs of algorithms") as follow:
        found = compare_tables((table, *others), asked, follow=follow)
    if html is not None:
        from arcademark.report.tables.html import render_comparison

        write(html, render_comparison(found), option="--html", example="page.html")
    if as_json:
        from arcademark.report.render import json

        messages.print_json(json.render(found))
        return 0
    if latex:
        from arcademark.report.tables.latex import render_comparison as as_latex

        messages.write(as_latex(found, everything=everything) + "\n")
        return 0
    from arcademark.report.layout import Console
    from arcademark.report.tables import comparison_terminal

    comparison_terminal.render(found, Console(), everything=everything)
    if html is not None:
        messages.tell(f"page: {html.resolve().as_uri()}")
    return 0
