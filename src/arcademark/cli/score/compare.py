"""``arcademark compare``: algorithms against each other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from arcademark.cli import commands, options, tables
from arcademark.cli.counting import counting
from arcademark.cli.output import Output, with_figure, with_output, with_style
from arcademark.errors import ArcadeMarkError
from arcademark.metrics.aggregate import AGGREGATES

sequential = options.combine(
    click.option(
        "--sequential",
        is_flag=True,
        help="Also test sequentially, in groups of runs: which pairs are decided, and which need more runs.",
    ),
    options.fields(
        "plan",
        "With --sequential: runs per group, maximum number of groups, error rate over all pairs, permutations, and the "
        "summary of a run's games",
        {
            **options.each(options.COUNT, "group", "groups", "permutations"),
            "alpha": options.SHARE,
            "summary": click.Choice([one.name for one in AGGREGATES.values() if one.sign > 0]),
        },
    ),
)


@commands.command("compare", "others games metrics suite protocol sequential reading everything form saved")
@click.argument("table", metavar="TABLE")
@click.argument("named", nargs=-1, metavar="[A B…]")
@click.option("--with", "others", multiple=True, metavar="TABLE", help="Another table. May be repeated.")
@tables.measured_by
@sequential
@with_output
@with_figure
@with_style
@tables.intervals
@tables.read_as
def command(table: str, named: tuple[str, ...], others: tuple[str, ...], output: Output, **given: Any) -> int:
    """Compare A with B, or several algorithms pairwise; by default all algorithms of the table.

    TABLE is as in 'arcademark report': a file, a folder, a run's directory, or catalogue:review-2021. Several
    tables can be compared: 'arcademark compare runs/a runs/b'.
    """
    from arcademark.analysis.scoring.compare import compare_tables
    from arcademark.analysis.tables.loading import is_table

    plan = _plan(given.pop("sequential"), given.pop("plan"))
    beside = tuple(name for name in named if is_table(name))
    wanted = tables.score_options(algorithms=tuple(name for name in named if name not in beside), **given)
    with counting("comparing", "pairs of algorithms") as follow:
        result = compare_tables((table, *beside, *others), wanted, follow=follow, **plan)
    output.show(result)
    return 0


def _plan(sequential: bool, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the plan's arguments of `compare_tables`; ArcadeMarkError: options of the plan without --sequential."""
    from arcademark.metrics.sequential import SequentialPlan

    if not sequential:
        if given:
            raise ArcadeMarkError("--plan configures --sequential; give that, too")
        return {}
    how = dict(given)
    summary = {"summary": how.pop("summary")} if "summary" in how else {}
    return {"plan": SequentialPlan(**how), **summary}
