"""``arcademark plan``: estimate what a run takes, before anything is played."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from arcademark.cli import options, playing
from arcademark.cli import output as outputs
from arcademark.cli.output import Output
from arcademark.errors import ArcadeMarkError

NUMBER, POSITIVE = click.FloatRange(min=0), click.FloatRange(min=0, min_open=True)
NUMBER.name = POSITIVE.name = "number"
MOST_WORKERS = 100_000


@click.command("plan")
@playing.asked_of_one
@options.shard
@click.option("--out", type=click.Path(path_type=Path), help="The run's directory.  [default: as that of 'run']")
@click.option(
    "--simulate",
    "counts",
    metavar="N,…",
    default="1,8,64",
    show_default=True,
    callback=lambda _, __, text: worker_counts(text),
    help="Numbers of workers to estimate the duration for, besides --workers.",
)
@click.option(
    "--rate",
    type=POSITIVE,
    help="Frames played a second and core, not those that planners simulate.",
)
@click.option("--episode-frames", type=options.COUNT, help="How long an episode is, in frames.")
@click.option("--core-price", type=NUMBER, help="US dollars an hour of a core.  [default: the Atari-5 paper's]")
@click.option("--core-watts", type=NUMBER, help="Power of a core.  [default: the Atari-5 paper's]")
@click.option(
    "--carbon", "pounds_per_kwh", type=NUMBER, help="Pounds of CO2 a kilowatt-hour.  [default: 0.92, US 2019]"
)
@outputs.options
def command(
    agent: str | None,
    games: str,
    shard: tuple[int, int] | None,
    out: Path | None,
    counts: tuple[int, ...],
    output: Output,
    rate: float | None,
    episode_frames: int | None,
    core_price: float | None,
    core_watts: float | None,
    pounds_per_kwh: float | None,
    **asked: Any,
) -> int:
    """Estimate what 'arcademark run AGENT' with the same options takes: frames, core-hours, money, energy and time.

    Speed is measured on this machine unless --rate is given: a few seconds in each of up to three games; of planners,
    whose decisions may take many times longer in one game than in another, in every game, ten seconds and up to a
    minute where games are few. Episode length is taken from --episode-frames, from the run's directory, or from random
    play for random agents; for others every episode is taken to last until the frame cap.
    """
    from arcademark.cli.counting import counting
    from arcademark.cli.run import directory_of
    from arcademark.reports import wording
    from arcademark.reports.present import planned as presenter
    from arcademark.reports.runs import planned
    from arcademark.runs import scheduling

    way, specs = playing.playing_one(agent, **asked)
    plan = way.plan(specs, games)
    with counting("measuring", wording.noun(plan.protocol.unit) + "s") as follow:
        found = planned.planned(
            scheduling.shard(plan, *shard) if shard else plan,
            out or directory_of(agent or specs[0], way.protocol.name, shard),
            sorted({*counts, *([way.how["workers"]] if way.how["workers"] else [])}),
            rate=rate,
            episode_frames=episode_frames,
            shards=planned.shard_balance(plan, shard[1]) if shard else None,
            core_price=core_price,
            core_watts=core_watts,
            pounds_per_kwh=pounds_per_kwh,
            follow=follow,
        )
    output.show(found, lambda: presenter.present(found))
    return 0


def worker_counts(text: str) -> tuple[int, ...]:
    """Read ``1,8,64``."""
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() and len(part) < 10 and 1 <= int(part) <= MOST_WORKERS for part in parts):
        raise ArcadeMarkError(f"--simulate {text!r}: expected numbers from 1 to {MOST_WORKERS:,}, as in 1,8,64")
    return tuple(map(int, parts))
