"""``arcademark compare``: algorithms against each other."""

from __future__ import annotations

from typing import Any

import click

from arcademark.cli import tables
from arcademark.cli.counting import counting
from arcademark.cli.output import Output
from arcademark.cli.output import options as with_output


@click.command("compare")
@click.argument("table", metavar="TABLE")
@click.argument("algorithms", nargs=-1, metavar="[A B…]")
@click.option("--with", "others", multiple=True, metavar="TABLE", help="Another table. May be repeated.")
@tables.measured_by
@with_output
@tables.intervals
@tables.read_as
def command(table: str, algorithms: tuple[str, ...], others: tuple[str, ...], output: Output, **given: Any) -> int:
    """Compare A with B, or each of several algorithms with each; all of the table's, if none is named.

    TABLE is as in 'arcademark score': a file, a folder, a run's directory, or catalogue:review-2021.
    """
    from arcademark.reports.present import comparison
    from arcademark.reports.render import json
    from arcademark.reports.tables.compare import compare_tables

    options = tables.score_options(algorithms=algorithms, **given)
    with counting("comparing", "pairs of algorithms") as follow:
        found = compare_tables((table, *others), options, follow=follow)
    output.show(lambda: json.render(found), lambda: comparison.present(found))
    return 0
