"""``arcademark compare``: algorithms against each other."""

from __future__ import annotations

from typing import Any

import click

from arcademark.cli import options, tables
from arcademark.cli.counting import counting
from arcademark.cli.output import Output
from arcademark.cli.output import options as with_output
from arcademark.errors import ArcadeMarkError

sequential = options.combine(
    click.option(
        "--sequential", is_flag=True, help="Also say which pairs the runs decide, group by group, and who needs more."
    ),
    click.option("--group", type=options.COUNT, help="With --sequential: runs in a group.  [default: 5]"),
    click.option("--groups", type=options.COUNT, help="With --sequential: groups at most.  [default: 5]"),
    click.option(
        "--alpha", type=options.SHARE, help="With --sequential: how often it may err, over all pairs.  [default: 5%]"
    ),
    click.option(
        "--permutations", type=options.COUNT, help="With --sequential: drawn where there are more.  [default: 10,000]"
    ),
    click.option(
        "--summary",
        type=click.Choice(["mean", "median", "iqm"]),
        help="With --sequential: what sums up a run's games.  [default: iqm]",
    ),
)
PLAN = ("group", "groups", "alpha", "permutations")


@click.command("compare")
@click.argument("table", metavar="TABLE")
@click.argument("named", nargs=-1, metavar="[A B…]")
@click.option("--with", "others", multiple=True, metavar="TABLE", help="Another table. May be repeated.")
@tables.measured_by
@sequential
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
    from arcademark.reports.tables.loading import is_table

    plan = _plan(**{name: given.pop(name) for name in ("sequential", *PLAN, "summary")})
    beside = tuple(name for name in named if is_table(name))
    asked = tables.score_options(algorithms=tuple(name for name in named if name not in beside), **given)
    with counting("comparing", "pairs of algorithms") as follow:
        found = compare_tables((table, *beside, *others), asked, follow=follow, **plan)
    output.show(lambda: json.render(found), lambda: comparison.present(found))
    return 0


def _plan(*, sequential: bool, summary: str | None, **given: Any) -> dict[str, Any]:
    """Return what `compare_tables` is asked for beside its table; raise where options of the plan have no use."""
    from arcademark.metrics.sequential import Plan

    asked = {name: value for name, value in given.items() if value is not None}
    if not sequential:
        if asked or summary:
            raise ArcadeMarkError(
                f"--{next(iter(asked), 'summary')} says how to test with --sequential; give that, too"
            )
        return {}
    return {"plan": Plan(**asked), **({"summary": summary} if summary else {})}
