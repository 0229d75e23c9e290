"""``arcademark plan``: estimate the cost of a run, before anything is played."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from arcademark.cli import commands, options
from arcademark.cli.output import Output, with_output
from arcademark.cli.play import playing
from arcademark.errors import ArcadeMarkError

POSITIVE = click.FloatRange(min=0, min_open=True)
POSITIVE.name = "number"
MAX_WORKERS = 100_000


@commands.command("plan", usual="games protocol settings seeds episodes frames counts assume form saved")
@playing.for_one
@click.option("--out", type=options.PATH, help="The run's directory.  [default: as for 'run']")
@click.option(
    "--simulate",
    "counts",
    metavar="N,…",
    default="1,8,64",
    callback=lambda _, __, text: worker_counts(text),
    help="Also estimate the duration for these numbers of workers.",
)
@options.fields(
    "assume",
    "Frames played per second and core (without those that planners simulate), frames per episode",
    {"rate": POSITIVE, "episode_frames": options.COUNT},
)
@with_output
def command(
    agent: str | None,
    games: str | None,
    counts: tuple[int, ...],
    output: Output,
    assume: Mapping[str, Any],
    **given: Any,
) -> int:
    """Estimate the cost of 'arcademark run AGENT' with the same options: frames, core-hours and time.

    Speed is measured on this machine unless --assume rate=N is given: for a few seconds in up to three games, and for
    planners, whose speed depends on the game, for ten seconds to a minute in every game. Episode length is taken from
    --assume episode_frames=N, from the run's directory, or from random play for random agents; otherwise every episode
    is assumed to last until the frame cap.
    """
    from arcademark import wording
    from arcademark.cli.counting import counting
    from arcademark.operations import planned

    wanted, shard, workers = playing.request(agent, **given), given["engine"].get("shard"), given["workers"]
    whole = wanted.plan(games)
    plan = wanted.of_shard(whole)
    with counting("measuring", wording.noun(plan.protocol.unit) + "s") as follow:
        estimate = planned.estimate(
            plan,
            wanted.directory,
            sorted({*counts, *([workers] if workers else [])}),
            shards=planned.shard_balance(whole, shard[1]) if shard else None,
            follow=follow,
            **assume,
        )
    output.show(estimate)
    return 0


def worker_counts(text: str) -> tuple[int, ...]:
    """Read ``1,8,64``."""
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() and len(part) < 10 and 1 <= int(part) <= MAX_WORKERS for part in parts):
        raise ArcadeMarkError(f"--simulate {text!r}: expected numbers from 1 to {MAX_WORKERS:,}, as in 1,8,64")
    return tuple(map(int, parts))
