"""``arcademark compare``: algorithms against each other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from arcademark.cli import tables
from arcademark.cli.counting import counting
from arcademark.cli.output import Output
from arcademark.cli.output import options as with_output


@click.command("compare")
@click.argument("table", metavar="TABLE")
@click.argument("named", nargs=-1, metavar="[A B…]")
@click.option("--with", "others", multiple=True, metavar="TABLE", help="Another table. May be repeated.")
@tables.measured_by
@with_output
@tables.intervals
@tables.read_as
def command(table: str, named: tuple[str, ...], others: tuple[str, ...], output: Output, **given: Any) -> int:
    """Compare A with B, or each of several algorithms with each; all of the table's, if none is named.

    TABLE is as in 'arcademark score': a file, a folder, a run's directory, or catalogue:review-2021. Runs and files may
    also stand side by side: 'arcademark compare runs/a runs/b'.
    """
    from arcademark.reports.present import comparison
    from arcademark.reports.render import json
    from arcademark.reports.tables.compare import compare_tables

    beside = tuple(name for name in named if _is_table(name))
    options = tables.score_options(algorithms=tuple(name for name in named if name not in beside), **given)
    with counting("comparing", "pairs of algorithms") as follow:
        found = compare_tables((table, *beside, *others), options, follow=follow)
    output.show(lambda: json.render(found), lambda: comparison.present(found))
    return 0


def _is_table(name: str) -> bool:
    """Whether what stands where algorithms do is a table by itself: a file, a run or published scores."""
    from arcademark.reports.tables.loading import CATALOGUE
    from arcademark.runs import manifest

    path = Path(name)
    return name.startswith(CATALOGUE) or path.is_file() or (path / manifest.FILE).is_file()
