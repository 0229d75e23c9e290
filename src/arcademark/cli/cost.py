"""``arcademark cost``: what an evaluation takes in hours, money, energy and carbon."""

from __future__ import annotations

from typing import Any

import click

from arcademark.cli import options
from arcademark.cli.output import Output
from arcademark.cli.output import options as with_output

NUMBER = click.FloatRange(min=0)


@click.command("cost")
@click.option(
    "--algorithm", metavar="NAME", help="rainbow or agent57; leave out for your own, with --hours and a price."
)
@options.games
@click.option("--runs", type=options.COUNT, default=1, show_default=True, help="Runs (seeds) of each game.")
@click.option("--hours", "hours_per_task", type=NUMBER, help="That one run on one game takes.")
@click.option("--frames", "training_frames", type=options.COUNT, help="Training frames of one run on one game.")
@click.option("--frames-per-second", type=NUMBER, help="How fast it trains; hours then follow from the frames.")
@click.option("--gpu-price", type=NUMBER, help="US dollars an hour.")
@click.option("--machine-price", type=NUMBER, help="US dollars an hour, without the GPU.")
@click.option("--gpu-price-preemptive", type=NUMBER, help="The same where the provider may stop the machine.")
@click.option("--machine-price-preemptive", type=NUMBER, help="The same, without the GPU.")
@click.option("--gpu-watts", type=NUMBER, help="Power of the GPU.")
@click.option("--machine-watts", type=NUMBER, help="Power of the rest.")
@click.option(
    "--carbon", "pounds_per_kwh", type=NUMBER, help="Pounds of CO2 a kilowatt-hour.  [default: 0.92, US 2019]"
)
@with_output
def command(algorithm: str | None, games: str, runs: int, output: Output, **assumptions: Any) -> int:
    """Estimate what it takes to run an algorithm on games, beside what all 57 take.

    What is known of published algorithms are the assumptions of the Atari-5 paper (Aitchison et al. 2023, Appendix A);
    every one of them can be replaced.
    """
    from arcademark.reports.present import costs
    from arcademark.reports.render import json
    from arcademark.reports.subsets import expenses

    shown = expenses.expenses(algorithm, games, runs=runs, **assumptions)
    output.show(lambda: json.render(shown), lambda: costs.document(shown))
    return 0
