"""``arcademark subset coverage``: how often intervals from some games hold what was left out."""

from __future__ import annotations

from typing import Any

import click

from arcademark.cli import commands, tables
from arcademark.cli.output import Output, with_output
from arcademark.cli.predict.predict import learnt_from
from arcademark.errors import ArcadeMarkError

DEFAULT = ("atari-3", "atari-5", "atari-10")


@commands.command("coverage", short_help="How often intervals of any games hold what was left out.")
@click.argument("games", nargs=-1, metavar="[GAMES…]")
@click.option("--sizes", metavar="SIZES", help="Also choose the best games of each size, 1-10 or 3,5,10.")
@tables.level
@tables.suite
@learnt_from
@with_output
def command(
    games: tuple[str, ...], sizes: str | None, level: float, suite: str | None, output: Output, **learnt: Any
) -> int:
    """Measure predictions from any games on algorithms left out: by paper, by kind, the newest.

    GAMES is a subset or games with commas, atari-5 or pong,qbert; several are measured one by one.  [default: atari-3,
    atari-5 and atari-10, unless there are sizes, a suite or a table to learn from]
    """
    from arcademark.reports.subsets import covering, predictors
    from arcademark.reports.subsets.searching import read_sizes

    if learnt["training"] and suite:
        raise ArcadeMarkError("--suite and --training each say what is learnt from; leave one out")
    own = predictors.own(**learnt)
    if not games and not sizes:
        if own or suite:
            raise ArcadeMarkError("name games to predict from, or how many to choose, as in --sizes 3,5")
        games = DEFAULT
    counts = read_sizes(sizes) if sizes else ()
    output.show(covering.covered(games, level, sizes=counts, suite=suite or predictors.ATARI, training=own))
    return 0
