"""``arcademark robustness``: play an agent in variants of its games, and show its loss for each kind of change."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from arcademark.cli import commands, messages, options
from arcademark.cli.output import Output, with_output
from arcademark.cli.play import playing
from arcademark.cli.play.jobs import Jobs, with_jobs
from arcademark.errors import ArcadeMarkError

if TYPE_CHECKING:
    from arcademark.runs.plan import Learnt, Plan
    from arcademark.runs.request import Request


@commands.command("robustness", usual="games variants protocol settings seeds episodes frames out form saved")
@playing.for_one
@click.option(
    "--variants",
    type=click.Choice(["1", "2", "3", "4", "flavours"]),
    default="2",
    metavar="N",
    help="Variants of each kind on each game, 1 to 4; or flavours: only every mode with every difficulty.",
)
@with_jobs
@click.option("--out", type=options.PATH, required=True, help="A directory for the runs.")
@with_output
def command(
    agent: str | None,
    games: str | None,
    variants: str,
    jobs: Jobs | None,
    out: Path,
    output: Output,
    **given: Any,
) -> int:
    """Play AGENT on games and in variants of them, and report the loss for each kind of change.

    Each game is played under the protocol, and with one change at a time: difficulty or mode, sticky actions, frame
    skip, colours, or the game itself. The report lists games with fewer variants than --variants.

    Each variant is a run of its own in the directory. The same command resumes; without AGENT it reports the recorded
    runs. A learner is trained under the protocol only, and plays the variants with the trained weights. --slurm works
    as in 'arcademark run'; a shard plays its games and seeds in all variants.
    """
    from arcademark.operations.robustness import robustness

    failed: int | None = 0
    if agent is not None or given["commands"]:
        count = None if variants == "flavours" else int(variants)
        wanted, plans, learns = _planned(playing.request(agent, out=out, **given), games, count)
        if jobs is not None:
            see = f"arcademark robustness --out {out}"
            known = [*plans][: 1 if learns else None]
            return jobs.submit(plans, out, "robustness", given["workers"], see, known)
        failed = _play(wanted, plans, out, learns=learns)
        if failed is None:
            return 130
        if "shard" in given["engine"]:
            return 1 if failed else 0
    else:
        for option in click.get_current_context().command.params:
            if options.given(option.name or "") and option.name not in ("out", "form", "saved", "everything"):
                raise ArcadeMarkError(f"{option.opts[0]}: is for playing, but no AGENT is named; leave it out")
    output.show(robustness(out))
    return 1 if failed else 0


def _planned(wanted: Request, games: str | None, variants: int | None) -> tuple[Request, dict[str, Plan], bool]:
    """Return the request, the plans of games and variants by directory, and whether the agent learns, or may."""
    from arcademark.agents.loading import kind
    from arcademark.operations.robustness import BASE

    if len(wanted.agents) != 1:
        raise ArcadeMarkError(
            f"agent {wanted.agents[0].ref} is {len(wanted.agents)} agents; name one, as in --set action=FIRE"
        )
    if wanted.protocol.unit == "step":
        raise ArcadeMarkError("--suite: only Atari games have variants; leave it out")
    learns = kind(wanted.agents[0]) not in ("policy", "planner")
    if learns:  # the trained agent is scored, not its training
        overrides = wanted.options.get("overrides") or {}
        if overrides.get("reported_episodes", "evaluation") != "evaluation":
            raise ArcadeMarkError("--override reported_episodes: only trained agents are scored; leave it out")
        wanted = replace(wanted, protocol=wanted.protocol.override({"reported_episodes": "evaluation"}))
    chosen = wanted.plan(wanted.usual_games(BASE) if games is None else games)
    return wanted, {BASE: chosen} | _varied(wanted, chosen.games, variants), learns


def _play(wanted: Request, plans: dict[str, Plan], out: Path, *, learns: bool) -> int | None:
    """Play each plan as a run of its own; return how many trials failed, None where it was stopped."""
    from arcademark.runs.playing.networks import learnt_in, trained_in
    from arcademark.runs.scheduling.lengths import shards

    if shard := wanted.options.get("shard"):
        plans = shards(plans, *shard)
    base, failed = next(iter(plans)), 0
    learnt: Mapping[tuple[str, str, int], Learnt | None] = {}
    for number, (name, plan) in enumerate(plans.items(), start=1):
        messages.say(f"{number} of {len(plans)}: {name}")
        if learns and name != base:
            learnt = learnt or learnt_in(out / base)
            planned, plan = len(plan.trials), trained_in(plan, learnt)
            if lacking := planned - len(plan.trials):
                none = f"{lacking} of {planned} trials, whose training is not finished"
                messages.say(f"warning: not played, {name}: {none}")
            if not plan.trials:
                continue
        summary = playing.play(wanted, plan, out / name, tell_all=False)
        if summary.interrupted:
            return None
        failed += len(summary.failed)
    return failed


def _varied(wanted: Request, games: Sequence[str], count: int | None) -> dict[str, Plan]:
    """Plan up to `count` variants of each kind, or all flavours, by directory; print those that cannot be played."""
    from arcademark.suite.protocols import AtariProtocol
    from arcademark.suite.settings import format_setting
    from arcademark.suite.variants import KINDS, Kind, variants

    kinds: tuple[Kind, ...] = ("switches",) if count is None else KINDS
    changed: dict[tuple[tuple[str, Any], ...], list[str]] = defaultdict(list)
    for kind in kinds:
        for game in games:
            for change in variants(kind, game, cast(AtariProtocol, wanted.protocol))[:count]:
                changed[*change.items(),].append(game)
    plans = {}
    for changes, played in changed.items():
        name = ",".join(f"{setting}={format_setting(value)}" for setting, value in changes)
        try:
            plans[name] = replace(wanted, protocol=wanted.protocol.override(dict(changes))).plan(played)
        except ArcadeMarkError as error:
            messages.say(f"warning: not played, {name}: {error}")
    return plans
