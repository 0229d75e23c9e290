"""Options and play of agents, shared by ``run``, ``plan``, ``tune`` and ``robustness``."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from arcademark.cli import messages, options
from arcademark.errors import ArcadeMarkError
from arcademark.files import MAX_DIGITS

if TYPE_CHECKING:
    from arcademark.runs.plan import Plan
    from arcademark.runs.playing.events import RunSummary
    from arcademark.runs.request import Request

SECONDS = click.FloatRange(min=0, min_open=True)


def seed_list(text: str) -> tuple[int, ...]:
    """Read ``--seeds``: a count, or a list with commas."""
    numbers = [part.strip() for part in text.split(",") if part.strip()]
    if not numbers or not all(number.isdecimal() and len(number) <= MAX_DIGITS for number in numbers):
        raise ArcadeMarkError(
            f"--seeds {text[:40]!r}: expected a count such as 2, or a list of seeds such as 3,7, of at most "
            f"{MAX_DIGITS} digits"
        )
    values = tuple(map(int, numbers))
    if "," in text:
        return values
    if values[0] < 1:
        raise ArcadeMarkError("--seeds 0: at least one seed is needed; for seed 0 alone write --seeds 0,")
    from arcademark.records.database import MAX_TRIALS

    if values[0] > MAX_TRIALS:
        raise ArcadeMarkError(f"--seeds {text}: expected at most {MAX_TRIALS:,}")
    return tuple(range(values[0]))


class ShardType(click.ParamType[tuple[int, int]]):
    """A shard's number, from 1, and the number of shards: ``3/20``."""

    name = "shard"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, int]:
        """Read the two numbers, or fail with the expected form."""
        number, _, count = str(value).partition("/")
        if not (number.isdecimal() and count.isdecimal() and len(value) < 20):
            self.fail("expected the shard's number and the number of shards, as in 3/20", param, ctx)
        return int(number), int(count)


shared = options.combine(
    options.protocol,
    options.settings,
    click.option(
        "--seeds",
        default="1",
        metavar="N",
        callback=lambda _, __, text: seed_list(text),
        help="A count (2 means seeds 0 and 1) or a list (3,7; one seed alone: 3,). One trial per game and seed.",
    ),
    click.option(
        "--episodes",
        type=options.EpisodesType(),
        help="Episodes per trial, or all-starts: every no-op start of the protocol once.  [default: the protocol's]",
    ),
    click.option("--frames", type=options.COUNT, help="Training frames of a learner.  [default: the protocol's]"),
    click.option(
        "--training-episodes",
        type=options.COUNT,
        help="Training budget in episodes, instead of --frames.  [default: the protocol's, if it has one]",
    ),
    options.workers,
    options.overrides,
    options.suite,
    options.fields(
        "engine",
        "Where trials run, local or ray, and how (docs/cluster.md). shard=3/20 plays the third of twenty shards "
        "with about equally many frames; 'arcademark runs merge' merges them",
        {
            **options.each(click.STRING, "engine", "address", "scratch"),
            "gpus": click.FLOAT,
            "emulator": click.Choice(["console", "ale"]),
            **options.each(SECONDS, "answer_seconds", "episode_seconds"),
            "shard": ShardType(),
        },
        first="engine",
    ),
)

for_one = options.combine(
    click.argument("agent", metavar="[AGENT]", required=False),
    options.games,
    shared,
    click.option("--name", metavar="TEXT", help="Name of the agent in reports, as in --name 'PPO (ours)'."),
    click.option(
        "--agent-command",
        "commands",
        multiple=True,
        metavar="COMMAND",
        help="Play a program in any language, as in './my_agent --fast' (docs/messages.md). May be repeated.",
    ),
)


def request(agent: Any, *, protocol: str | None, engine: Mapping[str, Any], **given: Any) -> Request:
    """Read the options of one agent, and of those that commands start."""
    from arcademark.runs import request

    scratch = {"scratch": os.path.expandvars(engine["scratch"])} if "scratch" in engine else {}
    wanted: Any = {"shard": None, **given, **engine, **scratch}
    return request.request(agent or (), protocol, wanted)


def play(wanted: Request, plan: Plan, directory: Path | None = None, *, tell_all: bool = True) -> RunSummary:
    """Play the missing episodes of a plan with a display; with `tell_all` always print the result."""
    from arcademark.cli.play.progress import Display
    from arcademark.suite import learners

    origins = (learners.origin(agent.parameters) for agent in plan.agents if agent.ref == learners.NAME)
    networks = (one.network for one in plan.trials if one.network is not None)
    assumed = (f"{one.label}: {one.assumed}" for one in networks if one.assumed)
    for note in filter(None, dict.fromkeys((*origins, *assumed))):
        messages.say(f"note: {note}")
    with Display(unit=plan.protocol.unit) as display:
        summary = wanted.play(plan, display.hear, directory)
    if tell_all or summary.episodes or summary.failed or summary.interrupted:
        display.close(summary)
    return summary


def warn(plan: Plan, directory: Path) -> None:
    """Print warnings of the ledger of test games about the planned run."""
    from arcademark.analysis.runs import ledger
    from arcademark.runs.store.entering import ledger_entries

    for warning in ledger.warnings(tuple(ledger_entries(plan, directory)), directory):
        messages.say(f"warning: with this run, {warning}")
