"""``arcademark robustness``: play an agent in variants of its games, and show what it loses by each kind of change."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from arcademark.cli import commands, messages, options
from arcademark.cli.commands import Option
from arcademark.cli.output import Output, with_output
from arcademark.cli.play import jobs as of_jobs
from arcademark.cli.play import playing
from arcademark.cli.play.jobs import Jobs
from arcademark.errors import ArcadeMarkError

if TYPE_CHECKING:
    from arcademark.agents.loading import AgentSpec
    from arcademark.runs.plan import Learnt, Plan
    from arcademark.suite.protocols import AtariProtocol


FLAVOURS = "flavours"


class Variants(click.IntRange):
    """From 1 to 4, or all flavours."""

    def __init__(self) -> None:
        super().__init__(1, 4)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read the number or the word."""
        return value if value == FLAVOURS else super().convert(value, param, ctx)


@commands.command("robustness", usual="games variants protocol settings seeds episodes frames workers out forms")
@playing.asked_of_one
@click.option(
    "--variants",
    cls=Option,
    was={"--flavours": FLAVOURS},
    type=Variants(),
    default=2,
    help="Of each kind, on each game, 1 to 4; or flavours: every mode with every difficulty, and no other variant.",
)
@of_jobs.asked
@click.option("--out", type=options.PATH, required=True, help="A directory for the runs.")
@with_output
def command(
    agent: str | None,
    games: str,
    variants: int | str,
    shard: tuple[int, int] | None,
    jobs: Jobs | None,
    out: Path,
    output: Output,
    **asked: Any,
) -> int:
    """Play AGENT on games and in variants of them, and show how much it loses by each kind of change.

    Beside the protocol itself each game is played with other switches (difficulties and modes), sticky actions, frame
    skips and colours, and modified, in as many variants of each kind; where a game has fewer, it is said.

    Each variant is a run of its own in the directory. The same command again continues; without AGENT what was played
    there is shown. An agent that learns is trained under the protocol alone; what it learnt plays in the variants.
    With --slurm it is played as 'arcademark run' plays, a shard's games and seeds in all variants.
    """
    from dataclasses import replace

    from arcademark.agents.loading import kind
    from arcademark.reports.runs.robustness import BASE, robustness
    from arcademark.runs.playing.networks import learnt_in, trained_in
    from arcademark.runs.playing.scheduling import shards
    from arcademark.suite.protocols import AtariProtocol

    of_jobs.check_shown(output, jobs, shard)
    failed = 0
    played = agent is not None or asked["commands"]
    own = ("games", "variants", "slurm")
    if not played and (given := [name for name in (*own, *asked) if options.given(name)]):
        raise ArcadeMarkError(f"--{given[0].replace('_', '-')}: of what is played, and no AGENT is named; leave it out")
    if played:
        way, specs = playing.playing_one(agent, **asked)
        if len(specs) != 1:
            one = f"agent {agent or specs[0].label}"
            raise ArcadeMarkError(f"{one} is {len(specs)} agents; name one, as in --set action=FIRE")
        rules = way.protocol
        if not isinstance(rules, AtariProtocol):
            raise ArcadeMarkError("--suite: only Atari games have variants; leave it out")
        learns = kind(specs[0]) not in ("policy", "planner")  # or may learn
        if learns:  # what was learnt once is scored, not how it learns
            overridden = options.pairs("override", asked["override"])
            if overridden.get("reported_episodes", "evaluation") != "evaluation":
                raise ArcadeMarkError("--override reported_episodes: what was learnt once is scored; leave it out")
            rules = rules.override({"reported_episodes": "evaluation"})
            way = replace(way, protocol=rules)
        plans = {BASE: way.plan(specs, games)} | _varied(way, rules, specs, games, variants)
        if jobs is not None:
            known = frozenset({BASE}) if learns else frozenset(plans)
            see = f"arcademark robustness --out {out}"
            return jobs.submit(plans, out, "robustness", asked["workers"], known, see)
        if shard is not None:
            plans = shards(plans, *shard)
        learnt: Mapping[tuple[str, str, int], Learnt | None] = {}
        for number, (name, plan) in enumerate(plans.items(), start=1):
            messages.say(f"{number} of {len(plans)}: {name}")
            if learns and name != BASE:
                learnt = learnt or learnt_in(out / BASE)
                asked_for, plan = len(plan.trials), trained_in(plan, learnt)
                if lacking := asked_for - len(plan.trials):
                    none = f"{lacking} of {asked_for} trials, whose training did not come to its end"
                    messages.say(f"warning: not played, {name}: {none}")
                if not plan.trials:
                    continue
            summary = way.play(plan, out / name, tell_all=False)
            if summary.interrupted:
                return 130
            failed += len(summary.failed)
    if shard is not None:
        return 1 if failed else 0
    output.show(robustness(out))
    return 1 if failed else 0


def _varied(
    way: playing.Playing, rules: AtariProtocol, specs: Sequence[AgentSpec], games: str, count: int | str
) -> dict[str, Plan]:
    """Plan so many variants of each kind, or all flavours, by their directories' names.

    Those that the agent cannot play are told of.
    """
    from dataclasses import replace

    from arcademark.suite.settings import format_setting
    from arcademark.suite.subsets import resolve_tasks
    from arcademark.suite.variants import KINDS, Kind, variants

    kinds: tuple[Kind, ...] = ("switches",) if isinstance(count, str) else KINDS
    changed: dict[tuple[tuple[str, Any], ...], list[str]] = defaultdict(list)
    for kind in kinds:
        for game in resolve_tasks(games):
            for change in variants(kind, game, rules)[: None if isinstance(count, str) else count]:
                changed[*change.items(),].append(game)
    plans = {}
    for changes, played in changed.items():
        name = ",".join(f"{setting}={format_setting(value)}" for setting, value in changes)
        try:
            plans[name] = replace(way, protocol=rules.override(dict(changes))).plan(specs, played)
        except ArcadeMarkError as error:
            messages.say(f"warning: not played, {name}: {error}")
    return plans
