"""``arcademark subset coverage``: how often intervals from some games hold what was left out."""

from __future__ import annotations

import click

from arcademark.cli.output import Output
from arcademark.cli.output import options as with_output


@click.command("coverage", short_help="How often intervals of any games hold what was left out.")
@click.argument("games", nargs=-1, metavar="[GAMES…]")
@click.option("--level", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.9, show_default=True)
@with_output
def command(games: tuple[str, ...], level: float, output: Output) -> int:
    """Measure predictions from any games on algorithms left out: by paper, by kind, the newest.

    GAMES is a subset or games with commas, atari-5 or pong,qbert; several are measured one by one.  [default: atari-3,
    atari-5 and atari-10]
    """
    from arcademark.reports.present import coverage
    from arcademark.reports.render import json
    from arcademark.reports.subsets import covering

    shown = covering.covered(games or ("atari-3", "atari-5", "atari-10"), level)
    output.show(lambda: json.render(shown), lambda: coverage.document(shown))
    return 0
