"""``arcademark tune``: try an agent's parameters on training games."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from arcademark.cli import commands, messages, options
from arcademark.cli.output import Output, with_output
from arcademark.cli.play import jobs as of_jobs
from arcademark.cli.play import playing
from arcademark.cli.play.jobs import Jobs
from arcademark.errors import ArcadeMarkError

MOST_SETTINGS = 1000


@commands.command("tune", usual="tried games protocol settings seeds episodes frames workers out forms")
@click.argument("agent", metavar="AGENT")
@click.option(
    "--try",
    "tried",
    multiple=True,
    required=True,
    metavar="NAME=A,B,…",
    help="A parameter and the values to try. May be repeated: every combination is played.",
)
@click.option(
    "--games",
    metavar="NAMES",
    help="A suite, a subset or games.  [default: atari-3-val, under ale-2013 its paper's five training games, or a "
    "--suite's training tasks]",
)
@playing.asked
@of_jobs.asked
@click.option("--out", type=options.PATH, help="The run's directory.  [default: runs/tune- and the agent's name]")
@with_output
def command(
    agent: str,
    tried: tuple[str, ...],
    games: str | None,
    shard: tuple[int, int] | None,
    jobs: Jobs | None,
    out: Path | None,
    output: Output,
    **asked: Any,
) -> int:
    """Play every combination of parameters of AGENT on training games, and rank them.

    What is chosen on a game says too much of how well it does there: score the best setting on other games. Atari-3-Val
    is for tuning what is scored on Atari-5, and its published model estimates the 57-game median of each setting. The
    file of a --suite tells which of its tasks are for training. The same command again continues; with more values,
    games, seeds or episodes the run grows. With --slurm it is played as 'arcademark run' plays.
    """
    from arcademark.agents.loading import agent_specs, all_parameters
    from arcademark.reports import prose
    from arcademark.reports.runs import tuning
    from arcademark.runs.playing import scheduling
    from arcademark.suite.subsets import resolve_tasks, usual_games

    of_jobs.check_shown(output, jobs, shard)
    way = playing.playing(**asked)
    suite = way.protocol.suite
    if suite:
        chosen = suite.resolve(games or ("training" if suite.training_tasks else "all"))
    else:
        chosen = usual_games(way.protocol.name) if games is None else resolve_tasks(games)
    specs, values = [], {}
    for combination in _combinations(tried, way.settings):
        agents = agent_specs(agent, {**way.settings, **combination})
        if len(agents) != 1:
            raise ArcadeMarkError(f"agent {agent} is {len(agents)} agents; name one, as in --set action=FIRE")
        if agents[0] in specs:
            raise ArcadeMarkError(f"--try: {agents[0].label} stands for two of the combinations; give each value once")
        specs.append(agents[0])
        typed = all_parameters(agents[0])
        values[agents[0].label] = {name: typed[name] for name in combination}
    if len(values) < 2:
        raise ArcadeMarkError("--try leaves one setting only; give a parameter two values or more")
    plan = way.plan(specs, chosen)
    if warning := tuning.warning(chosen, suite):
        messages.say(f"warning: {warning}")
    if suite and not suite.training_tasks:
        messages.say(f"note: {prose.text('ledger', 'unsplit', suites=[suite.name])}")
    directory = playing.default_directory(agent, way.protocol.name, prefix="tune-") if out is None else out
    if jobs is not None:
        plans, see = {"": plan}, "the same command without --slurm"
        return jobs.submit(plans, directory, "tune", asked["workers"], frozenset(plans), see)
    summary = way.play(plan if shard is None else scheduling.shard(plan, *shard), directory)
    if summary.interrupted:
        return 130
    if shard is not None:
        return 1 if summary.failed else 0
    output.show(tuning.tuned(directory, values))
    return 1 if summary.failed else 0


def _combinations(tried: Sequence[str], fixed: Mapping[str, str]) -> list[dict[str, str]]:
    """Return every combination of the values to try, in the order given."""
    by_name = options.pairs("try", tuple(tried))
    lists = {name: [value.strip() for value in text.split(",")] for name, text in by_name.items()}
    for name, values in lists.items():
        if name in fixed:
            raise ArcadeMarkError(f"parameter {name} is both in --try and in --set; name it once")
        if "" in values or len(set(values)) < len(values):
            raise ArcadeMarkError(f"--try {name}={by_name[name]}: expected different values, as in --try {name}=1,2")
    combinations = [dict(zip(lists, values, strict=True)) for values in itertools.product(*lists.values())]
    if len(combinations) > MOST_SETTINGS:
        raise ArcadeMarkError(f"--try: {len(combinations):,} combinations; expected {MOST_SETTINGS:,} at most")
    return combinations
