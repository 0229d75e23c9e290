"""``arcademark subset cost``: what an evaluation takes in hours, money, energy and carbon."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from arcademark.cli import commands, options
from arcademark.cli.output import Output, with_output

NUMBER = click.FloatRange(min=0)


@commands.command("cost", short_help="Hours, money, energy and carbon of an evaluation.")
@click.option(
    "--algorithm",
    metavar="NAME",
    help="rainbow or agent57; leave out for your own, with --assume hours_per_task and prices.",
)
@options.games
@click.option("--runs", type=options.COUNT, default=1, help="Runs (seeds) of each game.")
@options.fields(
    "assume",
    "Hours of one run on one game, or its training frames and how fast; US dollars an hour, preemptive where the "
    "provider may stop the machine; watts; pounds of CO2 a kilowatt-hour",
    {"training_frames": options.COUNT}
    | options.each(NUMBER, "hours_per_task", "frames_per_second", "gpu_price", "machine_price", "gpu_price_preemptive")
    | options.each(NUMBER, "machine_price_preemptive", "gpu_watts", "machine_watts", "pounds_per_kwh"),
    was={"--hours": "hours_per_task={}", "--frames": "training_frames={}", "--carbon": "pounds_per_kwh={}"},
)
@with_output
def command(algorithm: str | None, games: str, runs: int, output: Output, assume: Mapping[str, Any]) -> int:
    """Estimate what it takes to run an algorithm on games, beside what all 57 take.

    What is known of published algorithms are the assumptions of the Atari-5 paper (Aitchison et al. 2023, Appendix A);
    every one of them can be replaced.
    """
    from arcademark.reports.present import costs
    from arcademark.reports.subsets import expenses

    shown = expenses.expenses(algorithm, games, runs=runs, **assume)
    output.show(shown, lambda: costs.document(shown))
    return 0
